"""The cells as a panel shows them: coordinates, nearest cells and clusters, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from ..cells import graph as graphs
from ..cells.graph import MOST_EXACT, approximate_neighbors
from ..data import threads as pools
from ..data.matrix import RowMatrix, no_rows

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
#: Splits of these, each of which is clustered by itself, and its number of clusters.
N_SPLITS, OF_SPLIT = 5, 10
_SPLITS = [slice(first, None, N_SPLITS) for first in range(N_SPLITS)]


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

    @cached_property
    def by_split(self) -> Index:
        """Return what :func:`clustered_by_split` does."""
        return clustered_by_split(self.coordinates, random_state=self.random_state)


def dense(values: Matrix) -> Array:
    """Return the same values in an array of double precision."""
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)


@pools.one_thread_of_blas()
def coordinates(panel: Matrix, *, n_comps: int = N_COMPS) -> Array:
    """Centred expression of the panel's genes, shape (n_cells, n_genes); of more than `n_comps` its
    principal components: shape (n_cells, min(n_genes, n_comps)), of many cells in single precision.

    Components take the noise of single genes out of the distances.  Their number is scanpy's, and
    that of the subspace of the cells; none is best for all cells.
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
    return (np.asarray(block.sum(axis=0, dtype=np.float64)),), no_rows(block)


def _scatter(block: Matrix, rows: slice, mean: Array) -> tuple[Sums, Matrix]:
    centred = dense(block) - mean
    return (centred.T @ centred,), no_rows(block)


def _placed(
    block: Matrix, rows: slice, mean: Array, axes: Array | None, single: bool
) -> tuple[Sums, Matrix]:
    centred = dense(block) - mean
    where = centred if axes is None else centred @ axes
    return (), where.astype(np.float32) if single else where


def nearest(where: Array, n_neighbors: int = N_NEIGHBORS, *, random_state: int | None = 0) -> Index:
    """Nearest other cells of every cell, the nearest first.

    They are exact up to :data:`~glfs_bio.cells.graph.MOST_EXACT` cells, and nearly all are found
    beyond, as in the graph of the cells.

    Shapes: `where` (n_cells, r).  Shape (n_cells, n_neighbors).
    """
    n_neighbors = min(n_neighbors, len(where) - 1)
    if len(where) <= MOST_EXACT:
        return graphs.nearest(None, where, n_neighbors, "brute")[1]
    _, neighbors = approximate_neighbors(where, n_neighbors, random_state)
    itself = neighbors == np.arange(len(where))[:, None]
    last = np.argsort(itself, axis=1, kind="stable")
    return np.asarray(np.take_along_axis(neighbors, last, axis=1)[:, :n_neighbors])


def nearest_of_others(where: Array, fold: Index, n_neighbors: int) -> Index:
    """Nearest cells in other folds of every cell, the nearest first, exact.

    Shapes: `where` (n_cells, r), `fold` (n_cells,).  Shape (n_cells, n_neighbors), or as many as
    there are beside the largest fold.
    """
    n_neighbors = min(n_neighbors, len(where) - np.bincount(fold).max())
    neighbors = np.empty((len(where), n_neighbors), np.intp)
    for number in np.unique(fold):
        tested, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        neighbors[tested] = rest[
            graphs.nearest(where[tested], where[rest], n_neighbors, "brute")[1]
        ]
    return neighbors


def evenly(n_cells: int, most: int) -> Index:
    """Return places of all cells, or of so many, evenly over their order."""
    return np.linspace(0, n_cells - 1, min(most, n_cells)).astype(np.intp)


def n_neighbors_of(n_cells: int) -> int:
    """Number of nearest cells that are compared: at most half of the others.

    Of nearly all others nearly all are found again, whatever the panel.
    """
    return min(N_NEIGHBORS, (n_cells - 1) // 2)


def knn_preservation(neighbors: Index, neighbors_in_all: Index) -> Array:
    """Share of each cell's nearest cells in all genes that are nearest cells in the panel.

    Both are of shape (n_cells, n_neighbors).  The mean is that of the panel; by chance it is
    ``n_neighbors / (n_cells − 1)``.
    """
    both = np.sort(np.hstack([neighbors, neighbors_in_all]), axis=1)
    in_common = np.sum(both[:, 1:] == both[:, :-1], axis=1)
    return np.asarray(in_common / neighbors.shape[1])


def clusterings(
    where: Array, numbers: Sequence[int] = COARSE + FINE, *, random_state: int | None = 0
) -> dict[int, Index]:
    """k-means clusters of the cells, shape (n_cells, r), by number of clusters that they are enough
    for.

    k-means needs no graph and no package beyond scikit-learn, and its number of clusters is the
    same in every panel, which it is not at a given resolution of Leiden.

    Shapes: `where` (n_cells, r).  Cluster of every cell, or of :data:`CLUSTERED` of them, by number
    of clusters.  Where fewer cells differ, each is a cluster.
    """
    where = where[evenly(len(where), CLUSTERED)].astype(np.float32)  # quicker
    enough = [k for k in numbers if k * _CELLS_OF_CLUSTER <= len(where)]
    n_different = len(np.unique(where, axis=0))

    def clusters(k: int) -> Index:
        model = KMeans(min(k, n_different), n_init=_STARTS, random_state=random_state)
        with pools.one_thread():  # of several one waits for another, and they add in any order
            return np.asarray(model.fit_predict(where))

    return dict(zip(enough, pools.in_order(clusters, enough), strict=True))


def clustered_by_split(where: Array, *, random_state: int | None = 0) -> Index:
    """Clusters of the cells, shape (n_cells, r), of which every fifth cell is in one split.

    Each split is clustered by itself, so that they differ by their cells and by their clustering.
    Cluster of every cell that is clustered among those of its split; of none where they are too
    few.
    """
    where = where[evenly(len(where), CLUSTERED)]
    if len(where) // N_SPLITS < OF_SPLIT * _CELLS_OF_CLUSTER:
        return np.empty(0, dtype=np.intp)
    clusters = np.empty(len(where), dtype=np.intp)
    for split in _SPLITS:
        clusters[split] = clusterings(where[split], [OF_SPLIT], random_state=random_state)[OF_SPLIT]
    return clusters


def ari_in_splits(clusters: Index, clusters_in_all: Index) -> Array:
    """Adjusted Rand index of :func:`clustered_by_split` in the panel and in all genes, for every
    split; NaN where the cells are too few.
    """
    if not len(clusters):
        return np.full(N_SPLITS, np.nan)
    return np.array([adjusted_rand_score(clusters_in_all[k], clusters[k]) for k in _SPLITS])


def cluster_preservation(
    clusters: dict[int, Index], clusters_in_all: dict[int, Index]
) -> tuple[float, float]:
    """Return the normalised mutual information of :func:`clusterings` in the panel and in all
    genes, the mean over coarse and over fine numbers; NaN where the cells are too few for any.
    """
    means = []
    for numbers in (COARSE, FINE):
        pairs = [(clusters_in_all[k], clusters[k]) for k in numbers if k in clusters]
        nmi = [float(normalized_mutual_info_score(*pair)) for pair in pairs]
        means.append(float(np.mean(nmi)) if nmi else float("nan"))
    return means[0], means[1]
