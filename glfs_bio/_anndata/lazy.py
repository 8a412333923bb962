"""Objects of ``anndata.experimental.read_lazy``, all of whose parts are in their file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Parts of which all functions make use as of tables and arrays.
_PARTS = ("obs", "var", "obsm", "varm", "obsp", "uns")


def read_beside_the_matrix(adata: Any) -> None:
    """Read everything but the matrices of an object where it is not in memory yet."""
    if not hasattr(getattr(adata, "obs", None), "to_memory"):
        return
    for part in _PARTS:
        setattr(adata, part, _read(getattr(adata, part)))


def _read(value: Any) -> Any:
    for read in ("to_memory", "compute"):
        if hasattr(value, read):
            return getattr(value, read)()
    if isinstance(value, Mapping):
        return {name: _read(one) for name, one in value.items()}
    return value
