"""A structure of the cells between two calls: R keeps it as bytes that only Python reads."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData

log = logging.getLogger(__name__)

_BYTES = "kept"
_ARRAYS = ("genes", "set_of_cell")
_TOLD = ("params", "matrix", "inputs", "reused", "replaced", "graph_components")


def is_kept(record: Mapping[str, Any]) -> bool:
    """Whether a record is of a structure."""
    return _BYTES in record


def kept(adata: AnnData, key: str) -> dict[str, Any]:
    """What ``pp.structure`` wrote, with its parameters to read."""
    entry = adata.uns[key]
    arrays = {name: entry[name] for name in _ARRAYS}
    arrays |= {"cells": adata.obsm[key], "projections": adata.varm[key]}
    arrays |= {
        f"sets/{place}/{name}": np.asarray(value)
        for place, block in entry["sets"].items()
        for name, value in block.items()
    }
    told = {name: entry[name] for name in _TOLD}
    arrays["told"] = np.array(json.dumps(told, default=np.ndarray.tolist))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return _records.told({"params": entry["params"], "reused": entry["reused"]}) | {
        "n_samples": adata.n_obs,
        _BYTES: bytearray(buffer.getbuffer()),
    }


def restore(adata: AnnData, key: str, record: Mapping[str, Any]) -> None:
    """Write it back; that of other genes or samples is left out."""
    with np.load(io.BytesIO(bytes(record[_BYTES]))) as arrays:
        cells, projections = arrays["cells"], arrays["projections"]
        if (len(cells), len(projections)) != adata.shape:
            log.warning(
                "The structure under %r is that of other genes or cells: it is computed anew.", key
            )
            return
        adata.obsm[key], adata.varm[key] = cells, projections
        sets: dict[str, dict[str, Any]] = {}
        for name in arrays.files:
            if name.startswith("sets/"):
                _, place, field = name.split("/")
                sets.setdefault(place, {})[field] = arrays[name]
        told = json.loads(str(arrays["told"]))
        told["params"] = {
            name: np.array(value) if isinstance(value, list) else value
            for name, value in told["params"].items()
        }
        adata.uns[key] = {
            **told,
            **{name: arrays[name] for name in _ARRAYS},
            "sets": sets,
        }
