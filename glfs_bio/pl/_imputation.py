"""How well a panel predicts the genes that are not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._docs import documented
from ..errors import InvalidValue
from ._colours import BLUE, colours
from ._figure import Frame, legend
from ._results import column

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT, _N_BINS = 5.0, 3.4, 25


@documented
def imputation(
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
    """Histogram of R² of the genes that are not in the panel, as the panel predicts them.

    R² is of what the structure of the cells explains of a gene.  The dotted line is the median.

    Parameters
    ----------
    <adata with results> tl.evaluate_panel
    <evaluation key>
    <ax>
    <title>
    <palette> the bars
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
    >>> ax = glfs_bio.pl.imputation(adata, show=False)
    >>> ax.get_ylabel()
    'number of genes'
    """
    frame = Frame("imputation", ax, title, figsize, show, save)
    (colour,) = colours(palette, BLUE)
    found = column(adata, key, "var", "r2").dropna().to_numpy(dtype=float)
    if not found.size:
        raise InvalidValue("key", key, "is of a panel that leaves no gene to be predicted")
    lowest, median = min(0.0, float(found.min())), float(np.median(found))
    with frame.axes([_WIDTH], _HEIGHT) as (where,):
        where.hist(found, bins=_N_BINS, range=(lowest, 1.0), color=colour)
        line = where.axvline(median, color="black", ls=":", label=f"median {median:.2f}")
        where.set(xlabel=f"R² of {found.size:,} unmeasured genes", ylabel="number of genes")
        where.set_xlim(lowest, 1.0)
        where.spines[["top", "right"]].set_visible(False)
        legend(where, [line])
    return frame.finish([where], where)
