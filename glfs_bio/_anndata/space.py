"""Cells in space: which are neighbours, and spillover between the labels of these.

Cells are neighbours where one is among the nearest of the other in the same section, or where a
graph of squidpy joins them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from .. import checks
from ..cells.graph import check_coordinates
from ..errors import InvalidValue, NotFound, Refusal, listed, naming, note, short, subject
from ..labels import batch_names
from ..measures import space as in_space
from ..measures.cells import N_NEIGHBORS as N_NEAREST
from ..options import neighbor_frequencies
from ..vendors.forecast import N_NEIGHBORS, Spillover
from . import columns, read
from .expression import members

if TYPE_CHECKING:
    from anndata import AnnData

    from ..labels import Labels
    from ..options import Platform

#: Where squidpy keeps coordinates and its graph, in ``.obsm`` and ``.uns``.
_COORDINATES, _GRAPH = "spatial", "spatial_neighbors"
#: Columns that say which section a cell is in, by precedence.
_SECTIONS = ("library_id", "section", "sample")


def of_labels(platform: Platform, share: float, name: str, labels: Labels) -> Spillover:
    """Return the spillover of a platform for labels, which are read from column `name`."""
    sizes = np.bincount(labels.codes[labels.codes >= 0], minlength=len(labels.names))
    neighbors = np.tile(sizes / sizes.sum(), (len(sizes), 1))
    if platform.spillover_to is not None:
        table = _table(platform.spillover_to, name)
        counts = table.reindex(columns=labels.names).fillna(0.0)
        shared = counts[(counts.sum(axis=1) > 0) & counts.index.isin(labels.names)]
        if shared.empty:
            text = f"`spillover_to` has no type of `labels={short(name)}`"
            raise InvalidValue(f"{text}: {listed(table.index)}")
        of_others = [label for label in table if label not in labels.names]
        if of_others:
            note(f"`spillover_to`: {listed(of_others)} are no types here.")
        missing = [label for label in labels.names if label not in shared.index]
        if missing:
            note(f"`spillover_to`: {listed(missing)} get random cells as neighbours.")
        rows = [labels.names.index(label) for label in shared.index]
        neighbors[rows] = shared.div(shared.sum(axis=1), axis=0)
    return Spillover(share, neighbors)


def frequencies(spatial: AnnData, labels: str) -> pd.DataFrame:
    """Count pairs of neighbours by their types, shape (n_types, n_types)."""
    cell_labels = columns.labels(spatial, labels)
    if _COORDINATES not in spatial.obsm and _GRAPH not in spatial.uns:
        text = f"`spillover_to` has no positions under {_COORDINATES!r}"
        raise NotFound(f"{text}: add them, or give a table")
    section = next((name for name in _SECTIONS if name in spatial.obs), None)
    with naming(spatial="spillover_to", library_key="spillover_to"):
        pairs = neighbours(spatial, None, section, N_NEIGHBORS) != 0
    of_type = sparse.csr_array(members(cell_labels.codes, len(cell_labels.names))[:, 1:])
    counts = (of_type.T @ pairs @ of_type).toarray()
    if not counts.any():
        raise InvalidValue("`spillover_to` has no two cells with a label that are neighbours")
    return pd.DataFrame(counts, index=cell_labels.names, columns=cell_labels.names)


def _table(neighbors: Any, labels: str) -> pd.DataFrame:
    """Return frequencies of neighbouring types, rows and columns by type."""
    if isinstance(neighbors, str):
        text = f"`spillover_to={short(neighbors)}` is all that is recorded"
        raise InvalidValue(f"{text}: give `platform`")
    if hasattr(neighbors, "n_obs"):
        try:
            neighbors = neighbor_frequencies(frequencies(neighbors, labels))
        except Refusal as refusal:
            raise refusal.within("spillover_to") from None
    return pd.DataFrame.from_dict(neighbors, orient="index").fillna(0.0)


def neighbours(
    adata: AnnData, spatial: str | None, library_key: str | None, n_neighbors: int = N_NEAREST
) -> sparse.csr_array:
    """Return the graph of neighbours in space: a graph of squidpy, or by coordinates.

    Without `spatial` it is the graph of the name that squidpy gives it, or else coordinates of that
    name.  Cells of different sections are no neighbours; without `library_key` the regions of a
    table of spatialdata are sections, or all cells are of one.
    """
    checks.texts(spatial=spatial, library_key=library_key, or_none=True)
    if spatial is None:
        spatial = _GRAPH if _GRAPH in adata.uns else _COORDINATES
    if library_key is None:
        attributes = adata.uns.get("spatialdata_attrs")
        library_key = attributes.get("region_key") if isinstance(attributes, Mapping) else None
    section = np.zeros(adata.n_obs, dtype=np.intp)
    if library_key is not None:
        column = read.find(adata, "obs", library_key, "library_key")
        names = batch_names(column, "library_key", library_key)
        section = np.unique(names, return_inverse=True)[1]
    if spatial in adata.obsm:
        positions = read.find(adata, "obsm", spatial, "spatial")
        positions = check_coordinates(positions, adata.n_obs, "spatial")
        return in_space.neighbours(positions, section, n_neighbors)
    if spatial in adata.uns:
        with naming(neighbors_key="spatial"):
            return in_space.within(read.graph(adata, spatial), section)
    text = f"{subject('spatial', spatial)} is neither in `adata.obsm` nor a `graph of adata.uns`"
    spaces = listed(read.own_names(adata, "obsm"))
    raise NotFound(f"{text}: name coordinates of the cells (of {spaces}), or add them")
