"""Objects of R as AnnData with the records of results, and the reverse, out of plain pieces.

In ``colPairs`` the name alone says which graph is which: that of ``sc.pp.neighbors`` is called
``connectivities``, another one ``<neighbors_key>_connectivities``, as scanpy calls them itself.
Those that R made are named as they are.

R has a record to read, with NULL and lists by name, and beside it all of it as bytes, which only
Python reads: so it is the same in both languages, and in their files.
"""

from __future__ import annotations

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
#: What of a record is of no use in R, and what is to see of a structure.
_NOT_IN_R, _OF_STRUCTURE = {"request", "made_of"}, {"kind", "params", "written"}
_KEY, _NAME = "neighbors", "connectivities"
_SUFFIX = f"_{_NAME}"


def put_together(parts: dict[str, Any], *, is_copy: bool = False) -> ad.AnnData:
    """Cells × genes, out of the plain pieces of an R object, whose matrices are genes × cells.

    What is copied to Python has Python's names of reduced dimensions.
    """
    obs, var = (parts[name].rename(index=str) for name in ("obs", "var"))
    if len(parts["cells"]) and len(var):
        check_genes_in_rows(list(var.index), list(parts["cells"]))
    names = {name: key for key, name in REDUCED.items() if is_copy and name in parts["reduced"]}
    adata = ad.AnnData(
        parts["X"].T,
        obs,
        var,
        obsm={names.get(name, name): of_cells for name, of_cells in parts["reduced"].items()},
        layers={name: layer.T for name, layer in parts["layers"].items()},
        obsp={name: pairs.tocsr() for name, pairs in parts["pairs"].items()},
        uns={
            _key(name): {"connectivities_key": name}
            for name in parts["pairs"]
            if not is_copy or name == _NAME or name.endswith(_SUFFIX)
        },
    )
    restore(adata, parts["records"], names)
    return adata


def restore(adata: ad.AnnData, records: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Write the records of R into an object, with other names of reduced dimensions."""
    for key, entry in records.items():
        record, arrays = (entry["kept"][name] for name in ("record", "arrays"))
        if arrays is not None and adata.shape in ((0, len(arrays[1])), tuple(map(len, arrays))):
            adata.obsm[key], adata.varm[key] = arrays[0][: adata.n_obs], arrays[1]
        elif record["kind"] == "structure" and key != KEY:
            text = "is that of other genes or cells: it is left out"
            note(f"The structure under {quoted(key)} {text}.")
            continue
        # of an order the table, which people change
        table = {} if entry["table"] is None else {"table": entry["table"]}
        adata.uns[key] = _renamed(record, names) | table


def result(adata: ad.AnnData, key: str, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a record as R has it, and in bytes as it is; of a structure with its arrays."""
    record = _renamed(adata.uns[key], names or {})
    shown = {name: value for name, value in record.items() if name not in _NOT_IN_R}
    arrays = None
    if record["kind"] == "structure":
        shown = {name: record[name] for name in _OF_STRUCTURE} | {"n_samples": adata.n_obs}
        arrays = [adata.obsm[key], adata.varm[key]] if key in adata.varm else None
    content = {"record": record, "arrays": arrays}
    return {**record_for_r(shown), "kept": {"kind": "kept", "content": content}}


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return a record, or a value of it, with other names of reduced dimensions in its texts."""
    if isinstance(value, Mapping):
        return {name: _renamed(item, names) for name, item in value.items()}
    for old, new in names.items() if isinstance(value, str) else ():
        value = new if value == old else value.replace(f'"{old}"', f'"{new}"')
    return value


def take_apart(adata: ad.AnnData, X_name: str) -> dict[str, Any]:
    """The reverse, with the names of what has no plain form in R.

    A structure is of the very numbers of a matrix, which R has in another form, unless the cells
    were left out.
    """
    if X_name in adata.layers:
        raise InvalidValue(f"`X_name={short(X_name)}` is the name of a layer: choose another")
    if adata.n_obs == 0:
        matrices = {X_name: sparse.csc_matrix(adata.shape[::-1])}
    else:
        matrices = {} if adata.X is None else {X_name: read.row_matrix(adata).loaded().T}
        matrices |= {name: read.row_matrix(adata, name).loaded().T for name in read.layers(adata)}
    kinds = {key: results.kind_of(entry) for key, entry in adata.uns.items()}
    computed = {key for key in (*kinds, *adata.obsm) if read.COMPUTED.fullmatch(key)}
    in_python = "structure" if adata.n_obs else None
    records = [key for key in kinds if kinds[key] not in (None, in_python)]
    arrays = [key for key, array in adata.obsm.items() if _has_numbers(array)]
    plain = {name: _plain_columns(getattr(adata, name)) for name in ("obs", "var")}
    in_r = {"uns": [*records, *map(_key, adata.obsp)], "obsm": [*arrays, *kinds], **plain}
    in_r |= {"varm": list(kinds), "varp": []}
    left = [
        f"{name}[{str(key)!r}]"
        for name, carried in in_r.items()
        for key in getattr(adata, name)
        if key not in {*carried, *computed}
    ]
    names = {key: name for key, name in REDUCED.items() if key in arrays}
    reduced = [key for key in arrays if not kinds.get(key) and key not in computed]
    return {
        "assays": matrices,
        "reduced": {names.get(key, key): adata.obsm[key] for key in reduced},
        "pairs": {key: sparse.csc_matrix(pairs) for key, pairs in adata.obsp.items()},
        "records": {key: result(adata, key, names) for key in records if key not in computed},
        **plain,
        "left": left + ["raw"] * (adata.raw is not None),
    }


def _plain_columns(table: pd.DataFrame) -> pd.DataFrame:
    return table[[name for name in table if is_plain(table[name])]]


def _has_numbers(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub"


def is_plain(column: pd.Series) -> bool:
    """Return whether a column has a plain form in R."""
    dtype = column.dtype
    return (
        isinstance(dtype, pd.CategoricalDtype)
        or (types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype))
        or all(isinstance(item, str) and "\0" not in item for item in column[column.notna()])
    )


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
