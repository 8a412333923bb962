"""Values as ``.uns`` and files keep them: a request is one JSON string, beside what people read.

Files keep no None, pattern or mixed list.  :func:`text_of` writes them as JSON, exactly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

#: Patterns of records repeat no group, and in one alternative no more: others may take years.
_REPEAT, _REPEATED_GROUP, _MOST_REPEATS = re.compile("[*+{]"), re.compile(r"\)[*+{]"), 3
NONE, _JSON, _PATTERN, _CELLS = "None", "json:", "re.Pattern", " cells"


def text_of(value: Any) -> str:
    """Return a request, or a part of it, as JSON; of cells their number."""
    return json.dumps(value, default=_in_json)


def value_of(text: Any) -> Any:
    """Return what :func:`text_of` wrote; records are dicts of their fields."""
    return json.loads(scalar(text), object_hook=_with_pattern)


def _in_json(value: Any) -> Any:
    """Return what JSON has in the place of a value that it cannot hold."""
    if isinstance(value, re.Pattern):
        return {_PATTERN: [value.pattern, value.flags]}
    if hasattr(value, "n_obs"):
        return f"{value.n_obs}{_CELLS}"
    if hasattr(value, "record"):
        return value.record()
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, Collection) else str(value)


def _with_pattern(content: dict[str, Any]) -> Any:
    """Return the pattern that a dict of JSON stands for, or the dict."""
    if content.keys() != {_PATTERN}:
        for name, value in content.items():
            if isinstance(value, str) and Path(value).suffix and Path(value).is_file():
                raise ValueError(f"{name} names a file, which a record may not have read")
        return content
    pattern, flags = content[_PATTERN]
    most = max(len(_REPEAT.findall(alternative)) for alternative in pattern.split("|"))
    if most > _MOST_REPEATS or _REPEATED_GROUP.search(pattern):
        raise ValueError(f"{pattern} may never end")
    return re.compile(pattern, flags)


def is_of_cells(value: Any) -> bool:
    """Return whether a value is cells, or the text that stands for them in a record."""
    return hasattr(value, "n_obs") or re.fullmatch(rf"\d+{_CELLS}", str(value)) is not None


def storable(value: Any) -> Any:
    """Return a value as people read it in ``.uns``, of a record the fields that are set."""
    import numpy as np  # options are read where help is shown, which should not wait for it

    if value is None:
        return NONE
    is_array = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    if is_array or isinstance(value, str | bool | int | float | np.number):
        return value
    if isinstance(value, re.Pattern):
        return f"re:{value.pattern}"
    if hasattr(value, "record"):
        return value.record()
    if is_dataclass(value):
        return {
            field.name: storable(getattr(value, field.name))
            for field in fields(value)
            if field.repr and (getattr(value, field.name) is not None or field.default is not None)
        }
    in_json = value if isinstance(value, Mapping) else _in_json(value)
    if isinstance(in_json, list) and in_json:
        if all(isinstance(item, Real) for item in in_json):
            return np.array(in_json)
        return np.array([str(storable(item)) for item in in_json], dtype=object)
    return in_json if isinstance(in_json, str) else _JSON + text_of(in_json)


def scalar(value: Any) -> Any:
    """Return a value that other writers of files may keep as an array of one."""
    return value.item() if getattr(value, "size", 0) == 1 else value


def restored(value: Any) -> Any:
    """Return a value that :func:`storable` wrote, but for arrays."""
    value = scalar(value)
    if not isinstance(value, str):
        return value
    if value.startswith(_JSON):
        with suppress(Exception):  # of strangers, who may have written anything
            return value_of(value.removeprefix(_JSON))
    return None if value == NONE else value


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
        rows = table.to_dict("records")
        return [{str(name): plain(item) for name, item in row.items()} for row in rows]
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
