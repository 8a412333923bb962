"""The labels that a panel confuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._docs import documented
from ._colours import colour_map
from ._figure import Frame
from ._heatmap import heat_map
from ._results import by_label

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

#: Inches of a label, and of what surrounds the labels.
_CELL, _WIDTH, _HEIGHT = 0.32, 2.4, 2.2
_SMALLEST = 2.6
#: Smaller shares have no number.
_LEAST = 0.005


@documented
def confusion(
    adata: AnnData,
    *,
    key: str = "glfs_evaluation",
    ax: Axes | None = None,
    title: str | None = None,
    cmap: str | Colormap = "Blues",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Heat map of the labels that the panel predicts for the cells of each label.

    Every row adds up to 100 % of the cells of a label.  The recall is on the diagonal.  Numbers are
    per cent; shares below 0.5 % have none.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `labels`.
    <evaluation key>
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
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel, "bulk_labels")
    >>> ax = glfs_bio.pl.confusion(adata, show=False)
    >>> ax.images[0].get_array().shape
    (10, 10)
    """
    frame = Frame("confusion", ax, title, figsize, show, save)
    colours = colour_map(cmap)
    table, counts = by_label(adata, key)
    names = list(table.index.astype(str))
    shares = counts / counts.sum(axis=1, keepdims=True)
    texts = [[f"{100 * share:.0f}" if share >= _LEAST else "" for share in row] for row in shares]
    size = max(_CELL * len(counts), _SMALLEST)
    with frame.axes([size + _WIDTH], size + _HEIGHT) as (where,):
        where.set(xlabel="predicted label, % of the cells", ylabel="label")
        heat_map(where, shares, names, names, texts, colours, bar="share of the cells of a label")
    return frame.finish([where], where)
