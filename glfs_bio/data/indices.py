"""Whether the indices of a sparse matrix are places in it.

Compiled code reads and writes wherever indices point: one that is out of range, in a file that was
damaged or made by hand, ends the process or gives other numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import sparse

from ..errors import NO_VALUE, InvalidValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Formats with a pointer for each row or column.
_COMPRESSED = ("csr", "csc", "bsr")


def check_indices(matrix: Any, name: str, value: object = NO_VALUE) -> None:
    """Refuse a sparse matrix whose indices or pointers are out of range; others pass."""
    if not sparse.issparse(matrix):
        return
    fault = None
    if matrix.format in _COMPRESSED:
        fault = _of_compressed(matrix)
    elif matrix.format == "coo":
        for number, limit in zip(matrix.coords, matrix.shape, strict=True):
            fault = fault or _outside(number, limit)
        if any(len(number) != len(matrix.data) for number in matrix.coords):
            fault = "there are other numbers of indices and of values"
    if fault is not None:
        raise InvalidValue(
            name, value, f"is a damaged sparse matrix: {fault}", "read or create it again"
        )


def _of_compressed(matrix: Any) -> str | None:
    pointers, indices = matrix.indptr, matrix.indices
    rows, columns = matrix.shape
    if matrix.format == "csc":
        rows, columns = columns, rows
    if matrix.format == "bsr":
        rows, columns = rows // matrix.blocksize[0], columns // matrix.blocksize[1]
    if pointers.dtype.kind not in "iu" or len(pointers) != rows + 1 or pointers[0] != 0:
        return "its index pointer does not begin at 0, or has another length"
    if (pointers[1:] < pointers[:-1]).any():
        return "its index pointer decreases"
    if not pointers[-1] <= len(indices) or len(indices) != len(matrix.data):
        return "its index pointer ends behind its values"
    return _outside(indices, columns)


def _outside(indices: NDArray[Any], limit: int) -> str | None:
    if indices.dtype.kind not in "iu":
        return "its indices are no whole numbers"
    if len(indices) and not (indices.min() >= 0 and indices.max() < limit):
        return f"its indices go from {indices.min()} to {indices.max()}, and 0 to {limit - 1} exist"
    return None
