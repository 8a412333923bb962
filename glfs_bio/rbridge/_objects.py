"""Objects of R as AnnData, and the reverse, out of plain pieces.

In ``colPairs`` the name alone says which graph is which: that of ``sc.pp.neighbors`` is called
``connectivities``, another one ``<neighbors_key>_connectivities``, as scanpy calls them itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
from scipy import sparse

from .._anndata import read
from ..errors import InvalidValue
from . import _records, _values
from .words import IN_OBSM, REDUCED

if TYPE_CHECKING:
    import pandas as pd

_KEY, _NAME = "neighbors", "connectivities"
_SUFFIX = f"_{_NAME}"


def put_together(parts: dict[str, Any]) -> ad.AnnData:
    """Cells × genes, out of the plain pieces of an R object, whose matrices are genes × cells."""
    adata = ad.AnnData(
        parts["X"].T,
        obs=_named(parts["obs"]),
        var=_named(parts["var"]),
        obsm={REDUCED.get(name, name): array for name, array in parts["reduced"].items()},
        layers={name: layer.T for name, layer in parts["layers"].items()},
        obsp={name: pairs.tocsr() for name, pairs in parts["pairs"].items()},
        uns={_key(name): {"connectivities_key": name} for name in parts["pairs"] if _is_graph(name)}
        | {
            name: _records.from_r(record)
            for name, record in parts["records"].items()
            if not _records.is_structure(record)
        },
    )
    for name, record in parts["records"].items():
        if _records.is_structure(record):
            _records.restore(adata, name, record)
    return adata


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """The same with row names where R has none."""
    return table.set_axis(table.index.astype(object).astype(str), axis=0)


def take_apart(adata: ad.AnnData, X_name: str) -> tuple[dict[str, Any], list[str]]:
    """The reverse, and the names of what has no plain form in R."""
    if X_name in adata.layers:
        raise InvalidValue("X_name", X_name, "is the name of a layer", "choose another")
    assays = {} if adata.X is None else {X_name: read.matrix(adata)}
    assays |= {name: read.matrix(adata, name) for name in adata.layers}
    pairs, left = _graphs(adata)
    left += [f"{name}[{key!r}]" for name in ("varm", "varp") for key in getattr(adata, name)]
    left += ["raw"] if adata.raw is not None else []
    reduced = {}
    for key, array in adata.obsm.items():
        if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub":
            reduced[IN_OBSM.get(key, key)] = array
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


def _graphs(adata: ad.AnnData) -> tuple[dict[str, Any], list[str]]:
    """Matrices of ``.obsp`` by their names in R, and what of ``.uns`` and ``.obsp`` is left."""
    names = {
        entry.get("connectivities_key", _NAME): _NAME if key == _KEY else key + _SUFFIX
        for key, entry in adata.uns.items()
        if isinstance(entry, Mapping) and (key == _KEY or "connectivities_key" in entry)
    }
    names = {matrix: name for matrix, name in names.items() if matrix in adata.obsp}
    pairs, left = {}, []
    for key, matrix in adata.obsp.items():
        # A graph that no entry of `.uns` names is none that Python would use.
        if matrix.dtype.kind not in "fiub" or (key not in names and _is_graph(key)):
            left.append(f"obsp[{key!r}]")
        else:
            pairs[names.get(key, key)] = sparse.csc_matrix(matrix)
    known = {_key(name) for name in names.values()}
    return pairs, [f"uns[{key!r}]" for key in adata.uns if key not in known] + left


def _is_graph(name: str) -> bool:
    return name == _NAME or name.endswith(_SUFFIX)


def _key(name: str) -> str:
    return _KEY if name == _NAME else name.removesuffix(_SUFFIX)
