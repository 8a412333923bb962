"""Nearest cells of many cells, looked for among those of the nearest clusters only."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from ..data import threads

if TYPE_CHECKING:
    from .._typing import Array, Index

log = logging.getLogger(__name__)

#: Cells that are put into clusters at a time.
_CHUNK = 2**14


@dataclass(frozen=True)
class Settings:
    """What was settled by trial; ``benchmarks/ARCHIVE.md`` has it beside other libraries."""

    #: Mean number
    cells_of_cluster: int = 400
    #: Cells per cluster that k-means sees, at most in all, and its rounds
    sample: int = 64
    most: int = 50_000
    rounds: int = 15
    #: Cells that are looked at for each cell, at least in all and per neighbour
    candidates: int = 5000
    per_neighbor: int = 100


SETTINGS = Settings()


def distances(cells: Array, n_neighbors: int, random_state: int | None) -> sparse.csr_array:
    """Distances to nearly the nearest cells, shape (n_cells, n_cells), in single precision."""
    near, far = nearest(cells, n_neighbors, random_state)
    other = near != np.arange(len(cells), dtype=np.int32)[:, None]
    ends = np.concatenate([[0], np.cumsum(other.sum(axis=1))])
    graph = sparse.csr_array((far[other], near[other], ends), shape=(len(cells),) * 2)
    graph.sort_indices()
    return graph


def nearest(cells: Array, n_neighbors: int, random_state: int | None) -> tuple[Index, Array]:
    """Nearly the nearest cells of every cell and their distances, the nearest first, two arrays of
    shape (n_cells, n_neighbors + 1), in single precision.

    Cells, shape (n_cells, r), are put into clusters.  For the cells of a cluster all distances are
    computed to those of the clusters nearest to it, as by an inverted file (Sivic and Zisserman
    2003).  Of several cells in one place the cell itself may be missing.
    """
    cells = np.asarray(cells, dtype=np.float32)
    n_candidates = max(SETTINGS.candidates, SETTINGS.per_neighbor * n_neighbors)
    shape = len(cells), n_neighbors + 1
    near: Index = np.empty(shape, dtype=np.int32)
    far: Array = np.empty(shape, dtype=np.float32)
    members, centers = _clusters(cells, random_state)
    sizes = np.array([len(of_cluster) for of_cluster in members])

    def look(own: Index, apart: Array) -> tuple[Index, Array, Index]:
        nearest = np.argsort(apart, kind="stable")
        enough = 1 + np.searchsorted(np.cumsum(sizes[nearest]), n_candidates)
        others = np.concatenate([members[cluster] for cluster in nearest[:enough]])
        finder = NearestNeighbors(n_neighbors=n_neighbors + 1, algorithm="brute")
        lengths, places = finder.fit(cells[others]).kneighbors(cells[own])
        return own, lengths, others[places]

    done = 0
    for own, lengths, found in threads.in_order(look, members, pairwise_distances(centers)):
        far[own], near[own] = lengths, found
        done += len(own)
        progress = {"stage": "finding neighbours", "n_done": done, "n_all": len(cells)}
        log.info("neighbours of %d of %d cells found", done, len(cells), extra=progress)
    return near, far


def _clusters(cells: Array, random_state: int | None) -> tuple[list[Index], Array]:
    """Cells of each cluster, and the centres, by k-means on some of the cells."""
    n_clusters = max(1, len(cells) // SETTINGS.cells_of_cluster)
    n_sampled = min(SETTINGS.sample * n_clusters, SETTINGS.most, len(cells))
    n_sampled = max(n_sampled, n_clusters)
    sample = np.random.default_rng(random_state).choice(len(cells), n_sampled, replace=False)
    model = KMeans(
        n_clusters, init="random", n_init=1, max_iter=SETTINGS.rounds, random_state=random_state
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # identical cells: fewer clusters
        with threads.one_thread():  # threads would add up in any order
            model.fit(cells[sample])
    chunks = np.split(cells, range(_CHUNK, len(cells), _CHUNK))
    found = np.concatenate(list(threads.in_order(model.predict, chunks)))
    filled, found = np.unique(found, return_inverse=True)
    ends = np.cumsum(np.bincount(found))[:-1]
    members = np.split(np.argsort(found, kind="stable"), ends)
    return members, model.cluster_centers_[filled]
