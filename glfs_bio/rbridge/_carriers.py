"""Plain values as reticulate and rpy2 carry them; nothing of R is kept.

To reticulate numbers are bytes: its own conversion needs the NumPy that it was compiled for, and
leaves no difference between a number and a vector of one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _session, _values

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes of a block: a raw vector that R reads or writes in one go has less than 2³¹.
_BLOCK = 2**30
_TYPES: dict[str, np.dtype[Any]] = {
    "integer": np.dtype(np.int32),
    "double": np.dtype(np.float64),
}


def from_reticulate(value: Any) -> Any:
    """Return what R sent by reticulate, with its numbers as arrays."""
    if isinstance(value, list):
        return [from_reticulate(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "numbers":
        return _array(_TYPES[value["type"]], value["blocks"])
    return {name: from_reticulate(item) for name, item in value.items()}


def _array(dtype: np.dtype[Any], blocks: list[bytearray]) -> NDArray[Any]:
    parts = [np.frombuffer(block, dtype=dtype) for block in blocks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


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
    ri = _session.rinterface()
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
        return ri.ListSexpVector([for_rpy2(item) for item in value])
    result = ri.ListSexpVector([for_rpy2(item) for item in value.values()])
    result.names = ri.StrSexpVector(list(value))
    return result


def read(value: Any) -> Any:
    """Return an object of rpy2 as Python has it."""
    return _values.read(from_rpy2(value))


def write(value: Any) -> Any:
    """Return a value of Python as an object of rpy2."""
    return for_rpy2(_values.write(value))
