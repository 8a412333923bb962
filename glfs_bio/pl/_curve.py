"""How many genes: what panels of every size keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import provenance, target
from ._figure import BLUE, VERMILLION, check_ends, documented, figure, finish

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT = 5.8, 3.8


@documented
def curve(
    adata: AnnData,
    *,
    key: str = "glfs_curve",
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Draw what panels keep against their number of genes.

    The band above the line ends where no panel of that size could keep more.  Where labels were
    predicted, accuracy and macro-F1 are on a second axis on the right.

    Parameters
    ----------
    adata
        Cells × genes, with what :func:`~glfs_bio.tl.curve` wrote.
    key
        The `key_added` of ``tl.curve``.
    ax
        Axes to draw in.
    <show, save>

    Returns
    -------
    None if the figure was shown, else the axes of the share.

    Raises
    ------
    KeyError
        There is no such curve.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.tl.curve(adata, 20)
    >>> ax = glfs_bio.pl.curve(adata, show=False)
    >>> ax.get_xlabel()
    'genes, the best first'
    """
    check_ends(show, save)
    from matplotlib import ticker

    entry = provenance.result(adata, key, "tl.curve", "table")
    table = entry["table"]
    axes = figure(ax, [_WIDTH], _HEIGHT)
    where = axes[0]
    sizes, preserved = table["n_genes"].to_numpy(), table["preserved"].to_numpy()
    handles: list[Any] = where.plot(sizes, preserved, color=BLUE, lw=2, label="preserved", zorder=3)
    most = np.minimum(preserved / table["optimality"].to_numpy(), 1.0)
    if np.isfinite(most).any():
        band = where.fill_between(sizes, preserved, most, color=BLUE, alpha=0.25, lw=0)
        band.set_label("no panel keeps more")
        handles.append(band)
    if "accuracy" in table:
        right, predicted = where.twinx(), table.dropna(subset="accuracy")
        for name, style in {"accuracy": "o-", "macro_f1": "s--"}.items():
            face = VERMILLION if name == "accuracy" else "white"
            handles += right.plot(
                *(predicted["n_genes"], predicted[name], style),
                ms=4,
                lw=1,
                color=VERMILLION,
                mfc=face,
                label=name.replace("macro_f1", "macro-F1"),
            )
        right.set_ylabel("labels, leave-one-out", color=VERMILLION)
        right.tick_params(axis="y", colors=VERMILLION)
        right.set_ylim(0, 1.02)
        right.spines["top"].set_visible(False)
    where.set_ylabel(f"share of {target.described(entry)} that is preserved", color=BLUE)
    where.tick_params(axis="y", colors=BLUE)
    where.set(xlabel="genes, the best first", xlim=(0, 1.02 * sizes[-1]), ylim=(0, 1.02))
    where.xaxis.set_major_locator(ticker.MaxNLocator("auto", integer=True))
    where.spines["top"].set_visible(False)
    where.spines["right"].set_visible("accuracy" in table)
    where.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize="small",
        handlelength=1.8,
        columnspacing=1.2,
    )
    return finish(axes, "curve", where, show=show, save=save, own=ax is None)
