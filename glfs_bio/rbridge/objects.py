"""Objects of R as AnnData with the records of results, and the reverse, out of plain pieces.

In ``colPairs`` the name alone says which graph is which: that of ``sc.pp.neighbors`` is called
``connectivities``, another one ``<neighbors_key>_connectivities``, as scanpy calls them itself.

R has a record to read, with NULL and lists by name, and beside it the record itself as bytes, which
only Python reads: so it is the same in both languages, and in their files.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import anndata as ad
import numpy as np
import pandas as pd
from pandas.api import types
from scipy import sparse

from .._anndata import read, results
from .._anndata.structure import KEY
from ..codec import restored
from ..errors import InvalidValue, note, quoted, short
from ..io._read import check_genes_in_rows

#: Names of reduced dimensions in Bioconductor, by those in ``.obsm``.
REDUCED = {"X_pca": "PCA", "X_tsne": "TSNE", "X_umap": "UMAP"}
#: What of a record names reduced dimensions, and what of it is of no use in R.
_ASKED, _NOT_IN_R = ("request", "params", "structure", "made_of"), ("request", "made_of")
_KEY, _NAME = "neighbors", "connectivities"
_SUFFIX = f"_{_NAME}"
#: Kinds of records that other functions read; of the others they have to know that they are there.
_READ = frozenset({"selection", "structure", "order"})


def put_together(parts: dict[str, Any], *, whole: bool = False) -> ad.AnnData:
    """Cells × genes, out of the plain pieces of an R object, whose matrices are genes × cells.

    `whole` is for Python, with its names of reduced dimensions and all records.
    """
    obs, var = (parts[name].rename(index=str) for name in ("obs", "var"))
    if len(parts["cells"]) and len(var):
        check_genes_in_rows(list(var.index), list(parts["cells"]))
    graphs = [name for name in parts["pairs"] if _is_graph(name)]
    in_python = {name: key for key, name in REDUCED.items() if whole and name in parts["reduced"]}
    adata = ad.AnnData(
        parts["X"].T,
        obs,
        var,
        obsm={in_python.get(name, name): of_cells for name, of_cells in parts["reduced"].items()},
        layers={name: layer.T for name, layer in parts["layers"].items()},
        obsp={name: pairs.tocsr() for name, pairs in parts["pairs"].items()},
        uns={_key(name): {"connectivities_key": name} for name in graphs},
    )
    restore(adata, parts["records"], in_python, whole=whole)
    return adata


def restore(
    adata: ad.AnnData, records: Mapping[str, Any], names: Mapping[str, str], *, whole: bool = False
) -> None:
    """Write the records of R into an object, with other names of reduced dimensions."""
    for key, entry in records.items():
        kept, table = entry.pop("kept"), entry.pop("table")
        if not whole and entry["kind"] not in _READ:
            adata.uns[key] = entry
            continue
        content = json.loads(bytes(kept), object_hook=_with_arrays)
        record = _renamed(content["record"], names) | {"written": entry["written"]}
        if table is not None:  # of an order, which people change
            record["table"] = table
        arrays = {name: content[name] for name in ("obsm", "varm") if name in content}
        if arrays and tuple(map(len, arrays.values())) == adata.shape:
            adata.obsm[key], adata.varm[key] = arrays.values()
        elif entry["kind"] == "structure" and key != KEY:
            text = "is that of other genes or cells: it is left out"
            note(f"The structure under {quoted(key)} {text}.")
            continue
        adata.uns[key] = record


def result(adata: ad.AnnData, key: str, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a record as R has it, with its bytes."""
    record = _renamed(adata.uns[key], names or {})
    plain = {name: value for name, value in record.items() if name not in _NOT_IN_R}
    if record["kind"] == "structure":
        fields = {name: record[name] for name in ("kind", "params", "written")}
        plain = fields | {"n_samples": adata.n_obs}
    shown: dict[str, Any] = record_for_r(plain)
    return shown | {"kept": packed(adata, key, record)}


def packed(adata: ad.AnnData, key: str, record: dict[str, Any]) -> bytearray:
    """Return a record, and a structure with its arrays, as JSON in bytes."""
    content = {"record": record}
    if record["kind"] == "structure":
        arrays = {name: getattr(adata, name).get(key) for name in ("obsm", "varm")}
        content |= {name: array for name, array in arrays.items() if array is not None}
    return bytearray(json.dumps(content, default=_in_json), "utf-8")


