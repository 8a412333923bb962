"""Matrices that are made of others, some rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .matrix import RowMatrix, doubled

if TYPE_CHECKING:
    from .._typing import Array, Matrix


class _Logarithms:
    """``log1p`` of the values of each cell over a factor, as a matrix that is not in memory."""

    def __init__(self, counts: RowMatrix, factors: Array) -> None:
        self.shape, self.dtype = counts.shape, np.dtype(np.float64)
        source = counts.source
        if sparse.issparse(getattr(source, "_meta", source)) or hasattr(source, "format"):
            self.format = "csr"
        self._counts, self._factors = counts, factors

    def __getitem__(self, rows: slice) -> Matrix:
        begin, end, _ = rows.indices(self.shape[0])
        return _logarithms(self._counts.rows(begin, end), self._factors[begin:end])


def logarithms(counts: RowMatrix, factors: Array) -> RowMatrix:
    """Return ``log1p(x / factor)`` of the values of each cell, in memory where these are."""
    if counts.in_memory:
        return RowMatrix(_logarithms(counts.source, factors), checked=True)
    return RowMatrix(_Logarithms(counts, factors))


def _logarithms(block: Matrix, factors: Array) -> Matrix:
    block = doubled(block)
    if not sparse.issparse(block):
        return np.log1p(block / factors[:, None])
    values = np.log1p(block.data / np.repeat(factors, np.diff(block.indptr)))
    return sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)
