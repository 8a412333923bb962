"""Stability of a selection over parts of the cells."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from .._anndata import selection
from ._figure import BARS, BLUE, GREY, bars_size, check_ends, documented, draw_bars, figure, finish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes

#: Letters of a line above the bars.
_LETTERS = 34
_MATRIX, _TALL = 3.2, 4.2


@documented
def stability(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    key: str = "glfs_stability",
    symbols: str | None = None,
    ax: Sequence[Axes] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> list[Axes] | None:
    """Bars of the selection frequencies, and the pairwise Jaccard indices of the selections.

    Genes of the panel are blue and the others grey.  Where the selection in `adata` is not the one
    that was examined, all bars are blue, and a line says in what it differs.

    Parameters
    ----------
    adata
        Cells × genes, with what :func:`~glfs_bio.tl.stability` wrote.
    n_genes
        How many of the most frequent genes, in columns of at most 50; those that no selection has
        are left out.  None: the mean size of the selections.
    key
        The `key_added` of ``tl.stability``.
    <symbols>
    ax
        Two axes to draw in: bars, and matrix.
    <show, save>

    Returns
    -------
    None if the figure was shown, else a list of the axes, the matrix last.

    Raises
    ------
    KeyError
        No such result or column.
    TypeError, ValueError
        A number of genes that cannot be, or not two axes.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> glfs_bio.tl.stability(adata, n_resamples=3)
    >>> bars, matrix = glfs_bio.pl.stability(adata, show=False)
    >>> len(bars.get_yticklabels())
    10
    """
    check_ends(show, save)
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    entry = selection.record(adata, key, "tl.stability", "jaccard", "n_genes")
    frequency = selection.frequency(adata, key)
    size = round(float(np.mean(entry["n_genes"]))) if n_genes is None else n_genes
    frequency = frequency[frequency > 0].head(size)
    called = selection.names(adata, symbols).fillna(adata.var_names.to_series())
    columns, height = bars_size(len(frequency))
    columns = columns if ax is None else [BARS.width]
    axes = figure(ax, [*columns, _MATRIX], max(height, _TALL))
    draw_bars(
        axes[:-1], list(called.loc[frequency.index]), frequency.to_numpy(), "selection frequency"
    )
    if entry.get("of") in adata.uns:
        _of_which(axes[:-1], adata, entry["of"], key, frequency.index)
    _matrix(axes[-1], entry["jaccard"], entry["mean_jaccard"])
    return finish(axes, "stability", list(axes), show=show, save=save, own=ax is None)


def _of_which(
    axes: Sequence[Axes], adata: AnnData, key: str, stability_key: str, genes: pd.Index
) -> None:
    """Tell which genes are in the panel, or why that cannot be told."""
    different = selection.difference(adata, key, stability_key)
    if different is not None:
        title = f"not of the selection under {key!r}: {different}"
        axes[0].set_title(
            textwrap.fill(title, _LETTERS), fontsize="small", loc="left", parse_math=False
        )
        return
    selected = adata.var[f"{key}_selected"].loc[genes].astype(bool)
    bars = [bar for ax in axes for bar in ax.patches]
    for bar, inside in zip(bars, selected, strict=True):
        bar.set_color(BLUE if inside else GREY)
    if not selected.all():
        for colour, label in ((BLUE, "in the panel"), (GREY, "not in it")):
            axes[-1].barh(np.nan, np.nan, color=colour, label=label)
        axes[-1].legend(loc="lower right", fontsize="small")


def _matrix(ax: Axes, jaccard: np.ndarray, mean: float) -> None:
    image = ax.imshow(jaccard, vmin=0, vmax=1, cmap="cividis")
    ax.set(xlabel="part of the cells", ylabel="part of the cells")
    ax.set_title(f"mean {mean:.2f} over the pairs", fontsize="medium")
    places = np.arange(0, len(jaccard), max(len(jaccard) // 5, 1))
    ax.set_xticks(places, places + 1)
    ax.set_yticks(places, places + 1)
    ax.set_anchor("N")
    below = ax.inset_axes((0.0, -0.3, 1.0, 0.05))
    ax.figure.colorbar(image, cax=below, label="Jaccard index", orientation="horizontal")
