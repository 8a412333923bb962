"""Spillover for the labels of an object: types of neighbouring cells, out of cells with positions.

Cells are neighbours where one is among the nearest of the other in the same section, or where a
graph of squidpy joins them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from .. import checks
from ..errors import InvalidValue, NotFound, Refusal, listed, note, short
from ..measures import space
from ..options import neighbor_frequencies
from ..vendors.forecast import N_NEIGHBORS, Spillover
from . import columns
from .expression import members

if TYPE_CHECKING:
    from anndata import AnnData

    from ..labels import Labels
    from ..options import Platform

#: Where squidpy has the positions of cells, and the graph of those that are neighbours.
_POSITIONS, _GRAPH = "spatial", "spatial_connectivities"
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
    pairs = _graph(spatial)
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


def _graph(spatial: AnnData) -> sparse.csr_array:
    """Return pairs of cells that are neighbours in a section, shape (n_cells, n_cells), symmetric.

    A graph of squidpy comes before positions.
    """
    if _GRAPH in spatial.obsp:
        pairs = sparse.csr_array(spatial.obsp[_GRAPH]) != 0
        return space.within(sparse.csr_array(pairs + pairs.T), np.zeros(spatial.n_obs))
    if _POSITIONS not in spatial.obsm:
        text = f"`spillover_to` has no positions under {_POSITIONS!r}"
        raise NotFound(f"{text}: add them, or give a table")
    positions = checks.real("spillover_to", spatial.obsm[_POSITIONS])
    sections = np.zeros(spatial.n_obs, dtype=np.intp)
    column = next((name for name in _SECTIONS if name in spatial.obs), None)
    if column is not None:
        sections = pd.factorize(spatial.obs[column])[0]
        if (sections < 0).any():
            raise InvalidValue(f"`spillover_to` has cells without a {column!r}: fill it in")
    return space.neighbours(positions, sections, N_NEIGHBORS)
