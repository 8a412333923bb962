"""Products of a matrix and its transpose with blocks of vectors, and principal components by these.

Products use all cores, each for some rows.  Which rows these are depends on the matrix alone, so
that the number of threads does not change a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numba import njit
from scipy import sparse
from scipy.linalg import eigh, qr

from . import threads
from .matrix import doubled, is_sparse, single, with_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

    from .._typing import Array, Index, Matrix
    from .matrix import RowMatrix, Sums

_Function = TypeVar("_Function", bound="Callable[..., Any]")

#: Parts of a product that threads share: rows of some are slower than those of others.
_PARTS = 8
#: Fewer multiplications are done before threads have begun.
_FEW = 2**21
#: Share of the largest eigenvalue of ``X̃ᵀX̃`` below which there may be none, by bytes of a number.
_ROUNDING = {4: 1e-6, 8: 1e-9}
#: Share of the eigenvalues' sum that the last product may add: where the leading directions matter,
#: and where all do.
LEADING, EVERY = 5e-3, 3e-4
#: Products at most, and so few that span all there is are all made.
_MOST_STEPS, _FEW_STEPS = 20, 10
#: Columns of a block are a multiple of this, which registers and lines of a cache hold.
_LANES = 16
#: Directions that are longer, in units of the longest, are no rounding.
_SURE = 1e-6
#: Eigenvalues of a smaller share of the largest are rounding: of one step, and of scores of cells.
_EIGENVALUE_TOLERANCE, _RANK_TOLERANCE = 1e-9, 1e-10
#: Cells whose scores are turned at once.
_ROWS = 2**16
#: Components of a sample beyond those asked for: :func:`spread` finds those of all cells in them.
SPARE = 6


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """Let numba compile a function when it is first called, for any number of threads at once."""

    def of(function: _Function) -> _Function:
        how = {"nogil": True, "error_model": "numpy", **options}
        try:
            machine_code: _Function = njit(cache=True, **how)(function)
        except RuntimeError:  # numba's, where it finds no folder for its cache
            machine_code = njit(**how)(function)
        return machine_code

    return of


@dataclass(frozen=True)
class Products:
    """Products of X and its transpose with the columns of a block.

    Where most entries are zero X is CSR without stored zeros, which would change rounding, and
    products have the precision of the block.  Else X is in double precision, dense or sparse.
    """

    matrix: Matrix
    mostly_zero: bool

    @classmethod
    def of(cls, data: Matrix, mostly_zero: bool | None = None) -> Products:
        """Return products with a dense matrix or CSR; None: its entries are counted."""
        if mostly_zero is None:
            mostly_zero = sparse.issparse(data) and is_sparse(data)
        matrix = sparse.csr_array(data) if mostly_zero else doubled(data)
        if mostly_zero and np.count_nonzero(matrix.data) < matrix.nnz:
            matrix = matrix.copy()
            matrix.eliminate_zeros()
        return cls(matrix, mostly_zero)

    @cached_property
    def transposed(self) -> Products:
        """The same of Xᵀ, in CSR where X is."""
        matrix = sparse.csr_array(self.matrix.T) if self.mostly_zero else self.matrix.T
        return Products(matrix, self.mostly_zero)

    @property
    def in_single(self) -> tuple[Products, float]:
        """The same in single precision and in its range, and what it is to be multiplied with."""
        copy, unit = self._single_copy
        return copy or self, unit

    @cached_property
    def _single_copy(self) -> tuple[Products | None, float]:  # who keeps itself is freed late
        values, unit = single(self.matrix.data)
        if values is self.matrix.data:
            return None, unit
        return Products(with_values(self.matrix, values), True), unit

    def times(self, block: NDArray[Any], precision: DTypeLike | None = None) -> Array:
        """``X w`` for the columns of a block, of CSR added up in a given precision."""
        if self.mostly_zero:
            return csr_product(self.matrix, block, precision)
        n_rows, n_inner = self.matrix.shape
        if sparse.issparse(self.matrix) or n_rows * n_inner * block.shape[1] < _FEW:
            return np.asarray(self.matrix @ block)
        product = np.empty((n_rows, block.shape[1]), dtype=np.result_type(self.matrix, block))

        def rows(begin: int, end: int) -> None:
            np.matmul(self.matrix[begin:end], block, out=product[begin:end])

        _in_parts(rows, np.linspace(0, n_rows, _PARTS + 1).astype(int).tolist())
        return product

    def single_times(self, block: Array) -> Array:
        """``X w`` for the columns of a block, in single precision but for its unit."""
        (single_precision, unit), (block, weight) = self.in_single, single(block)
        return np.asarray(np.float64(unit * weight) * single_precision.times(block))


class ScaledGenes:
    """``X̃ = (X − mean) diag(scale)``, which is never formed.

    Products with a sparse matrix are in single precision, which halves what is read.  What makes
    them is a function of the values alone, so that containers cannot differ by rounding.
    """

    def __init__(self, products: Products, scale: Array) -> None:
        most = float(scale.max()) or 1.0
        scale = scale[:, None] / most
        #: What is left out of products and `scale`.
        self.unit: float = most
        if products.mostly_zero:
            products, unit = products.in_single
            scale, self.unit = scale.astype(np.float32), unit * most
        #: With X in a unit that brings it into the range of single precision.
        self.products: Products = products
        #: At most one, shape (n_genes, 1), in the precision of products.
        self.scale: Array = scale
        self.shape: tuple[int, int] = products.matrix.shape
        #: Share of the largest eigenvalue of ``X̃ᵀX̃`` below which there may be none.
        self.rounding: float = _ROUNDING[scale.dtype.itemsize]

    def scores(self, weights: Array) -> Array:
        """``X̃ w / unit`` for the columns of `weights`, shape (n_cells, k)."""
        product = self.products.times(self.scale * weights.astype(self.scale.dtype, copy=False))
        return np.asarray(product - product.mean(axis=0, dtype=np.float64))

    def weights(self, scores: Array) -> Array:
        """``X̃ᵀ s / unit`` for centred columns of `scores`, (n_genes, k), in their precision."""
        product = self.products.transposed.times(scores.astype(self.scale.dtype, copy=False))
        product *= self.scale
        return np.asarray(product)

    def loadings(
        self, n_comps: int, seed: int | None, tolerance: float = LEADING, start: Array | None = None
    ) -> Array:
        """Leading eigenvectors of ``X̃ᵀX̃``, columns as `start`, which are near them."""
        return leading_eigenvectors(
            lambda weights: self.weights(self.scores(weights)).astype(np.float64, copy=False),
            self.shape[1],
            n_comps,
            seed,
            tolerance,
            self.rounding,
            start,
        )[1]


def principal_components(
    products: Products,
    n_comps: int | None,
    random_state: int | None = 0,
    *,
    scale: Array | None = None,
    tolerance: float = EVERY,
    start: Array | None = None,
) -> Matrix:
    """Scores of the cells on leading components, see :meth:`ScaledGenes.loadings`; None: genes."""
    genes, stored_sparse = products.matrix, sparse.issparse(products.matrix)
    scale = np.ones(genes.shape[1]) if scale is None else scale
    if n_comps is None:
        return genes @ sparse.diags_array(scale) if stored_sparse else genes * scale
    if n_comps >= min(genes.shape):
        from sklearn.decomposition import PCA

        dense = genes.toarray() if stored_sparse else genes
        return np.asarray(PCA(svd_solver="full").fit_transform(dense * scale))
    scaled = ScaledGenes(products, scale)
    n_cells, n_genes = scaled.shape
    if n_cells > n_genes:  # by products of the shorter side
        weights = scaled.loadings(n_comps, random_state, tolerance, start)
        return scaled.unit * scaled.scores(weights)

    def times(scores: Array) -> Array:
        return scaled.scores(scaled.weights(scores - scores.mean(axis=0)))

    start = None if start is None else scaled.scores(start)
    values, vectors = leading_eigenvectors(
        times, n_cells, n_comps, random_state, tolerance, scaled.rounding, start
    )
    return scaled.unit * np.sqrt(values) * vectors


def spread(
    cells: RowMatrix, start: Array, n_comps: int, mean: Array, scale: Array, *, mostly_zero: bool
) -> tuple[NDArray[np.float32], Array, Array]:
    """Principal components of many cells from those of a sample, in one pass.

    With ``X̃ = (X − mean) diag(scale)`` these are those of X̃ projected onto the span of the cells'
    scores on the sample's components, of loadings `start` (Halko, Martinsson & Tropp 2011, with
    these and not random ones).  Returns scores in single precision, the same with columns of length
    1, and the projections of the centred genes on these, (n_genes, r).
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
    matrix = Products.of(block, mostly_zero)
    if mostly_zero:
        scores: NDArray[Any] = (unit * matrix.single_times(weights) - centre).astype(np.float32)
    else:
        scores = matrix.times(weights) - centre
    product = matrix.transposed.times(scores, np.float64)
    doubled_scores = scores.astype(np.float64, copy=False)
    return (product, doubled_scores.T @ doubled_scores, doubled_scores.sum(axis=0)), scores


