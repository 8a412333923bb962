"""Matrices that are made of others, some rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .matrix import RowMatrix, doubled, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Matrix


class _Made:
    """What :class:`~glfs_bio.data.matrix.RowMatrix` asks of a matrix that is not in memory."""

    def __init__(self, shape: tuple[int, int], dtype: Any, *, is_sparse: bool) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        if is_sparse:
            self.format = "csr"


class _Below(_Made):
    """Cells of several matrices of the same genes."""

    def __init__(self, parts: Sequence[RowMatrix]) -> None:
        ends = np.cumsum([one.shape[0] for one in parts])
        shape = int(ends[-1]), parts[0].shape[1]
        kind = np.result_type(*(one.source.dtype for one in parts))
        super().__init__(shape, kind, is_sparse=any(map(_is_sparse, parts)))
        self._parts = list(
            zip(parts, (ends - [one.shape[0] for one in parts]).tolist(), strict=True)
        )

    def __getitem__(self, rows: slice) -> Matrix:
        begin, end, _ = rows.indices(self.shape[0])
        found = [
            one.rows(max(begin - first, 0), min(end - first, one.shape[0]))
            for one, first in self._parts
            if begin < first + one.shape[0] and first < end
        ]
        whole = stacked(found) if found else np.empty((0, self.shape[1]), dtype=self.dtype)
        return sparse.csr_array(whole) if hasattr(self, "format") else whole


class _Logarithms(_Made):
    """``log1p`` of the values of each cell over a factor."""

    def __init__(self, counts: RowMatrix, factors: Array) -> None:
        super().__init__(counts.shape, np.float64, is_sparse=_is_sparse(counts))
        self._counts, self._factors = counts, factors

    def __getitem__(self, rows: slice) -> Matrix:
        begin, end, _ = rows.indices(self.shape[0])
        return _logarithms(self._counts.rows(begin, end), self._factors[begin:end])


def below(parts: Sequence[RowMatrix]) -> RowMatrix:
    """Return the cells of several matrices of the same genes, in memory where all are."""
    if all(one.in_memory for one in parts):
        return RowMatrix(stacked([one.source for one in parts]), checked=True)
    return RowMatrix(_Below(parts))


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
