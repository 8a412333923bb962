"""Subspaces of the cells: orthonormal V, and genes seen through it.

With ``C = XV`` in place of X and ``K = VᵀBV`` in place of B the objective is exactly that of the
matrix ``XVVᵀ``; the number of cells is gone from all that follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.linalg import qr
from sklearn.decomposition import PCA

if TYPE_CHECKING:
    from ._typing import Array, Matrix

_RANK_TOLERANCE = 1e-10


def orthonormal(representation: Array) -> Array:
    """Orthonormal basis of the centred columns of `representation`, shape (n_cells, rank).

    Its leading columns span what the leading independent columns of `representation` span.
    """
    centred = representation - representation.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    centred = centred[:, scale > 0] / scale[scale > 0]
    triangle, order = qr(centred, mode="r", pivoting=True, check_finite=False)
    pivots = np.abs(np.diag(triangle))
    independent = np.sort(order[: len(pivots)][pivots > _RANK_TOLERANCE * pivots.max(initial=0.0)])
    return np.asarray(np.linalg.qr(centred[:, independent])[0])


def full_rank(data: Matrix, *, whole_space: bool = False) -> Array:
    """Basis of the row space of the centred genes, or the identity where that is no larger.

    Directions that no gene reaches change neither the exact objective nor the mse.  They do change
    the printed one, which is not a function of the subspace: it needs the `whole_space`.
    """
    n_cells, n_genes = data.shape
    if whole_space or n_genes >= n_cells:
        return np.eye(n_cells)
    return orthonormal(data.toarray() if sparse.issparse(data) else data)


def principal_components(data: Matrix, n_comps: int, random_state: int | None = 0) -> Array:
    """Scores of the cells on the leading principal components, shape (n_cells, n_comps).

    Sparse data stay sparse, unless one side is so short that all components are asked for.
    """
    if n_comps >= min(data.shape):
        dense = data.toarray() if sparse.issparse(data) else data
        return np.asarray(PCA(svd_solver="full").fit_transform(dense))
    model = PCA(n_comps, svd_solver="arpack", random_state=random_state)
    return np.asarray(model.fit_transform(data))


def project(data: Matrix, basis: Array) -> Array:
    """``C = XV`` for the centred genes, shape (n_genes, r)."""
    return np.asarray(data.T @ (basis - basis.mean(axis=0)))
