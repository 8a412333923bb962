"""What the share of the structure means that a panel keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import target
from ._figure import (
    BLUE,
    GREY,
    VERMILLION,
    check_ends,
    documented,
    evaluation,
    figure,
    finish,
    rows,
)

if TYPE_CHECKING:
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
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Show what a panel keeps beside random panels, GLFS's own, and what no panel can keep.

    All panels have the same size.  The share is on one scale, where 0 is no gene and 1 is all
    genes.  No panel of that size reaches into the grey.

    Parameters
    ----------
    adata
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote.
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
        The panel was not judged.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel)
    >>> ax = glfs_bio.pl.preserved(adata, show=False)
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['this panel', 'selected by glfs_bio', '20 random panels']
    """
    check_ends(show, save)
    entry = evaluation(adata, key)
    strips = _strips(entry)
    axes = figure(ax, [_WIDTH], _PER_ROW * len(strips) + _MARGIN)
    where = axes[0]
    for place, (values, style) in enumerate(strips.values()):
        spread = np.linspace(-_SPREAD, _SPREAD, values.size) if values.size > 1 else np.zeros(1)
        # one beside the other, whatever their order
        across = place + np.random.default_rng(0).permutation(spread)
        where.plot(values, across, ls="", clip_on=False, zorder=3, **style)
    most = float(entry["most_preserved"])
    where.axvspan(most, 1.0, color="#EBEBEB", lw=0)
    where.axvline(most, color="black", lw=1, ls="--")
    where.text(
        *(most, 1.02, f"at most {most:.2f} with {entry['n_genes']} genes"),
        transform=where.get_xaxis_transform(),
        ha="right" if most > 0.5 else "left",
        va="bottom",
        fontsize=9,
    )
    rows(where, list(strips), [_value(values) for values, _ in strips.values()])
    where.set(
        xlim=(0, 1),
        xlabel=f"share of {target.described(entry)} that is preserved (1: by all genes)",
    )
    where.spines[["top", "right", "left"]].set_visible(False)
    return finish(axes, "preserved", where, show=show, save=save, own=ax is None)


def _strips(entry: dict[str, Any]) -> dict[str, tuple[Array, dict[str, Any]]]:
    """Rows of the picture: shares, and how their points look."""
    own = {"marker": "D", "ms": 9, "color": VERMILLION}
    strips = {"this panel": (np.array([entry["preserved"]]), own)}
    if "preserved_on_platform" in entry:
        failing = np.array([entry["preserved_on_platform"]])
        strips["this panel, as genes fail"] = failing, own | {"mfc": "none", "mew": 1.5}
    if "batches" in entry:
        each = {"marker": "D", "ms": 5, "color": VERMILLION, "alpha": 0.7, "mew": 0}
        of_batches = np.ravel(entry["preserved_in_batches"])
        of_batches = of_batches[~np.isnan(of_batches)]  # of which there is nothing to keep
        strips[f"this panel, in each of {of_batches.size} batches"] = of_batches, each
    best = {"marker": "s", "ms": 8, "color": BLUE}
    strips["selected by glfs_bio"] = np.array([entry["best_preserved"]]), best
    random = np.ravel(entry["random_preserved"])
    if random.size:
        name = f"{random.size} random panel{'s' if random.size > 1 else ''}"
        strips[name] = random, {"marker": "o", "ms": 4, "color": GREY, "alpha": 0.7, "mew": 0}
    return strips


def _value(values: Array) -> str:
    """A share, or the range of several."""
    low, high = float(values.min()), float(values.max())
    return f"{high:.2f}" if values.size == 1 else f"{low:.2f}–{high:.2f}"
