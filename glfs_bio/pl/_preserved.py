"""The structure preserved by a panel, next to that of other panels of its size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._docs import documented
from ._colours import BLUE, GREY, VERMILLION, colours
from ._figure import Frame
from ._results import evaluation, preserved_label
from ._rows import beside, name_places

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes

    from .._typing import Array

_WIDTH, _PER_ROW, _MARGIN = 6.6, 0.36, 1.2
#: Points of random panels lie so far above and below one another.
_SPREAD = 0.24


@documented
def preserved(
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
    """Show the structure preserved by a panel, by random panels and by a selection of glfs_bio.

    All panels have the same size.  0 is no gene and 1 is all genes.  The grey area is above the
    upper bound: no panel of that size reaches it.

    Parameters
    ----------
    <adata with results> tl.evaluate_panel
    <evaluation key>
    <ax>
    <title>
    <palette> the panel, the selection of glfs_bio, and random panels
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else the axes.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel)
    >>> ax = glfs_bio.pl.preserved(adata, show=False)
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['this panel, 5 genes', 'selected by glfs_bio', '20 random panels']
    """
    frame = Frame("preserved", ax, title, figsize, show, save)
    chosen = colours(palette, VERMILLION, BLUE, GREY)
    entry = evaluation(adata, key)
    strips, most = _strips(entry, *chosen), float(entry["most_preserved"])
    with frame.axes([_WIDTH], _PER_ROW * len(strips) + _MARGIN) as (where,):
        for place, (values, style) in enumerate(strips.values()):
            spread = np.linspace(-_SPREAD, _SPREAD, values.size) if values.size > 1 else np.zeros(1)
            # next to one another, whatever their order
            across = place + np.random.default_rng(0).permutation(spread)
            where.plot(values, across, ls="", clip_on=False, zorder=3, **style)
        where.axvspan(most, 1.0, color="#EBEBEB", lw=0)
        where.axvline(most, color="black", lw=1, ls="--")
        where.set(xlim=(0, 1), xlabel=preserved_label(entry))
        where.spines[["top", "right", "left"]].set_visible(False)
        size = name_places(where, list(strips))
        beside(where, [_value(values) for values, _ in strips.values()], size)
        where.text(
            *(most, 1.02, f"upper bound {most:.2f}"),
            transform=where.get_xaxis_transform(),
            ha="right" if most > 0.5 else "left",
            va="bottom",
            fontsize=size,
        )
    return frame.finish([where], where)


def _strips(
    entry: dict[str, Any], of_panel: Any, of_selection: Any, of_random: Any
) -> dict[str, tuple[Array, dict[str, Any]]]:
    """Rows of the plot: shares, and how their points look."""
    own = {"marker": "D", "ms": 9, "color": of_panel}
    name = f"this panel, {entry['n_genes']} genes"
    strips = {name: (np.array([entry["preserved"]]), own)}
    if "preserved_on_platform" in entry:
        measured = np.array([entry["preserved_on_platform"]])
        strips["this panel, on the platform"] = measured, own | {"mfc": "none", "mew": 1.5}
    if "batches" in entry:
        each = {"marker": "D", "ms": 5, "color": of_panel, "alpha": 0.7, "mew": 0}
        of_batches = np.ravel(entry["preserved_in_batches"])
        of_batches = of_batches[~np.isnan(of_batches)]  # without any structure to preserve
        strips[f"this panel, in {of_batches.size} batches"] = of_batches, each
    best = {"marker": "s", "ms": 8, "color": of_selection}
    strips["selected by glfs_bio"] = np.array([entry["best_preserved"]]), best
    random = np.ravel(entry["random_preserved"])
    if random.size:
        name = f"{random.size} random panel{'s' if random.size > 1 else ''}"
        strips[name] = random, {"marker": "o", "ms": 4, "color": of_random, "alpha": 0.7, "mew": 0}
    return strips


def _value(values: Array) -> str:
    """A share, or the range of several."""
    low, high = float(values.min()), float(values.max())
    return f"{high:.2f}" if values.size == 1 else f"{low:.2f}–{high:.2f}"
