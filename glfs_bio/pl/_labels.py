"""How well a panel recovers the labels of the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._docs import documented
from ._colours import BLUE, GREY, VERMILLION, colours
from ._figure import Frame, legend
from ._results import by_label
from ._rows import beside, name_places

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes

_WIDTH, _PER_LABEL, _MARGIN = 6.2, 0.26, 1.2


@documented
def labels(
    adata: AnnData,
    *,
    key: str = "glfs_evaluation",
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Bars of the recall of every label, the best first, with F1 and the number of cells.

    The recall of a label is the share of its cells that the 15 nearest cells of the panel give that
    label.  Rare labels, of at most 5 % of the cells, have another colour.  Grey are those of so few
    cells that they could never be a majority among 15, whatever the panel.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `labels`.
    <evaluation key>
    <ax>
    <title>
    <palette> labels, rare labels, and labels of too few cells
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
    >>> ax = glfs_bio.pl.labels(adata, show=False)
    >>> len(ax.patches)
    10
    """
    frame = Frame("labels", ax, title, figsize, show, save)
    usual, rare, few = colours(palette, BLUE, VERMILLION, GREY)
    table = by_label(adata, key)[0].sort_values("recall", ascending=False, kind="stable")
    is_few, is_rare = (table[name].to_numpy(dtype=bool) for name in ("too_few", "rare"))
    kinds = {
        "recall": (usual, ~is_rare & ~is_few),
        "recall, rare": (rare, is_rare & ~is_few),
        "recall, too few cells": (few, is_few),
    }
    place = np.arange(len(table))
    with frame.axes([_WIDTH], _PER_LABEL * len(table) + _MARGIN) as (where,):
        handles: list[Any] = []
        for name, (colour, those) in kinds.items():
            if those.any():
                recall = table["recall"].to_numpy()[those]
                handles.append(
                    where.barh(place[those], recall, height=0.72, color=colour, label=name)
                )
        handles += where.plot(
            *(table["f1"], place, "o"), ms=5, mfc="white", mec="black", clip_on=False, zorder=4
        )
        handles[-1].set_label("F1")
        where.set(xlim=(0, 1), xlabel=f"recall and F1, panel of {adata.uns[key]['n_genes']} genes")
        where.spines[["top", "right"]].set_visible(False)
        size = name_places(where, list(table.index.astype(str)))
        beside(where, [f"{n:,} cells" for n in table["n_cells"]], size)
        legend(where, handles)
    return frame.finish([where], where)
