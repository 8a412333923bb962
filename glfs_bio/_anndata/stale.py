"""Whether a result is outdated: what it was made of, and whether that is still what there is.

Everything that is computed is kept with the cells, and is used, drawn and reported later.
Meanwhile the selection may have been made again, or the matrix normalised.  A result keeps
checksums under ``made_of``, and :func:`stale` compares them with those of today.  Those of a
structure are of every value; those of other results are the same in every container of the matrix.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .. import codec
from ..data.matrix import is_here
from ..errors import InvalidValue, listed, short
from . import read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anndata import AnnData

    from .._typing import Matrix
    from ..data.matrix import RowMatrix
    from ..options import StructureSpec
    from .names import Named
    from .read import Inputs

#: Rows whose sums stand for a matrix, and digits of these that do not depend on its container.
_ROWS, _DIGITS = 200, 6
#: Rows that are looked at of a matrix that is not in memory and in no file that is known.
_FIRST_ROWS = 20
#: A matrix that is not in memory is not looked at.
_UNKNOWN = "unknown"
#: Parameters that do not decide which genes a selection has; the seed of a stability decides on the
#: subsamples too.
_WHERE = frozenset({"key_added", "as_highly_variable", "subset"})
_FREE = _WHERE | {"random_state"}


def made_of(adata: AnnData, layer: str | None, panels: Iterable[Named] = ()) -> dict[str, Any]:
    """Return what a result is of: the matrix, and panels, with the parameters of selections."""
    return {
        "layer": codec.storable(layer),
        "matrix": _sums(adata, layer),
        "panels": {str(number): _panel(adata, named) for number, named in enumerate(panels)},
    }


def made_of_all(adata: AnnData, inputs: Inputs, spec: StructureSpec) -> dict[str, str]:
    """Return what a structure is of: all values of matrix, representation, graph and batches."""
    batch = inputs.batch
    return {
        "matrix": checksum_of_matrix(adata, inputs.data, spec.layer),
        "representation": checksum_of(inputs.representation),
        "graph": checksum_of(inputs.graph),
        "batch": "None" if batch is None else _checksum([repr(batch.tolist()).encode()]),
    }


def stale(
    adata: AnnData,
    entry: Mapping[str, Any],
    now: Mapping[str, Any] | None = None,
    *,
    key: str | None = None,
) -> str | None:
    """Say, in words, why a result is not of what there is now; None where it is.

    `now` is what it should be made of; None: the matrix and the panels that it names.  `key` is the
    selection that a stability should be of.
    """
    made_of = entry.get("made_of")
    if made_of is None:
        return "its input is not recorded"
    if key is not None and "of" in entry:
        reason = difference(adata, key, entry)
        if reason is not None:
            return reason
    for panel in made_of.get("panels", {}).values():
        reason = _changed(adata, panel)
        if reason is not None:
            return reason
    if now is None:
        now = {"matrix": _sums(adata, codec.restored(str(made_of["layer"])))}
    for name, value in now.items():
        recorded = str(made_of.get(name))
        if _UNKNOWN not in (recorded, value) and recorded != str(value):
            return f"the {name} has changed"
    return None


def difference(adata: AnnData, key: str, entry: Mapping[str, Any]) -> str | None:
    """Return what a stability was asked for otherwise than the selection under `key`, or None.

    Their seeds may differ.
    """
    selection = adata.uns[key]
    params = selection["params"]
    names = [
        name
        for name, value in entry["params"].items()
        if name in params and name not in _FREE and _canonical(value) != _canonical(params[name])
    ]
    if names:
        return f"it has another {listed(names)}"
    limited = _canonical(params.get("limits", "None")) != "None"  # parts admit other genes
    if not limited and entry["n_tested"] != selection["n_tested"]:
        return f"{entry['n_tested']} genes to choose from and not {selection['n_tested']}"
    return None


def check_genes(adata: AnnData, key: str | None, argument: str) -> None:
    """Refuse a selection from genes of which some have left the object.

    The others preserve all of the structure that is left, whatever they preserve of the cells.
    """
    n_tested = int(adata.uns.get(key, {}).get("n_tested", 0))
    if key is None or f"{key}_rank" not in adata.var:
        return
    n_left = int(adata.var[f"{key}_rank"].notna().sum())
    if n_left < n_tested:
        raise InvalidValue(
            f"`{argument}={short(key)}` is a selection from {n_tested} genes, but `adata` has "
            f"{n_left} of them: use the object with all genes"
        )


def most_genes(adata: AnnData) -> int:
    """Return the largest number of genes that a selection or a structure in the object is of."""
    n_genes = [0]
    for key, entry in adata.uns.items():
        if not isinstance(entry, Mapping):
            continue
        if "n_tested" in entry and f"{key}_rank" in adata.var:
            n_genes.append(int(entry["n_tested"]))
        elif {"sets", "set_of_cell"} <= entry.keys():
            n_genes.append(np.size(entry["sets"]["0"]["variance"]))
    return max(n_genes)


def panel_of(entry: Mapping[str, Any]) -> list[str] | None:
    """Return the genes of the one panel that a result is of; None where it is of none or many."""
    panels = list(entry.get("made_of", {}).get("panels", {}).values())
    return list(map(str, np.ravel(panels[0]["genes"]))) if len(panels) == 1 else None


def checksum_of_matrix(adata: AnnData, data: RowMatrix, layer: str | None) -> str:
    """Return what tells the matrix of an object, or its layer, from others.

    It is by the values in memory, by the file of a backed object, by dask's name of an array, else
    by the first rows, and finds every change but one on purpose.
    """
    return _checksum([repr((adata.shape, layer)).encode(), *_content(adata, data)])


def checksum_of(values: Matrix | None) -> str:
    """Return a checksum of numbers in memory; ``"None"`` where there are none."""
    return "None" if values is None else _checksum(_parts(values))


def _panel(adata: AnnData, named: Named) -> dict[str, Any]:
    key = named.key
    return {
        "key": codec.storable(key),
        "genes": np.array(adata.var_names[named.genes], dtype=object),
        "params": codec.storable(None if key is None else _params(adata, key)),
    }


def _changed(adata: AnnData, panel: Mapping[str, Any]) -> str | None:
    """Say why a panel that was a selection is another one now."""
    key, genes = str(panel["key"]), set(map(str, np.ravel(panel["genes"])))
    if f"{key}_selected" not in adata.var or key not in adata.uns:
        return None
    selected = set(adata.var_names[adata.var[f"{key}_selected"].astype(bool)])
    if genes != selected:
        return (
            f"the selection under {key!r} has changed: {len(genes & selected)} of the {len(genes)} "
            f"genes of the panel are among its {len(selected)}"
        )
    if str(panel["params"]) != _params(adata, key):
        return f"the selection under {key!r} has other parameters now"
    return None


def _params(adata: AnnData, key: str) -> str:
    """A checksum of the parameters of a selection, but for where it is written."""
    record = adata.uns.get(key, {})
    recorded = {
        name: _canonical(value)
        for name, value in dict(record.get("params", {})).items()
        if name not in _WHERE
    }
    recorded["structure"] = _canonical(record.get("structure", {}))
    return _checksum([json.dumps(recorded, sort_keys=True).encode()])


def _canonical(value: Any) -> Any:
    """A parameter as it is in Python, after a file, and after R, where one is a list of one."""
    if isinstance(value, Mapping):
        return {str(name): _canonical(item) for name, item in value.items()}
    value = np.asarray(value).tolist()
    if isinstance(value, list):
        items = [_canonical(item) for item in value]
        return items[0] if len(items) == 1 else items
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return str(value)


def _sums(adata: AnnData, layer: str | None) -> str:
    """A checksum of the names of the genes and of sums of rows, whatever the container."""
    data = read.there(adata, layer)
    if not is_here(data):
        return _UNKNOWN
    rows = np.unique(np.linspace(0, adata.n_obs - 1, min(_ROWS, adata.n_obs)).astype(int))
    sums = np.ravel(np.asarray(data[rows].astype(np.float64).sum(axis=1)))
    content = [f"{value:.{_DIGITS}e}" for value in sums]
    content += [str(adata.shape), *adata.var_names]
    return _checksum([chr(0).join(content).encode()])


def _content(adata: AnnData, data: RowMatrix) -> list[Any]:
    source = data.source
    if data.in_memory:
        return _parts(source)
    if hasattr(source, "dask"):
        return [str(source.name).encode()]
    if adata.filename is None:
        return [repr(source).encode(), *_parts(data.first(_FIRST_ROWS))]
    about = Path(adata.filename).stat()
    return [repr((str(adata.filename), about.st_mtime_ns, about.st_size)).encode()]


def _parts(values: Matrix) -> list[Any]:
    if sparse.issparse(values):
        arrays = values.data, values.indices, values.indptr
        return [values.format.encode(), *map(np.ascontiguousarray, arrays)]
    return [repr(values.shape).encode(), np.ascontiguousarray(values)]


def _checksum(parts: Iterable[Any]) -> str:
    return "-".join(f"{zlib.crc32(part):08x}" for part in parts)
