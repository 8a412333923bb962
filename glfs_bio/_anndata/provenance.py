"""What a result was made of, and whether that is still what there is.

A result of :mod:`glfs_bio.tl` is kept with the cells, and is drawn and reported later.  Meanwhile
the selection may have been made anew, or the matrix normalised.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidValue, call
from . import read, selection, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anndata import AnnData

    from .names import Named

#: Rows whose sums stand for a matrix, and digits of these that do not depend on its container.
_ROWS, _DIGITS = 200, 6
#: A matrix that is not in memory is not looked at.
_UNKNOWN = "unknown"


def made_of(adata: AnnData, layer: str | None, panels: Iterable[Named] = ()) -> dict[str, Any]:
    """Return what ``.uns`` keeps of what a result is of: the matrix, and panels.

    Of a panel that is a selection also the parameters that it was made with.
    """
    return {
        "layer": write.storable(layer),
        "matrix": _matrix(adata, layer),
        "panels": {str(place): _panel(adata, named) for place, named in enumerate(panels)},
    }


def outdated(adata: AnnData, entry: Mapping[str, Any]) -> str | None:
    """Say, in words, why a result is not of what there is now; None where it is."""
    made = entry.get("made_of")
    if made is None:
        return "its input is not recorded"
    for panel in made["panels"].values():
        key, genes = str(panel["key"]), set(map(str, np.ravel(panel["genes"])))
        if f"{key}_selected" not in adata.var or key not in adata.uns:
            continue
        now = set(adata.var_names[adata.var[f"{key}_selected"].astype(bool)])
        if genes != now:
            return (
                f"the selection under {key!r} has changed: {len(genes & now)} of the {len(genes)} "
                f"genes of the panel are among its {len(now)}"
            )
        if str(panel["params"]) != _params(adata, key):
            return f"the selection under {key!r} has other parameters now"
    layer = write.restored(str(made["layer"]))
    matrix, now_matrix = str(made["matrix"]), _matrix(adata, layer)
    if _UNKNOWN not in (matrix, now_matrix) and matrix != now_matrix:
        return "the matrix has changed"
    return None


def genes(entry: Mapping[str, Any]) -> list[str] | None:
    """Return the names of the one panel that a result is of; None where it is of none or many."""
    panels = list(entry.get("made_of", {}).get("panels", {}).values())
    return list(map(str, np.ravel(panels[0]["genes"]))) if len(panels) == 1 else None


def result(
    adata: AnnData, key: str, writer: str, *needs: str, argument: str = "key"
) -> dict[str, Any]:
    """``.uns[key]``, as `writer` left it there, of the selection and the matrix that there are.

    Raises
    ------
    KeyError
        It is not there, or is something else.
    ValueError
        The selection or the matrix has changed since.
    """
    entry = selection.record(adata, key, writer, *needs, argument=argument)
    why = outdated(adata, entry)
    if why is not None:
        raise InvalidValue(argument, key, f"is outdated: {why}", f"run {call(writer)} again")
    return entry


def _panel(adata: AnnData, named: Named) -> dict[str, Any]:
    key = named.key
    return {
        "key": write.storable(key),
        "genes": np.array(adata.var_names[named.genes], dtype=object),
        "params": write.storable(None if key is None else _params(adata, key)),
    }


def _params(adata: AnnData, key: str) -> str:
    """A checksum of the parameters of a selection, but for where it is written."""
    record = adata.uns.get(key, {})
    recorded = {
        name: _canonical(value)
        for name, value in dict(record.get("params", {})).items()
        if name not in selection.WHERE
    }
    recorded["structure"] = _canonical(record.get("structure", {}))
    return f"{zlib.crc32(json.dumps(recorded, sort_keys=True).encode()):08x}"


def _canonical(value: Any) -> Any:
    """A parameter as it is in Python, after a file, and after R, where one is a list of one."""
    found = selection.plain(value)
    if isinstance(found, dict):
        return {str(name): _canonical(item) for name, item in found.items()}
    if isinstance(found, list):
        items = [_canonical(item) for item in found]
        return items[0] if len(items) == 1 else items
    if isinstance(found, int | float) and not isinstance(found, bool):
        return float(found)
    return str(found)


def _matrix(adata: AnnData, layer: str | None) -> str:
    """A checksum of the names of the genes and of sums of rows, whatever the container."""
    data = read.in_memory(adata, layer)
    if data is None:
        return _UNKNOWN
    rows = np.unique(np.linspace(0, adata.n_obs - 1, min(_ROWS, adata.n_obs)).astype(int))
    sums = np.ravel(np.asarray(data[rows].astype(np.float64).sum(axis=1)))
    content = [f"{value:.{_DIGITS}e}" for value in sums]
    content += [str(adata.shape), *adata.var_names]
    return f"{zlib.crc32(chr(0).join(content).encode()):08x}"
