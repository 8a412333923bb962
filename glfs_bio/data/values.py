"""Values of a matrix: how large they are, how many are zero, and in another precision or unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .rows import RowMatrix

if TYPE_CHECKING:
    from .._typing import Array, Matrix

#: Share of entries that are not zero from which a matrix is worked on as a dense one.
_DENSE = 0.5
#: Units in which sums of squares, and squares of these, are still numbers.
_SMALLEST_UNIT = 1e-60
#: Products of such numbers, and sums of these, are in the range of single precision.
_IN_RANGE = 1e15


def is_sparse(data: Matrix) -> bool:
    """Whether most entries are zero, stored or not."""
    n_cells, n_genes = data.shape
    values = data.data if sparse.issparse(data) else data
    return bool(np.count_nonzero(values) < _DENSE * n_cells * n_genes)


def largest(values: Array) -> float:
    """The largest absolute value, found without an array of these."""
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def with_values(block: sparse.csr_array, values: Array) -> sparse.csr_array:
    """Other values in the same places, whose indices are shared."""
    return sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)


def doubled(block: Matrix) -> Matrix:
    """A dense matrix or CSR in double precision: itself, or a copy of its values."""
    if not sparse.issparse(block):
        return block.astype(np.float64, copy=False)
    if block.dtype == np.float64:
        return block
    return with_values(block, block.data.astype(np.float64))


def single(values: Array) -> tuple[Array, float]:
    """In single precision and its range, and their unit: a power of two, which changes no digit."""
    extent = largest(values)
    if values.dtype == np.float32 and 1.0 / _IN_RANGE < extent < _IN_RANGE:
        return values, 1.0
    unit = 2.0 ** int(np.frexp(extent)[1])
    in_unit = np.empty(values.shape, dtype=np.float32)
    return np.multiply(values, np.float64(1.0 / unit), out=in_unit, casting="same_kind"), unit


def in_range(data: RowMatrix) -> RowMatrix:
    """The matrix, or a copy in another unit where squares would be zero or infinite.

    The unit is a power of two, which changes no digit.  What is not in memory stays as it is.
    """
    if not data.in_memory:
        return data
    source = data.source
    values = source.data if sparse.issparse(source) else source  # max() of it would sort it
    extent = largest(values)
    if extent == 0 or _SMALLEST_UNIT < extent < 1.0 / _SMALLEST_UNIT:
        return data
    exponent = -int(np.frexp(extent)[1])
    source = source.astype(np.float64)
    if not sparse.issparse(source):
        return RowMatrix(np.ldexp(source, exponent))
    source.data = np.ldexp(source.data, exponent)
    return RowMatrix(source)
