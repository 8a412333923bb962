"""The measures of a panel: their groups, what each group needs, and what each measure says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidValue, short, subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._typing import Array


_LABELS = {
    "accuracy": "share of the cells whose label the panel predicts",
    "macro_f1": "mean F1 of the labels",
    "rare_f1": "mean F1 of the labels of at most 5 % of the cells",
}
_DOMAINS = {
    "domain_accuracy": "share of the cells whose domain the panel predicts",
    "domain_macro_f1": "mean F1 of the domains",
}
#: Description of each measure, by groups that are computed together.
GROUPS = {
    "preserved": {
        "preserved": "share of the target that the panel preserves: 0 no gene, 1 all genes",
        "optimality": "at least this share of what the best panel of this size preserves",
        "best_preserved": "share that the selection of select_genes of this size preserves",
        "preserved_in_batch": "share that the panel preserves of one batch",
        "preserved_on_platform": "preserved share over draws of efficiencies and failures",
    },
    "neighbors": {"knn_preservation": "share of nearest cells in all genes that are nearest here"},
    "labels": _LABELS,
    "genes": {
        "imputed": "median R² of the structure of unmeasured genes, predicted from the panel",
        "mean_correlation": "mean absolute correlation of the genes: high if redundant",
        "n_effective": "number of uncorrelated genes that would be as diverse",
    },
    "space": {
        **_DOMAINS,
        "morans_i": "mean Moran's I of the genes",
        "morans_i_kept": "share of the Moran's I of all genes that the panel explains",
    },
    "counts": {
        "counts_share": "share of the panel in all counts",
        "counts_spearman": "rank correlation of the total counts of the panel and of all genes",
        "counts_on_platform": "mean counts of the panel in a cell on the platform",
    },
    "gene_sets": {"gene_set_coverage": "share of the gene sets with a gene of the panel"},
    "laprls": {f"{name}_laprls": text for name, text in _LABELS.items()},
    "space_laprls": {f"{name}_laprls": text for name, text in _DOMAINS.items()},
    "silhouette": {"silhouette": "how much nearer cells are to their own label, from −1 to 1"},
    "clusters": {
        "cluster_preservation_coarse": "NMI of 5 to 10 clusters in the panel and in all genes",
        "cluster_preservation_fine": "NMI of 20 to 40 clusters in the panel and in all genes",
    },
    "forecast": {
        "accuracy_on_platform": "forecast accuracy of the labels on the platform",
        "accuracy_without_spillover": "the same without spillover",
        "mecr_reference": "cells with both of two exclusive markers, of those with either",
        "mecr_on_platform": "the same on the platform",
    },
}
#: Groups that need an argument.
NEEDED_BY = {
    "labels": ("labels", "laprls", "silhouette", "forecast"),
    "domains": ("space", "space_laprls"),
    "counts_layer": ("counts", "forecast"),
    "gene_sets": ("gene_sets",),
    "platform": ("forecast",),
    "cells": tuple(group for group in GROUPS if group not in ("preserved", "gene_sets")),
}
#: Groups that are computed only where they are named.
ON_DEMAND = frozenset(("laprls", "space_laprls", "silhouette", "clusters", "forecast"))
DESCRIPTIONS = {name: text for texts in GROUPS.values() for name, text in texts.items()}
#: Measures that are no share of which more is better.
NUMBERS = {"mean_correlation", "n_effective", "counts_share", "counts_on_platform", "morans_i"}


def row(measure: str, value: float, **columns: Any) -> dict[str, Any]:
    """Return a row of the table of measures."""
    return {"measure": measure, "value": float(value)} | columns


def by_random(values: Sequence[float] | Array) -> dict[str, float]:
    """Return the mean and the best of random panels, for a row."""
    if not len(values):
        return {}
    return {"random": float(np.mean(values)), "random_best": float(np.max(values))}


def asked_for(measures: str | Iterable[str] | None, **arguments: object) -> dict[str, set[str]]:
    """Return the measures to compute, by their groups.

    ``"default"`` and ``"all"`` leave out groups that need one of `arguments` that is None.
    """
    if measures is None or isinstance(measures, str):
        measures = ["default" if measures is None else measures]
    absent = [name for name in NEEDED_BY if arguments[name] is None]
    missing = {group: [name for name in absent if group in NEEDED_BY[name]] for group in GROUPS}
    computable = [group for group in GROUPS if not missing[group]]
    default = [group for group in computable if group not in ON_DEMAND]
    sets = {"all": computable, "default": default} | {group: [group] for group in GROUPS}
    groups: dict[str, set[str]] = {}
    for name in measures:
        of_name = sets.get(name) or [group for group, texts in GROUPS.items() if name in texts]
        if not of_name:
            raise InvalidValue(f"`measures={short(name)}` is unknown: name {', '.join(sets)}")
        for group in of_name:
            if missing[group]:
                needed = ", ".join(map(subject, missing[group]))
                how = "use data with cells" if "cells" in missing[group] else "pass it as well"
                raise InvalidValue(f"`measures={short(name)}` needs {needed}: {how}")
            groups.setdefault(group, set()).update(GROUPS[group] if name in sets else {name})
    if not groups:
        raise InvalidValue("`measures` is empty: leave it out, or name a measure")
    return groups