def leading_eigenvectors(
    times: Callable[[Array], Array],
    size: int,
    n_vectors: int,
    random_state: int | None,
    tolerance: float = EVERY,
    rounding: float = _EIGENVALUE_TOLERANCE,
    start: Array | None = None,
) -> tuple[Array, Array]:
    """Largest eigenvalues, descending, and vectors of a semidefinite matrix, by products with it.

    The last product adds less than `tolerance` of the sum of the eigenvalues; those up to the share
    `rounding` of the largest are rounding of `times`.  Columns of `start` are near the vectors.
    """
    width = min(max(1, round(n_vectors / _LANES)) * _LANES, size)
    spanning = -(-size // width)
    if spanning <= _FEW_STEPS:
        tolerance = 0.0
    steps = min(max(_MOST_STEPS, -(-n_vectors // width) + 1), spanning)
    outside = np.random.default_rng(random_state).normal(size=(size, width))
    if start is not None:  # of the length of the others, whatever its unit
        columns = start[:, :width]
        lengths = np.linalg.norm(columns, axis=0)
        nonzero = np.flatnonzero(lengths)
        outside[:, nonzero] = columns[:, nonzero] * (np.sqrt(size) / lengths[nonzero])
    basis = np.empty((size, steps * width), order="F")
    small = np.zeros((steps * width, steps * width))
    scale, rank, total = 0.0, 0, 0.0
    for _ in range(steps):
        block = _directions(outside, basis[:, :rank], scale)[:, : size - rank]
        if block.shape[1] == 0:
            break
        new = slice(rank, rank + block.shape[1])
        basis[:, new], rank = block, new.stop
        image = times(block)
        scale = max(scale, float(np.linalg.norm(image, axis=0).max()))
        within = basis[:, :rank].T @ image
        small[:rank, new], small[new, :rank] = within, within.T
        previous, total = total, float(np.linalg.eigvalsh(small[:rank, :rank])[-n_vectors:].sum())
        if rank > n_vectors and total - previous < tolerance * total:
            break
        outside = image - (within.T @ basis[:, :rank].T).T  # the order that is faster
    last = max(0, rank - n_vectors), rank - 1
    values, vectors = eigh(small[:rank, :rank], subset_by_index=last, check_finite=False)
    significant = np.flatnonzero(values > rounding * values[-1])[::-1]
    return values[significant], (vectors[:, significant].T @ basis[:, :rank].T).T


def _directions(outside: Array, basis: Array, scale: float) -> Array:
    """Orthonormal basis of vectors that are outside the span of `basis`, up to rounding."""
    directions, triangle = qr(outside, mode="economic", check_finite=False)
    lengths = np.abs(np.diag(triangle))
    if lengths.min() > _SURE * max(scale, lengths.max()):
        return np.asarray(directions)
    outside = outside - basis @ (basis.T @ outside)
    directions, triangle, _ = qr(outside, mode="economic", pivoting=True, check_finite=False)
    lengths = np.abs(np.diag(triangle))
    fresh = np.asarray(directions[:, lengths > _EIGENVALUE_TOLERANCE * max(scale, lengths[0])])
    fresh -= basis @ (basis.T @ fresh)  # what rounding left, and short directions make longer
    return np.asarray(qr(fresh, mode="economic", overwrite_a=True, check_finite=False)[0])


def csr_product(
    matrix: sparse.csr_array, block: NDArray[Any], precision: DTypeLike | None = None
) -> Array:
    """Product of CSR with a block of vectors, in the precision of these or in a given one."""
    block = np.ascontiguousarray(block)
    product = np.empty((matrix.shape[0], block.shape[1]), dtype=precision or block.dtype)
    stored = matrix.indptr, matrix.indices, matrix.data
    if matrix.nnz * block.shape[1] < _FEW:
        _rows(*stored, block, product, 0, len(product))
        return product
    positions = np.linspace(0, matrix.nnz, _PARTS + 1)[1:-1]
    ends = [0, *np.searchsorted(matrix.indptr, positions).tolist(), len(product)]
    _in_parts(lambda begin, end: _rows(*stored, block, product, begin, end), ends)
    return product


def _in_parts(rows: Callable[[int, int], None], ends: list[int]) -> None:
    """Call `rows` with the begin and end of every part of a product, by all threads."""
    with threads.one_thread_of_blas():
        threads.work(lambda number: rows(*ends[number : number + 2]), range(len(ends) - 1))


@compiled(fastmath={"contract"})
def _rows(
    indptr: Index, indices: Index, values: Array, block: Array, product: Array, begin: int, end: int
) -> None:
    """Some rows of the product of CSR with a block; four of its rows at a time fill registers."""
    to = product.dtype.type
    for i in range(begin, end):
        row = product[i]
        row[:] = 0
        p, last = indptr[i], indptr[i + 1]
        while p + 3 < last:
            a, b, c, d = to(values[p]), to(values[p + 1]), to(values[p + 2]), to(values[p + 3])
            of_a, of_b = block[indices[p]], block[indices[p + 1]]
            of_c, of_d = block[indices[p + 2]], block[indices[p + 3]]
            for k in range(len(row)):
                row[k] += a * of_a[k] + b * of_b[k] + c * of_c[k] + d * of_d[k]
            p += 4
        while p < last:
            a, of_a = to(values[p]), block[indices[p]]
            for k in range(len(row)):
                row[k] += a * of_a[k]
            p += 1
