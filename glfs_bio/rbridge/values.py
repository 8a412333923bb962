"""Values between R and Python as plain ones; ``values.R`` of the R package is the other half.

Plain are None, a string, a flag, bytes, lists, and dicts with a ``kind`` that names the form of
what is none of these.  Numbers and strings travel as bytes: reticulate's conversion of arrays needs
the NumPy that it was compiled for, which is no longer that of Python where reticulate is 1.28, as
in Debian 12, and strings one by one take longer than all numbers together.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
from anndata.io import sparse_dataset
from pandas.api import types
from scipy import sparse

from . import session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.number[Any]]

#: R's missing integer or logical.
_NA = np.iinfo(np.int32).min
#: Bytes of a block: a raw vector that R reads or writes in one go has less than 2³¹.
_BLOCK = 2**30


#: Numbers that have blocks, by R's names of their types.
_TYPES = {"integer": np.int32, "double": np.float64}
#: Parts of a sparse matrix in a file.
_PARTS = ("data", "indices", "indptr")


@dataclass(frozen=True)
class InFile:
    """A matrix of genes × cells in a HDF5 file, which keeps the reverse."""

    #: Cells × genes, to be read by rows.
    T: Any


def strings(values: list[str]) -> pd.Series:
    """Return a vector of strings for R, though it may be empty."""
    return pd.Series(values, dtype=object)


def read(value: Any) -> Any:
    """Return a plain value as Python has it."""
    if isinstance(value, list):
        return [read(item) for item in value]
    if not isinstance(value, dict):
        return value
    match {name: read(field) for name, field in value.items()}:
        case {"kind": "numbers", "type": kind, "blocks": blocks}:
            return _numbers(np.dtype(_TYPES[kind]), blocks)
        case {"kind": "logical", "values": pd.arrays.IntegerArray() as numbers}:
            return numbers.astype("boolean")
        case {"kind": "logical", "values": numbers}:
            return numbers != 0
        case {"kind": "scalar", "value": vector}:
            item = vector[0]
            return item.item() if isinstance(item, np.generic) else item
        case {"kind": "strings", "bytes": block, "missing": missing}:
            texts = np.array(block.decode().split("\0")[:-1], dtype=object)
            if missing is not None:
                texts[missing] = np.nan
            return texts
        case {"kind": "named", "names": names, "values": numbers}:
            return dict(zip(names, numbers.tolist(), strict=True))
        case {"kind": "factor", "codes": codes, "levels": levels, "ordered": ordered}:
            positions = pd.Series(codes).fillna(0).to_numpy(np.int64) - 1
            return pd.Categorical.from_codes(positions, levels, ordered=bool(ordered[0]))
        case {"kind": "dense", "values": numbers, "shape": shape}:
            # One copy, in an order that makes the transpose contiguous.
            matrix = numbers.reshape(shape, order="F")
            return np.array(matrix.T, dtype=np.float64, order="C").T
        case {"kind": "sparse", "p": p, "i": i, "x": x, "shape": shape}:
            return sparse.csc_matrix((x, i, p), shape=tuple(shape))
        case {"kind": "file", "path": path, "name": name}:
            return InFile(h5py.File(path)[name])
        case {"kind": "sparse_file", "path": path, "shape": shape, "by": form}:
            return _in_sparse_file(path, {name: value[name] for name in _PARTS}, form, shape)
        case {"kind": "parts", "folder": folder, "p": p, "shape": shape}:
            return _in_parts(Path(folder), p, shape)
        case {"kind": "list", "items": items, "names": names}:
            return items if names is None else dict(zip(names, items, strict=True))
        case {"kind": "table", "columns": columns, "names": names, "rows": rows, "length": n}:
            index = pd.RangeIndex(n[0]) if rows is None else pd.Index(rows, dtype=object)
            return pd.DataFrame(dict(zip(names, columns, strict=True)), index=index)
        case {"kind": kind}:
            raise KeyError(kind)


def _numbers(dtype: np.dtype[Any], blocks: list[bytearray]) -> Any:
    """Return a vector, as pandas' nullable array where integers are missing."""
    vectors = [np.frombuffer(block, dtype) for block in blocks]
    numbers = vectors[0] if len(vectors) == 1 else np.concatenate([np.empty(0, dtype), *vectors])
    missing = numbers == _NA
    if dtype.kind == "i" and missing.any():
        return pd.arrays.IntegerArray(numbers, missing)
    return numbers


def _in_sparse_file(path: str, datasets: dict[str, str], form: str, shape: Numbers) -> InFile:
    """Return a matrix in a file of 10x, which lacks the attributes by which anndata knows one."""
    # They stand beside links to its parts in another file: links in memory would have all of this
    # one read there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        linking = Path(folder) / "links.h5"
        with h5py.File(linking, "w") as links:
            for name, dataset in datasets.items():
                links[name] = h5py.ExternalLink(path, dataset)
            _mark_sparse(links, form, shape)
        return InFile(sparse_dataset(h5py.File(linking)))


