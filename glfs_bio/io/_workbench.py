"""Sections of the report about what the panel is worth; see ``_sections``.

Each is there where its result is.  Of a result that is of another panel, it says so instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import pl
from .._anndata import write
from ..pl._told import MEASURES
from ._pictures import picture

if TYPE_CHECKING:
    import pandas as pd

    from ._subject import Subject

#: What a reader has to know of measures.
_MEANING = {
    "kept": "0 without genes, 1 by all genes",
    "of_best_possible": "of what the best panel of as many genes keeps",
    "kept_with_failures": "on average over genes that fail",
    "neighbors_kept": "of the 15 nearest cells by all genes, those that are nearest by the panel",
    "clusters_kept_coarse": "agreement of 5 to 10 clusters by the panel and by all genes (NMI)",
    "clusters_kept_fine": "agreement of 20 to 40 clusters by the panel and by all genes (NMI)",
    "accuracy": "cells whose label the 15 nearest cells of the panel tell",
    "macro_f1": "every label counting alike",
    "rare_f1": "labels of at most 5 % of the cells",
    "imputed": "how well the panel predicts what the structure explains of a gene",
    "mean_correlation": "absolute, mean over pairs: high where genes repeat one another",
    "n_effective": "genes without correlation that would be as many different ones",
    "counts_share": "of the counts of all genes, those of the panel",
    "counts_spearman": "rank correlation of the panel's total in a cell with that of all genes",
}
#: Parameters of a selection that limit it, and what they mean.
_LIMITS = {
    "min_mean": "least mean expression of a gene",
    "max_mean": "most mean expression of a gene",
    "min_cells": "least share of the cells that express a gene",
    "max_cells": "most share of the cells that express a gene",
    "min_mean_in_type": "least mean expression of a gene in some type of cells",
    "max_mean_in_type": "most mean expression of a gene in any type of cells",
    "min_cells_in_type": "least share of the cells of some type that express a gene",
    "max_cells_in_type": "most share of the cells of any type that express a gene",
    "max_total_per_cell": "most counts of the whole panel in a mean cell",
    "max_total_per_type": "most counts of the whole panel in a mean cell of a type",
    "families": "families of genes",
    "per_family": "most genes of a family",
    "per_type": "fewest markers of each type of cells",
    "markers": "markers of each type of cells",
    "priority": "factors that prefer genes to others",
    "groupby": "types of cells",
    "counts_layer": "where the counts are",
    "cost": "price of a gene",
    "budget": "most that the panel may cost",
}


def quality(subject: Subject) -> dict[str, Any] | None:
    """What the panel keeps, beside others of its size; with labels, which of them it tells."""
    result = subject.result("evaluation")
    if result is None:
        return _another(subject, "evaluation")
    adata, key, entry = subject.adata, result.key, result.entry
    with_labels = "per_label" in entry
    random = np.ravel(entry["random_kept"])
    return {
        "of_another": None,
        "entry": entry,
        "random": (float(random.min()), float(random.max())) if random.size else None,
        "n_random": random.size,
        "measures": [
            (called, entry[name], _MEANING[name])
            for name, called in MEASURES.items()
            if name in _MEANING and name in entry and np.isfinite(entry[name])
        ],
        "labels": str(entry["params"]["labels"]) if with_labels else None,
        "per_label": _per_label(entry) if with_labels else [],
        "some_counts": "counts_per_label" in entry,
        "kept": picture(pl.kept, adata, key=key),
        "recall": picture(pl.labels, adata, key=key) if with_labels else None,
        "confusion": picture(pl.confusion, adata, key=key) if with_labels else None,
        "imputation": picture(pl.imputation, adata, key=key)
        if f"{key}_r2" in adata.var and adata.var[f"{key}_r2"].notna().any()
        else None,
    }


def misses(subject: Subject) -> dict[str, Any] | None:
    """Directions that the panel leaves open, and the cells that they concern."""
    result = subject.result("evaluation")
    if result is None:
        return None  # the section before has said why
    adata, key, table = subject.adata, result.key, result.entry["missed"]
    embedded = "X_umap" in adata.obsm or "X_pca" in adata.obsm
    sides = ("genes_up", "genes_down")
    return {
        "rows": [
            {**row, **{side: subject.renamed(str(row[side]), ", ") for side in sides}}
            for row in table.to_dict("records")
        ],
        "some_labels": "labels" in table,
        "picture": picture(pl.missed, adata, key=key)
        if embedded and f"{key}_open" in adata.obs
        else None,
    }


def explanation(subject: Subject) -> dict[str, Any] | None:
    """What each gene is there for."""
    result = subject.result("explanation")
    if result is None:
        return _another(subject, "explanation")
    table = result.entry["table"]
    rows = table.assign(
        name=subject.called.loc[table["gene"]].to_numpy(),
        direction=[subject.renamed(str(text), "/") for text in table["direction"]],
    )
    return {
        "of_another": None,
        "rows": rows.to_dict("records"),
        "some_serve": "serves" in table,
    }


def substitutes(subject: Subject) -> dict[str, Any] | None:
    """What can replace each gene."""
    result = subject.result("substitutes")
    if result is None:
        return _another(subject, "substitutes")
    rows = []
    for gene, table in result.entry["table"].groupby("gene", sort=False):
        best, *further = table.sort_values("place").to_dict("records")
        rows.append(
            {
                **best,
                "name": subject.called[gene],
                "best": subject.called[best["substitute"]],
                "further": ", ".join(
                    f"{subject.called[one['substitute']]} ({one['taken_over']:.2f})"
                    for one in further
                ),
            }
        )
    return {
        "of_another": None,
        "share": result.entry["params"]["share"],
        "rows": rows,
        "alone": [row["name"] for row in rows if not row["stands_in"]],
    }


def limits(subject: Subject) -> dict[str, Any] | None:
    """What the panel had to stay within."""
    params = subject.entry.get("params", {})
    stated = params.get("limits", "None")
    every = {**({} if isinstance(stated, str) else stated), **params}
    facts = [
        (name, write.restored(every[name]), meaning)
        for name, meaning in _LIMITS.items()
        if name in every and str(every[name]) != "None"
    ]
    return {"facts": facts} if facts else None


def of_genes(subject: Subject) -> dict[str, pd.Series]:
    """Columns of the table of genes: whom a gene serves, and what replaces it."""
    columns = {}
    why, instead = subject.result("explanation"), subject.result("substitutes")
    if why is not None:
        table = why.entry["table"].set_index("gene")
        if "serves" in table:
            columns["serves"] = table["serves"].fillna("")
        columns["substitute"] = table["substitute"].map(subject.called)
    elif instead is not None:
        table = instead.entry["table"]
        best = table[table["place"] == 1].set_index("gene")["substitute"]
        columns["substitute"] = best.map(subject.called).reindex(subject.frame.index).fillna("")
    return columns


def _another(subject: Subject, what: str) -> dict[str, Any] | None:
    another = subject.of_another(what)
    return None if another is None else {"of_another": another}


def _per_label(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the table of labels."""
    table = entry["per_label"].copy()
    table["confused_with"] = [
        name if isinstance(name, str) else "" for name in table["confused_with"]
    ]
    if "counts_per_label" in entry:
        table["ratio"] = entry["counts_per_label"]["ratio"]
    rows: list[dict[str, Any]] = table.reset_index(names="label").to_dict("records")
    return rows
