"""Sections of the report, each of which says what its template needs.

A section is a function of the :class:`Subject` that returns the variables of the template
``templates/report/<its name>.html``, or None where there is nothing to tell.  To add one, write
both and add it to ``SECTIONS``, which is in the order of the page.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from .. import pl
from .._anndata import write
from ..pl._figure import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from ._report import Subject

_DPI, _TERMS = 130, 50
#: Most genes in the pictures of weights and of stability, that names stay readable on a page.
_BARS, _FREQUENT = 50, 100
#: Longest list that is told in full.
_ITEMS = 20
_ELSEWHERE = {
    *("params", "versions", "path", "curve", "preserved", "optimality", "table", "absent")
}
#: What a reader has to know of the facts of a selection.
_OF_FACTS = {
    "assay_noise": "variance of the noise of the assay that will measure the panel",
    "converged": "whether the solver reached its tolerance",
    "n_axes": "axes of the cells that stand above the noise",
    "graph_components": "parts of the graph of the cells that no similarity joins",
    "kkt": "largest violation of the optimality conditions, in units of λ",
    "lam": "λ, the price of a gene's weight",
    "method": "what ranked the genes",
    "n_genes": "selected genes",
    "n_iter": "iterations of the solver along the path",
    "n_tested": "genes to choose from",
    "objective": "what was minimised",
}
#: What a reader has to know of measures.
_OF_MEASURES = {
    "preserved": "0 without genes, 1 by all genes",
    "optimality": "of what the best panel of as many genes keeps, limits aside",
    "preserved_on_platform": "on the platform, in the mean or the worst of its draws",
    "knn_preservation": "of the 15 nearest cells by all genes, those that are nearest by the panel",
    "cluster_preservation_coarse": "NMI of 5 to 10 clusters by the panel and by all genes",
    "cluster_preservation_fine": "NMI of 20 to 40 clusters by the panel and by all genes",
    "accuracy": "cells whose label the 15 nearest cells of the panel tell",
    "accuracy_all_genes": "the same in 50 principal components of all genes",
    "macro_f1": "every label counting alike",
    "rare_f1": "labels of at most 5 % of the cells",
    "imputed": "how well the panel predicts what the structure explains of a gene",
    "mean_correlation": "absolute, mean over pairs: high where genes repeat one another",
    "n_effective": "genes without correlation that would be as many different ones",
    "counts_share": "of the counts of all genes, those of the panel",
    "counts_spearman": "rank correlation of the panel's total in a cell with that of all genes",
}
#: Parameters of a selection that limit it, and what they mean.
_OF_LIMITS = {
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


def picture(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return a picture of ``glfs_bio.pl`` as the address of an inline PNG."""
    from matplotlib import pyplot as plt

    drawn = draw(*args, show=False, **kwargs)
    figure = np.ravel(drawn)[0].figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def cells(subject: Subject) -> dict[str, Any]:
    """The cells by all genes and by the panel."""
    return {
        "labels": subject.labels,
        "only_panel": len(subject.frame) == subject.adata.n_vars,
        "picture": picture(
            pl.panel,
            subject.adata,
            subject.labels,
            key=subject.key,
        ),
    }


def genes(subject: Subject) -> dict[str, Any]:
    """The table of genes, and what the panel loses without each."""
    rows = _rows(subject)
    return {
        "entry": subject.entry,
        "rows": rows,
        "some_included": bool(subject.frame["included"].any()),
        "some_frequencies": "frequency" in rows[0],
        "some_serve": "supports" in rows[0],
        "some_substitutes": "substitute" in rows[0],
        "n_bars": min(_BARS, len(subject.frame)),
        "picture": picture(
            pl.weights, subject.adata, _BARS, key=subject.key, symbols=subject.symbols
        ),
    }


