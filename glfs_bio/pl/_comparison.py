"""Panels side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._anndata import provenance
from ._figure import MEASURES, check_ends, documented, figure, finish, short

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes

    from .._typing import Array

#: Measures of which more is better, from 0 to 1.
_SHARES = frozenset(MEASURES) - {"n_genes", "n_effective", "mean_correlation", "counts_share"}
_WIDTH, _PER_PANEL, _HEIGHT, _PER_MEASURE = 3.6, 0.85, 1.9, 0.3
_LETTERS, _WHITE = 24, 0.55


@documented
def comparison(
    adata: AnnData,
    *,
    key: str = "glfs_comparison",
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Heat map of the measures of two or more panels, with their values.

    Colours are from 0 to 1, and the best panel by each measure is bold.  Below are measures that
    are better neither high nor low, without a colour.

    Parameters
    ----------
    adata
        Cells × genes, with what :func:`~glfs_bio.tl.compare_panels` wrote.
    key
        The `key_added` of ``tl.compare_panels``.
    ax
        Axes to draw in.
    <show, save>

    Returns
    -------
    None if the figure was shown, else the axes.

    Raises
    ------
    KeyError
        No panels were compared.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panels = {"ours": ["CD3D", "CD79A", "NKG7"], "theirs": ["CD3D", "LYZ", "GNLY"]}
    >>> glfs_bio.tl.compare_panels(adata, panels)
    >>> ax = glfs_bio.pl.comparison(adata, show=False)
    >>> [name.get_text() for name in ax.get_xticklabels()]
    ['ours', 'theirs']
    """
    check_ends(show, save)
    table = provenance.result(adata, key, "tl.compare_panels", "table", "jaccard")["table"]
    measures = [name for name in MEASURES if name in table and table[name].notna().any()]
    values = table[measures].to_numpy(dtype=float).T
    size = _PER_PANEL * len(table) + _WIDTH, _PER_MEASURE * len(measures) + _HEIGHT
    axes = figure(ax, [size[0]], size[1])
    where = axes[0]
    coloured = np.array([name in _SHARES for name in measures])
    shares = np.where(coloured[:, None], values, np.nan)
    image = where.imshow(shares, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    where.figure.colorbar(image, ax=where, shrink=0.6, pad=0.02, aspect=20)
    where.set_yticks(range(len(measures)), [MEASURES[name] for name in measures], fontsize=9)
    names = short(list(table.index.astype(str)), _LETTERS)
    where.set_xticks(
        *(range(len(table)), names),
        fontsize=9,
        rotation=40,
        ha="right",
        rotation_mode="anchor",
        parse_math=False,
    )
    where.tick_params(length=0)
    where.spines[:].set_visible(False)
    for i, texts in enumerate(_texts(values)):
        best = coloured[i] and len(set(texts)) > 1
        top = texts[int(np.nanargmax(values[i]))]
        for j, text in enumerate(texts):
            where.text(
                *(j, i, text),
                ha="center",
                va="center",
                fontsize=9,
                fontweight="bold" if best and text == top else "normal",
                color="white" if shares[i, j] >= _WHITE else "black",
            )
    return finish(axes, "comparison", where, show=show, save=save, own=ax is None)


def _texts(values: Array) -> list[list[str]]:
    """Values as they are shown: shares with two digits, numbers of genes with at most one."""
    return [
        [_text(value, 2 if top <= 1 else 1) for value in row]
        for row, top in zip(values, np.nanmax(values, axis=1), strict=True)
    ]


def _text(value: float, digits: int) -> str:
    if np.isnan(value):
        return ""
    text = f"{value:,.{digits}f}"
    return text.removesuffix(".0") if digits == 1 else text
