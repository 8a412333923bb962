"""Principal components: an orthonormal basis V of the cells, and genes seen through it.

With ``C = XᵀV`` in place of X and ``K = VᵀBV`` in place of B the objective is exactly that of the
matrix ``XVVᵀ``; the number of cells is gone from all that follows.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr
from sklearn.decomposition import PCA

from .. import checks
from ..data.matrix import RowMatrix, doubled, single
from ..data.products import EVERY, Dense, ScaledGenes, Sparse, products, sparse_products
from ..errors import InvalidValue

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._typing import Array, Matrix
    from ..data.matrix import Sums
    from ..data.products import Products

_RANK_TOLERANCE = 1e-10
#: Copies, at the least, of genes × rank and of cells × rank that full rank takes.
_OF_GENES = 4
_OF_CELLS = 8
#: Cells whose scores are turned at once.
_ROWS = 2**16
#: Components of a sample beyond those asked for: :func:`spread` finds those of all cells in them.
SPARE = 6


def check_coordinates(values: ArrayLike, n_cells: int, name: str = "representation") -> Array:
    """Return coordinates as a float array, or say what is wrong with them."""
    shape = np.shape(values)
    if len(shape) != 2 or shape[0] != n_cells:
        raise InvalidValue(
            f"`{name}` has shape {shape}, and must have one row for each of {n_cells} cells"
        )
    coordinates = checks.real(name, values)
    if not np.ptp(coordinates, axis=0).any():
        raise InvalidValue(f"`{name}` is the same for all cells: recompute it")
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

    Directions that no gene reaches change only the printed objective, which is not a function of
    the subspace: it needs the `whole_space`.
    """
    n_cells, n_genes = data.shape
    if whole_space or n_genes >= n_cells:
        return np.eye(n_cells)
    return orthonormal(doubled(data.toarray() if sparse.issparse(data) else data))


def full_rank_fits(n_cells: int, n_genes: int) -> None:
    """Refuse the problem at full rank where it would need more memory than there is."""
    try:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # the system does not say
        return
    rank = min(n_cells, n_genes)
    needed = 8 * rank * (_OF_GENES * n_genes + _OF_CELLS * n_cells)
    if needed > available:
        raise InvalidValue(
            f"`n_comps=None` needs about {needed / 1e9:.0f} GB for {n_cells} cells × {n_genes} "
            f"genes, but {available / 1e9:.0f} GB are available: give it a number, such as 50"
        )


def principal_components(
    data: Matrix | Products,
    n_comps: int | None,
    random_state: int | None = 0,
    *,
    scale: Array | None = None,
    tolerance: float = EVERY,
    start: Array | None = None,
) -> Matrix:
    """Scores of the cells on the leading principal components, shape (n_cells, n_comps); None: the
    genes themselves, which span the same as all components.

    Sparse data stay sparse, unless one side is so short that all components are asked for.
    `tolerance` and `start` are those of :meth:`~.products.ScaledGenes.loadings`.
    """
    matrix = data if isinstance(data, Dense | Sparse) else products(data)
    genes, is_sparse = matrix.matrix, sparse.issparse(matrix.matrix)
    scale = np.ones(genes.shape[1]) if scale is None else scale
    if n_comps is None:
        return genes @ sparse.diags_array(scale) if is_sparse else genes * scale
    if n_comps >= min(genes.shape):
        dense = genes.toarray() if is_sparse else genes
        return np.asarray(PCA(svd_solver="full").fit_transform(dense * scale))
    return ScaledGenes(matrix, scale).components(n_comps, random_state, tolerance, start)


def spread(
    cells: RowMatrix, start: Array, n_comps: int, mean: Array, scale: Array, *, mostly_zero: bool
) -> tuple[NDArray[np.float32], Array, Array]:
    """Principal components of many cells from those of a sample, in one pass.

    With ``X̃ = (X − mean) diag(scale)`` these are the leading components of X̃ projected onto the
    span of the cells' scores on the sample's components (Halko, Martinsson & Tropp 2011, with these
    components instead of random ones), whose loadings `start` are some more than `n_comps`, shape
    (n_genes, k).  Returns scores in single precision (n_cells, r), the same with columns of length
    1, and the projections of the centred genes on these, (n_genes, r).

    Shapes: `start` (n_genes, k).  Scores in single precision (n_cells, r), the same with columns of
    length 1, and the centred genes' projections on these, (n_genes, r).
    """
    weights, unit = scale[:, None] * start, 1.0
    if mostly_zero:
        weights, unit = single(weights)
    centre = unit * (mean @ weights.astype(np.float64))
    sums, scores = cells.sweep(_scores_and_products, weights, unit, centre, mostly_zero)
    product, gram, total = sums
    centre = total / len(scores)  # what rounding left of it
    gram -= np.outer(total, centre)
    product -= np.outer(mean, total)
    values, vectors = np.linalg.eigh(gram)
    independent = values > _RANK_TOLERANCE * values[-1]
    orthonormal_scores = vectors[:, independent] / np.sqrt(values[independent])
    scaled = scale[:, None] * (product @ orthonormal_scores)
    _, length, turn = np.linalg.svd(scaled, full_matrices=False)
    length = length[:n_comps]
    turn = orthonormal_scores @ turn[:n_comps].T
    basis = np.empty((len(scores), len(length)))
    for begin in range(0, len(scores), _ROWS):  # without all scores in double precision
        rows = slice(begin, begin + _ROWS)
        basis[rows] = (scores[rows] - centre) @ turn
    del scores
    where = np.empty(basis.shape, dtype=np.float32)
    np.multiply(basis, length, out=where, casting="same_kind")
    return where, basis, product @ turn


def _scores_and_products(
    block: Matrix, rows: slice, weights: Array, unit: float, centre: Array, mostly_zero: bool
) -> tuple[Sums, Matrix]:
    """Of some cells: ``s = X w`` less a centre, for weights in a unit, and ``Xᵀ s``."""
    scores: NDArray[Any]
    if mostly_zero:
        matrix = sparse_products(block)
        scores = (unit * matrix.single_times(weights) - centre).astype(np.float32)
        product = matrix.transposed_times(scores, np.float64)
    else:
        dense = Dense(doubled(block))
        scores = dense.times(weights) - centre
        product = dense.transposed_times(scores)
    doubled_scores = scores.astype(np.float64, copy=False)
    return (product, doubled_scores.T @ doubled_scores, doubled_scores.sum(axis=0)), scores
