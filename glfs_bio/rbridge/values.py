"""Values between R and Python as plain ones, and reticulate and rpy2, which carry them.

Plain are None, a string, a flag, vectors of 32-bit integers and of doubles, bytes, lists, and dicts
with a ``kind`` that names the form of what is none of these; ``values.R`` of the R package is the
other half.  Strings travel as one block of bytes, each ended by a zero, since handing them over one
by one would take longer than all numbers together.

To reticulate numbers are bytes: its own conversion needs the NumPy that it was compiled for, and
leaves no difference between a number and a vector of one number.
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
from pandas.api.types import is_integer_dtype
from scipy import sparse

from . import session

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Of a table, the classes of R's columns that have no plain form, by name.
LEFT = "left"
#: R's missing integer or logical.
_NA = np.iinfo(np.int32).min
#: Bytes of a block: a raw vector that R reads or writes in one go has less than 2³¹.
_BLOCK = 2**30
#: Numbers that have blocks, by R's names of their types.
_TYPES: dict[str, Any] = {"integer": np.int32, "double": np.float64}
#: Parts of a sparse matrix in a file.
_PARTS = ("data", "indices", "indptr")


@dataclass(frozen=True)
class InFile:
    """A matrix of genes × cells in a HDF5 file, which keeps the reverse."""

    #: Cells × genes, to be read by rows.
    T: Any


def strings(values: list[str]) -> pd.Series:
    """A vector of strings for R, though it may be empty."""
    return pd.Series(values, dtype=object)


def read(value: Any) -> Any:
    """A plain value as Python has it; what is read-only, such as memory of R, is copied."""
    match value:
        case np.ndarray():
            values = _writable(value)
            # Integers with missing values become pandas' nullable arrays.
            if values.dtype.kind == "i" and (missing := values == _NA).any():
                return pd.arrays.IntegerArray(values, missing)
            return values
        case {"kind": "logical", "values": numbers}:
            logical, missing = numbers != 0, numbers == _NA
            return pd.arrays.BooleanArray(logical, missing) if missing.any() else logical
        case {"kind": "scalar", "value": vector}:
            item = read(vector)[0]
            return item.item() if isinstance(item, np.generic) else item
        case {"kind": "strings", "bytes": block, "missing": missing}:
            texts = np.array(str(block, "utf-8").split("\0")[:-1], dtype=object)
            if missing is not None:
                texts[read(missing)] = np.nan
            return texts
        case {"kind": "named", "names": names, "values": numbers}:
            return dict(zip(read(names), read(numbers).tolist(), strict=True))
        case {"kind": "factor", "codes": codes, "levels": levels, "ordered": ordered}:
            positions = np.where(codes == _NA, -1, codes.astype(np.int64) - 1)
            is_ordered = bool(read(ordered)[0])
            return pd.Categorical.from_codes(positions, read(levels), ordered=is_ordered)
        case {"kind": "dense", "values": numbers, "shape": shape}:
            # One copy, in an order that makes the transpose contiguous.
            matrix = np.asarray(read(numbers)).reshape(shape, order="F")
            return np.array(matrix.T, dtype=np.float64, order="C").T
        case {"kind": "sparse", "p": p, "i": i, "x": x, "shape": shape}:
            return sparse.csc_matrix((_writable(x), _writable(i), _writable(p)), shape=tuple(shape))
        case {"kind": "file", "path": path, "name": name}:
            return InFile(h5py.File(path)[name])
        case {"kind": "sparse_file", "path": path, "shape": shape, "by": form}:
            return _in_sparse_file(path, {name: value[name] for name in _PARTS}, form, shape)
        case {"kind": "parts", "folder": folder, "p": p, "shape": shape}:
            return _in_parts(Path(folder), p, shape)
        case {"kind": "list", "items": items, "names": names}:
            items = [read(item) for item in items]
            return items if names is None else dict(zip(read(names), items, strict=True))
        case {"kind": "table", "columns": columns, "names": names, "rows": rows, "length": n}:
            index = pd.RangeIndex(n[0]) if rows is None else pd.Index(read(rows), dtype=object)
            table = dict(zip(read(names), map(read, columns), strict=True))
            frame = pd.DataFrame(table, index=index)
            unreadable = read(value.get(LEFT)) or {}
            frame.attrs[LEFT] = {name: kind[0] for name, kind in unreadable.items()}
            return frame
        case {"kind": kind}:
            raise KeyError(kind)
        case _:
            return value


def _writable(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.flags.writeable else values.copy()


def _in_sparse_file(
    path: str, datasets: dict[str, str], form: str, shape: NDArray[np.integer]
) -> InFile:
    """A matrix in a file of 10x, which lacks the attributes by which anndata knows one."""
    # They stand beside links to its parts in another file: links in memory would have all of this
    # one read there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        linking = Path(folder) / "links.h5"
        with h5py.File(linking, "w") as links:
            for name, dataset in datasets.items():
                links[name] = h5py.ExternalLink(path, dataset)
            _mark_sparse(links, form, shape)
        return InFile(sparse_dataset(h5py.File(linking)))


def _mark_sparse(group: Any, form: str, shape: NDArray[np.integer]) -> None:
    """Say what anndata asks for, of a matrix of genes × cells."""
    group.attrs["encoding-type"] = f"{form}_matrix"
    group.attrs["encoding-version"] = "0.1.0"
    group.attrs["shape"] = shape[::-1]


def _in_parts(folder: Path, p: NDArray[np.float64] | None, shape: NDArray[np.integer]) -> InFile:
    """A matrix that R wrote sample by sample to binary files of this folder, which it removes."""
    path, dense = folder / "parts.h5", p is None
    with h5py.File(path, "w") as file:
        for name, kind in (("data", "f8"), ("indices", "i4"))[: 1 if dense else 2]:
            binary = folder / name
            size = binary.stat().st_size
            extent = tuple(shape[::-1]) if dense else (size // np.dtype(kind).itemsize,)
            extents = [(str(binary), 0, size)] if size else None
            file.create_dataset(name, extent, kind, external=extents)
        if p is not None:
            file["indptr"] = p.astype(np.int64)
            _mark_sparse(file, "csr", shape)
    file = h5py.File(path)
    return InFile(file["data"] if dense else sparse_dataset(file))


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
            rows=None if is_integer_dtype(value.index) else value.index.astype(str),
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
        or all(isinstance(item, str) and "\0" not in item for item in series[series.notna()])
    )


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
    dtype, missing = series.dtype, series.isna().to_numpy()
    if not is_plain(series):
        msg = f"A column of dtype {dtype} has no plain form in R."
        raise TypeError(msg)
    if isinstance(dtype, pd.CategoricalDtype):
        codes = np.where(missing, _NA, series.cat.codes.astype(np.int64) + 1)
        return {
            "kind": "factor",
            "codes": codes.astype(np.int32),
            "levels": write(series.cat.categories.astype(str)),
            "ordered": bool(dtype.ordered),
        }
    if pd.api.types.is_bool_dtype(dtype):
        numbers = series.astype("boolean").fillna(False).astype(np.int64)
        return {"kind": "logical", "values": np.where(missing, _NA, numbers).astype(np.int32)}
    if pd.api.types.is_integer_dtype(dtype):
        numbers = series.fillna(0).to_numpy(dtype=np.int64)
        if len(numbers) == 0 or (numbers.min() > _NA and numbers.max() <= -_NA - 1):
            return np.where(missing, _NA, numbers).astype(np.int32)
    if pd.api.types.is_numeric_dtype(dtype):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.ascontiguousarray(numbers)
    strings = np.where(missing, "", series.to_numpy(dtype=object))
    return {
        "kind": "strings",
        "bytes": bytearray("".join(f"{text}\0" for text in strings), "utf-8"),
        "missing": write(missing) if missing.any() else None,
    }


def from_reticulate(value: Any) -> Any:
    """Return what R sent by reticulate, with its numbers as arrays."""
    if isinstance(value, list):
        return [from_reticulate(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") != "numbers":
        return {name: from_reticulate(item) for name, item in value.items()}
    dtype = _TYPES[value["type"]]
    vectors = [np.frombuffer(block, dtype=dtype) for block in value["blocks"]]
    return vectors[0] if len(vectors) == 1 else np.concatenate([np.empty(0, dtype), *vectors])


def for_reticulate(value: Any) -> Any:
    """Return the reverse."""
    if isinstance(value, list):
        return [for_reticulate(item) for item in value]
    if isinstance(value, dict):
        return {name: for_reticulate(item) for name, item in value.items()}
    if not isinstance(value, np.ndarray):
        return value
    data = value.view(np.uint8)
    return {
        "kind": "numbers",
        "type": "integer" if value.dtype.kind == "i" else "double",
        "blocks": [
            bytearray(data[start : start + _BLOCK].data) for start in range(0, len(data), _BLOCK)
        ],
    }


def from_rpy2(value: Any) -> Any:
    """Return an object of rpy2 as a plain value."""
    ri = session.rinterface()
    if isinstance(value, type(ri.NULL)):
        return None
    if isinstance(value, ri.StrSexpVector):
        return value[0]
    if isinstance(value, ri.ListSexpVector):
        items = [from_rpy2(item) for item in value]
        return items if value.names == ri.NULL else dict(zip(value.names, items, strict=True))
    numbers = np.asarray(value).ravel(order="F") if len(value) else np.empty(0, dtype=np.int32)
    numbers.flags.writeable = False  # memory of R
    if isinstance(value, ri.BoolSexpVector):
        return {"kind": "logical", "values": numbers}
    return numbers


def for_rpy2(value: Any) -> Any:
    """Return the reverse."""
    ri = session.rinterface()
    if value is None:
        return ri.NULL
    if isinstance(value, str):
        return ri.StrSexpVector([value])
    if isinstance(value, bool):
        return ri.BoolSexpVector([value])
    if isinstance(value, bytearray):
        return ri.ByteSexpVector.from_memoryview(memoryview(value))
    if isinstance(value, np.ndarray):
        kind = ri.IntSexpVector if value.dtype.kind == "i" else ri.FloatSexpVector
        return kind.from_memoryview(value.data)
    if isinstance(value, list):
        return ri.ListSexpVector([for_rpy2(item) for item in value])
    result = ri.ListSexpVector([for_rpy2(item) for item in value.values()])
    result.names = ri.StrSexpVector(list(value))
    return result
