"""Objects of R as AnnData with the records of results, and the reverse, out of plain pieces.

In ``colPairs`` the name alone says which graph is which: that of ``sc.pp.neighbors`` is called
``connectivities``, another one ``<neighbors_key>_connectivities``, as scanpy calls them itself.

Files keep no None and no dict, so that ``.uns`` holds texts that stand for them; R has NULL, and
lists by name.  A structure of the cells, between two calls, R keeps as bytes that only Python
reads.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import anndata as ad
import h5py  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
from anndata.io import read_elem, write_elem
from pandas.api import types
from scipy import sparse

from .._anndata import read
from .._anndata.structure import KEY
from ..codec import restored
from ..errors import InvalidValue, note, quoted, short
from ..io._read import check_genes_in_rows

#: Names of reduced dimensions in Bioconductor, by those in ``.obsm``.
REDUCED = {"X_pca": "PCA", "X_tsne": "TSNE", "X_umap": "UMAP"}
_KEY, _NAME = "neighbors", "connectivities"
_SUFFIX = f"_{_NAME}"
#: Of the record of a structure, its bytes.
_BYTES = "kept"


def put_together(parts: dict[str, Any]) -> ad.AnnData:
    """Cells × genes, out of the plain pieces of an R object, whose matrices are genes × cells."""
    obs, var = (parts[name].rename(index=str) for name in ("obs", "var"))
    if len(parts["cells"]) and len(var):
        check_genes_in_rows(list(var.index), list(parts["cells"]))
    graphs = [name for name in parts["pairs"] if _is_graph(name)]
    adata = ad.AnnData(
        parts["X"].T,
        obs,
        var,
        obsm=parts["reduced"],
        layers={name: layer.T for name, layer in parts["layers"].items()},
        obsp={name: pairs.tocsr() for name, pairs in parts["pairs"].items()},
        uns={_key(name): {"connectivities_key": name} for name in graphs},
    )
    for key, record in parts["records"].items():
        if _BYTES in record:
            _restore(adata, key, record[_BYTES])
        else:
            adata.uns[key] = record
    return adata


def take_apart(adata: ad.AnnData, X_name: str) -> dict[str, Any]:
    """The reverse, with the names of what has no plain form in R."""
    if X_name in adata.layers:
        raise InvalidValue(f"`X_name={short(X_name)}` is the name of a layer: choose another")
    assays = {} if adata.X is None else {X_name: read.row_matrix(adata).loaded()}
    assays |= {name: read.row_matrix(adata, name).loaded() for name in read.layers(adata)}
    pairs, dropped = _graphs(adata)
    dropped += [f"{name}[{key!r}]" for name in ("varm", "varp") for key in getattr(adata, name)]
    dropped += ["raw"] if adata.raw is not None else []
    reduced = {}
    for key, array in adata.obsm.items():
        if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub":
            reduced[REDUCED.get(key, key)] = array
        else:
            dropped.append(f"obsm[{key!r}]")
    tables = {"obs": adata.obs, "var": adata.var}
    for name, table in tables.items():
        no_form = [column for column in table if not is_plain(table[column])]
        tables[name] = table.drop(columns=no_form)
        dropped += [f"{name}[{str(column)!r}]" for column in no_form]
    matrices = {name: matrix.T for name, matrix in assays.items()}
    return {"assays": matrices, "reduced": reduced, "pairs": pairs, **tables, "left": dropped}


def is_plain(column: pd.Series) -> bool:
    """Return whether a column has a plain form in R."""
    dtype = column.dtype
    return (
        isinstance(dtype, pd.CategoricalDtype)
        or (types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype))
        or all(isinstance(item, str) and "\0" not in item for item in column[column.notna()])
    )


def _graphs(adata: ad.AnnData) -> tuple[dict[str, Any], list[str]]:
    """Matrices of ``.obsp`` by their names in R, and what of ``.uns`` and ``.obsp`` is left."""
    names = {
        entry.get("connectivities_key", _NAME): _NAME if key == _KEY else key + _SUFFIX
        for key, entry in adata.uns.items()
        if isinstance(entry, Mapping) and (key == _KEY or "connectivities_key" in entry)
    }
    names = {matrix: name for matrix, name in names.items() if matrix in adata.obsp}
    pairs, dropped = {}, []
    for key, matrix in adata.obsp.items():
        # A graph that no entry of `.uns` names is none that Python would use.
        if matrix.dtype.kind not in "fiub" or (key not in names and _is_graph(key)):
            dropped.append(f"obsp[{key!r}]")
        else:
            pairs[names.get(key, key)] = sparse.csc_matrix(matrix)
    keys = {_key(name) for name in names.values()}
    return pairs, [f"uns[{key!r}]" for key in adata.uns if key not in keys] + dropped


def _is_graph(name: str) -> bool:
    return name == _NAME or name.endswith(_SUFFIX)


def _key(name: str) -> str:
    return _KEY if name == _NAME else name.removesuffix(_SUFFIX)


def record_for_r(value: Any, name: str = "") -> Any:
    """Return a record for R, or a value of its field `name`."""
    if isinstance(value, dict):
        return {field: record_for_r(item, field) for field, item in value.items()}
    if isinstance(value, str):
        return restored(value)
    # In R one gene alone would be any string.
    return list(value) if name == "preserve" and isinstance(value, np.ndarray) else value


def result(adata: ad.AnnData, key: str) -> dict[str, Any]:
    """Return a record for R; of a structure its parameters to read, and the rest as bytes."""
    record = adata.uns[key]
    plain: dict[str, Any] = record_for_r(record)
    if record["kind"] != "structure":
        return plain
    content = {"record": record, "cells": adata.obsm[key], "projections": adata.varm[key]}
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        write_elem(file, _BYTES, content)
    fields = {name: plain[name] for name in ("kind", "params", "written")}
    return fields | {"n_samples": adata.n_obs, _BYTES: bytearray(buffer.getbuffer())}


def _restore(adata: ad.AnnData, key: str, archive: bytearray) -> None:
    """Write it back; of other genes or samples only how it was made, which is computed anew."""
    with h5py.File(io.BytesIO(archive)) as file:
        content = read_elem(file[_BYTES])
    cells, projections = content["cells"], content["projections"]
    if (len(cells), len(projections)) == adata.shape:
        adata.uns[key], adata.obsm[key], adata.varm[key] = content["record"], cells, projections
    elif key == KEY:
        adata.uns[key] = content["record"]
    else:
        note(f"The structure under {quoted(key)} is that of other genes or cells: it is left out.")