def quality(subject: Subject) -> dict[str, Any] | None:
    """Return the quality of the panel, compared with other panels of its size."""
    result = subject.result("evaluation")
    if result is None:
        return _another(subject, "evaluation")
    adata, key, entry = subject.adata, result.key, result.entry
    with_labels = "per_label" in entry
    random = np.ravel(entry["random_preserved"])
    return {
        "of_another": None,
        "entry": entry,
        "random": (float(random.min()), float(random.max())) if random.size else None,
        "n_random": random.size,
        "measures": [
            (called, entry[name], _OF_MEASURES[name])
            for name, called in MEASURES.items()
            if name in _OF_MEASURES and name in entry and np.isfinite(entry[name])
        ],
        "labels": str(entry["params"]["labels"]) if with_labels else None,
        "per_label": _per_label(entry) if with_labels else [],
        "some_counts": "counts_per_label" in entry,
        "preserved": picture(pl.preserved, adata, key=key),
        "recall": picture(pl.labels, adata, key=key) if with_labels else None,
        "confusion": picture(pl.confusion, adata, key=key) if with_labels else None,
        "imputation": picture(pl.imputation, adata, key=key)
        if f"{key}_r2" in adata.var and adata.var[f"{key}_r2"].notna().any()
        else None,
    }


def misses(subject: Subject) -> dict[str, Any] | None:
    """Return the unexplained axes, and the map of unexplained cells."""
    result = subject.result("evaluation")
    if result is None:
        return None  # the section before has said why
    adata, key, table = subject.adata, result.key, result.entry["unexplained"]
    embedded = "X_umap" in adata.obsm or "X_pca" in adata.obsm
    sides = ("genes_up", "genes_down")
    return {
        "rows": [
            {**row, **{side: subject.renamed(str(row[side]), ", ") for side in sides}}
            for row in table.to_dict("records")
        ],
        "some_labels": "labels" in table,
        "picture": picture(pl.unexplained, adata, key=key)
        if embedded and f"{key}_unexplained" in adata.obs
        else None,
    }


def explanation(subject: Subject) -> dict[str, Any] | None:
    """Return the explanation of each gene."""
    result = subject.result("explanation")
    if result is None:
        return _another(subject, "explanation")
    table = result.entry["table"]
    rows = table.assign(
        name=subject.called.loc[table["gene"]].to_numpy(),
        axis=[subject.renamed(str(text), "/") for text in table["axis"]],
    )
    return {
        "of_another": None,
        "rows": rows.to_dict("records"),
        "some_serve": "supports" in table,
    }


def substitutes(subject: Subject) -> dict[str, Any] | None:
    """Return the substitutes of each gene."""
    result = subject.result("substitutes")
    if result is None:
        return _another(subject, "substitutes")
    rows = []
    for gene, table in result.entry["table"].query("place > 0").groupby("gene", sort=False):
        best, *further = table.sort_values("place").to_dict("records")
        rows.append(
            {
                **best,
                "name": subject.called[gene],
                "best": subject.called[best["substitute"]],
                "further": ", ".join(
                    f"{subject.called[one['substitute']]} ({one['substitution_score']:.2f})"
                    for one in further
                ),
            }
        )
    return {
        "of_another": None,
        "min_score": result.entry["params"]["min_score"],
        "rows": rows,
        "alone": list(subject.called.loc[list(result.entry["irreplaceable"])]),
    }


def limits(subject: Subject) -> dict[str, Any] | None:
    """Return the constraints of the selection."""
    params = subject.entry.get("params", {})
    stated = params.get("limits", "None")
    every = {**({} if isinstance(stated, str) else stated), **params}
    facts = [
        (name, write.restored(every[name]), meaning)
        for name, meaning in _OF_LIMITS.items()
        if name in every and str(every[name]) != "None"
    ]
    return {"facts": facts} if facts else None


def how(subject: Subject) -> dict[str, Any]:
    """Return the panel sizes, and the facts of the selection."""
    return {
        "entry": subject.entry,
        "picture": picture(pl.path, subject.adata, key=subject.key),
        "facts": [
            (name, value, _OF_FACTS.get(name, ""))
            for name, value in subject.entry.items()
            if name not in _ELSEWHERE
        ],
    }


