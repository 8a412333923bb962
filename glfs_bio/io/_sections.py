"""Sections of the report, each of which says what its template needs.

A section is a function of the :class:`Subject` that returns the variables of the template
``templates/report/<its name>.html``, or None where there is nothing to tell.  To add one, write
both and add it to ``SECTIONS``, which is in the order of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from .. import pl
from . import _workbench
from ._pictures import picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._subject import Subject

_TERMS = 50
#: Most genes in the pictures of weights and of stability, that names stay readable on a page.
_BARS, _FREQUENT = 50, 100
#: Longest list that is told in full.
_ITEMS = 20
_ELSEWHERE = {
    *("params", "versions", "path", "curve", "kept", "of_best_possible", "added", "absent")
}
_MEANING = {
    "assay_noise": "variance of the noise of the assay that will measure the panel",
    "converged": "whether the solver reached its tolerance",
    "graph_components": "parts of the graph of the cells that no similarity joins",
    "kkt": "largest violation of the optimality conditions, in units of λ",
    "lam": "λ, the price of a gene's weight",
    "method": "what ranked the genes",
    "n_genes": "selected genes",
    "n_iter": "iterations of the solver along the path",
    "n_tested": "genes to choose from",
    "objective": "what was minimised",
    "replaced": "whether the PCA and graph that were there had to be computed anew",
    "reused": "whether the PCA, the graph and the kept structure that were there were used",
}


def cells(subject: Subject) -> dict[str, Any]:
    """The cells by all genes and by the panel."""
    return {
        "groupby": subject.groupby,
        "only_panel": len(subject.frame) == subject.adata.n_vars,
        "picture": picture(
            pl.panel,
            subject.adata,
            subject.groupby,
            key=subject.key,
            layer=subject.layer,
            random_state=subject.random_state,
            show_progress=False,  # the page has a bar of its own
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
        "some_serve": "serves" in rows[0],
        "some_substitutes": "substitute" in rows[0],
        "n_bars": min(_BARS, len(subject.frame)),
        "picture": picture(
            pl.weights, subject.adata, _BARS, key=subject.key, symbols=subject.symbols
        ),
    }


def how(subject: Subject) -> dict[str, Any]:
    """The number of genes, and what the selection went through."""
    return {
        "entry": subject.entry,
        "picture": picture(pl.path, subject.adata, key=subject.key),
        "facts": [
            (name, value, _MEANING.get(name, ""))
            for name, value in subject.entry.items()
            if name not in _ELSEWHERE
        ],
    }


def stability(subject: Subject) -> dict[str, Any] | None:
    """How often parts of the cells have the genes; or why this cannot be said."""
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
        "reused": subject.entry["reused"],
        "picture": picture(pl.stability, adata, size, key=key, symbols=subject.symbols),
    }


def enrichment(subject: Subject) -> dict[str, Any] | None:
    """Gene sets that the panel has many genes of."""
    result = subject.result("enrichment")
    if result is None:
        return None
    entry = result.entry
    table = entry["results"].head(_TERMS)
    return {
        "entry": entry,
        "terms": [{"term": term, **row} for term, row in table.to_dict("index").items()],
        "picture": picture(pl.enrichment, subject.adata, key=result.key),
    }


def parameters(subject: Subject) -> dict[str, Any]:
    """What everything on the page was made with."""
    found = {what: subject.result(what) for what in subject.results}
    of_results = {what: one.entry for what, one in found.items() if one is not None}
    return {"records": {"selection": subject.entry, **of_results}}


#: Heading and content of every section, in their order.
SECTIONS: dict[str, Callable[[Subject], dict[str, Any] | None]] = {
    "Cells": cells,
    "Genes": genes,
    "How good the panel is": _workbench.quality,
    "What it misses": _workbench.misses,
    "Why each gene": _workbench.explanation,
    "Substitutes": _workbench.substitutes,
    "Limits": _workbench.limits,
    "How they were selected": how,
    "Stability": stability,
    "Enrichment": enrichment,
    "Parameters and versions": parameters,
}


def lead(subject: Subject) -> dict[str, Any]:
    """The first sentences of the page."""
    best = float(subject.entry.get("of_best_possible", [np.nan])[-1])
    return {
        "n_cells": subject.adata.n_obs,
        "entry": subject.entry,
        "of_best_possible": best if np.isfinite(best) else None,
    }


def told(value: Any) -> str:
    """A parameter or a result as a reader wants to see it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {told(item)}" for name, item in value.items())
    if isinstance(value, np.ndarray) and value.dtype == np.bool_:
        return f"{value.sum()} of {value.size}"
    if isinstance(value, np.ndarray | list | tuple):
        items = [told(item) for item in np.ravel(value)[:_ITEMS]]
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
    for column, values in _workbench.of_genes(subject).items():
        rows[column] = values
    stable = subject.result("stability")
    if stable is not None:
        rows["frequency"] = subject.adata.var[f"{stable.key}_frequency"]
    found: list[dict[str, Any]] = rows.to_dict("records")
    return found
