"""Values between R and Python as plain ones, whichever package carries them.

Plain are None, a string, a flag, vectors of 32-bit integers and of doubles, bytes, lists, and dicts
with a ``kind`` that names the form of what is none of these; the file ``values.R`` of the R package
is the other half.  Strings travel as one block of bytes, each ended by a zero, since handing them
over one by one would take longer than all numbers together.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
from anndata.io import sparse_dataset
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: R's missing integer or logical.
_NA = np.iinfo(np.int32).min


@dataclass(frozen=True)
class InFile:
    """A matrix of genes × cells in a HDF5 file, which keeps the reverse."""

    #: Cells × genes, read by rows
    T: Any


def strings(values: list[str]) -> pd.Series:
    """A vector of strings for R, though it may be empty."""
    return pd.Series(values, dtype=object)


def read(value: Any) -> Any:
    """A plain value as Python has it; what is read-only, such as memory of R, is copied."""
    if isinstance(value, dict):
        fields = dict(value)
        return _READERS[fields.pop("kind")](**fields)
    if not isinstance(value, np.ndarray):
        return value
    values = _own(value)
    # Integers with missing values become pandas' nullable arrays.
    if values.dtype.kind == "i" and (missing := values == _NA).any():
        return pd.arrays.IntegerArray(values, missing)
    return values


def _own(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.flags.writeable else values.copy()


def _read_logical(values: NDArray[np.integer]) -> Any:
    missing = values == _NA
    logical = values != 0
    return pd.arrays.BooleanArray(logical, missing) if missing.any() else logical


def _read_scalar(value: Any) -> Any:
    item = read(value)[0]
    return item.item() if isinstance(item, np.generic) else item


def _read_strings(bytes: Any, missing: Any) -> NDArray[np.object_]:
    strings = np.array(str(bytes, "utf-8").split("\0")[:-1], dtype=object)
    absent = read(missing)
    if absent is not None:
        strings[absent] = np.nan
    return strings


def _read_named(names: Any, values: Any) -> dict[str, Any]:
    return dict(zip(read(names), read(values).tolist(), strict=True))


def _read_factor(codes: NDArray[np.integer], levels: Any, ordered: Any) -> pd.Categorical:
    numbers = codes.astype(np.int64)
    return pd.Categorical.from_codes(
        np.where(numbers == _NA, -1, numbers - 1), read(levels), ordered=bool(read(ordered)[0])
    )


def _read_dense(values: Any, shape: NDArray[np.integer]) -> NDArray[np.float64]:
    # One copy, in an order that makes the transpose contiguous.
    matrix = np.asarray(read(values)).reshape(shape, order="F")
    return np.array(matrix.T, dtype=np.float64, order="C").T


def _read_sparse(p: Any, i: Any, x: Any, shape: Any) -> sparse.csc_matrix:
    return sparse.csc_matrix((_own(x), _own(i), _own(p)), shape=tuple(shape))


def _read_file(path: Any, name: Any) -> InFile:
    return InFile(h5py.File(path)[name])


def _read_sparse_file(
    path: Any, data: Any, indices: Any, indptr: Any, shape: NDArray[np.integer]
) -> InFile:
    # Files of 10x lack the attributes by which anndata knows a matrix: they stand beside links to
    # its parts.  These are in a file: links in memory would have all of the other one read there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder) / "links.h5"
        with h5py.File(place, "w") as links:
            for name, part in {"data": data, "indices": indices, "indptr": indptr}.items():
                links[name] = h5py.ExternalLink(path, part)
            links.attrs["encoding-type"] = "csr_matrix"
            links.attrs["encoding-version"] = "0.1.0"
            links.attrs["shape"] = shape[::-1]
        return InFile(sparse_dataset(h5py.File(place)))


def _read_list(items: Any, names: Any) -> Any:
    values = [read(item) for item in items]
    labels = read(names)
    return values if labels is None else dict(zip(labels, values, strict=True))


def _read_table(columns: Any, names: Any, rows: Any, length: Any) -> pd.DataFrame:
    labels = read(rows)
    index = pd.RangeIndex(length[0]) if labels is None else pd.Index(labels, dtype=object)
    values = dict(zip(read(names), (read(column) for column in columns), strict=True))
    return pd.DataFrame(values, index=index)


def _read_lists(values: Any, lengths: NDArray[np.integer]) -> NDArray[np.object_]:
    parts = np.split(read(values), np.cumsum(read(lengths))[:-1])
    return column_of([part.tolist() for part in parts])


def column_of(values: list[Any]) -> NDArray[np.object_]:
    """A column of lists, which may all have one length."""
    column = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        column[row] = value
    return column


_READERS: dict[str, Callable[..., Any]] = {
    "logical": _read_logical,
    "scalar": _read_scalar,
    "strings": _read_strings,
    "named": _read_named,
    "factor": _read_factor,
    "dense": _read_dense,
    "file": _read_file,
    "sparse": _read_sparse,
    "sparse_file": _read_sparse_file,
    "list": _read_list,
    "lists": _read_lists,
    "table": _read_table,
}


def write(value: Any) -> Any:
    """A value of Python as a plain one."""
    if value is None or isinstance(value, str | bytearray):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral | Real):
        return write(np.array([value]))
    if isinstance(value, dict):
        return _list("list", items=list(value.values()), names=np.array(list(value), dtype=object))
    if isinstance(value, pd.DataFrame):
        return _list(
            "table",
            columns=[value.iloc[:, j] for j in range(value.shape[1])],
            names=value.columns.astype(str),
            rows=None if isinstance(value.index, pd.RangeIndex) else value.index.astype(str),
            length=len(value),
        )
    if sparse.issparse(value):
        return _write_sparse(value)
    if isinstance(value, np.ndarray) and value.ndim == 2:
        values = np.asarray(value, dtype=np.float64).ravel(order="F")
        return _list("dense", values=values, shape=np.array(value.shape))
    if isinstance(value, list | tuple):
        return _list("list", items=[*value], names=None)
    return _write_vector(pd.Series(value))


def is_plain(series: pd.Series) -> bool:
    """Whether a column has a plain form in R."""
    dtype = series.dtype
    return (
        isinstance(dtype, pd.CategoricalDtype)
        or (pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype))
        or _is_strings(series)
    )


def _is_strings(series: pd.Series) -> bool:
    present = series[series.notna()]
    return len(present) == 0 or all(isinstance(item, str) and "\0" not in item for item in present)


def _list(kind: str, **fields: Any) -> dict[str, Any]:
    """A kind with its fields; a list of Python values becomes one of plain values."""
    plain = {
        name: [write(item) for item in field] if isinstance(field, list) else write(field)
        for name, field in fields.items()
    }
    return {"kind": kind, **plain}


def _write_sparse(value: Any) -> Any:
    matrix = sparse.csc_matrix(value)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    values = np.asarray(matrix.data, dtype=np.float64)
    return _list("sparse", p=matrix.indptr, i=matrix.indices, x=values, shape=np.array(value.shape))


def _write_vector(series: pd.Series) -> Any:
    if len(series) and all(isinstance(one, list | np.ndarray) for one in series):
        flat = [item for one in series for item in one]
        dtype = np.float64 if isinstance(series.iloc[0], np.ndarray) else object
        return _list(
            "lists",
            values=pd.Series(flat, dtype=dtype),
            lengths=series.map(len).to_numpy(),
        )
    dtype, missing = series.dtype, series.isna().to_numpy()
    if not is_plain(series):
        msg = f"A column of dtype {dtype} has no plain form in R."
        raise TypeError(msg)
    if isinstance(dtype, pd.CategoricalDtype):
        codes = np.where(missing, _NA, series.cat.codes.astype(np.int64) + 1)
        return {
            "kind": "factor",
            "codes": _integers(codes),
            "levels": write(series.cat.categories.astype(str)),
            "ordered": bool(dtype.ordered),
        }
    if pd.api.types.is_bool_dtype(dtype):
        numbers = series.astype("boolean").fillna(False).astype(np.int64)
        return {"kind": "logical", "values": _integers(np.where(missing, _NA, numbers))}
    if pd.api.types.is_integer_dtype(dtype):
        numbers = series.fillna(0).to_numpy(dtype=np.int64)
        if len(numbers) == 0 or (numbers.min() > _NA and numbers.max() <= -_NA - 1):
            return _integers(np.where(missing, _NA, numbers))
    if pd.api.types.is_numeric_dtype(dtype):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.ascontiguousarray(numbers)
    strings = np.where(missing, "", series.to_numpy(dtype=object))
    return {
        "kind": "strings",
        "bytes": bytearray("".join(f"{text}\0" for text in strings), "utf-8"),
        "missing": write(missing) if missing.any() else None,
    }


def _integers(values: NDArray[np.integer]) -> NDArray[np.int32]:
    return values.astype(np.int32)
