"""Records of ``.uns`` as R has them: with NULL, and with lists by name.

Files keep no None and no dict, so that ``.uns`` holds texts that stand for them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata.write import storable

if TYPE_CHECKING:
    from collections.abc import Mapping

_NONE, _JSON = "None", "json:"
#: Parameters that may be a dict of numbers, or a list of names.
_BY_NAME = ("cost", "failure", "preserve")


def told(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record for R."""
    return {name: _told(name, value) for name, value in record.items()}


def kept(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of R for ``.uns``: the reverse, for the parameters."""
    params = {
        name: storable(value) if value is None or name in _BY_NAME else value
        for name, value in record.get("params", {}).items()
    }
    return {**record, "params": params}


def _told(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return told(value)
    if isinstance(value, str) and value == _NONE:
        return None
    if isinstance(value, str) and value.startswith(_JSON):
        return json.loads(value.removeprefix(_JSON))
    # In R one gene alone would be any string.
    return list(value) if name == "preserve" and isinstance(value, np.ndarray) else value
