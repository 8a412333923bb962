"""Products of a matrix and of its transpose with blocks of vectors, and its leading eigenvectors.

They use all cores, each for some rows of the product.  Which rows these are depends on the matrix
alone, so that the number of threads does not change a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

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

_Function = TypeVar("_Function", bound="Callable[..., Any]")

#: Parts of a product that threads share: rows of some are slower than those of others.
_PARTS = 8
#: Fewer multiplications are done before threads have begun.
_FEW = 2**21
#: Share of the largest eigenvalue of ``X̃ᵀX̃`` below which there may be none, by bytes of a number.
_ROUNDING = {4: 1e-6, 8: 1e-9}
#: Share of the sum of the eigenvalues that the last product may still add: where the leading
#: directions matter, and where all do.
LEADING, EVERY = 5e-3, 3e-4
#: Products at most, and so few that span all there is are all made.
_MOST_STEPS, _FEW_STEPS = 20, 10
#: Columns of a block are the multiple of this nearest to the vectors asked for: what registers and
#: lines of a cache hold.
_LANES = 16
#: Directions that are longer, in units of the longest, are no rounding.
_SURE = 1e-6
#: Eigenvalues of a smaller share of the largest are rounding.
_EIGENVALUE_TOLERANCE = 1e-9


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """Let numba compile a function when it is first called, for any number of threads at once.

    The machine code is kept beside the package, in the cache of the user, or in the folder that
    NUMBA_CACHE_DIR names; where none of them can be written to, every process compiles anew.
    """

    def of(function: _Function) -> _Function:
        how = {"nogil": True, "error_model": "numpy", **options}
        try:
            machine_code: _Function = njit(cache=True, **how)(function)
        except RuntimeError:  # numba's, where it finds no folder for its cache
            machine_code = njit(**how)(function)
        return machine_code

    return of


@dataclass(frozen=True)
class Dense:
    """X in double precision, dense, or sparse with more than half of its entries."""

    matrix: Matrix

    def times(self, block: Array) -> Array:
        """``X w`` for the columns of a block."""
        n_rows, n_inner = self.matrix.shape
        if sparse.issparse(self.matrix) or n_rows * n_inner * block.shape[1] < _FEW:
            return np.asarray(self.matrix @ block)
        product = np.empty((n_rows, block.shape[1]), dtype=np.result_type(self.matrix, block))

        def rows(begin: int, end: int) -> None:
            np.matmul(self.matrix[begin:end], block, out=product[begin:end])

        _in_parts(rows, np.linspace(0, n_rows, _PARTS + 1).astype(int).tolist())
        return product

    def transposed_times(self, block: Array) -> Array:
        """``Xᵀ s`` for the columns of a block."""
        return Dense(self.matrix.T).times(block)


@dataclass(frozen=True)
class Sparse:
    """X in CSR, and its transpose once it is needed; products have the precision of the block."""

    matrix: sparse.csr_array

    @cached_property
    def transposed(self) -> sparse.csr_array:
        """Xᵀ in CSR."""
        return sparse.csr_array(self.matrix.T)

    @property
    def in_single(self) -> tuple[Sparse, float]:
        """The same in single precision and in its range, and what it is to be multiplied with."""
        copy, unit = self._single_copy
        return copy or self, unit

    @cached_property
    def _single_copy(self) -> tuple[Sparse | None, float]:  # who keeps itself is freed late
        values, unit = single(self.matrix.data)
        if values is self.matrix.data:
            return None, unit
        return Sparse(with_values(self.matrix, values)), unit

    def times(self, block: Array) -> Array:
        """``X w`` for the columns of a block."""
        return csr_product(self.matrix, block)

    def single_times(self, block: Array) -> Array:
        """``X w`` for the columns of a block, in single precision but for its unit."""
        (single_precision, unit), (block, weight) = self.in_single, single(block)
        return np.asarray(np.float64(unit * weight) * single_precision.times(block))

    def transposed_times(self, block: NDArray[Any], precision: DTypeLike | None = None) -> Array:
        """``Xᵀ s`` for the columns of a block, added up in its precision or in a given one."""
        return csr_product(self.transposed, block, precision)


Products: TypeAlias = Dense | Sparse


def products(data: Matrix) -> Products:
    """Products with a dense matrix or with CSR."""
    if sparse.issparse(data) and is_sparse(data):
        return sparse_products(data)
    return Dense(doubled(data))


def sparse_products(data: Matrix) -> Sparse:
    """Products that take zeros for nothing, stored or not: these would change what is rounded."""
    matrix = sparse.csr_array(data)
    if np.count_nonzero(matrix.data) < matrix.nnz:
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return Sparse(matrix)


class ScaledGenes:
    """``X̃ = (X − mean) diag(scale)``, which is never formed.

    Products with a sparse matrix take the time of reading it and the vectors, which single
    precision halves.  What makes them is a function of the values alone, never of the container,
    so that its rounding cannot make a difference between containers.
    """

    def __init__(self, products: Products, scale: Array) -> None:
        most = float(scale.max()) or 1.0
        scale = scale[:, None] / most
        #: What is left out of products and `scale`.
        self.unit: float = most
        if isinstance(products, Sparse):
            products, unit = products.in_single
            scale, self.unit = scale.astype(np.float32), unit * most
        #: With X in a unit that brings it into the range of single precision.
        self.products: Products = products
        #: At most one, shape (n_genes, 1), in the precision of products.
        self.scale: Array = scale
        #: Numbers of cells and genes.
        self.shape: tuple[int, int] = products.matrix.shape
        #: Share of the largest eigenvalue of ``X̃ᵀX̃`` below which there may be none.
        self.rounding: float = _ROUNDING[scale.dtype.itemsize]

    def scores(self, weights: Array) -> Array:
        """``X̃ w / unit`` for the columns of `weights`, shape (n_cells, k)."""
        product = self.products.times(self.scale * weights.astype(self.scale.dtype, copy=False))
        return np.asarray(product - product.mean(axis=0, dtype=np.float64))

    def weights(self, scores: Array) -> Array:
        """``X̃ᵀ s / unit`` for centred columns of `scores`, (n_genes, k), in their precision."""
        product = self.products.transposed_times(scores.astype(self.scale.dtype, copy=False))
        product *= self.scale
        return np.asarray(product)

    def loadings(
        self, n_comps: int, seed: int | None, tolerance: float = LEADING, start: Array | None = None
    ) -> Array:
        """Leading eigenvectors of ``X̃ᵀX̃``, one a column, as closely as `tolerance` says.

        Vectors near them may be given to `start` with, shape (n_genes, k).
        """

        def times(weights: Array) -> Array:
            return self.weights(self.scores(weights)).astype(np.float64, copy=False)

        return leading_eigenvectors(
            times, self.shape[1], n_comps, seed, tolerance, self.rounding, start
        )[1]

    def components(
        self, n_comps: int, seed: int | None, tolerance: float, start: Array | None
    ) -> Array:
        """``X̃ w`` for the leading eigenvectors of ``X̃ᵀX̃``, by products of the shorter side."""
        n_cells, n_genes = self.shape
        if n_cells > n_genes:
            weights = self.loadings(n_comps, seed, tolerance, start)
            return self.unit * self.scores(weights)

        def times(scores: Array) -> Array:
            return self.scores(self.weights(scores - scores.mean(axis=0)))

        start = None if start is None else self.scores(start)
        values, vectors = leading_eigenvectors(
            times, n_cells, n_comps, seed, tolerance, self.rounding, start
        )
        return self.unit * np.sqrt(values) * vectors


def leading_eigenvectors(
    times: Callable[[Array], Array],
    size: int,
    n_vectors: int,
    random_state: int | None,
    tolerance: float = EVERY,
    rounding: float = _EIGENVALUE_TOLERANCE,
    start: Array | None = None,
) -> tuple[Array, Array]:
    """Approximately the largest eigenvalues, descending, at most `n_vectors`, and their
    eigenvectors, shape (size, n_vectors), of a positive semidefinite matrix from products with it.

    No more products are made once one adds less than `tolerance` of the sum of the eigenvalues.
    Those up to the share `rounding` of the largest are rounding of `times`.  Vectors near the
    leading ones may be given to `start` with, shape (size, k).
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
        outside = image - _combined(basis[:, :rank], within)
    last = max(0, rank - n_vectors), rank - 1
    values, vectors = eigh(small[:rank, :rank], subset_by_index=last, check_finite=False)
    significant = np.flatnonzero(values > rounding * values[-1])[::-1]
    return values[significant], _combined(basis[:, :rank], vectors[:, significant])


def _combined(basis: Array, weights: Array) -> Array:
    """Product of a long matrix in order of columns and a small one, in the order that is faster."""
    return np.asarray((weights.T @ basis.T).T)


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
