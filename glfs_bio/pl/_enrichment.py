"""Gene sets that are enriched in a selection."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._anndata import results
from .._docs import documented
from ._colours import BLUE, GREY, colours
from ._figure import LOOK, Frame, extent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes

_LEVEL = 0.05
#: Letters of a line of a name.
_LINE = 42
_WIDTH, _PER_TERM, _MARGIN = 7.5, 0.36, 1.0


@documented
def enrichment(
    adata: AnnData,
    n_terms: int = 15,
    *,
    key: str = "glfs_enrichment",
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Bars of the adjusted p-values of the most significant gene sets, with their overlap.

    Sets with an adjusted p-value above 0.05 are grey.

    Parameters
    ----------
    <adata with results> tl.enrich
    n_terms : int, default 15
        Maximum number of gene sets.  Sets without a selected gene are left out.
    key : str, default "glfs_enrichment"
        The `key_added` of ``tl.enrich``.
    <ax>
    <title>
    <palette> significant and other gene sets
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else the axes.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=20)
    >>> sets = {"MHC II": ["HLA-DRA", "HLA-DRB1", "HLA-DPA1"], "T cells": ["CD3D", "CD3E"]}
    >>> glfs_bio.tl.enrich(adata, sets)
    >>> ax = glfs_bio.pl.enrichment(adata, show=False)
    >>> len(ax.patches)
    2
    """
    frame = Frame("enrichment", ax, title, figsize, show, save)
    checks.whole_number("n_terms", n_terms, at_least=1)
    chosen = colours(palette, BLUE, GREY)
    table = results.current(adata, key, "tl.enrich", "table")["table"]
    overlapping = table[table["genes"].fillna("") != ""]
    table = (table if overlapping.empty else overlapping).head(n_terms)
    with frame.axes([_WIDTH], _PER_TERM * len(table) + _MARGIN) as (where,):
        _draw(where, table, chosen)
    return frame.finish([where], where)


def _draw(ax: Axes, table: pd.DataFrame, chosen: Sequence[Any]) -> None:
    """The score of a preranked analysis has a sign, a p-value none."""
    from matplotlib import rcParams

    prerank = "nes" in table
    values = table["nes"] if prerank else -np.log10(np.maximum(table["pvals_adj"], 1e-300))
    hits = table["genes"].str.split(";").str.len() if prerank else table["n_overlap"]
    counts = [f"{hit}/{size}" for hit, size in zip(hits, table["n_set"], strict=True)]
    ax.set_xlabel("normalised enrichment score" if prerank else "−log₁₀ adjusted p-value")
    ax.spines[["top", "right"]].set_visible(False)
    width, height = extent(ax)
    room = height / (LOOK.line * (len(table) + 0.2))
    size = max(min(LOOK.small * rcParams["font.size"], room), LOOK.smallest_font)
    letters = max(min(_LINE, int(width / (LOOK.letter * size))), 8)
    n_lines = 2 if 2 * size <= room else 1
    place = np.arange(len(table))
    colour = [chosen[int(p > _LEVEL)] for p in table["pvals_adj"]]
    bars = ax.barh(place, values, height=0.7, color=colour)
    ax.bar_label(bars, counts, padding=3, fontsize=size)
    names = [_wrapped(term, letters, n_lines) for term in table.index]
    ax.set_yticks(place, names, fontsize=size, parse_math=False)
    ax.set(ylim=(len(table) - 0.4, -0.6))
    ax.margins(x=0.15)
    ax.tick_params(axis="y", length=0)


def _wrapped(term: str, letters: int, n_lines: int) -> str:
    whole = textwrap.shorten(term, letters * n_lines, placeholder=" …")
    return textwrap.fill(whole, letters, max_lines=n_lines, placeholder=" …")
