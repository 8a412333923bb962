"""The cells that a panel explains least."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks
from .._docs import documented
from ..errors import OBSM, NotFound, listed, shown
from ._colours import colour_map
from ._figure import Frame, point_size
from ._results import column

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

_WIDTH, _HEIGHT = 5.4, 4.2
_KINDS = {"X_umap": "UMAP", "X_pca": "PC"}


@documented
def unexplained(
    adata: AnnData,
    *,
    key: str = "glfs_evaluation",
    basis: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    cmap: str | Colormap = "cividis",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | None:
    """Show the cells, coloured by the variation of each that the panel leaves unexplained.

    The unit is that of a mean cell without any gene.  The colours end at the 99th percentile.

    Parameters
    ----------
    <adata with results> tl.evaluate_panel
    <evaluation key>
    basis : str, default None
        Key of ``.obsm``, with or without ``X_``.  None: ``X_umap``, or else ``X_pca``.
    <ax>
    <title>
    <cmap> "cividis"
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
    >>> ax = glfs_bio.pl.unexplained(adata, show=False)
    >>> ax.get_xlabel()
    'UMAP 1'
    """
    frame = Frame("unexplained", ax, title, figsize, show, save)
    colours = colour_map(cmap)
    import scanpy as sc

    unexplained = column(adata, key, "obs", "unexplained").to_numpy(dtype=float)
    name = _basis(adata, basis)
    cells = AnnData(
        obs=pd.DataFrame({"unexplained": unexplained}, index=adata.obs_names),
        obsm={"X_cells": np.asarray(adata.obsm[name])[:, :2]},
    )
    with frame.axes([_WIDTH], _HEIGHT) as (where,), warnings.catch_warnings():
        # scanpy 1.11 sets colours of a colour map in a way that matplotlib 3.11 will drop
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        sc.pl.embedding(
            cells,
            "cells",
            color="unexplained",
            color_map=colours,
            size=point_size(where, adata.n_obs),
            vmin=0,
            vmax="p99",
            title=f"unexplained, panel of {adata.uns[key]['n_genes']} genes",
            ax=where,
            show=False,
        )
        called = _KINDS.get(name, name.removeprefix("X_"))
        where.set(xlabel=f"{called} 1", ylabel=f"{called} 2")
    return frame.finish([where], where)


def _basis(adata: AnnData, basis: str | None) -> str:
    """Key of the embedding."""
    checks.texts(basis=basis, or_none=True)
    candidates = tuple(_KINDS) if basis is None else (basis, f"X_{basis}")
    for name in candidates:
        if name in adata.obsm:
            return name
    raise NotFound(
        "basis",
        basis,
        f"is no embedding, as {OBSM} has none of {shown(*candidates)}",
        f"run scanpy.tl.umap, or choose from {listed(adata.obsm)}",
    )
