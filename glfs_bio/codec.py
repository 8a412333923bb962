"""Values of Python as ``.uns`` and files keep them, and back: the one codec of records.

h5ad and zarr keep no None, no pattern and no list of mixed things.  None is ``"None"``, a dict or a
list in a record is JSON after ``"json:"``, a pattern follows ``"re:"``, and names are an array.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from math import isfinite
from numbers import Real
from pathlib import PurePath
from typing import Any

_NONE, _JSON, _PATTERN, _CELLS = "None", "json:", "re:", " cells"
#: Flags that a pattern can have in its text, by their letters.
_FLAGS = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


def storable(value: Any) -> Any:
    """Return a value as ``.uns`` keeps it; of cells their number."""
    import numpy as np  # options are read where help is shown, which should not wait for it

    if value is None:
        return _NONE
    if isinstance(value, str | bool | int | float | np.number):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "n_obs"):
        return f"{value.n_obs}{_CELLS}"
    if hasattr(value, "record"):
        return value.record()
    if isinstance(value, Mapping):
        return _JSON + json.dumps(_plain(value), default=float)
    if isinstance(value, re.Pattern):
        letters = "".join(letter for letter, flag in _FLAGS.items() if value.flags & flag)
        return _PATTERN + (f"(?{letters})" if letters else "") + value.pattern
    items = list(value)
    if items and all(isinstance(item, Real) for item in items):
        return np.array(items)
    return np.array([str(storable(item)) for item in items], dtype=object)


def is_of_cells(value: Any) -> bool:
    """Return whether a value is cells, or the text that stands for them in a record."""
    return hasattr(value, "n_obs") or re.fullmatch(rf"\d+{_CELLS}", str(value)) is not None


def one_text(names: Any) -> str:
    """Return names and patterns, or one, or None, as one text, which compares as a whole."""
    if names is None:
        return _NONE
    items = [names] if isinstance(names, str | re.Pattern) else list(names)
    return _JSON + json.dumps([storable(item) for item in items])


def record(options: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are set, as ``.uns`` keeps them."""
    values = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if isinstance(value, Collection) and not (
            isinstance(value, str) or hasattr(value, "n_obs")
        ):
            value = _JSON + json.dumps(_plain(value), default=float)
        if value is not None:
            values[field.name] = value.item() if hasattr(value, "item") else storable(value)
    return values


def restored(value: Any) -> Any:
    """Return what :func:`storable` kept, as Python has it."""
    if hasattr(value, "item") and not getattr(value, "ndim", 0):
        value = value.item()
    if isinstance(value, str):
        if value == _NONE:
            return None
        if value.startswith(_JSON):
            return json.loads(value.removeprefix(_JSON))
    if getattr(value, "ndim", 0) == 1:
        return [str(item) for item in value] if value.dtype.kind in "OUT" else value.tolist()
    return value


def plain(value: Any) -> Any:
    """Return a part of a record as JSON has it: tables as lists of rows, None for no number."""
    import numpy as np
    import pandas as pd

    if isinstance(value, Mapping):
        return {
            str(name): plain(restored(item) if isinstance(item, str) else item)
            for name, item in value.items()
        }
    if isinstance(value, pd.DataFrame):
        # files have no ranges: they return one as numbers
        has_names = value.index.name or not pd.api.types.is_integer_dtype(value.index)
        called = value.index.name or "name"
        while called in value:
            called = f"{called}_"
        table = value.reset_index(names=called) if has_names else value
        rows = zip(*(plain(table[name]) for name in table), strict=True)
        return [dict(zip(map(str, table), row, strict=True)) for row in rows]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Real) and not isinstance(value, bool | int):
        return float(value) if isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Collection):
        return [plain(item) for item in value]
    if pd.isna(value):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def with_patterns(names: Any) -> Any:
    """Return names, or one, with the patterns that texts stand for."""
    if isinstance(names, list):
        return [with_patterns(name) for name in names]
    if isinstance(names, str) and names.startswith(_PATTERN):
        return re.compile(names.removeprefix(_PATTERN))
    return names


def _plain(value: Any) -> Any:
    """Return what JSON can hold of dicts and lists of names and numbers."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if value is None or isinstance(value, str | Real):
        return value
    if isinstance(value, Collection):
        return [_plain(item) for item in value]
    return str(value)
