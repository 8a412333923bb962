"""Gene sets that a selection is rich in."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from .._anndata import provenance
from ._figure import BLUE, GREY, check_ends, documented, figure, finish

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes

_LEVEL = 0.05
_LINE, _LINES = 42, 2
_WIDTH, _PER_TERM, _MARGIN = 7.5, 0.36, 1.0


@documented
def enrichment(
    adata: AnnData,
    n_terms: int = 15,
    *,
    key: str = "glfs_enrichment",
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Bars of the adjusted p-values of the most significant gene sets, with their overlap.

    Sets with an adjusted p-value above 0.05 are grey.

    Parameters
    ----------
    adata
        Cells × genes, with what :func:`~glfs_bio.tl.enrich` wrote.
    n_terms
        How many gene sets.
    key
        The `key_added` of ``tl.enrich``.
    ax
        Axes to draw in.
    <show, save>

    Returns
    -------
    None if the figure was shown, else the axes.

    Raises
    ------
    KeyError
        No such result.
    TypeError, ValueError
        A number of gene sets that cannot be.

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
    check_ends(show, save)
    checks.whole_number("n_terms", n_terms, at_least=1)
    entry = provenance.result(adata, key, "tl.enrich", "table")
    table = entry["table"].head(n_terms)
    axes = figure(ax, [_WIDTH], _PER_TERM * len(table) + _MARGIN)
    _draw(axes[0], table, prerank="nes" in table)
    return finish(axes, "enrichment", axes[0], show=show, save=save, own=ax is None)


def _draw(ax: Axes, table: pd.DataFrame, *, prerank: bool) -> None:
    """The score of a preranked analysis has a sign, a p-value none."""
    values = table["nes"] if prerank else -np.log10(np.maximum(table["pvals_adj"], 1e-300))
    hits = table["genes"].str.split(";").str.len() if prerank else table["n_overlap"]
    counts = [f"{hit}/{size}" for hit, size in zip(hits, table["n_set"], strict=True)]
    place = np.arange(len(table))
    colours = np.where(table["pvals_adj"] <= _LEVEL, BLUE, GREY)
    bars = ax.barh(place, values, height=0.7, color=colours)
    ax.bar_label(bars, counts, padding=3, fontsize=8)
    ax.set_yticks(place, [_wrapped(term) for term in table.index], fontsize=8, parse_math=False)
    ax.set(ylim=(len(table) - 0.4, -0.6))
    ax.set_xlabel("normalised enrichment score" if prerank else "−log₁₀ adjusted p-value")
    ax.margins(x=0.15)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _wrapped(term: str) -> str:
    return textwrap.fill(
        textwrap.shorten(term, _LINE * _LINES, placeholder=" …"), _LINE, max_lines=_LINES
    )
