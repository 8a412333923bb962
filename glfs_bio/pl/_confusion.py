"""Which labels a panel mixes up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._figure import by_label, check_ends, documented, figure, finish, short

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes

#: Inches of a label, and of what surrounds the labels.
_CELL, _WIDTH, _HEIGHT = 0.3, 3.2, 2.4
_SMALLEST = 3.6
#: Shares from here on are told, in white from there on.
_TOLD, _WHITE = 0.005, 0.55


@documented
def confusion(
    adata: AnnData,
    *,
    key: str = "glfs_evaluation",
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Heat map of the labels that the panel predicts for the cells of each label.

    Every row adds up to 100 % of the cells of a label.  The recall is on the diagonal.  Numbers are
    per cent; shares below 0.5 % have none.

    Parameters
    ----------
    adata
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `labels`.
    key
        The `key_added` of ``tl.evaluate_panel``.
    ax
        Axes to draw in.
    <show, save>

    Returns
    -------
    None if the figure was shown, else the axes.

    Raises
    ------
    KeyError
        The panel was not judged, or without labels.

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
    check_ends(show, save)
    table, counts = by_label(adata, key)
    names = short(list(table.index.astype(str)))
    shares = counts / counts.sum(axis=1, keepdims=True)
    size = max(_CELL * len(counts), _SMALLEST)
    axes = figure(ax, [size + _WIDTH], size + _HEIGHT)
    where, place = axes[0], np.arange(len(counts))
    image = where.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    where.figure.colorbar(
        image, ax=where, label="share of the label's cells", shrink=0.6, pad=0.02, aspect=25
    )
    where.set_yticks(place, names, fontsize=9, parse_math=False)
    where.set_xticks(place, names, fontsize=9, rotation=90, parse_math=False)
    where.set(xlabel="predicted", ylabel="label")
    where.tick_params(length=0)
    where.set_xticks(place[1:] - 0.5, minor=True)
    where.set_yticks(place[1:] - 0.5, minor=True)
    where.grid(which="minor", color="#E6E6E6", lw=0.5)
    where.tick_params(which="minor", length=0)
    for i, j in np.argwhere(shares >= _TOLD):
        where.text(
            *(j, i, f"{100 * shares[i, j]:.0f}"),
            ha="center",
            va="center",
            fontsize=7,
            color="white" if shares[i, j] >= _WHITE else "black",
        )
    return finish(axes, "confusion", where, show=show, save=save, own=ax is None)
