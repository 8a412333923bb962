"""Matrices in units in which squares can be computed."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .rows import RowMatrix
from .values import largest

#: Units in which sums of squares, and squares of these, are still numbers.
_SMALLEST_UNIT = 1e-60


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
