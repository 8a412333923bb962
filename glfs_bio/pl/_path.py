"""The path of solutions along λ, and how the size was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import selection
from ._figure import BLUE, GREY, VERMILLION, check_ends, finish, given, one_or_list, row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT = 5.2, 3.8


def path(
    adata: AnnData,
    *,
    key: str = "glfs",
    ax: Axes | Sequence[Axes] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | list[Axes] | None:
    """Number of genes and objective against λ, the chosen λ marked.

    As in [1]_.  For a panel that was completed greedily, and where the number of genes was chosen
    automatically, a second panel shows the share of the structure that so many genes keep, the
    chosen number marked.  It is the only one where λ gave no more than the genes to start from.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.
    key
        Which selection: the `key_added` of ``select_genes``.
    ax
        Axes to draw in, as many as there are panels.
    show
        Whether to show the figure and return nothing.  None: ``scanpy.settings.autoshow``, unless
        `ax` or `save` is given.
    save
        File to write; True, or a bare ending like ``".pdf"``: a file in
        ``scanpy.settings.figdir``.

    Returns
    -------
    None if the figure was shown, else the axes, or a list of them for two panels.

    Raises
    ------
    KeyError
        No such selection, or one without a path.
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
    >>> ax.get_xscale()
    'log'
    """
    check_ends(show, save)
    entry = selection.record(adata, key, "pp.select_genes", "n_genes")
    panels = _panels(entry)
    if not panels:
        msg = f"adata.uns[{key!r}] has no path: its method does not walk along λ."
        raise KeyError(msg)
    axes = row([_WIDTH] * len(panels), _HEIGHT) if ax is None else given(ax, len(panels))
    for draw, where in zip(panels, axes, strict=True):
        draw(where, entry)
    shown = finish(axes, "path", show=show, save=save, own=ax is None)
    return None if shown else one_or_list(axes)


def _panels(entry: dict[str, Any]) -> list[Callable[[Axes, dict[str, Any]], None]]:
    """What there is to draw: a single solution is no path where the panel grew beyond it."""
    by_size = "completed" in entry or "curve" in entry
    walked = "path" in entry and (len(entry["path"]["lam"]) > 1 or not by_size)
    return [_along_lambda] * walked + [_along_size] * by_size


def _along_lambda(ax: Axes, entry: dict[str, Any]) -> None:
    walk = entry["path"]
    genes = ax.plot(walk["lam"], walk["n_genes"], "o-", ms=3.5, color=BLUE, label="genes")
    right = ax.twinx()
    value = right.plot(
        walk["lam"], walk["objective"], "s--", ms=2.5, lw=1, color=VERMILLION, label="objective"
    )
    count = int(entry["n_genes"])
    how = ", greedy from" if entry.get("finish") == "greedy" else " at"
    label = f"chosen: {count} genes{how} λ = {entry['lam']:.2g}"
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
    """In all directions what the panel keeps, in the leading ones what its size was chosen by."""
    count, lines = int(entry["n_genes"]), []
    several = "completed" in entry and "curve" in entry
    for part, colour, where in (
        ("completed", BLUE, ", all directions"),
        ("curve", GREY if several else BLUE, ", leading directions"),
    ):
        if part in entry:
            curve = entry[part]
            label = "kept" + where * several
            style = "--" if colour == GREY else "-"
            lines += ax.plot(curve["n_genes"], curve["kept"], style, color=colour, label=label)
            if part == "completed":
                ax.plot(count, curve["kept"][-1], "D", ms=7, mfc="none", mec="black")
    lines.append(ax.axvline(count, color="black", ls=":", label=f"chosen: {count} genes"))
    ax.set(xlabel="genes", ylabel="share of the structure kept", ylim=(0, 1.05))
    ax.set_xlim(left=0)
    if "completed" in entry:
        walk = entry["path"]
        first = int(walk["n_genes"][np.argmin(np.abs(walk["lam"] - entry["lam"]))])
        title = f"completed greedily from the {first} genes at λ = {entry['lam']:.2g}"
        ax.set_title(title, fontsize="medium", pad=24)
        ax.set_xlabel("genes, in the order in which they entered")
    ax.spines[["top", "right"]].set_visible(False)
    _legend(ax, lines)


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
