"""The structure that panels are judged by, kept with the cells or computed when it is needed."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .. import checks
from ..cells.batches import split
from ..cells.cells import Cells, Reduction
from ..data.matrix import RowMatrix
from ..errors import Message, NotFound
from ..selection import ReducedCells, reduce_cells
from . import read, write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anndata import AnnData

    from .._typing import Array, Index, Matrix
    from ..criterion.criterion import Criterion

log = logging.getLogger(__name__)

#: What is kept of each set of cells beside its rows of ``.obsm`` and columns of ``.varm``.
_KEPT = ("stiffness", "variance", "residuals", "assay_noise", "units", "noise_level")
#: Rows that are looked at of a matrix that is not in memory and in no file that is known.
_ROWS_LOOK = 20


@dataclass(frozen=True)
class Structure:
    """The criterion for panels of some cells.

    Attributes
    ----------
    criterion
        F, over the genes of `genes`.
    genes
        Which genes of the object were looked at, sorted.
    cells
        Cells of each set (batch).
    layer
        Which matrix: None is ``.X``.
    reduced
        The cells that F is of.
    params
        Parameters of ``pp.structure`` that were given, as ``.uns`` keeps them.
    inputs
        What tells the representation and the graph that were there from others.
    """

    criterion: Criterion
    genes: Index
    cells: tuple[Index, ...]
    layer: str | None
    reduced: ReducedCells
    params: dict[str, Any]
    inputs: Mapping[str, str]

    @property
    def reused(self) -> Mapping[str, bool]:
        """Whether representation and graph were those that were there."""
        return self.reduced.reused


def compute(adata: AnnData, params: Mapping[str, Any], reduction: Reduction) -> Structure:
    """From the matrix, and the principal components and the graph that are there.

    Parameters
    ----------
    adata
        Cells × genes.
    params
        Those of ``pp.structure``.
    reduction
        What it makes of them.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio._anndata.read.inputs`; nothing varies.
    """
    read.unique_names(adata)
    given = read.inputs(
        adata,
        **{name: params[name] for name in ("layer", "batch_key", "use_rep", "neighbors_key")},
        n_comps=reduction.n_comps,
    )
    genes = np.flatnonzero(read.mask(adata, "var", params["mask_var"], "mask_var"))
    reduced = reduce_cells(
        given.data if len(genes) == adata.n_vars else RowMatrix(given.data, genes=genes),
        reduction,
        representation=given.representation,
        graph=given.graph,
        batch=given.batch,
        provisional=given.provisional,
    )
    return Structure(
        reduced.criterion(),
        genes,
        _cells_of_sets(given),
        params["layer"],
        reduced,
        write.parameters(params),
        _fingerprints(given),
    )


def store(adata: AnnData, structure: Structure, key: str) -> None:
    """Write it to ``.obsm[key]``, ``.varm[key]`` and ``.uns[key]``."""
    sets = structure.reduced.sets
    rank = max(one.basis.shape[1] for one in sets)
    cells = np.zeros((adata.n_obs, rank))
    genes = np.zeros((adata.n_vars, len(sets) * rank))
    blocks = {}
    for place, (one, rows) in enumerate(zip(sets, structure.cells, strict=True)):
        r = one.basis.shape[1]
        cells[rows, :r] = one.basis
        genes[structure.genes, place * rank : place * rank + r] = one.projections
        blocks[str(place)] = {
            **{name: getattr(one, name) for name in _KEPT},
            "rank": r,
        }
    adata.obsm[key] = cells
    adata.varm[key] = genes
    adata.uns[key] = {
        "params": structure.params,
        "matrix": _matrix(adata, structure.layer),
        "inputs": dict(structure.inputs),
        "genes": structure.genes,
        "set_of_cell": _set_of_cell(structure.cells, adata.n_obs),
        "sets": blocks,
        "reused": dict(structure.reused),
        "replaced": structure.reduced.replaced,
        "graph_components": structure.reduced.graph_components,
    }


def load(adata: AnnData, key: str) -> Structure | None:
    """What :func:`store` wrote; None where it is not there, or the matrix is another one by now.

    Raises
    ------
    KeyError
        ``.uns[key]`` is something else.
    """
    entry = _entry(adata, key)
    if entry is None:
        return None
    if entry["matrix"] != _matrix(adata, _layer(entry)):
        log.warning(
            Message(
                "The matrix is another one than when the structure under {key!r} of {uns} was "
                "computed: it is computed anew. Run {call:pp.structure} again to keep it.",
                key=key,
            )
        )
        return None
    return _stored(adata, entry, key)


def fitting(
    adata: AnnData, key: str, params: Mapping[str, Any], given: read.Inputs, genes: Index
) -> ReducedCells | None:
    """What :func:`store` wrote, where it was made of the same by the same parameters; else None.

    What an earlier version wrote does not say what it was made of.

    Parameters
    ----------
    adata, key
        As for :func:`load`.
    params
        Parameters of ``pp.structure``, as ``.uns`` keeps them; `mask_var` is told by `genes`.
    given
        What it would be computed from.
    genes
        Those to look at, sorted.

    Raises
    ------
    KeyError
        ``.uns[key]`` is something else.
    """
    entry = _entry(adata, key)
    if (
        entry is None
        or any(entry["params"].get(name) != params[name] for name in params.keys() - {"mask_var"})
        or not np.array_equal(entry["genes"], genes)
        or entry.get("inputs") != _fingerprints(given)
        or not np.array_equal(
            entry["set_of_cell"], _set_of_cell(_cells_of_sets(given), adata.n_obs)
        )
        or entry["matrix"] != fingerprint(adata, given.data, _layer(entry))
    ):
        return None
    return _stored(adata, entry, key).reduced


def fingerprint(adata: AnnData, data: RowMatrix, layer: str | None) -> str:
    """What tells the matrix `data` of an object, or its layer, from others: checksums.

    They find every change but one on purpose.
    It is by the values in memory, by the file of a backed object, by dask's name of an array, else
    by the first rows.
    """
    return _told([repr((adata.shape, layer)).encode(), *_content(adata, data)])


def _entry(adata: AnnData, key: str) -> Mapping[str, Any] | None:
    """``.uns[key]`` of a structure; None where there is nothing."""
    read.check(adata)
    checks.texts(structure_key=key)
    if key not in adata.uns:
        return None
    entry: Mapping[str, Any] = adata.uns[key]
    if not isinstance(entry, Mapping) or "set_of_cell" not in entry or key not in adata.obsm:
        raise NotFound(
            "structure_key",
            key,
            "is not what {call:pp.structure} writes to {uns}",
            "name another key, or run it again",
        )
    return entry


def _stored(adata: AnnData, entry: Mapping[str, Any], key: str) -> Structure:
    genes, number = np.asarray(entry["genes"]), np.asarray(entry["set_of_cell"])
    blocks = [entry["sets"][str(place)] for place in range(len(entry["sets"]))]
    cells = tuple(np.flatnonzero(number == place) for place in range(len(blocks)))
    every, seen = np.asarray(adata.obsm[key]), np.asarray(adata.varm[key])
    rank = every.shape[1]
    sets = []
    for place, (block, rows) in enumerate(zip(blocks, cells, strict=True)):
        r = int(block["rank"])
        sets.append(
            Cells(
                basis=np.ascontiguousarray(every[rows, :r]),
                projections=np.ascontiguousarray(seen[genes, place * rank : place * rank + r]),
                stiffness=np.asarray(block["stiffness"]),
                variance=np.asarray(block["variance"]),
                residuals=np.asarray(block["residuals"]),
                assay_noise=float(block["assay_noise"]),
                units=np.asarray(block["units"]),
                noise_level=float(block["noise_level"]),
            )
        )
    reduced = ReducedCells(
        tuple(sets),
        {name: bool(value) for name, value in entry["reused"].items()},
        bool(entry.get("replaced")),
        int(entry.get("graph_components", 1)),
    )
    return Structure(
        reduced.criterion(),
        genes,
        cells,
        _layer(entry),
        reduced,
        dict(entry["params"]),
        entry.get("inputs", {}),
    )


def _cells_of_sets(given: read.Inputs) -> tuple[Index, ...]:
    n_cells = given.data.shape[0]
    return tuple(
        np.arange(n_cells) if batch.cells is None else batch.cells
        for batch in split(given.batch, n_cells)
    )


def _set_of_cell(cells: tuple[Index, ...], n_cells: int) -> Index:
    """Of each cell; −1 where its batch is left out."""
    number = np.full(n_cells, -1)
    for place, rows in enumerate(cells):
        number[rows] = place
    return number


def _matrix(adata: AnnData, layer: str | None) -> str:
    return fingerprint(adata, read.row_matrix(adata, layer), layer)


def _layer(entry: Mapping[str, Any]) -> str | None:
    return None if entry["params"]["layer"] == "None" else str(entry["params"]["layer"])


def of_all_cells(structure: Structure, values: list[Array], n_cells: int) -> Array:
    """One value a cell, from one array a set of cells."""
    every = np.full(n_cells, np.nan)
    for rows, own in zip(structure.cells, values, strict=True):
        every[rows] = own
    return every


def _fingerprints(given: read.Inputs) -> dict[str, str]:
    """What tells representation and graph from others."""
    return {
        "representation": of_values(given.representation),
        "graph": of_values(given.graph),
    }


def of_values(values: Matrix | None) -> str:
    """Of numbers in memory; ``"None"`` where there are none."""
    return "None" if values is None else _told(_parts(values))


def _content(adata: AnnData, data: RowMatrix) -> list[Any]:
    source = data.source
    if data.in_memory:
        return _parts(source)
    if hasattr(source, "dask"):
        return [str(source.name).encode()]
    if adata.filename is None:
        return [repr(source).encode(), *_parts(data.first(_ROWS_LOOK))]
    about = Path(adata.filename).stat()
    return [repr((str(adata.filename), about.st_mtime_ns, about.st_size)).encode()]


def _parts(values: Matrix) -> list[Any]:
    if sparse.issparse(values):
        return [values.format.encode(), *map(_bytes, (values.data, values.indices, values.indptr))]
    return [repr(values.shape).encode(), _bytes(values)]


def _bytes(values: Array) -> Array:
    """Their bytes, whichever way round they lie."""
    return np.ascontiguousarray(values).ravel().view(np.uint8)


def _told(parts: Iterable[Any]) -> str:
    return "-".join(f"{zlib.crc32(part):08x}" for part in parts)