def _in_json(value: Any) -> Any:
    """Return what stands for a table, or for numbers or texts."""
    if isinstance(value, pd.DataFrame):
        columns = {str(name): value[name].array for name in value}
        return {"pandas.DataFrame": [columns, value.index.to_numpy(), value.index.name]}
    if isinstance(value, pd.Categorical):
        return {
            "pandas.Categorical": [value.codes, value.categories.to_numpy(), bool(value.ordered)]
        }
    array = np.asarray(value)
    if array.ndim == 0:
        return array.item()
    if array.dtype.kind not in "biuf":
        return {"numpy.ndarray": [None if pd.isna(item) else str(item) for item in array]}
    return {"numpy.ndarray": [b64encode(array.tobytes()).decode(), array.dtype.str, array.shape]}


def _with_arrays(content: dict[str, Any]) -> Any:
    """Return the reverse."""
    match content:
        case {"numpy.ndarray": [str(text), dtype, [*shape]]}:
            return np.frombuffer(b64decode(text), dtype).reshape(shape).copy()
        case {"numpy.ndarray": texts}:
            return np.array(texts, dtype=object)
        case {"pandas.DataFrame": [columns, index, name]}:
            return pd.DataFrame(columns, pd.Index(index, name=name))
        case {"pandas.Categorical": [codes, levels, ordered]}:
            return pd.Categorical.from_codes(codes, levels, ordered=ordered)
    return content


def _renamed(record: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a record with other names of reduced dimensions in what it was asked for."""
    text = json.dumps({name: record[name] for name in _ASKED if name in record}, default=_in_json)
    new = text
    for old, name in names.items():
        new = re.sub(rf'(?<="){re.escape(old)}(?=\\*")', name, new)
    return record if new == text else record | json.loads(new, object_hook=_with_arrays)


def take_apart(adata: ad.AnnData, X_name: str) -> dict[str, Any]:
    """The reverse, with the names of what has no plain form in R."""
    if X_name in adata.layers:
        raise InvalidValue(f"`X_name={short(X_name)}` is the name of a layer: choose another")
    assays = {} if adata.X is None else {X_name: read.row_matrix(adata).loaded()}
    assays |= {name: read.row_matrix(adata, name).loaded() for name in read.layers(adata)}
    kinds = {key: results.kind_of(entry) for key, entry in adata.uns.items()}
    ours = [key for key, kind in kinds.items() if kind]
    # a structure is of the very numbers of a matrix, which R has in another form
    structures = [key for key in ours if kinds[key] == "structure" and not _is_computed(key)]
    pairs, dropped = _graphs(adata, ours)
    for name in ("varm", "varp"):
        dropped += [f"{name}[{key!r}]" for key in getattr(adata, name) if key not in ours]
    dropped += ["raw"] if adata.raw is not None else []
    reduced = {}
    for key, array in adata.obsm.items():
        if key in ours or _is_computed(key):
            continue
        if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub":
            reduced[REDUCED.get(key, key)] = array
        else:
            dropped.append(f"obsm[{key!r}]")
    tables = {"obs": adata.obs, "var": adata.var}
    for name, table in tables.items():
        no_form = [column for column in table if not is_plain(table[column])]
        tables[name] = table.drop(columns=no_form)
        dropped += [f"{name}[{str(column)!r}]" for column in no_form]
    names = {key: name for key, name in REDUCED.items() if key in adata.obsm}
    carried = [key for key in ours if key not in structures and not _is_computed(key)]
    records = {key: result(adata, key, names) for key in carried}
    dropped += [f"uns[{key!r}]" for key in structures]
    matrices = {name: matrix.T for name, matrix in assays.items()}
    of_cells = {"reduced": reduced, "pairs": pairs, "records": records}
    return {"assays": matrices, **of_cells, **tables, "left": dropped}


def _is_computed(key: str) -> bool:
    return read.COMPUTED.fullmatch(key) is not None


def is_plain(column: pd.Series) -> bool:
    """Return whether a column has a plain form in R."""
    dtype = column.dtype
    return (
        isinstance(dtype, pd.CategoricalDtype)
        or (types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype))
        or all(isinstance(item, str) and "\0" not in item for item in column[column.notna()])
    )


def _graphs(adata: ad.AnnData, ours: list[str]) -> tuple[dict[str, Any], list[str]]:
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
    keys = {_key(name) for name in names.values()} | {*ours}
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
