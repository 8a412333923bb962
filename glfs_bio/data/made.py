"""Matrices that are made of others, some rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .matrix import RowMatrix, doubled

if TYPE_CHECKING:
    from .._typing import Array, Matrix


class _Made:
    """What :class:`~glfs_bio.data.matrix.RowMatrix` asks of a matrix that is not in memory."""

    def __init__(self, shape: tuple[int, int], dtype: Any, *, is_sparse: bool) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        if is_sparse:
            self.format = "csr"


class _Logarithms(_Made):
    """``log1p`` of the values of each cell over a factor."""

    def __init__(self, counts: RowMatrix, factors: Array) -> None:
        super().__init__(counts.shape, np.float64, is_sparse=_is_sparse(counts))
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


def _is_sparse(rows: RowMatrix) -> bool:
    source = rows.source
    return sparse.issparse(getattr(source, "_meta", source)) or hasattr(source, "format")