def stability(subject: Subject) -> dict[str, Any] | None:
    """Return the selection frequencies, or the reason why they are not shown."""
    result = subject.result("stability")
    if result is None:
        another = subject.of_another("stability")
        return None if another is None else {"of_another": another}
    adata, key, entry = subject.adata, result.key, result.entry
    size = min(_FREQUENT, max(round(float(np.mean(entry["n_genes"]))), 1))
    consensus = adata.var_names[adata.var[f"{key}_consensus"].astype(bool)]
    return {
        "of_another": None,
        "entry": entry,
        "n_consensus": len(consensus),
        "out": list(subject.called.loc[subject.frame.index.difference(consensus, sort=False)]),
        "instead": list(subject.called.loc[consensus.difference(subject.frame.index, sort=False)]),
        "picture": picture(pl.stability, adata, size, key=key, symbols=subject.symbols),
    }


def enrichment(subject: Subject) -> dict[str, Any] | None:
    """Return the enriched gene sets."""
    result = subject.result("enrichment")
    if result is None:
        return None
    entry = result.entry
    table = entry["table"].head(_TERMS)
    return {
        "entry": entry,
        "terms": [{"term": term, **row} for term, row in table.to_dict("index").items()],
        "picture": picture(pl.enrichment, subject.adata, key=result.key),
    }


def parameters(subject: Subject) -> dict[str, Any]:
    """Return the parameters and versions of all results."""
    found = {what: subject.result(what) for what in subject.results}
    of_results = {what: one.entry for what, one in found.items() if one is not None}
    return {"records": {"selection": subject.entry, **of_results}}


#: Heading and content of every section, in their order.
SECTIONS: dict[str, Callable[[Subject], dict[str, Any] | None]] = {
    "Cells": cells,
    "Genes": genes,
    "How good the panel is": quality,
    "What it misses": misses,
    "Why each gene": explanation,
    "Substitutes": substitutes,
    "Limits": limits,
    "How they were selected": how,
    "Stability": stability,
    "Enrichment": enrichment,
    "Parameters and versions": parameters,
}


def lead(subject: Subject) -> dict[str, Any]:
    """The first sentences of the page."""
    best = float(subject.entry.get("optimality", [np.nan])[-1])
    return {
        "n_cells": subject.adata.n_obs,
        "entry": subject.entry,
        "optimality": best if np.isfinite(best) else None,
    }


def text_of(value: Any) -> str:
    """Return a parameter or a result as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {text_of(item)}" for name, item in value.items())
    if isinstance(value, np.ndarray) and value.dtype == np.bool_:
        return f"{value.sum()} of {value.size}"
    if isinstance(value, np.ndarray | list | tuple):
        items = [text_of(item) for item in np.ravel(value)[:_ITEMS]]
        return ", ".join(items) + (f", … ({np.size(value)})" if np.size(value) > _ITEMS else "")
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _rows(subject: Subject) -> list[dict[str, Any]]:
    """Rows of the table of genes."""
    rows = subject.frame[["rank", "loss", "weight", "score", "included"]].copy()
    rows["rank"] = rows["rank"].astype(int)
    rows["id"] = rows.index
    rows["name"] = called = subject.called.loc[rows.index]
    rows["link"] = [
        subject.link and subject.link.replace("{gene}", quote(str(name), safe=""))
        for name in called
    ]
    for column, values in of_genes(subject).items():
        rows[column] = values
    stable = subject.result("stability")
    if stable is not None:
        rows["frequency"] = subject.adata.var[f"{stable.key}_frequency"]
    found: list[dict[str, Any]] = rows.to_dict("records")
    return found


def of_genes(subject: Subject) -> dict[str, pd.Series]:
    """Return columns of the table of genes: supported labels and substitute."""
    columns = {}
    why, instead = subject.result("explanation"), subject.result("substitutes")
    if why is not None:
        table = why.entry["table"].set_index("gene")
        if "supports" in table:
            columns["supports"] = table["supports"].fillna("")
        columns["substitute"] = _offered(subject, table)
    elif instead is not None:
        table = instead.entry["table"]
        best = table[table["place"] <= 1].set_index("gene").reindex(subject.frame.index)
        columns["substitute"] = _offered(subject, best)
    return columns


def _offered(subject: Subject, table: pd.DataFrame) -> pd.Series:
    """Return the best substitute of each gene with its score, or ``"none"``."""
    scores = table["substitution_score"].map(" ({:.2f})".format)
    texts = table["substitute"].map(subject.called) + scores
    return texts.where(table["substitute"].fillna("") != "", "none")


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
