"""Whether a result is outdated: what it was made of, and whether that is still what there is.

Everything that is computed is kept with the cells, and is used, drawn and reported later.
Meanwhile the selection may have been made again, or the matrix normalised.  A result keeps
checksums, genes and requests under ``made_of``, which are compared with those of today.  Checksums
of a structure are of every value; others are the same in every container of the matrix.
"""

from __future__ import annotations

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

    from .._typing import Index, Matrix
    from ..cells.cells import StructureSpec
    from ..data.matrix import RowMatrix
    from .read import Inputs

#: Rows whose sums stand for a matrix, and digits of these that do not depend on its container.
_ROWS, _DIGITS = 200, 6
#: Rows that are looked at of a matrix that is not in memory and in no file that is known.
_FIRST_ROWS = 20
#: A matrix that is not in memory is not looked at.
_UNKNOWN = "unknown"


def made_of(
    adata: AnnData, layer: str | None, panels: Iterable[tuple[str | None, Index]] = ()
) -> dict[str, Any]:
    """Return what a result is of: the matrix, and panels, each the key of a selection, or None, and
    rows of ``.var``.
    """
    recorded = {}
    for number, (key, genes) in enumerate(panels):
        names = np.array(adata.var_names[genes], dtype=object)
        about = {"key": codec.storable(key), "genes": names, "request": _request(adata, key)}
        recorded[str(number)] = about
    return {"layer": codec.storable(layer), "matrix": _sums(adata, layer), "panels": recorded}


def checksums(adata: AnnData, inputs: Inputs, spec: StructureSpec) -> dict[str, str]:
    """Return what a structure is of: parameters, and all values of the matrix, of a representation,
    a graph and batches.
    """
    made_of = {"matrix": checksum_of_matrix(adata, inputs.data, spec.layer), "spec": spec.text()}
    for name in ("representation", "graph"):
        values = getattr(inputs, name)
        made_of[name] = "None" if values is None else checksum_of(values)
    batch = inputs.batch
    made_of["batch"] = "None" if batch is None else _checksum([repr(batch.tolist()).encode()])
    return made_of


def is_of(entry: Any, checksums: Mapping[str, str]) -> bool:
    """Return whether a stored structure, or what all genes show, is of today's values."""
    recorded = entry.get("made_of", {}) if isinstance(entry, Mapping) else {}
    return all(codec.scalar(recorded.get(name)) == value for name, value in checksums.items())


def why_outdated(adata: AnnData, entry: Mapping[str, Any], key: str | None = None) -> str | None:
    """Return why a result is not of the matrix and the panels of today, or None.

    `key` is the selection that it should be of; None: those that it names.
    """
    made_of = entry.get("made_of")
    if made_of is None:
        return "its input is not recorded"
    reasons = [] if key is None or "of" not in entry else [difference(adata, key, entry)]
    reasons += [_change(adata, panel, key) for panel in made_of.get("panels", {}).values()]
    matrices = {codec.scalar(made_of["matrix"]), _sums(adata, codec.restored(made_of["layer"]))}
    if len(matrices - {_UNKNOWN}) > 1:
        reasons.append("the matrix has changed")
    return next(filter(None, reasons), None)


def difference(adata: AnnData, key: str, entry: Mapping[str, Any]) -> str | None:
    """Return what a stability was asked for otherwise than the selection under `key`, or None.

    Their seeds may differ.
    """
    selection = adata.uns[key]
    if "request" not in entry or "request" not in selection:
        return "its request is not recorded"
    request, of_selection = (codec.value_of(record["request"]) for record in (entry, selection))
    for fields in (request, of_selection):
        del fields["structure"]["random_state"]
    names = [name for name in request if request[name] != of_selection.get(name)]
    if not names and request["limits"] is None and entry["n_tested"] != selection["n_tested"]:
        names = ["number of candidates"]  # parts of the cells admit other genes to limits
    return f"it has another {listed(names)}" if names else None


