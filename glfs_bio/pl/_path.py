"""The structure preserved by the first genes, and the path of solutions along λ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import results
from .._docs import documented
from ._colours import BLUE, VERMILLION, colours
from ._figure import Frame, legend, one_or_list, right_axis
from ._results import preserved_label

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from .._typing import Array

_WIDTH, _HEIGHT = 5.2, 3.8


@documented
def path(
    adata: AnnData,
    *,
    key: str = "glfs",
    ax: Axes | Sequence[Axes] | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | list[Axes] | None:
    """Draw the structure preserved by the first genes of a selection.

    The selected number is marked.  Where it was chosen automatically, the curve goes on to larger
    panels.  A second curve is the optimality, a lower bound.  Selections with an objective of the
    original GLFS have this plot on the right.  On the left, as in [1]_, are the number of genes and
    the objective against λ, the selected λ marked.

    Parameters
    ----------
    <adata with a selection>
    <key>
    ax : matplotlib.axes.Axes or sequence of two, default None
        Axes to draw in: two for an objective of the original GLFS.  None: a new figure.
    <title>
    <palette> the first and the second curve
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else the axes, or a list of two.

    References
    ----------
    .. [1] B. Wang and A. Goldenberg, Gradient-based Laplacian Feature Selection, Figure 2A.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.path(adata, show=False)
    >>> ax.get_xlabel()
    'number of genes'
    """
    frame = Frame("path", ax, title, figsize, show, save)
    first, second = colours(palette, BLUE, VERMILLION)
    entry = results.entry(adata, key, "pp.select_genes", "n_genes", "preserved")
    # only the objectives of the original GLFS walk along λ
    plots = [_along_lambda, _along_size] if "path" in entry else [_along_size]
    with frame.axes([_WIDTH] * len(plots), _HEIGHT) as axes:
        for draw, where in zip(plots, axes, strict=True):
            draw(where, entry, first, second)
    return frame.finish(axes, one_or_list(axes))


def _along_lambda(ax: Axes, entry: dict[str, Any], first: Any, second: Any) -> None:
    walk, count = entry["path"], int(entry["n_genes"])
    right = right_axis(ax, "objective", second)
    genes = ax.plot(walk["lam"], walk["n_genes"], "o-", ms=3.5, color=first, label="genes")
    value = right.plot(
        walk["lam"], walk["objective"], "s--", ms=2.5, lw=1, color=second, label="objective"
    )
    label = f"selected: {count} genes at λ = {entry['lam']:.2g}"
    selected = ax.axvline(entry["lam"], color="black", ls=":", label=label)
    ax.plot(entry["lam"], count, "D", ms=7, mfc="none", mec="black")
    ax.set(xscale="log", xlabel="λ", ylim=(0, 1.07 * max(*walk["n_genes"], count)))
    _ticks(ax, float(max(walk["lam"]) / min(walk["lam"])))
    ax.set_ylabel("genes with a weight", color=first)
    right.set_ylim(bottom=0)
    ax.spines["top"].set_visible(False)
    legend(ax, [*genes, *value, selected])


def _along_size(ax: Axes, entry: dict[str, Any], first: Any, second: Any) -> None:
    """Panels of 1, 2, … genes; larger ones than the selected too, where they were tried."""
    from matplotlib import ticker

    count = int(entry["n_genes"])
    preserved = np.asarray(entry["curve"]["preserved"] if "curve" in entry else entry["preserved"])
    lines = _shares(ax, preserved, "o-", first, preserved_label(entry))
    best = np.asarray(entry.get("optimality", np.nan))
    if np.isfinite(best).any():
        lines += _shares(ax, best, "s--", second, "optimality (lower bound)")
    lines.append(ax.axvline(count, color="black", ls=":", label=f"selected: {count} genes"))
    ax.plot(count, preserved[count - 1], "D", ms=7, mfc="none", mec="black")
    ax.set(xlabel="number of genes", ylabel="share", ylim=(0, 1.05))
    ax.set_xlim(0, 1.03 * len(preserved) + 0.2)
    ax.xaxis.set_major_locator(ticker.MaxNLocator("auto", integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, lines)


def _shares(ax: Axes, shares: Array, style: str, colour: Any, label: str) -> list[Line2D]:
    sizes = np.arange(1, len(shares) + 1)
    return ax.plot(sizes, shares, style, ms=2.5, lw=1, color=colour, label=label)


def _ticks(ax: Axes, span: float) -> None:
    """As many names along λ as there is room for."""
    from matplotlib import ticker

    subs = (1, 2, 3, 5) if span < 10 else (1, 3) if span < 1e2 else (1,)
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=subs, numticks=7))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda lam, _: f"{lam:.0e}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())
