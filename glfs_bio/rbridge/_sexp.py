"""Plain values as vectors of rpy2, and back; nothing of R is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _session, _values


def read(value: Any) -> Any:
    """An R value as Python has it."""
    return _values.read(plain(value))


def write(value: Any) -> Any:
    """A value of Python as R has it.

    Raises
    ------
    TypeError
        A type that has no plain form in R.
    """
    return sexp(_values.write(value))


def plain(value: Any) -> Any:
    """An object of rpy2 as a plain value."""
    ri = _session.rinterface()
    if isinstance(value, type(ri.NULL)):
        return None
    if isinstance(value, ri.StrSexpVector):
        return value[0]
    if isinstance(value, ri.ListSexpVector):
        items = [plain(item) for item in value]
        return items if value.names == ri.NULL else dict(zip(value.names, items, strict=True))
    numbers = np.asarray(value).ravel(order="F") if len(value) else np.empty(0, dtype=np.int32)
    numbers.flags.writeable = False  # memory of R
    if isinstance(value, ri.BoolSexpVector):
        return {"kind": "logical", "values": numbers}
    return numbers


def sexp(value: Any) -> Any:
    """A plain value as an object of rpy2."""
    ri = _session.rinterface()
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
        return ri.ListSexpVector([sexp(item) for item in value])
    result = ri.ListSexpVector([sexp(item) for item in value.values()])
    result.names = ri.StrSexpVector(list(value))
    return result
