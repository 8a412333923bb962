"""Objects of R as AnnData, and the reverse, out of plain pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np

from .._anndata import read
from . import _graphs, _records, _structures, _values, _wording

if TYPE_CHECKING:
    import pandas as pd

_IN_OBSM = {name: key for key, name in _wording.REDUCED.items()}


def put_together(parts: dict[str, Any]) -> ad.AnnData:
    """Cells × genes, out of the plain pieces of an R object, whose matrices are genes × cells."""
    adata = ad.AnnData(
        parts["X"].T,
        obs=parts["obs"],
        var=parts["var"],
        obsm={_wording.REDUCED.get(name, name): array for name, array in parts["reduced"].items()},
        layers={name: layer.T for name, layer in parts["layers"].items()},
        obsp={name: pairs.tocsr() for name, pairs in parts["pairs"].items()},
        uns=_graphs.entries(parts["pairs"])
        | {
            name: _records.kept(record)
            for name, record in parts["records"].items()
            if not _structures.is_kept(record)
        },
    )
    for name, record in parts["records"].items():
        if _structures.is_kept(record):
            _structures.restore(adata, name, record)
    return adata


def take_apart(adata: ad.AnnData, X_name: str) -> tuple[dict[str, Any], list[str]]:
    """The reverse, and the names of what has no plain form in R."""
    if X_name in adata.layers:
        msg = f"X_name={X_name!r} is the name of a layer: choose another."
        raise ValueError(msg)
    assays = {} if adata.X is None else {X_name: read.matrix(adata)}
    assays |= {name: read.matrix(adata, name) for name in adata.layers}
    pairs, left = _graphs.carried(adata)
    left += [f"{name}[{key!r}]" for name in ("varm", "varp") for key in getattr(adata, name)]
    left += ["raw"] if adata.raw is not None else []
    reduced = {}
    for key, array in adata.obsm.items():
        if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub":
            reduced[_IN_OBSM.get(key, key)] = array
        else:
            left.append(f"obsm[{key!r}]")
    tables = {}
    for name in ("obs", "var"):
        tables[name], dropped = _plain_columns(getattr(adata, name))
        left += [f"{name}[{column!r}]" for column in dropped]
    return {
        "assays": {name: matrix.T for name, matrix in assays.items()},
        "reduced": reduced,
        "pairs": pairs,
        **tables,
    }, left


def _plain_columns(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    dropped = [name for name in table if not _values.is_plain(table[name])]
    return table.drop(columns=dropped), [str(name) for name in dropped]
