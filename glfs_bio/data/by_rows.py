"""A matrix that is stored by columns, to be read by rows: copied once to a file without a name."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ..errors import NO_VALUE, InvalidValue
from .indices import check_indices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._typing import Index

log = logging.getLogger(__name__)

#: Stored values of a part.
_PART = 2**25


@dataclass(frozen=True)
class _Part:
    """Some columns as CSR: pointers of the rows, and where in the file the rest begins."""

    n_columns: int
    pointers: Index
    indices: int
    values: int


class ByRows:
    """Cells × genes in parts of some genes each, in a file that is gone when nobody reads it."""

    format = "csr"

    def __init__(self, source: Any) -> None:
        """Copy a sparse dataset of anndata in CSC, or a dask array in blocks of columns."""
        self.shape: tuple[int, int] = source.shape
        self.dtype: np.dtype[Any] = source.dtype.newbyteorder("=")
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed with this object
        weakref.finalize(self, self._file.close)
        self._parts = [self._written(part) for part in _parts(source)]

    def __getitem__(self, rows: slice) -> sparse.csr_array:
        begin, end, _ = rows.indices(self.shape[0])
        found = [self._read(part, begin, max(begin, end)) for part in self._parts]
        return sparse.csr_array(sparse.hstack(found, format="csr"))

    def _written(self, columns: Any) -> _Part:
        check_indices(columns, "X")
        block = sparse.csr_array(columns)
        block.sort_indices()
        numbers = (
            block.indices.astype(np.int32, copy=False),
            block.data.astype(self.dtype, copy=False),
        )
        _check_room(sum(one.nbytes for one in numbers), self.shape)
        places = []
        for one in numbers:
            places.append(self._file.seek(0, os.SEEK_END))
            np.ascontiguousarray(one).tofile(self._file)
        self._file.flush()
        return _Part(block.shape[1], block.indptr.astype(np.int64), *places)

    def _read(self, part: _Part, begin: int, end: int) -> sparse.csr_array:
        first, last = map(int, part.pointers[[begin, end]])
        pointers = part.pointers[begin : end + 1] - first
        indices = self._numbers(part.indices, np.dtype(np.int32), first, last)
        values = self._numbers(part.values, self.dtype, first, last)
        return sparse.csr_array((values, indices, pointers), shape=(end - begin, part.n_columns))

    def _numbers(self, place: int, kind: np.dtype[Any], first: int, last: int) -> Any:
        """Numbers of the file, which threads and forked processes can read at the same time."""
        if first == last:
            return np.empty(0, kind)
        begin = place + first * kind.itemsize
        return np.array(np.memmap(self._file, kind, "r", begin, (last - first,)))


def is_by_columns(source: Any) -> bool:
    """Whether a matrix that is not in memory can only be read some columns at a time."""
    chunks = getattr(source, "chunks", None)
    if hasattr(source, "to_delayed") and chunks:
        return len(chunks[0]) == 1 and len(chunks[1]) > 1
    return getattr(source, "format", None) == "csc"


def _parts(source: Any) -> Iterator[Any]:
    """Columns of a matrix in their order, some at a time."""
    n_columns = source.shape[1]
    for begin, end in _ranges(source):
        part = source[:, begin:end]
        yield part.compute() if hasattr(part, "compute") else part
        progress = {"stage": "sorting by cells", "n_done": end, "n_all": n_columns}
        log.info("%d of %d genes copied", end, n_columns, extra=progress)


def _ranges(source: Any) -> Iterator[tuple[int, int]]:
    if hasattr(source, "to_delayed"):
        ends = np.cumsum(source.chunks[1]).tolist()
        yield from zip([0, *ends[:-1]], ends, strict=True)
        return
    yield from pieces(source, _PART)


def pieces(stored: Any, most: int) -> Iterator[tuple[int, int]]:
    """Successive rows of a CSR in a file, or columns of a CSC, of so many values at most, if one
    has no more.
    """
    pointers = np.asarray(stored.group["indptr"][:])
    begin, end = 0, len(pointers) - 1
    while begin < end:
        full = int(np.searchsorted(pointers, pointers[begin] + most, side="right")) - 1
        last = min(max(begin + 1, full), end)
        yield begin, last
        begin = last


def _check_room(needed: int, shape: tuple[int, int]) -> None:
    folder = tempfile.gettempdir()
    if shutil.disk_usage(folder).free < needed:
        raise InvalidValue(
            "X",
            NO_VALUE,
            f"is stored by genes (CSC), and {folder} has no room for a copy of {shape[0]} cells "
            "by cells",
            "store it as CSR, or name another folder in TMPDIR",
        )


#: The last copy, and what it is of: functions that follow one another read one file.
_last: list[tuple[Any, ByRows]] = []


def by_rows(source: Any) -> ByRows:
    """Return a matrix that is stored by columns, by rows: the copy that there is, or a new one."""
    name = _name(source)
    if not (_last and name is not None and _last[0][0] == name):
        _last.clear()  # before there are two
        _last.append((name, ByRows(source)))
    return _last[0][1]


def _name(source: Any) -> Any:
    """What tells a matrix from others, and its file from what it was before."""
    if hasattr(source, "to_delayed"):
        return source.name
    group = source.group
    file = getattr(getattr(group, "file", None), "filename", None)
    if file is None or not Path(file).exists():
        return (str(group.store), str(group.name)) if hasattr(group, "store") else None
    about = Path(file).stat()
    return file, group.name, about.st_mtime_ns, about.st_size
