"""Values between R and Python as plain ones; ``values.R`` of the R package is the other half.

Plain are None, a string, lists, and dicts with a ``kind`` that names the form of what is none of
these: they travel as JSON.  Numbers and vectors of strings are bytes beside it, which it names by
number: reticulate's conversion of arrays needs the NumPy that it was compiled for, which is no
longer that of Python where reticulate is 1.28, as in Debian 12, and strings one by one take longer
than all numbers together.
"""

from __future__ import annotations

import json
import tempfile
from base64 import b64decode, b64encode
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import h5py  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
from anndata.io import sparse_dataset
from pandas.api import types
from scipy import sparse

from ..vendors.genes import PanelFile
from .objects import is_plain, put_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: R's missing integer or logical.
_NA = np.iinfo(np.int32).min
#: Bytes of a block: a raw vector that R reads or writes in one go has less than 2³¹.
_BLOCK = 2**30
#: Numbers that have blocks, by R's names of their types.
_TYPES = {"integer": np.int32, "double": np.float64, "logical": np.int32}


def strings(values: list[str]) -> pd.Series:
    """Return a vector of strings for R, though it may be empty."""
    return pd.Series(values, dtype=object)


def read(text: str, blocks: Sequence[bytes | bytearray]) -> Any:
    """Return a value of R as Python has it."""
    return json.loads(text, object_hook=partial(_value, blocks))


def _value(blocks: Sequence[bytes | bytearray], plain: dict[str, Any]) -> Any:
    """Return what stands for a dict of JSON, of which the items are values already."""
    match plain:
        case {"block": number}:
            return blocks[number]
        case {"kind": "numbers", "type": kind, "blocks": vectors}:
            return _numbers(kind, vectors)
        case {"kind": "scalar", "value": vector}:
            return vector.item()
        case {"kind": "strings", "bytes": block, "missing": missing}:
            texts = np.array(block.decode().split("\0")[:-1], dtype=object)
            return texts if missing is None else np.where(missing, np.nan, texts)
        case {"kind": "factor", "codes": codes, "levels": levels, "ordered": ordered}:
            positions = pd.array(codes, "Int32").to_numpy(np.int64, na_value=0) - 1
            return pd.Categorical.from_codes(positions, levels, ordered=bool(np.ravel(ordered)[0]))
        case {"kind": "dense", "values": numbers, "shape": shape}:
            # One copy, in an order that makes the transpose contiguous.
            matrix = numbers.reshape(shape, order="F")
            return np.array(matrix.T, dtype=np.float64, order="C").T
        case {"kind": "sparse", "p": p, "i": i, "x": x, "shape": shape}:
            return sparse.csc_matrix((x, i, p), shape=tuple(shape))
        case {"kind": "file", "path": path, "name": name}:
            return SimpleNamespace(T=h5py.File(path)[name])
        case {"kind": "sparse_file", "path": path, "shape": shape, "by": form, **datasets}:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                return _sparse_in_file(f"{folder}/matrix.h5", path, datasets, form, shape)
        case {"kind": "list", "items": items, "names": names}:
            items = getattr(items, "tolist", lambda: items)()  # numbers of many genes
            return items if names is None else dict(zip(names, items, strict=True))
        case {"kind": "table", "columns": columns, "names": names, "rows": rows, "length": n}:
            index = pd.RangeIndex(np.ravel(n)[0]) if rows is None else pd.Index(rows, dtype=object)
            return pd.DataFrame(dict(zip(names, columns, strict=True)), index=index)
        case {"kind": "panel", "table": table}:
            return PanelFile(table, "")
        case {"kind": "cells", "parts": cells}:
            return put_together(cells)
        case {"kind": "kept", "bytes": block}:
            text, *texts = json.loads(block)
            return read(text, [b64decode(text) for text in texts])
        case {"kind": kind}:
            raise KeyError(kind)


def _numbers(kind: str, blocks: Sequence[bytes]) -> Any:
    """Return a vector, as pandas' nullable array where integers or logical values are missing."""
    numbers = np.frombuffer(blocks[0] if len(blocks) == 1 else b"".join(blocks), _TYPES[kind])
    missing = numbers == _NA
    if kind != "double" and missing.any():
        nullable = pd.arrays.IntegerArray(numbers, missing)
        return nullable.astype("boolean") if kind == "logical" else nullable
    return numbers != 0 if kind == "logical" else numbers


