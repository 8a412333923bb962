"""What panels of every size keep, and the paper's path of solutions along λ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import selection, target
from ._figure import BLUE, VERMILLION, check_ends, documented, figure, finish, one_or_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
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
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | list[Axes] | None:
    """Share of the structure that the panel keeps, against its number of genes.

    The chosen number is marked.  Where it was chosen automatically, the curve goes on to larger
    panels.  A second curve says how near panels of these sizes are to the best possible: they keep
    at least so much of what the best panel of as many genes keeps.  Selections with one of the
    paper's objectives have this picture on the right.  On the left, as in [1]_, are the number of
    genes and the objective against λ, the chosen λ marked.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.
    key
        Which selection: the `key_added` of ``select_genes``.
    ax
        Axes to draw in, as many as there are panels.
    <show, save>

    Returns
    -------
    None if the figure was shown, else the axes, or a list of them for two panels.

    Raises
    ------
    KeyError
        No such selection.
    ValueError
        Another number of axes than of panels.

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
    'genes, the best first'
    """
    check_ends(show, save)
    entry = selection.record(adata, key, "pp.select_genes", "n_genes", "preserved")
    panels = _panels(entry)
    axes = figure(ax, [_WIDTH] * len(panels), _HEIGHT)
    for draw, where in zip(panels, axes, strict=True):
        draw(where, entry)
    return finish(axes, "path", one_or_list(axes), show=show, save=save, own=ax is None)


def _panels(entry: dict[str, Any]) -> list[Callable[[Axes, dict[str, Any]], None]]:
    """Only the paper's objectives walk along λ."""
    return [_along_lambda, _along_size] if "path" in entry else [_along_size]


def _along_lambda(ax: Axes, entry: dict[str, Any]) -> None:
    walk = entry["path"]
    genes = ax.plot(walk["lam"], walk["n_genes"], "o-", ms=3.5, color=BLUE, label="genes")
    right = ax.twinx()
    value = right.plot(
        walk["lam"], walk["objective"], "s--", ms=2.5, lw=1, color=VERMILLION, label="objective"
    )
    count = int(entry["n_genes"])
    label = f"chosen: {count} genes at λ = {entry['lam']:.2g}"
    chosen = ax.axvline(entry["lam"], color="black", ls=":", label=label)
    ax.plot(entry["lam"], count, "D", ms=7, mfc="none", mec="black")
    ax.set(xscale="log", xlabel="λ", ylim=(0, 1.07 * max(*walk["n_genes"], count)))
    _ticks(ax, float(max(walk["lam"]) / min(walk["lam"])))
    ax.set_ylabel("genes with a weight", color=BLUE)
    right.set_ylabel("objective", color=VERMILLION)
    right.set_ylim(bottom=0)
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    _legend(ax, [*genes, *value, chosen])


def _along_size(ax: Axes, entry: dict[str, Any]) -> None:
    """What panels of 1, 2, … genes keep; larger ones than the chosen too, where they were tried."""
    from matplotlib import ticker

    count = int(entry["n_genes"])
    preserved = np.asarray(entry["curve"]["preserved"] if "curve" in entry else entry["preserved"])
    lines = _shares(ax, preserved, "o-", BLUE, f"of {target.described(entry)}")
    best = np.asarray(entry.get("optimality", np.nan))
    if np.isfinite(best).any():
        lines += _shares(ax, best, "s--", VERMILLION, "optimality, at least")
    lines.append(ax.axvline(count, color="black", ls=":", label=f"chosen: {count} genes"))
    ax.plot(count, preserved[count - 1], "D", ms=7, mfc="none", mec="black")
    ax.set(xlabel="genes, the best first", ylabel="share preserved", ylim=(0, 1.05))
    ax.set_xlim(0, 1.03 * len(preserved) + 0.2)
    ax.xaxis.set_major_locator(ticker.MaxNLocator("auto", integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    _legend(ax, lines)


def _shares(ax: Axes, shares: Array, style: str, colour: str, label: str) -> list[Line2D]:
    sizes = np.arange(1, len(shares) + 1)
    return ax.plot(sizes, shares, style, ms=2.5, lw=1, color=colour, label=label)


def _ticks(ax: Axes, span: float) -> None:
    """As many names along λ as there is room for."""
    from matplotlib import ticker

    subs = (1, 2, 3, 5) if span < 10 else (1, 3) if span < 1e2 else (1,)
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=subs, numticks=7))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda lam, _: f"{lam:.0e}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


def _legend(ax: Axes, handles: list[Any]) -> None:
    """Above the axes, where it covers nothing."""
    ax.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize="small",
        handlelength=1.6,
        columnspacing=1.2,
    )
