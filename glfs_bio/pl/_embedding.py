"""UMAPs of the cells, by all genes and by a panel."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from anndata import AnnData
from scipy.sparse import SparseEfficiencyWarning

from .._anndata import read

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COMPONENTS = 50


def embeddings(
    adata: AnnData, cells: AnnData, layer: str | None, random_state: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates by all genes, re-used where they are there, and by those of `cells` alone."""
    return _of_all(adata, layer, random_state), _umap(AnnData(cells.X), random_state)


def _of_all(adata: AnnData, layer: str | None, random_state: int) -> NDArray[np.float64]:
    if "X_umap" in adata.obsm:
        return np.asarray(adata.obsm["X_umap"])[:, :2]
    graph = read.graph(adata, None)
    if graph is None:
        return _umap(AnnData(read.matrix(adata, layer)), random_state)
    import scanpy as sc

    bare = AnnData(np.zeros((adata.n_obs, 1), dtype=np.float32), uns=dict(adata.uns))
    bare.obsm.update(adata.obsm)
    bare.obsp.update(adata.obsp)
    sc.tl.umap(bare, random_state=random_state)
    return np.asarray(bare.obsm["X_umap"])


def _umap(cells: AnnData, random_state: int) -> NDArray[np.float64]:
    """By principal components, where there are more genes than that."""
    import scanpy as sc

    n_comps = min(_COMPONENTS, min(cells.shape) - 1)
    if cells.n_vars > _COMPONENTS:
        sc.pp.pca(cells, n_comps=n_comps, random_state=random_state)
    use_rep = "X_pca" if cells.n_vars > _COMPONENTS else "X"
    with warnings.catch_warnings():  # scanpy, where cells are equal in the few genes of a panel
        warnings.filterwarnings("ignore", "Changing the sparsity", SparseEfficiencyWarning)
        sc.pp.neighbors(cells, use_rep=use_rep, random_state=random_state)
    sc.tl.umap(cells, random_state=random_state)
    return np.asarray(cells.obsm["X_umap"])
