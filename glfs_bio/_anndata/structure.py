"""What is computed of the cells and kept while what it is of stays: structures, all genes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from anndata import AnnData
from scipy import sparse

from .. import checks, codec
from ..cells import noise
from ..cells.cells import OF_STORED, Cells, StructureSpec, build_cells, split
from ..cells.graph import MOST_EXACT
from ..criterion.criterion import Criterion
from ..data.matrix import is_sparse, moments
from ..data.products import SPARE, Products, ScaledGenes, principal_components, spread
from ..data.threads import few_threads, one_thread_of_blas
from ..errors import InvalidValue, caution, naming, note, quoted, short
from ..measures.cells import N_COMPS, View, evenly
from . import names, read, results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..criterion.criterion import Target
    from ..criterion.platform import Detection
    from ..data.matrix import RowMatrix
    from ..labels import Labels
    from ..options import Request

#: Where ``pp.structure`` stores a structure; others get the checksum of their parameters.
KEY = "glfs_structure"
#: Key of the view of all genes in ``.obsm`` and ``.uns``.
ALL_GENES = "glfs_all_genes"
#: What is stored of each set of cells next to its rows of ``.obsm`` and columns of ``.varm``.
_SCALARS = ("n_cells", "label", "assay_noise", "noise_level", "graph_components", "chance")
_ARRAYS = ("stiffness", "variance", "residuals", "units", "type_means")
#: Of types of fewer cells nothing is stored.
FEWEST_OF_TYPE = 10
#: A gene sets no more than this share of the noise of the platform, where there are so many genes:
#: .16 of 33 genes of osmFISH, and .03 of whole transcriptomes.
_MOST, _MANY_GENES = 0.5, 20
#: Variances that are so near to 1 are 1, where so many are.
_ALIKE, _NEARLY_ALL = 0.02, 0.8


class Structure(NamedTuple):
    """The cells in the dimensions of their structure."""

    #: All cells, or each batch
    sets: Sequence[Cells]
    #: Cells of each set
    rows: Sequence[Index]
    #: What it was computed from, and how
    spec: StructureSpec
    #: Of the cells, where moments are stored of them
    types: Labels | None = None

    def criterion(
        self,
        target: Target | None = None,
        *,
        worst: bool = False,
        instrument: Detection | None = None,
    ) -> Criterion:
        """Return F, for a target over all cells."""
        targets = None if target is None else [target.rows(rows) for rows in self.rows]
        with few_threads(self.sets[0].basis.shape[1]):
            return Criterion(self.sets, targets, worst=worst, instrument=instrument)

    def of_all_cells(self, values: list[Array], n_cells: int) -> Array:
        """Return one value a cell, from one array a set of cells; NaN where a cell is in none."""
        of_cells = np.full(n_cells, np.nan)
        for rows, of_set in zip(self.rows, values, strict=True):
            of_cells[rows] = of_set
        return of_cells


def specified(adata: AnnData, spec: StructureSpec) -> StructureSpec:
    """Return how a structure is computed, where `use_rep` may name one that is kept."""
    checks.texts(or_none=True, use_rep=spec.use_rep)
    if adata.n_obs == 0 and spec.use_rep is None and KEY in adata.uns:
        spec = replace(spec, use_rep=KEY)
    if spec.use_rep is None or results.kind_of(adata.uns.get(spec.use_rep)) != "structure":
        return spec
    for name in OF_STORED:
        value = getattr(spec, name)
        if value is not None:
            raise InvalidValue(f"`{name}={short(value)}` conflicts with `use_rep`: leave it out")
    stored: StructureSpec
    stored = results.restored(adata, spec.use_rep, "structure", StructureSpec, argument="use_rep")
    return replace(stored, stored_key=spec.use_rep)


def structure_of(
    adata: AnnData, spec: StructureSpec, inputs: dict[str, Any] | None = None, *, keep: bool = True
) -> Structure:
    """Return a structure: a stored one of these cells, or a new one, which is stored."""
    inputs = read.inputs(adata, spec) if inputs is None else inputs
    made_of = checksums(adata, inputs, spec)
    slot = f"{KEY}_{results.checksum(made_of['spec'])}"
    for key in (KEY, slot) if spec.stored_key is None else (spec.stored_key,):
        if key in adata.obsm and results.is_of(adata, key, made_of):
            return _stored(adata, key, spec, inputs["batch"])
    if spec.stored_key is not None or adata.n_obs == 0:
        subject = "`adata` has no cells, and its structure"
        if spec.stored_key is not None:
            subject = f"`use_rep={short(spec.stored_key)}`"
        text = "is outdated or missing, or damaged: run `glfs_bio.pp.structure` on cells"
        raise InvalidValue(f"{subject} {text}")
    structure = compute(adata, inputs, spec)
    if keep:
        # Those that were computed by the way are kept for selections alone.
        computed = {key for key in adata.obsm if read.COMPUTED.fullmatch(key) and KEY in key}
        if computed:
            specs = filter(None, _specs(adata).values())
            computed -= {f"{KEY}_{results.checksum(spec.text())}" for spec in specs}
        for key in computed:
            for container in (adata.obsm, adata.varm, adata.uns):
                container.pop(key, None)
        store(adata, structure, made_of, slot)
    return structure


def checksums(adata: AnnData, inputs: dict[str, Any], spec: StructureSpec) -> dict[str, str]:
    """Return what a structure is of: its parameters, and all values that it is computed from."""
    if adata.n_obs == 0:  # what the structure says itself
        return {"spec": spec.text(), "genes": results.checksum("/".join(adata.var_names))}
    made_of = {"matrix": checksum_of_matrix(adata, inputs["data"], spec.layer)}
    made_of["spec"] = spec.text()
    for name in ("representation", "graph"):
        made_of[name] = "None" if inputs[name] is None else results.checksum(inputs[name])
    batch = inputs["batch"]
    made_of["batch"] = "None" if batch is None else results.checksum(repr(batch.tolist()))
    return made_of


def checksum_of_matrix(adata: AnnData, data: RowMatrix, layer: str | None) -> str:
    """Return what tells a matrix from others: all its values in memory, else where they are."""
    about: list[Any] = [adata.shape, layer]
    if data.in_memory:
        return results.checksum(repr(about), data.source)
    if data.is_dask:
        about.append(data.source.name)
    elif adata.filename is not None:
        file = Path(adata.filename).stat()
        about += [str(adata.filename), file.st_mtime_ns, file.st_size]
    else:
        return results.checksum(repr([*about, data.source]), data.first(read.FIRST_ROWS))
    return results.checksum(repr(about))


def asked_for(adata: AnnData) -> StructureSpec | None:
    """Return how the structure under :data:`KEY` is computed; None where there is none."""
    is_stored = results.kind_of(adata.uns.get(KEY)) == "structure"
    return results.restored(adata, KEY, "structure", StructureSpec) if is_stored else None


def say_not_used(adata: AnnData, spec: StructureSpec) -> None:
    """Say that a selection is by another structure than ``pp.structure`` was asked for."""
    stored = asked_for(adata)
    if stored is not None and stored.text() != spec.text():
        note(f"The structure under {quoted(KEY)} is not used: name it with `use_rep={short(KEY)}`.")


def of_object(adata: AnnData, layer: str | None) -> StructureSpec:
    """Return the structure of all selections, else of ``pp.structure``, else of the matrix."""
    all_specs, asked_spec = _specs(adata), asked_for(adata)
    specs = {key: spec for key, spec in all_specs.items() if spec is not None}
    agree = len({spec.text() for spec in specs.values()}) == 1
    if not agree and asked_spec is not None:
        specs = {KEY: asked_spec}
    elif not agree:
        if all_specs:
            note(f"The structure is that of the matrix, and not that of {quoted(*all_specs)}.")
        return StructureSpec()
    key, spec = next(iter(specs.items()))
    if layer is not None:
        spec = StructureSpec() if spec.stored_key is not None else replace(spec, layer=layer)
    differs = asked_spec is not None and asked_spec.text() != spec.text()
    if differs or spec != StructureSpec():
        note(f"The structure is that of {quoted(key)}, whose `params` describe it.")
    return spec


def _specs(adata: AnnData) -> dict[str, StructureSpec | None]:
    """Return how structures of selections are computed, by key; None where an object lacks that."""
    specs: dict[str, StructureSpec | None] = {}
    for key, entry in adata.uns.items():
        if results.kind_of(entry) == "selection" and "request" in entry:
            request = results.request_of(adata, key)
            is_there = _is_there(adata, request)
            specs[key] = names.settled(adata, request, "ignore").structure if is_there else None
    return specs


def _is_there(adata: AnnData, request: Request) -> bool:
    """Return whether an object has what the structure of a selection is computed from."""
    spec, layers = request.structure, {*adata.layers, *([] if adata.raw is None else [read.RAW])}
    keys = request.symbols, spec.layer, spec.batch_key, spec.use_rep, spec.neighbors_key
    containers = adata.var, layers, adata.obs, adata.obsm, adata.uns
    return all(key is None or key in of for key, of in zip(keys, containers, strict=True))


def compute(adata: AnnData, inputs: dict[str, Any], spec: StructureSpec) -> Structure:
    """Compute the structure, from what was read."""
    batch = inputs["batch"]
    with nullcontext() if batch is None else naming(batch="batch_key"):
        sets = build_cells(spec=spec, **inputs)
    if adata.n_vars >= _MANY_GENES:
        _warn_of_units(adata, inputs["data"], sets)
    rows = [np.arange(adata.n_obs)]
    if batch is not None:
        rows = [cells for _, cells in split(batch, adata.n_obs) if cells is not None]
    without_matrix = [replace(batch, data=None, data_graph=None, graph=None) for batch in sets]
    return Structure(without_matrix, rows, spec)


def _warn_of_units(adata: AnnData, data: RowMatrix, sets: Sequence[Cells]) -> None:
    """Warn of genes that are all scaled, or of one too large, where the matrix seemed right."""
    variance, texts = np.mean([batch.variance for batch in sets], axis=0), []
    varying = variance[variance > 0]
    if len(varying) >= _MANY_GENES and (np.abs(varying - 1.0) < _ALIKE).mean() > _NEARLY_ALL:
        raw = ", such as `layer='raw'`" if adata.raw is not None else ""
        text = "Nearly all genes have variance 1, as after scaling: name a matrix before it with"
        texts.append(f"{text} `layer`{raw}.")
    # how much of σ_0² each gene sets
    pairs = [(batch.variance, batch.residuals) for batch in sets]
    products = [noise.reliability(*pair) * np.prod(pair, axis=0) for pair in pairs]
    share = np.mean([product / (product.sum() or 1.0) for product in products], axis=0)
    if share.max() > _MOST:
        gene = f"{adata.var_names[share.argmax()]} makes {share.max():.0%} of the assumed noise"
        texts.append(f"{gene} of the platform: correct its unit, or remove it from `adata.X`.")
    if texts and read.state(data.first(read.FIRST_ROWS)) is None:
        for text in texts:
            caution(text)


def without_cells(adata: AnnData, key: str) -> AnnData:
    """Return the genes with a structure, and nothing else of the cells but names of columns."""
    return AnnData(
        sparse.csr_matrix((0, adata.n_vars), dtype=np.float32),
        adata.obs[:0].astype(str),
        adata.var.copy(),
        obsm={key: adata.obsm[key][:0]},
        varm={key: adata.varm[key]},
        uns={key: adata.uns[key]},
    )


def store(
    adata: AnnData, structure: Structure, made_of: Mapping[str, str], key: str, **content: Any
) -> None:
    """Write a structure to ``.obsm[key]``, ``.varm[key]`` and ``.uns[key]``, there with more."""
    sets = structure.sets
    rank = max(subset.basis.shape[1] for subset in sets)
    cells = np.zeros((adata.n_obs, rank))
    genes = np.zeros((adata.n_vars, len(sets) * rank))
    blocks = {}
    for i, (subset, rows) in enumerate(zip(sets, structure.rows, strict=True)):
        r = subset.basis.shape[1]
        cells[rows, :r] = subset.basis
        genes[:, i * rank : i * rank + r] = subset.projections
        blocks[str(i)] = {name: getattr(subset, name) for name in (*_ARRAYS, *_SCALARS)}
        if structure.types is not None:
            members = structure.types.codes[rows, None] == np.arange(len(structure.types.names))
            sizes = members.sum(axis=0)
            shares = members / np.where(sizes < FEWEST_OF_TYPE, np.nan, sizes)
            blocks[str(i)]["type_means"] = subset.basis.T @ shares
    entry = results.envelope(
        "structure",
        codec.storable(structure.spec),
        request=structure.spec.text(),
        made_of={**made_of, "genes": results.checksum("/".join(adata.var_names))},
        sets=blocks,
        **content,
    )
    results.store(adata, key, entry, obsm={key: cells}, varm={key: genes})


def _stored(adata: AnnData, key: str, spec: StructureSpec, batch: NDArray[Any] | None) -> Structure:
    blocks = adata.uns[key]["sets"]
    coordinates, projections = (np.asarray(of[key], float) for of in (adata.obsm, adata.varm))
    rank = coordinates.shape[1]
    rows = [np.arange(adata.n_obs)] * len(blocks)
    if batch is not None:
        rows = [cells for _, cells in split(batch, adata.n_obs) if cells is not None]
    sets = []
    for i in range(len(blocks)):
        block = blocks[str(i)]
        values: dict[str, Any] = {name: np.asarray(block[name], float) for name in _ARRAYS}
        r = len(values["stiffness"])
        values |= {name: codec.scalar(block[name]) for name in _SCALARS}
        basis = np.ascontiguousarray(coordinates[rows[i], :r])
        of_genes = np.ascontiguousarray(projections[:, i * rank : i * rank + r])
        sets.append(Cells(basis=basis, projections=of_genes, **values))
    return Structure(sets, rows, spec)


def view_of_all_genes(
    adata: AnnData, spec: StructureSpec, random_state: int | None, *, clustered: bool
) -> View:
    """Return the view in principal components of all genes, stored or new, maybe `clustered`."""
    data = read.without_ignored(adata, spec)
    matrix = checksum_of_matrix(adata, data, spec.layer)
    made_of = {"matrix": matrix, "random_state": str(random_state)}
    entry = adata.uns.get(ALL_GENES)
    if ALL_GENES in adata.obsm and results.is_of(adata, ALL_GENES, made_of):
        view = View(np.asarray(adata.obsm[ALL_GENES]), random_state)
        stored = vars(view)  # of its cached properties
        stored["nearest"] = np.asarray(entry["nearest"], dtype=np.intp)
        if "clusters" in entry:
            stored["clusters"] = {int(k): np.asarray(of) for k, of in entry["clusters"].items()}
        if not clustered or "clusters" in entry:
            return view
    else:
        view = View(components(data, random_state), random_state)
    content: dict[str, Any] = {"nearest": view.nearest}
    if clustered:
        content["clusters"] = {str(k): of for k, of in view.clusters.items()}
    params = {"layer": spec.layer, "random_state": random_state}
    entry = results.envelope("all_genes", params, made_of, **content)
    results.store(adata, ALL_GENES, entry, obsm={ALL_GENES: view.coordinates})
    return view


@one_thread_of_blas()
def components(cells: RowMatrix, random_state: int | None) -> Array:
    """Return principal components: of many cells by two passes, from those of a part of them."""
    n_cells, n_genes = cells.shape
    few = n_cells <= MOST_EXACT or n_genes <= N_COMPS + SPARE
    mean, _, sample = moments(cells, None if few else evenly(n_cells, MOST_EXACT))
    if few:
        return np.asarray(principal_components(Products.of(sample), N_COMPS, random_state))
    scale = np.ones(n_genes)
    genes = ScaledGenes(Products.of(sample), scale)
    start = genes.loadings(N_COMPS + SPARE, random_state)
    where, _, _ = spread(cells, start, N_COMPS, mean, scale, mostly_zero=is_sparse(sample))
    return np.asarray(where)
