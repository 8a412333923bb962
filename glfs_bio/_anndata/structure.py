"""The structure that panels are judged by, kept with the cells or computed when it is needed."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ..core import checks
from ..core.data.rows import RowMatrix
from ..core.geometry.batches import split
from ..core.geometry.problem import build_problems
from ..core.geometry.reduced import Reduced
from ..core.solvers.threads import few_threads
from ..panels import Criterion
from . import read
from .inputs import inputs

if TYPE_CHECKING:
    from anndata import AnnData

    from ..core._typing import Array, Index
    from ..core.geometry.reduction import Reduction

log = logging.getLogger(__name__)

#: What is kept of each set of cells beside its rows of ``.obsm`` and columns of ``.varm``.
_KEPT = ("stiffness", "variance", "residuals", "assay_noise", "units", "noise_level")


@dataclass(frozen=True)
class Where:
    """What a structure is computed from: parameters of ``pp.structure``, checked there."""

    layer: str | None = None
    mask_var: Any = None
    batch_key: str | None = None
    use_rep: str | None = None
    neighbors_key: str | None = None


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
    reused
        Whether representation and graph were those that were there.
    params
        Parameters of ``pp.structure`` that were given, as ``.uns`` keeps them.
    """

    criterion: Criterion
    genes: Index
    cells: tuple[Index, ...]
    layer: str | None
    reused: Mapping[str, bool]
    params: dict[str, Any]


def compute(
    adata: AnnData,
    where: Where,
    reduction: Reduction,
    params: dict[str, Any],
    *,
    stacklevel: int,
) -> Structure:
    """From the matrix, and the principal components and the graph that are there.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio._anndata.inputs.inputs`; nothing varies.
    """
    read.unique_names(adata)
    given = inputs(
        adata,
        layer=where.layer,
        batch_key=where.batch_key,
        use_rep=where.use_rep,
        neighbors_key=where.neighbors_key,
        n_comps=reduction.n_comps,
        stacklevel=stacklevel + 1,
    )
    genes = np.flatnonzero(read.mask(adata.var, where.mask_var, "mask_var"))
    problems = build_problems(
        given.data if len(genes) == adata.n_vars else RowMatrix(given.data, genes=genes),
        reduction,
        representation=given.representation,
        graph=given.graph,
        batch=given.batch,
        provisional=given.provisional,
    )
    replaced = any(problem.replaced for problem in problems)
    return Structure(
        _criterion(problems),
        genes,
        tuple(
            np.arange(adata.n_obs) if batch.cells is None else batch.cells
            for batch in split(given.batch, adata.n_obs)
        ),
        where.layer,
        {
            "representation": given.representation is not None and not replaced,
            "graph": given.graph is not None and not replaced,
        },
        params,
    )


def store(adata: AnnData, structure: Structure, key: str) -> None:
    """Write it to ``.obsm[key]``, ``.varm[key]`` and ``.uns[key]``."""
    sets = structure.criterion.sets
    rank = max(one.basis.shape[1] for one in sets)
    cells = np.zeros((adata.n_obs, rank))
    genes = np.zeros((adata.n_vars, len(sets) * rank))
    number = np.full(adata.n_obs, -1)  # a cell of a batch that is left out
    blocks = {}
    for place, (one, rows) in enumerate(zip(sets, structure.cells, strict=True)):
        r = one.basis.shape[1]
        number[rows] = place
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
        "matrix": fingerprint(adata, structure.layer),
        "genes": structure.genes,
        "set_of_cell": number,
        "sets": blocks,
        "reused": dict(structure.reused),
    }


def load(adata: AnnData, key: str) -> Structure | None:
    """What :func:`store` wrote; None where it is not there, or the matrix is another one by now.

    Raises
    ------
    KeyError
        ``.uns[key]`` is something else.
    """
    read.check(adata)
    checks.texts(structure_key=key)
    if key not in adata.uns:
        return None
    entry = adata.uns[key]
    if not isinstance(entry, Mapping) or "set_of_cell" not in entry or key not in adata.obsm:
        msg = f"structure_key={key!r}: adata.uns[{key!r}] is not what glfs_bio.pp.structure writes."
        raise KeyError(msg)
    layer = None if entry["params"]["layer"] == "None" else str(entry["params"]["layer"])
    if entry["matrix"] != fingerprint(adata, layer):
        log.warning(
            "The matrix is another one than when the structure of adata.uns[%r] was computed: it "
            "is computed anew. Run glfs_bio.pp.structure again to keep it.",
            key,
        )
        return None
    genes, number = np.asarray(entry["genes"]), np.asarray(entry["set_of_cell"])
    blocks = [entry["sets"][str(place)] for place in range(len(entry["sets"]))]
    cells = tuple(np.flatnonzero(number == place) for place in range(len(blocks)))
    every, seen = np.asarray(adata.obsm[key]), np.asarray(adata.varm[key])
    rank = every.shape[1]
    sets = []
    for place, (block, rows) in enumerate(zip(blocks, cells, strict=True)):
        r = int(block["rank"])
        sets.append(
            Reduced(
                basis=every[rows, :r],
                projections=seen[genes, place * rank : place * rank + r],
                stiffness=np.asarray(block["stiffness"]),
                variance=np.asarray(block["variance"]),
                residuals=np.asarray(block["residuals"]),
                assay_noise=float(block["assay_noise"]),
                units=np.asarray(block["units"]),
                noise_level=float(block["noise_level"]),
            )
        )
    return Structure(_criterion(sets), genes, cells, layer, entry["reused"], dict(entry["params"]))


def fingerprint(adata: AnnData, layer: str | None) -> str:
    """Tells one matrix from another, by its values in memory, else by its file or dask graph."""
    source = read.row_matrix(adata, layer).source
    told = hashlib.blake2b(repr((adata.shape, layer)).encode(), digest_size=16)
    for part in _content(source, adata):
        told.update(part)
    return told.hexdigest()


def _content(source: Any, adata: AnnData) -> list[Any]:
    if sparse.issparse(source):
        return [source.format.encode(), *map(_bytes, (source.data, source.indices, source.indptr))]
    if isinstance(source, np.ndarray):
        return [_bytes(source)]
    if hasattr(source, "dask"):
        return [str(source.name).encode()]
    path = adata.filename
    if path is None:
        return [repr(source).encode()]
    about = Path(path).stat()
    return [str(path).encode(), repr((about.st_mtime_ns, about.st_size)).encode()]


def _bytes(values: Array) -> Array:
    """Their bytes, whichever way round they lie."""
    return np.ascontiguousarray(values).ravel().view(np.uint8)


def _criterion(sets: list[Any]) -> Criterion:
    """With few threads: blocks are small."""
    with few_threads(sets[0].basis.shape[1], len(sets[0].variance)):
        return Criterion(sets)


def of_all_cells(structure: Structure, values: list[Array], n_cells: int) -> Array:
    """One value a cell, from one array a set of cells."""
    every = np.full(n_cells, np.nan)
    for rows, own in zip(structure.cells, values, strict=True):
        every[rows] = own
    return every
