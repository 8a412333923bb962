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

from . import checks
from .krylov import leading_eigenvectors
from .moments import moments
from .passes import Cells, no_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._typing import Array, Matrix
    from .passes import Sums

_RANK_TOLERANCE = 1e-10


def check_coordinates(values: ArrayLike, n_cells: int, name: str = "representation") -> Array:
    """Return coordinates as a float array, or say what is wrong with them.

    Raises
    ------
    TypeError
        Not real numbers.
    ValueError
        Not one row a cell, not finite, or the same for all cells.
    """
    shape = np.shape(values)
    if len(shape) != 2 or shape[0] != n_cells:
        msg = f"{name} has shape {shape}: it must have one row for each of {n_cells} cells."
        raise ValueError(msg)
    coordinates = checks.real(name, values)
    if not np.ptp(coordinates, axis=0).any():
        msg = f"{name} is the same for all cells: recompute it."
        raise ValueError(msg)
    return coordinates


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


def principal_components(
    data: Matrix | Cells,
    n_comps: int,
    random_state: int | None = 0,
    *,
    mean: Array | None = None,
    scale: Array | None = None,
) -> Array:
    """Scores of the cells on the leading principal components, shape (n_cells, n_comps).

    Sparse data stay sparse, unless one side is so short that all components are asked for.

    Parameters
    ----------
    data
        Cells × genes.
    n_comps
        Number of components.
    random_state
        Seed of :func:`~glfs_bio.core.krylov.leading_eigenvectors`.
    mean
        Mean of every gene where it is known.
    scale
        What genes are multiplied with; None: one.
    """
    cells = Cells(data)
    mean = moments(cells)[0].mean if mean is None else mean
    scale = np.ones_like(mean) if scale is None else scale
    if n_comps >= min(cells.shape):
        whole = cells.take(np.arange(cells.shape[0]))
        dense = whole.toarray() if sparse.issparse(whole) else whole
        return np.asarray(PCA(svd_solver="full").fit_transform(dense * scale))
    weights = scale[:, None] * loadings(cells, n_comps, mean, scale, random_state)
    return np.asarray(cells.sweep(_scores, weights, mean @ weights)[1])


def loadings(
    cells: Cells, n_comps: int, mean: Array, scale: Array, random_state: int | None
) -> Array:
    """Leading eigenvectors of ``X̃ᵀX̃`` for ``X̃ = (X − mean) diag(scale)``, one column each."""

    def times(block: Array) -> Array:
        weights = scale[:, None] * block
        (product,), _ = cells.sweep(_there_and_back, weights, mean @ weights)
        return scale[:, None] * product

    return leading_eigenvectors(times, cells.shape[1], n_comps, random_state)


def spread(
    cells: Cells, start: Array, n_comps: int, mean: Array, scale: Array
) -> tuple[Array, Array, Array]:
    """Principal components of many cells from those of a sample, in two passes.

    One step of subspace iteration on all cells, then Rayleigh–Ritz.

    Parameters
    ----------
    cells
        Cells × genes.
    start
        Loadings of the sample, some more than `n_comps`, shape (n_genes, k).
    n_comps
        Number of components.
    mean, scale
        Of every gene, see :func:`loadings`.

    Returns
    -------
    Scores (n_cells, r), the same with columns of length 1, and the centred genes' projections on
    these, (n_genes, r).
    """
    weights = scale[:, None] * start
    (product,), _ = cells.sweep(_there_and_back, weights, mean @ weights)
    weights = scale[:, None] * np.linalg.qr(scale[:, None] * product)[0]
    (product, gram), scores = cells.sweep(_there_and_back_again, weights, mean @ weights)
    values, vectors = np.linalg.eigh(gram)
    kept = np.flatnonzero(values > _RANK_TOLERANCE * values[-1])[::-1][:n_comps]
    length = np.sqrt(values[kept])
    scores = scores @ vectors[:, kept]
    # The mean is that of all cells up to rounding, so that the scores add up to zero.
    return scores, scores / length, product @ vectors[:, kept] / length


def project(data: Matrix | Cells, basis: Array) -> Array:
    """``C = XV`` for the centred genes, shape (n_genes, r)."""
    (product,), _ = Cells(data).sweep(_projected, basis - basis.mean(axis=0))
    return np.asarray(product)


def _projected(block: Matrix, rows: slice, basis: Array) -> tuple[Sums, Matrix]:
    return (block.T @ basis[rows],), no_rows(block)


def _scores(block: Matrix, rows: slice, weights: Array, centre: Array) -> tuple[Sums, Matrix]:
    return (), block @ weights - centre


def _there_and_back(
    block: Matrix, rows: slice, weights: Array, centre: Array
) -> tuple[Sums, Matrix]:
    return (block.T @ (block @ weights - centre),), no_rows(block)


def _there_and_back_again(
    block: Matrix, rows: slice, weights: Array, centre: Array
) -> tuple[Sums, Matrix]:
    scores = block @ weights - centre
    return (block.T @ scores, scores.T @ scores), scores
