"""Plain values as reticulate hands them over: numbers as bytes.

Its own conversion needs the NumPy that it was compiled for, and leaves no difference between a
number and a vector of one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes of a block: a raw vector that R reads or writes in one go has less than 2³¹.
_BLOCK = 2**30
_TYPES: dict[str, np.dtype[Any]] = {
    "integer": np.dtype(np.int32),
    "double": np.dtype(np.float64),
}


def plain(value: Any) -> Any:
    """What R sent, with its numbers as arrays."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "numbers":
        return _array(_TYPES[value["type"]], value["blocks"])
    return {name: plain(item) for name, item in value.items()}


def _array(dtype: np.dtype[Any], blocks: list[bytearray]) -> NDArray[Any]:
    parts = [np.frombuffer(block, dtype=dtype) for block in blocks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def buffers(value: Any) -> Any:
    """The reverse."""
    if isinstance(value, list):
        return [buffers(item) for item in value]
    if isinstance(value, dict):
        return {name: buffers(item) for name, item in value.items()}
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
