"""The measures of several panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._anndata import results
from .._docs import documented
from ._colours import colour_map
from ._figure import Frame
from ._heatmap import heat_map
from ._results import MEASURES
from ._rows import short

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from .._typing import Array

#: Measures of which more is better, from 0 to 1.
_SHARES = frozenset(MEASURES) - {"n_genes", "n_effective", "mean_correlation", "counts_share"}
#: Inches of what surrounds the cells, and of a cell; letters of the name of a panel.
_WIDTH, _PER_PANEL, _HEIGHT, _PER_MEASURE = 3.0, 0.8, 1.7, 0.3
_LETTERS = 24


@documented
def comparison(
    adata: AnnData,
    *,
    key: str = "glfs_comparison",
    ax: Axes | None = None,
    title: str | None = None,
    cmap: str | Colormap = "Blues",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Heat map of the measures of two or more panels, with their values.

    Colours are from 0 to 1, and the best panel by each measure is bold.  Below are measures that
    are better neither high nor low, without a colour.

    Parameters
    ----------
    <adata with results> tl.compare_panels
    key : str, default "glfs_comparison"
        The `key_added` of ``tl.compare_panels``.
    <ax>
    <title>
    <cmap> "Blues"
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else the axes.

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
    frame = Frame("comparison", ax, title, figsize, show, save)
    colours = colour_map(cmap)
    table = results.current(adata, key, "tl.compare_panels", "table", "jaccard")["table"]
    measures = [name for name in MEASURES if name in table and table[name].notna().any()]
    values = table[measures].to_numpy(dtype=float).T
    is_share = np.array([name in _SHARES for name in measures])
    texts = _texts(values)
    best = [
        [share and len(set(row)) > 1 and text == row[int(np.nanargmax(of_row))] for text in row]
        for share, row, of_row in zip(is_share, texts, values, strict=True)
    ]
    size = _PER_PANEL * len(table) + _WIDTH, _PER_MEASURE * len(measures) + _HEIGHT
    with frame.axes([size[0]], size[1]) as (where,):
        heat_map(
            where,
            np.where(is_share[:, None], values, np.nan),
            [MEASURES[name] for name in measures],
            short(list(table.index.astype(str)), _LETTERS),
            texts,
            colours,
            bar="measure",
            bold=best,
        )
        where.spines[:].set_visible(False)
    return frame.finish([where], where)


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
