"""A selection as one HTML file for a colleague."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from .. import pl
from .._anndata import read, selection
from .._files import as_path, check_target, replacing
from ..core import checks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData

#: Search for a gene, whatever the organism and the kind of name.
LINK = "https://www.ncbi.nlm.nih.gov/gene/?term={gene}"
_DPI = 130
_TERMS = 50
#: Most genes in the pictures of weights and of stability, that names stay readable on a page.
_BARS, _FREQUENT = 50, 100
#: Longest list that is told in full.
_ITEMS = 20
_ELSEWHERE = {"params", "versions", "path", "curve", "kept", "of_best_possible"}
_WRITTEN_BY = {"stability": ("tl.stability", "jaccard"), "enrichment": ("tl.enrich", "results")}
_MEANING = {
    "assay_noise": "variance of the noise of the assay that will measure the panel",
    "converged": "whether the solver reached its tolerance",
    "exchanged": "exchanges of genes after the panel was chosen",
    "graph_components": "parts of the graph of the cells that no similarity joins",
    "kkt": "largest violation of the optimality conditions, in units of λ",
    "lam": "λ, the price of a gene's weight",
    "method": "what ranked the genes",
    "n_genes": "selected genes",
    "n_iter": "iterations of the solver along the path",
    "n_tested": "genes to choose from",
    "objective": "what was minimised",
    "replaced": "whether the PCA and graph that were there had to be computed anew",
    "reused": "whether the PCA and graph that were there were used",
}


def write_report(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    groupby: str | None = None,
    symbols: str | None = None,
    stability_key: str | None = None,
    enrichment_key: str | None = None,
    layer: str | None = None,
    link: str | None = LINK,
    title: str = "Selected genes",
    overwrite: bool = False,
    random_state: int = 0,
) -> None:
    """Write what was selected, and how, as one HTML file that opens without network.

    It holds a summary; the UMAP of the panel beside that of all genes; the selected genes, a table
    to sort; what panels of every size keep, and the path along λ where there is one; stability and
    enrichment where they are in `adata`; parameters and versions.  The same `adata` gives the same
    file.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.  It is not changed.
    path
        File to write, ``.html``.
    key
        Which selection: the `key_added` of ``select_genes``.
    groupby
        Column of ``.obs`` that colours the cells.
    symbols
        Column of ``.var`` with the names to show; genes without one go by their ``.var_names``.
    stability_key, enrichment_key
        The `key_added` of :func:`~glfs_bio.tl.stability` and of :func:`~glfs_bio.tl.enrich`.  None:
        ``f"{key}_stability"`` and ``f"{key}_enrichment"``, where these are there.
    layer
        Layer with the expression, in place of ``.X``.
    link
        Address of a page about a gene, with ``{gene}`` in the place of its name.  None: no links.
    title
        Heading.
    overwrite
        Whether a file that is there may be replaced.
    random_state
        Seed of the UMAPs.

    Raises
    ------
    KeyError
        No such selection, result, layer or column.
    FileExistsError, FileNotFoundError
        `path` exists and `overwrite` is not set, or its folder does not exist.
    ValueError
        Another ending, a `link` that is no web address or has no ``{gene}``, or no gene selected.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.html"
    ...     glfs_bio.io.write_report(adata, path)
    ...     text = path.read_text(encoding="utf-8")
    >>> "5 of 765 genes" in text
    True
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    if path.suffix.lower() not in {".html", ".htm"}:
        msg = f"path={str(path)!r} must end with .html."
        raise ValueError(msg)
    checks.texts(title=title)
    checks.texts(groupby=groupby, link=link, or_none=True)
    checks.seed(random_state)
    if link is not None and not (link.startswith(("https://", "http://")) and "{gene}" in link):
        msg = f"link={link!r} must be a web address, https://…, with {{gene}} in it."
        raise ValueError(msg)
    read.check(adata)
    if groupby is not None and groupby not in adata.obs:
        msg = f"groupby={groupby!r} is not in adata.obs: {read.listed(adata.obs.columns)}."
        raise KeyError(msg)
    frame = selection.ranked(adata, key)
    entry = selection.record(adata, key, "pp.select_genes", "kept")
    stable = _where(adata, key, "stability", stability_key)
    enriched = _where(adata, key, "enrichment", enrichment_key)
    called = selection.names(adata, symbols).fillna(adata.var_names.to_series()).loc[frame.index]

    best = float(entry.get("of_best_possible", [np.nan])[-1])
    page = {
        "title": title,
        "n_cells": adata.n_obs,
        "entry": entry,
        "of_best_possible": best if np.isfinite(best) else None,
        "summary": [
            (name, value, _MEANING.get(name, ""))
            for name, value in entry.items()
            if name not in _ELSEWHERE
        ],
        "some_included": bool(frame["included"].any()),
        "genes": _genes(adata, frame, called, stable, link),
        "panel": _picture(
            pl.panel, adata, groupby, key=key, layer=layer, random_state=random_state
        ),
        "weights": _picture(pl.weights, adata, _BARS, key=key, symbols=symbols),
        "n_bars": min(_BARS, len(frame)),
        "path": _picture(pl.path, adata, key=key),
        "groupby": groupby,
        "records": {"selection": entry},
    }
    if stable is not None:
        page["stability"] = page["records"]["stability"] = adata.uns[stable]
        size = min(_FREQUENT, max(round(float(np.mean(adata.uns[stable]["n_genes"]))), 1))
        page["stability_picture"] = _picture(pl.stability, adata, size, key=stable, symbols=symbols)
    if enriched is not None:
        page["enrichment"] = page["records"]["enrichment"] = adata.uns[enriched]
        page["terms"] = _terms(adata.uns[enriched]["results"].head(_TERMS))
        page["enrichment_picture"] = _picture(pl.enrichment, adata, key=enriched)
    text = _render(page)
    with replacing(path, overwrite=overwrite) as name:
        name.write_text(text, encoding="utf-8")


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


def _where(adata: AnnData, key: str, what: str, named: str | None) -> str | None:
    """Key of a further result: one that is named must be there."""
    if named is not None:
        selection.record(adata, named, *_WRITTEN_BY[what])
        return named
    return f"{key}_{what}" if f"{key}_{what}" in adata.uns else None


def _genes(
    adata: AnnData, frame: pd.DataFrame, called: pd.Series, stable: str | None, link: str | None
) -> list[dict[str, Any]]:
    """Rows of the table of genes."""
    rows = []
    frequency = None if stable is None else selection.frequency(adata, stable).reindex(frame.index)
    for i, (gene, name) in enumerate(called.items()):
        rows.append(
            {
                "rank": int(frame["rank"].iloc[i]),
                "id": gene,
                "name": name,
                "included": bool(frame["included"].iloc[i]),
                "loss": float(frame["loss"].iloc[i]),
                "weight": float(frame["weight"].iloc[i]),
                "score": float(frame["score"].iloc[i]),
                "frequency": None if frequency is None else float(frequency.iloc[i]),
                "link": None if link is None else link.replace("{gene}", quote(str(name), safe="")),
            }
        )
    return rows


def _terms(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of the table of gene sets, whichever method made it."""
    return [{"term": term, **row} for term, row in table.to_dict("index").items()]


def _picture(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """What one of ``glfs_bio.pl`` draws, as the address of an inline PNG."""
    from matplotlib import pyplot as plt

    drawn = draw(*args, show=False, **kwargs)
    figure = np.ravel(drawn)[0].figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _render(page: dict[str, Any]) -> str:
    """The page; everything that comes from the data is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("glfs_bio.io"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["told"] = told
    return environment.get_template("report.html").render(page)
