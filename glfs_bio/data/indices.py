"""Indices of sparse matrices from outside, which compiled code takes on trust."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from ..errors import NO_VALUE, InvalidValue

#: Formats of sparse matrices with a pointer for each row or column.
_COMPRESSED = ("csr", "csc", "bsr")


def check_indices(matrix: Any, name: str, value: object = NO_VALUE) -> None:
    """Refuse a sparse matrix whose indices or pointers are out of range; anything else passes.

    Compiled code reads and writes wherever indices point: one that is out of range, in a file that
    was damaged or made by hand, ends the process or gives other numbers.
    """
    fault = _fault(matrix) if sparse.issparse(matrix) else None
    if fault is not None:
        raise InvalidValue(
            name, value, f"is a damaged sparse matrix: {fault}", "read or create it again"
        )


def _fault(matrix: Any) -> str | None:
    """What is wrong with the indices of a sparse matrix; None for formats without indices."""
    places: Any = ()
    rows, columns = matrix.shape
    if matrix.format == "coo":
        places = zip(matrix.coords, matrix.shape, strict=True)
        if any(len(numbers) != len(matrix.data) for numbers in matrix.coords):
            return "there are other numbers of indices and of values"
    elif matrix.format in _COMPRESSED:
        if matrix.format == "csc":
            rows, columns = columns, rows
        if matrix.format == "bsr":
            rows, columns = rows // matrix.blocksize[0], columns // matrix.blocksize[1]
        places = [(matrix.indices, columns)]
        pointers = matrix.indptr
        if pointers.dtype.kind not in "iu" or len(pointers) != rows + 1 or pointers[0] != 0:
            return "its index pointer does not begin at 0, or has another length"
        if (pointers[1:] < pointers[:-1]).any():
            return "its index pointer decreases"
        if not pointers[-1] <= len(matrix.indices) or len(matrix.indices) != len(matrix.data):
            return "its index pointer ends behind its values"
    for numbers, limit in places:
        if numbers.dtype.kind not in "iu":
            return "its indices are no whole numbers"
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < limit):
            return (
                f"its indices go from {numbers.min()} to {numbers.max()}, "
                f"and 0 to {limit - 1} exist"
            )
    return None
