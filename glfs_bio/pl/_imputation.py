"""How well a panel predicts the genes that are not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidValue
from ._figure import BLUE, check_ends, column, documented, figure, finish

if TYPE_CHECKING:
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
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Histogram of R² of the genes that are not in the panel, as the panel predicts them.

    R² is of what the structure of the cells explains of a gene.  The dotted line is the median.

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
    ValueError
        It has every gene that varies.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel)
    >>> ax = glfs_bio.pl.imputation(adata, show=False)
    >>> ax.get_ylabel()
    'genes'
    """
    check_ends(show, save)
    found = column(adata, key, "var", "r2").dropna().to_numpy(dtype=float)
    if not found.size:
        raise InvalidValue("key", key, "is of a panel that leaves no gene to be predicted")
    axes = figure(ax, [_WIDTH], _HEIGHT)
    where, median = axes[0], float(np.median(found))
    lowest = min(0.0, float(found.min()))
    where.hist(found, bins=_N_BINS, range=(lowest, 1.0), color=BLUE)
    where.axvline(median, color="black", ls=":", label=f"median {median:.2f}")
    where.set(xlabel=f"R² of {found.size:,} unmeasured genes", ylabel="genes")
    where.set_xlim(lowest, 1.0)
    where.spines[["top", "right"]].set_visible(False)
    where.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize="small",
        borderaxespad=0.2,
    )
    return finish(axes, "imputation", where, show=show, save=save, own=ax is None)
