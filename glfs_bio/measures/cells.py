"""The cells as a panel shows them: coordinates, nearest cells and clusters, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from ..cells import graph as graphs
from ..cells.graph import MOST_EXACT, approximate_neighbors
from ..data import threads as pools
from ..data.matrix import RowMatrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index, Matrix
    from ..data.matrix import Sums


#: Principal components of a panel of more genes.
N_COMPS = 50
#: Nearest cells of a cell, itself not counted.
N_NEIGHBORS = 15
#: Numbers of clusters: the main types, and their subtypes.
COARSE, FINE = (5, 7, 10), (20, 30, 40)
#: k-means starts from so many places and keeps the best.
_STARTS = 3
#: So many cells a cluster are needed on average.  With fewer, clusters agree by chance.
_CELLS_OF_CLUSTER = 10
#: Of more cells so many are clustered, in every view the same.
CLUSTERED = 20_000


@dataclass(frozen=True)
class View:
    """The cells as some genes show them."""

    #: Shape (n_cells, r).
    coordinates: Array
    random_state: int | None

    @cached_property
    def nearest(self) -> Index:
        """Return what :func:`nearest` does."""
        return nearest(self.coordinates, random_state=self.random_state)

    @cached_property
    def clusters(self) -> dict[int, Index]:
        """Return what :func:`clusterings` does."""
        return clusterings(self.coordinates, random_state=self.random_state)


def dense(values: Matrix) -> Array:
    """Return the same values in an array of double precision."""
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)


@pools.one_thread_of_blas()
def coordinates(panel: Matrix, *, n_comps: int = N_COMPS) -> Array:
    """Return the centred expression of genes, of more than `n_comps` their principal components.

    These take the noise of single genes out of distances.  Of many cells they are single precision.
    """
    genes = RowMatrix(panel, checked=True)
    mean, scatter = scatter_of(genes)
    axes = None
    if genes.shape[1] > n_comps:
        axes = np.linalg.eigh(scatter)[1][:, ::-1][:, : min(n_comps, genes.shape[0])]
    _, where = genes.sweep(_placed, mean, axes, genes.shape[0] > MOST_EXACT)
    return np.asarray(where)


def scatter_of(genes: RowMatrix) -> tuple[Array, Array]:
    """Means of some genes, and sums of products of what they differ from these by."""
    (total,), _ = genes.sweep(_total)
    mean = total / genes.shape[0]
    (scatter,), _ = genes.sweep(_scatter, mean)
    return mean, scatter


def _total(block: Matrix, rows: slice) -> tuple[Sums, Matrix]:
    return (np.asarray(block.sum(axis=0, dtype=np.float64)),), None


def _scatter(block: Matrix, rows: slice, mean: Array) -> tuple[Sums, Matrix]:
    centred = dense(block) - mean
    return (centred.T @ centred,), None


def _placed(
    block: Matrix, rows: slice, mean: Array, axes: Array | None, single: bool
) -> tuple[Sums, Matrix]:
    centred = dense(block) - mean
    where = centred if axes is None else centred @ axes
    return (), where.astype(np.float32) if single else where


def nearest(where: Array, n_neighbors: int = N_NEIGHBORS, *, random_state: int | None = 0) -> Index:
    """Return the nearest other cells of every cell, the nearest first, (n_cells, n_neighbors).

    Of more than :data:`~glfs_bio.cells.graph.MOST_EXACT` cells nearly all are found.
    """
    n_neighbors = min(n_neighbors, len(where) - 1)
    if len(where) <= MOST_EXACT:
        return graphs.nearest(None, where, n_neighbors, "brute")[1]
    _, neighbors = approximate_neighbors(where, n_neighbors, random_state)
    itself = neighbors == np.arange(len(where))[:, None]
    last = np.argsort(itself, axis=1, kind="stable")
    return np.asarray(np.take_along_axis(neighbors, last, axis=1)[:, :n_neighbors])


def nearest_of_others(where: Array, fold: Index, n_neighbors: int) -> Index:
    """Return the nearest cells in other folds of every cell, at most those beside the largest."""
    n_neighbors = min(n_neighbors, len(where) - np.bincount(fold).max())
    neighbors = np.empty((len(where), n_neighbors), np.intp)
    for number in np.unique(fold):
        tested, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        _, nearest_of_rest = graphs.nearest(where[tested], where[rest], n_neighbors, "brute")
        neighbors[tested] = rest[nearest_of_rest]
    return neighbors


def evenly(n_cells: int, most: int) -> Index:
    """Return places of all cells, or of so many, evenly over their order."""
    return np.linspace(0, n_cells - 1, min(most, n_cells)).astype(np.intp)


def n_neighbors_of(n_cells: int) -> int:
    """Return how many nearest cells are compared: any panel finds nearly all of nearly all."""
    return min(N_NEIGHBORS, (n_cells - 1) // 2)


def knn_preservation(neighbors: Index, neighbors_in_all: Index) -> Array:
    """Return the share of each cell's nearest cells in all genes that are nearest in the panel.

    By chance it is ``n_neighbors / (n_cells − 1)``.
    """
    both = np.sort(np.hstack([neighbors, neighbors_in_all]), axis=1)
    in_common = np.sum(both[:, 1:] == both[:, :-1], axis=1)
    return np.asarray(in_common / neighbors.shape[1])


def clusterings(where: Array, *, random_state: int | None = 0) -> dict[int, Index]:
    """Return the cluster of every cell, or of :data:`CLUSTERED` of them, by number of clusters.

    k-means has the same number in every panel, which Leiden has not at a given resolution.  Where
    fewer cells differ, each is a cluster.
    """
    where = where[evenly(len(where), CLUSTERED)].astype(np.float32)  # quicker
    enough = [k for k in COARSE + FINE if k * _CELLS_OF_CLUSTER <= len(where)]
    n_different = len(np.unique(where, axis=0))

    def clusters(k: int) -> Index:
        model = KMeans(min(k, n_different), n_init=_STARTS, random_state=random_state)
        with pools.one_thread():  # of several one waits for another, and they add in any order
            return np.asarray(model.fit_predict(where))

    return dict(zip(enough, pools.in_order(clusters, enough), strict=True))


def cluster_preservation(
    clusters: dict[int, Index], clusters_in_all: dict[int, Index], numbers: Sequence[int]
) -> float:
    """Return the normalised mutual information of :func:`clusterings` in the panel and in all
    genes, the mean over some numbers of clusters; NaN where the cells are too few for any.
    """
    pairs = [(clusters_in_all[k], clusters[k]) for k in numbers if k in clusters]
    nmi = [float(normalized_mutual_info_score(*pair)) for pair in pairs]
    return float(np.mean(nmi)) if nmi else float("nan")