def check_genes(adata: AnnData, key: str | None, argument: str) -> None:
    """Refuse a selection from genes of which some have left the object.

    The others preserve all of the structure that is left, whatever they preserve of the cells.
    """
    n_tested = int(codec.scalar(adata.uns.get(key, {}).get("n_tested", 0)))
    if key is None or f"{key}_rank" not in adata.var:
        return
    n_left = int(adata.var[f"{key}_rank"].notna().sum())
    if n_left < n_tested:
        text = f"`{argument}={short(key)}` is a selection from {n_tested} genes"
        raise InvalidValue(f"{text}, of which `adata` has {n_left}: use the object with all genes")


def most_genes(adata: AnnData) -> int:
    """Return the largest number of genes that a selection or a structure in the object is of."""
    n_genes = [0]
    for key, entry in adata.uns.items():
        if isinstance(entry, Mapping) and f"{key}_rank" in adata.var:
            n_genes.append(int(codec.scalar(entry.get("n_tested", 0))))
        elif isinstance(entry, Mapping) and {"sets", "set_of_cell"} <= entry.keys():
            n_genes.append(np.size(entry["sets"]["0"]["variance"]))
    return max(n_genes)


def checksum_of_matrix(adata: AnnData, data: RowMatrix, layer: str | None) -> str:
    """Return what tells the matrix of an object, or its layer, from others.

    It is by the values in memory, by the file of a backed object, by dask's name of an array, else
    by the first rows, and finds every change but one on purpose.
    """
    about: list[Any] = [adata.shape, layer]
    contents: list[Any] = []
    if data.in_memory:
        contents = _bytes_of(data.source)
    elif data.is_dask:
        about.append(data.source.name)
    elif adata.filename is not None:
        file = Path(adata.filename).stat()
        about += [str(adata.filename), file.st_mtime_ns, file.st_size]
    else:
        about.append(data.source)
        contents = _bytes_of(data.first(_FIRST_ROWS))
    return _checksum([repr(about).encode(), *contents])


def checksum_of(values: Matrix) -> str:
    """Return a checksum of numbers in memory."""
    return _checksum(_bytes_of(values))


def _request(adata: AnnData, key: Any) -> str:
    """Return the request of a selection as it is stored, ``""`` for another panel."""
    return str(codec.scalar(adata.uns.get(key, {}).get("request", "")))


def _change(adata: AnnData, panel: Mapping[str, Any], key: str | None) -> str | None:
    """Return why a panel is not the selection under `key` (None: its own) of today, or None."""
    own_key, genes = codec.scalar(panel["key"]), set(map(str, np.ravel(panel["genes"])))
    key = own_key if key is None else key
    if f"{key}_selected" not in adata.var:
        return None
    selected = set(adata.var_names[adata.var[f"{key}_selected"].astype(bool)])
    if genes != selected:
        return f"the selection under {key!r} has other genes now"
    is_recorded = key == own_key and key in adata.uns
    if is_recorded and codec.scalar(panel.get("request")) != _request(adata, key):
        return f"the selection under {key!r} has other parameters now"
    return None


def _sums(adata: AnnData, layer: str | None) -> str:
    """Return a checksum of the names of the genes and of sums of rows, whatever the container."""
    data = read.matrix_or_none(adata, layer)
    if not is_here(data):
        return _UNKNOWN
    rows = np.unique(np.linspace(0, adata.n_obs - 1, min(_ROWS, adata.n_obs)).astype(int))
    sums = np.ravel(np.asarray(data[rows].astype(np.float64).sum(axis=1)))
    content = [f"{value:.{_DIGITS}e}" for value in sums]
    content += [str(adata.shape), *adata.var_names]
    return _checksum([chr(0).join(content).encode()])


def _bytes_of(values: Matrix) -> list[Any]:
    if sparse.issparse(values):
        arrays = values.data, values.indices, values.indptr
        return [values.format.encode(), *map(np.ascontiguousarray, arrays)]
    return [repr(values.shape).encode(), np.ascontiguousarray(values)]


def _checksum(contents: Iterable[Any]) -> str:
    return "-".join(f"{zlib.crc32(content):08x}" for content in contents)
