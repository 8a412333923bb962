"""Several datasets to select from as one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anndata import AnnData, concat

from ..errors import InvalidValue, listed, short, within
from . import read, target

if TYPE_CHECKING:
    import pandas as pd

    from ..options import Request

log = logging.getLogger(__name__)

#: What an object of several datasets calls its batches and its raw counts.
_BATCH, _COUNTS = "glfs_data_set", "counts"


def data_sets(adata: Any) -> dict[str, AnnData]:
    """Return datasets by name; of a sequence the names are 0, 1, …."""
    if not isinstance(adata, Mapping | list | tuple):
        read.check(adata)
    items = adata.items() if isinstance(adata, Mapping) else enumerate(adata)
    sets = {str(name): cells for name, cells in items}
    if not sets:
        raise InvalidValue("`adata` is empty: give one dataset, or several")
    for name, cells in sets.items():
        with within(f"dataset {name!r}"):
            read.unique_names(cells)
    if len({id(cells) for cells in sets.values()}) < len(adata):
        raise InvalidValue("`adata` holds an object, or a name, twice: give each once")
    return sets


def join(sets: Mapping[str, AnnData], request: Request) -> tuple[AnnData, Request]:
    """Return the cells and common genes of all datasets, and the request for this object."""
    spec, limits = request.structure, request.limits
    for name, value in {"use_rep": spec.use_rep, "neighbors_key": spec.neighbors_key}.items():
        if value not in (None, "X"):
            raise InvalidValue(f"`{name}={short(value)}` is for one dataset: leave it out")
    for name, argument in target.sources(request).items():
        _check_all_have(sets, name, argument)
    genes = next(iter(sets.values())).var_names
    for cells in sets.values():
        genes = genes[genes.isin(cells.var_names)]
    if genes.empty:
        raise InvalidValue(f"`adata` has no gene that all have ({listed(sets)}): name genes alike")
    log.info(f"{len(genes)} genes are in all datasets.")
    selected = {}
    for name, cells in sets.items():
        with within(f"dataset {name!r}"):
            selected[name] = _read(name, cells, genes, request)
    joined = concat(selected, join="outer", merge="first", index_unique="-")
    if limits is not None and limits.counts_layer is not None:
        request = replace(request, limits=replace(limits, counts_layer=_COUNTS))
    return joined, request.but(layer=None, batch_key=_BATCH, use_rep=None)


def _check_all_have(sets: Mapping[str, AnnData], name: str, argument: str) -> None:
    """Refuse what one dataset has of the cells, and another lacks: its cells would not count."""
    for attribute in ("obs", "obsm"):
        if any(name in getattr(cells, attribute) for cells in sets.values()):
            for data_set, cells in sets.items():
                with within(f"dataset {data_set!r}"):
                    read.find(cells, attribute, name, argument)


def _read(name: str, cells: AnnData, genes: pd.Index, request: Request) -> AnnData:
    """Return what a selection reads of one dataset, in memory."""
    spec, limits = request.structure, request.limits
    batches = read.batches(cells, spec.batch_key)
    obs = cells.obs.copy()
    obs[_BATCH] = name if batches is None else [f"{name}: {batch}" for batch in batches]
    rows = cells.var_names.get_indexer(genes)
    lean = AnnData(
        read.columns(cells, rows, spec.layer),
        obs=obs,
        var=cells.var.loc[genes],
        obsm=dict(cells.obsm),
    )
    if limits is not None and limits.counts_layer is not None:
        lean.layers[_COUNTS] = read.columns(cells, rows, limits.counts_layer, "counts_layer")
    return lean
