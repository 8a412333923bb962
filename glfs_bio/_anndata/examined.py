"""Whether frequencies are those of a selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import selection

if TYPE_CHECKING:
    from anndata import AnnData

#: Parameters of a selection that say where it is written, and not which genes it has.
WHERE = frozenset({"structure_key", "key_added", "as_highly_variable", "subset", "inplace"})
#: The seed of a stability decides on the parts of the cells too.
_FREE = WHERE | {"random_state"}


def difference(adata: AnnData, key: str, stability_key: str) -> str | None:
    """What tells the selection that a stability examined from that under `key`, in words.

    None: it is the same selection, but for its seed.

    Raises
    ------
    KeyError
        No such selection or stability.
    """
    chosen = selection.record(adata, key, "pp.select_genes", "params", "n_tested")
    entry = selection.record(adata, stability_key, "tl.stability", "jaccard", "n_genes")
    if "of" not in entry:
        return "an earlier version did not record which selection it examined"
    told = [
        f"{name}={_told(value)} and not {_told(chosen['params'][name])}"
        for name, value in entry["params"].items()
        if name in chosen["params"]
        and name not in _FREE
        and _plain(value) != _plain(chosen["params"][name])
    ]
    if not told and entry["n_tested"] != chosen["n_tested"]:
        told.append(f"{entry['n_tested']} genes to choose from and not {chosen['n_tested']}")
    return ", ".join(told) or None


def _plain(value: Any) -> Any:
    """A stored value, whether or not it has been in a file."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return np.asarray(value).tolist()


def _told(value: Any) -> str:
    plain = _plain(value)
    if isinstance(plain, list) and len(plain) > 3:
        return f"{len(plain)} values"
    return "None" if plain == "None" else repr(plain)