def _sparse_in_file(new: str, path: str, datasets: dict[str, str], form: str, shape: Any) -> Any:
    """Return a matrix of genes × cells, whose arrays are datasets of a file.

    anndata knows one by attributes, which a file of 10x has not.  So links in a new file have
    them: links in memory would have all of the other one read there.
    """
    with h5py.File(new, "w") as file:
        for name, dataset in datasets.items():
            file[name] = h5py.ExternalLink(path, dataset)
        file.attrs["encoding-type"] = f"{form}_matrix"
        file.attrs["encoding-version"] = "0.1.0"
        file.attrs["shape"] = shape[::-1]
    return SimpleNamespace(T=sparse_dataset(h5py.File(new)))


def packed(value: Any) -> tuple[str, list[bytearray]]:
    """Return a value for R: its JSON, and the bytes that this names."""
    blocks: list[bytearray] = []

    def number(block: bytearray) -> dict[str, int]:
        blocks.append(block)
        return {"block": len(blocks) - 1}

    return json.dumps(_plain(value), default=number), blocks


def _plain(value: Any) -> Any:
    """Return a value of Python as a plain one."""
    if value is None or isinstance(value, str | bytearray):
        return value
    if isinstance(value, list | tuple):
        return _of_kind("list", items=list(value), names=None)
    if isinstance(value, dict) and value.get("kind") == "kept":
        text, blocks = packed(value["content"])
        texts = [text, *(b64encode(block).decode() for block in blocks)]
        return bytearray(json.dumps(texts), "utf-8")
    if isinstance(value, dict):
        return _of_kind("list", items=list(value.values()), names=strings(list(value)))
    if isinstance(value, pd.DataFrame):
        return _of_kind(
            "table",
            columns=[value.iloc[:, j] for j in range(value.shape[1])],
            names=value.columns.astype(str),
            rows=None if types.is_integer_dtype(value.index) else value.index.astype(str),
            length=len(value),
        )
    if sparse.issparse(value):
        is_canonical = getattr(value, "has_canonical_format", True)
        matrix = sparse.csc_matrix(value, dtype=np.float64, copy=not is_canonical)
        matrix.sum_duplicates()
        shape = np.array(matrix.shape)
        return _of_kind("sparse", p=matrix.indptr, i=matrix.indices, x=matrix.data, shape=shape)
    if isinstance(value, np.ndarray) and value.ndim == 2:
        numbers = value.ravel(order="F").astype(np.float64)
        return _of_kind("dense", values=numbers, shape=np.array(value.shape))
    vector = _vector(pd.Series(value))
    return {"kind": "scalar", "value": vector} if np.ndim(value) == 0 else vector


def _of_kind(kind: str, **fields: Any) -> dict[str, Any]:
    """Return a kind with its fields; a list is one of plain values."""
    plain = {
        name: [_plain(item) for item in field] if isinstance(field, list) else _plain(field)
        for name, field in fields.items()
    }
    return {"kind": kind, **plain}


def _vector(series: pd.Series) -> dict[str, Any]:
    """Return a column, or one value, as a vector."""
    dtype, missing = series.dtype, series.isna().to_numpy()
    if not is_plain(series):
        raise TypeError(f"A column of dtype {dtype} has no plain form in R.")
    if isinstance(dtype, pd.CategoricalDtype):
        codes = pd.arrays.IntegerArray(series.cat.codes.to_numpy(np.int64) + 1, missing)
        levels = series.cat.categories.astype(str)
        return _of_kind("factor", codes=codes, levels=levels, ordered=bool(dtype.ordered))
    if types.is_bool_dtype(dtype):
        return _blocks("logical", series.to_numpy(np.int64, na_value=_NA))
    if types.is_integer_dtype(dtype):
        numbers = series.to_numpy(np.int64, na_value=_NA)
        if (np.abs(numbers[~missing]) < -_NA).all():
            return _blocks("integer", numbers)
    if types.is_numeric_dtype(dtype):
        return _blocks("double", series.to_numpy(np.float64, na_value=np.nan))
    texts = np.where(missing, "", series.to_numpy(dtype=object))
    block = bytearray("".join(f"{text}\0" for text in texts), "utf-8")
    return _of_kind("strings", bytes=block, missing=missing if missing.any() else None)


def _blocks(kind: str, values: NDArray[np.number[Any]]) -> dict[str, Any]:
    """Return numbers as bytes."""
    data = np.ascontiguousarray(values, _TYPES[kind]).view(np.uint8)
    starts = range(0, len(data), _BLOCK)
    blocks = [bytearray(data[start : start + _BLOCK].data) for start in starts]
    return {"kind": "numbers", "type": kind, "blocks": blocks}
