"""Several datasets to select from as one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from anndata import AnnData, concat

from ..data.matrix import RowMatrix, stacked
from ..errors import InvalidValue, Refusal, listed, short
from . import read, target

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from .._typing import Index, Matrix
    from ..options import Request

log = logging.getLogger(__name__)

#: What an object of several datasets calls its batches, its raw counts, and what names of cells
#: end in.
_BATCH = "glfs_data_set"
_COUNTS = "counts"
_BETWEEN = "-"


def data_sets(adata: Any) -> dict[str, AnnData]:
    """Data sets by name; of a sequence the names are 0, 1, …."""
    if not isinstance(adata, Mapping | list | tuple):
        read.check(adata)
    sets = dict(adata) if isinstance(adata, Mapping) else dict(enumerate(adata))
    if not sets:
        raise InvalidValue("`adata` is empty: give one dataset, or several")
    found = {str(name): one for name, one in sets.items()}
    for name, one in found.items():
        with _within(name):
            read.unique_names(one)
    if len({id(one) for one in found.values()}) < len(sets):
        raise InvalidValue("`adata` holds the same object, or the same name, twice: give each once")
    return found


def join(sets: Mapping[str, AnnData], request: Request) -> tuple[AnnData, Request]:
    """Return the cells of all datasets, with a batch each or one for every batch of each.

    It has the genes that all have, in the order of the first, and of each what a selection reads.
    Columns of ``.var`` are those of the first that has them.  The request is for this object.
    """
    spec, limits = request.structure, request.limits
    for name, value in {"use_rep": spec.use_rep, "neighbors_key": spec.neighbors_key}.items():
        if value not in (None, "X"):
            raise InvalidValue(
                f"`{name}={short(value)}` is not possible with several datasets, whose subspaces "
                "and graphs are computed here: leave it out"
            )
    counts = None if limits is None else limits.counts_layer
    for name, argument in target.sources(request).items():
        _in_all(sets, name, argument)
    genes = _in_common(sets)
    parts = {name: _lean(name, one, genes, spec.batch_key) for name, one in sets.items()}
    layers: dict[str | None, tuple[str | None, str]] = {None: (spec.layer, "layer")}
    if limits is not None and counts is not None:
        layers[_COUNTS] = (None if counts == "X" else counts, "counts_layer")
        request = replace(request, limits=replace(limits, counts_layer=_COUNTS))
    joined = concat(parts, join="outer", merge="first", index_unique=_BETWEEN)
    for place, of in layers.items():
        matrix = stacked(_matrices(sets, genes, *of))
        if place is None:
            joined.X = matrix
        else:
            joined.layers[place] = matrix
    return joined, request.but(layer=None, batch_key=_BATCH, use_rep=None)


def _in_all(sets: Mapping[str, AnnData], name: str, argument: str) -> None:
    """Refuse what one dataset has of the cells, and another lacks: its cells would not count."""
    parts: tuple[Literal["obs", "obsm"], ...] = ("obs", "obsm")
    for part in parts:
        if any(name in getattr(one, part) for one in sets.values()):
            for called, one in sets.items():
                with _within(called):
                    read.find(one, part, name, argument)


@contextmanager
def _within(name: str) -> Iterator[None]:
    """Say of a refusal which dataset it is about."""
    try:
        yield
    except Refusal as refusal:
        raise refusal.within(f"dataset {name!r}") from None


def _in_common(sets: Mapping[str, AnnData]) -> pd.Index:
    first, *others = (one.var_names for one in sets.values())
    genes = first
    for names in others:
        genes = genes[genes.isin(names)]
    if not len(genes):
        raise InvalidValue(
            f"`adata` has no gene that is in all datasets ({listed(sets)}): give genes the same "
            "names, such as symbols, in `adata.var_names`"
        )
    most = max(one.n_vars for one in sets.values())
    if len(genes) < most:
        log.info(f"{len(genes)} genes are in all datasets, of at most {most}.")
    return genes


def _lean(name: str, one: AnnData, genes: pd.Index, batch_key: str | None) -> AnnData:
    """What a selection reads of the cells of one data set, but for matrices."""
    with _within(name):
        batches = read.batches(one, batch_key)
    obs = one.obs.copy()
    obs[_BATCH] = name if batches is None else [f"{name}: {batch}" for batch in batches]
    return AnnData(obs=obs, var=one.var.loc[genes], obsm=dict(one.obsm))


def _matrices(
    sets: Mapping[str, AnnData], genes: pd.Index, layer: str | None, argument: str
) -> list[Matrix]:
    """Return the matrix of some genes of each data set, in memory."""
    matrices = []
    for name, one in sets.items():
        with _within(name):
            places: Index = one.var_names.get_indexer(genes)
            rows = read.row_matrix(one, layer, argument)
            if not np.array_equal(places, np.arange(one.n_vars)):
                rows = RowMatrix(rows, genes=places)
            matrices.append(rows.loaded())
    return matrices
