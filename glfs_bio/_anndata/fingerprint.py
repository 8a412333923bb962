"""What tells one matrix from another: checksums, which find every change but one on purpose."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anndata import AnnData

    from .._typing import Array, Matrix
    from ..data.matrix import RowMatrix

#: Rows that are looked at of a matrix that is not in memory and in no file that is known.
_ROWS_LOOK = 20


def of_cells(adata: AnnData, data: RowMatrix, layer: str | None) -> str:
    """Of the matrix `data` of an object, or the layer.

    It is by the values in memory, by the file of a backed object, by dask's name of an array, else
    by the first rows.
    """
    return _told([repr((adata.shape, layer)).encode(), *_content(adata, data)])


def of_values(values: Matrix | None) -> str:
    """Of numbers in memory; ``"None"`` where there are none."""
    return "None" if values is None else _told(_parts(values))


def _content(adata: AnnData, data: RowMatrix) -> list[Any]:
    source = data.source
    if data.in_memory:
        return _parts(source)
    if hasattr(source, "dask"):
        return [str(source.name).encode()]
    if adata.filename is None:
        return [repr(source).encode(), *_parts(data.first(_ROWS_LOOK))]
    about = Path(adata.filename).stat()
    return [repr((str(adata.filename), about.st_mtime_ns, about.st_size)).encode()]


def _parts(values: Matrix) -> list[Any]:
    if sparse.issparse(values):
        return [values.format.encode(), *map(_bytes, (values.data, values.indices, values.indptr))]
    return [repr(values.shape).encode(), _bytes(values)]


def _bytes(values: Array) -> Array:
    """Their bytes, whichever way round they lie."""
    return np.ascontiguousarray(values).ravel().view(np.uint8)


def _told(parts: Iterable[Any]) -> str:
    return "-".join(f"{zlib.crc32(part):08x}" for part in parts)