def _mark_sparse(group: Any, form: str, shape: Numbers) -> None:
    """Write what anndata asks for, of a matrix of genes × cells."""
    group.attrs["encoding-type"] = f"{form}_matrix"
    group.attrs["encoding-version"] = "0.1.0"
    group.attrs["shape"] = shape[::-1]


def _in_parts(folder: Path, p: Numbers, shape: Numbers) -> InFile:
    """Return a matrix that R wrote sample by sample to binary files of this folder."""
    path = folder / "parts.h5"
    with h5py.File(path, "w") as file:
        for name, kind in {"data": "f8", "indices": "i4"}.items():
            binary = folder / name
            extent = [(str(binary), 0, binary.stat().st_size)] if p[-1] else None
            file.create_dataset(name, int(p[-1]), kind, external=extent)
        file["indptr"] = p.astype(np.int64)
        _mark_sparse(file, "csr", shape)
    return InFile(sparse_dataset(h5py.File(path)))


def write(value: Any) -> Any:
    """Return a value of Python as a plain one."""
    if value is None or isinstance(value, str | bool | bytearray):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Real):
        return write(np.array([value]))
    if isinstance(value, dict):
        return _written("list", items=list(value.values()), names=strings(list(value)))
    if isinstance(value, list | tuple):
        return _written("list", items=list(value), names=None)
    if isinstance(value, pd.DataFrame):
        return _written(
            "table",
            columns=[value.iloc[:, j] for j in range(value.shape[1])],
            names=value.columns.astype(str),
            rows=None if types.is_integer_dtype(value.index) else value.index.astype(str),
            length=len(value),
        )
    if sparse.issparse(value):
        matrix = sparse.csc_matrix(value, dtype=np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        shape = np.array(matrix.shape)
        return _written("sparse", p=matrix.indptr, i=matrix.indices, x=matrix.data, shape=shape)
    if isinstance(value, np.ndarray) and value.ndim == 2:
        numbers = value.ravel(order="F").astype(np.float64)
        return _written("dense", values=numbers, shape=np.array(value.shape))
    return _vector(pd.Series(value))


def _written(kind: str, **fields: Any) -> dict[str, Any]:
    """Return a kind with its fields; a list is one of plain values."""
    plain = {
        name: [write(item) for item in field] if isinstance(field, list) else write(field)
        for name, field in fields.items()
    }
    return {"kind": kind, **plain}


def is_plain(series: pd.Series) -> bool:
    """Return whether a column has a plain form in R."""
    dtype = series.dtype
    return (
        isinstance(dtype, pd.CategoricalDtype)
        or (types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype))
        or all(isinstance(item, str) and "\0" not in item for item in series[series.notna()])
    )


def _vector(series: pd.Series) -> dict[str, Any]:
    dtype, missing = series.dtype, series.isna().to_numpy()
    if not is_plain(series):
        raise TypeError(f"A column of dtype {dtype} has no plain form in R.")
    if isinstance(dtype, pd.CategoricalDtype):
        return {
            "kind": "factor",
            "codes": _blocks(np.where(missing, _NA, series.cat.codes.astype(np.int64) + 1)),
            "levels": write(series.cat.categories.astype(str)),
            "ordered": bool(dtype.ordered),
        }
    if types.is_bool_dtype(dtype):
        flags = series.astype("boolean").fillna(False).to_numpy(np.int64)
        return {"kind": "logical", "values": _blocks(np.where(missing, _NA, flags))}
    if types.is_integer_dtype(dtype):
        numbers = series.fillna(0).to_numpy(np.int64)
        if (np.abs(numbers) < -_NA).all():
            return _blocks(np.where(missing, _NA, numbers))
    if types.is_numeric_dtype(dtype):
        return _blocks(series.to_numpy(np.float64, na_value=np.nan))
    texts = np.where(missing, "", series.to_numpy(dtype=object))
    block = bytearray("".join(f"{text}\0" for text in texts), "utf-8")
    return _written("strings", bytes=block, missing=missing if missing.any() else None)


def _blocks(values: Numbers) -> dict[str, Any]:
    """Return numbers as bytes."""
    is_whole = values.dtype.kind == "i"
    data = np.ascontiguousarray(values, np.int32 if is_whole else np.float64).view(np.uint8)
    return {
        "kind": "numbers",
        "type": "integer" if is_whole else "double",
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
    if isinstance(value, ri.ByteSexpVector):
        return bytearray(np.asarray(value).data)
    items = [from_rpy2(item) for item in value]
    return items if value.names == ri.NULL else dict(zip(value.names, items, strict=True))


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
    items = value.values() if isinstance(value, dict) else value
    vector = ri.ListSexpVector([for_rpy2(item) for item in items])
    if isinstance(value, dict):
        vector.names = ri.StrSexpVector(list(value))
    return vector
