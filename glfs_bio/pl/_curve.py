"""How many genes: the structure preserved by panels of every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import results
from .._docs import documented
from ._colours import BLUE, VERMILLION, colours
from ._figure import Frame, legend, right_axis
from ._results import preserved_label

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_WIDTH, _HEIGHT = 5.8, 3.8


@documented
def curve(
    adata: AnnData,
    *,
    key: str = "glfs_curve",
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Draw the structure preserved against the number of genes.

    The band above the line ends at the upper bound: no panel of that size preserves more.  Where
    labels were predicted, accuracy and macro-F1 are on a second axis on the right.

    Parameters
    ----------
    <adata with results> tl.curve
    key : str, default "glfs_curve"
        The `key_added` of ``tl.curve``.
    <ax>
    <title>
    <palette> the structure preserved, and the labels
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else the axes of the structure preserved.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.tl.curve(adata, 20)
    >>> ax = glfs_bio.pl.curve(adata, show=False)
    >>> ax.get_xlabel()
    'number of genes'
    """
    frame = Frame("curve", ax, title, figsize, show, save)
    of_panel, of_labels = colours(palette, BLUE, VERMILLION)
    from matplotlib import ticker

    entry = results.current(adata, key, "tl.curve", "table")
    table = entry["table"]
    sizes, preserved = table["n_genes"].to_numpy(), table["preserved"].to_numpy()
    most = np.minimum(preserved / table["optimality"].to_numpy(), 1.0)
    with frame.axes([_WIDTH], _HEIGHT) as (where,):
        handles: list[Any] = where.plot(sizes, preserved, color=of_panel, lw=2, zorder=3)
        handles[0].set_label("preserved")
        if np.isfinite(most).any():
            band = where.fill_between(sizes, preserved, most, color=of_panel, alpha=0.25, lw=0)
            band.set_label("up to the upper bound")
            handles.append(band)
        where.set_ylabel(preserved_label(entry), color=of_panel)
        where.tick_params(axis="y", colors=of_panel)
        where.set(xlabel="number of genes", xlim=(0, 1.02 * sizes[-1]), ylim=(0, 1.02))
        where.xaxis.set_major_locator(ticker.MaxNLocator("auto", integer=True))
        where.spines[["top", "right"]].set_visible(False)
        if "accuracy" in table:
            handles += _labels(where, table.dropna(subset="accuracy"), of_labels)
        legend(where, handles)
    return frame.finish([where], where)


def _labels(ax: Axes, table: pd.DataFrame, colour: Any) -> list[Line2D]:
    """Accuracy and macro-F1, on the right."""
    right = right_axis(ax, "labels, leave-one-out", colour)
    right.set_ylim(0, 1.02)
    style = {"ms": 4, "lw": 1, "color": colour}
    return [
        *right.plot(table["n_genes"], table["accuracy"], "o-", label="accuracy", **style),
        *right.plot(
            table["n_genes"], table["macro_f1"], "s--", mfc="white", label="macro-F1", **style
        ),
    ]
