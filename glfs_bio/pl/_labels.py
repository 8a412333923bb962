"""How well a panel tells the labels of the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._figure import BLUE, GREY, VERMILLION, by_label, check_ends, documented, figure, finish, rows

if TYPE_CHECKING:
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
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Bars of the recall of every label, the best first, with F1 and the number of cells.

    The recall of a label is the share of its cells that the 15 nearest cells of the panel give that
    label.  Rare labels, of at most 5 % of the cells, have another colour.  Grey are those of so few
    cells that they could never be a majority among 15, whatever the panel.

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
    >>> ax = glfs_bio.pl.labels(adata, show=False)
    >>> len(ax.patches)
    10
    """
    check_ends(show, save)
    table = by_label(adata, key)[0].sort_values("recall", ascending=False, kind="stable")
    axes = figure(ax, [_WIDTH], _PER_LABEL * len(table) + _MARGIN)
    where, place = axes[0], np.arange(len(table))
    few, rare = table["too_few"].to_numpy(dtype=bool), table["rare"].to_numpy(dtype=bool)
    kinds = {
        "recall": (BLUE, ~rare & ~few),
        "recall, rare": (VERMILLION, rare & ~few),
        "recall, too few cells": (GREY, few),
    }
    colours = np.full(len(table), BLUE, dtype=object)
    for name, (colour, those) in kinds.items():
        colours[those] = colour
        if those.any():
            where.plot([], [], "s", ms=8, color=colour, label=name)
    where.barh(place, table["recall"], height=0.72, color=list(colours))
    where.plot(
        table["f1"], place, "o", ms=5, mfc="white", mec="black", clip_on=False, zorder=4, label="F1"
    )
    rows(where, list(table.index.astype(str)), [f"{n:,}" for n in table["n_cells"]])
    where.text(1.02, 1.0, "cells", transform=where.transAxes, va="bottom", fontsize=9)
    where.set(xlim=(0, 1), xlabel=f"recall and F1, panel of {adata.uns[key]['n_genes']} genes")
    where.spines[["top", "right"]].set_visible(False)
    where.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3 if len(where.lines) <= 3 else 2,
        frameon=False,
        fontsize="small",
        handletextpad=0.2,
        columnspacing=1.0,
        borderaxespad=0.2,
    )
    return finish(axes, "labels", where, show=show, save=save, own=ax is None)
