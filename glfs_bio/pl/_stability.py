"""Stability of a selection over subsamples of the cells."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._anndata import read, results, stale
from .._docs import documented
from ._colours import BLUE, GREY, colour_map, colours
from ._figure import Frame, colour_bar, legend
from ._rows import BARS, bars_size, draw_bars

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from .._typing import Array

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
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    cmap: str | Colormap = "cividis",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> list[Axes] | None:
    """Draw selection frequencies, and the pairwise Jaccard indices of the selections.

    Genes of the panel are blue and other genes grey.  Where the selection in `adata` is not the one
    that was examined, all bars are blue, and the title says how it differs.

    Parameters
    ----------
    <adata with results> tl.stability
    n_genes : int, default None
        Number of genes, the most frequent first, in columns of at most 50; genes of no selection
        are left out.  None: the mean size of the selections.
    key : str, default "glfs_stability"
        The `key_added` of ``tl.stability``.
    <shown symbols>
    ax : sequence of two matplotlib.axes.Axes, default None
        Axes to draw bars and matrix in.  None: a new figure.
    <title>
    <palette> genes of the panel, and other genes
    <cmap> "cividis"
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else a list of the axes, the matrix last.

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
    frame = Frame("stability", ax, title, figsize, show, save)
    inside, outside = colours(palette, BLUE, GREY)
    matrix = colour_map(cmap)
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    entry = results.entry(adata, key, "tl.stability", "jaccard", "n_genes")
    frequency = results.frequency(adata, key)
    size = round(float(np.mean(entry["n_genes"]))) if n_genes is None else n_genes
    frequency = frequency[frequency > 0].head(size)
    called = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    names = list(called.loc[frequency.index])
    columns, height = bars_size(len(frequency))
    columns = columns if ax is None else [BARS.width]
    with frame.axes([*columns, _MATRIX], max(height, _TALL)) as axes:
        *bars, last = axes
        draw_bars(bars, names, frequency.to_numpy(), "selection frequency", inside)
        if entry.get("of") in adata.uns:
            _mark(bars, adata, entry["of"], key, frequency.index, (inside, outside))
        _matrix(last, entry["jaccard"], entry["mean_jaccard"], matrix)
    return frame.finish(axes, list(axes))


def _mark(
    axes: Sequence[Axes],
    adata: AnnData,
    key: str,
    stability_key: str,
    genes: pd.Index,
    chosen: Sequence[Any],
) -> None:
    """Distinguish the genes of the panel, or say why the panel is another."""
    from matplotlib.patches import Patch

    different = stale.difference(adata, key, adata.uns[stability_key])
    if different is not None:
        text = f"not of the selection under {key!r}: {different}"
        axes[0].set_title(textwrap.fill(text, _LETTERS), fontsize="small", parse_math=False)
        return
    selected = adata.var[f"{key}_selected"].loc[genes].astype(bool)
    bars = [bar for ax in axes for bar in ax.patches]
    for bar, inside in zip(bars, selected, strict=True):
        bar.set_color(chosen[0] if inside else chosen[1])
    if not selected.all():
        labels = dict(zip(("in the panel", "not in it"), chosen, strict=True))
        legend(axes[0], [Patch(color=colour, label=label) for label, colour in labels.items()])


def _matrix(ax: Axes, jaccard: Array, mean: float, cmap: Colormap) -> None:
    image = ax.imshow(jaccard, vmin=0, vmax=1, cmap=cmap)
    ax.set(xlabel="subsample", ylabel="subsample", title=f"mean Jaccard index {mean:.2f}")
    places = np.arange(0, len(jaccard), max(len(jaccard) // 5, 1))
    ax.set_xticks(places, places + 1)
    ax.set_yticks(places, places + 1)
    ax.set_anchor("N")
    colour_bar(image, ax, "Jaccard index", location="bottom", shrink=0.9, pad=0.05, aspect=15)
