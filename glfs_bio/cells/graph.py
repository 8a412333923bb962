"""Where cells are, their nearest, and the similarity graph of these with its Laplacian."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from .. import checks
from ..data import threads
from ..data.matrix import RowMatrix, check_indices, native, with_values
from ..data.products import csr_product
from ..errors import InvalidValue, show_stage

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import Array, Index, Matrix
    from ..data.matrix import Sums


_SYMMETRY = 1e-5
#: Beyond so many cells neighbours are approximate.  All distances of so many take 3 s.
MOST_EXACT = 20_000
#: Neighbours of a cell: so many, of few cells a share of them, but no fewer than the last.
_USUAL, _SHARE, _FEWEST = 15, 0.05, 8

#: Of approximate neighbours; ``benchmarks/ARCHIVE.md`` has the trials.  Cells that are put into
#: clusters at a time, and cells of a cluster, in the mean.
_CHUNK, _CELLS_OF_CLUSTER = 2**14, 400
#: Cells for each cluster that k-means sees, at most in all, and how often it moves the clusters.
_SAMPLE, _MOST_SAMPLED, _ROUNDS = 64, 50_000, 15
#: Cells that are looked at for each cell, at least, and for each neighbour that is wanted.
_CANDIDATES, _PER_NEIGHBOR = 5000, 100
#: Threads of scikit-learn share the cells, but of fewer a thread the neighbours: then the order of
#: neighbours at equal distances depends on the threads.
_CELLS_OF_THREAD = 1024


def nearest(
    cells: Matrix | None, among: Matrix, n_neighbors: int, algorithm: str = "auto"
) -> tuple[Array, Index]:
    """Return distances to the nearest in `among`, and which these are; None: of each to others."""
    few = (among if cells is None else cells).shape[0] <= _CELLS_OF_THREAD * threads.n_threads()
    with threads.one_thread() if few or threads.forked() else nullcontext():
        index = NearestNeighbors(n_neighbors=n_neighbors, algorithm=algorithm).fit(among)
        neighbors: tuple[Any, Any] = index.kneighbors(cells)
    return neighbors


def knn_graph(
    representation: Matrix, n_neighbors: int | None = None, random_state: int | None = 0
) -> sparse.csr_array:
    """Nearest-neighbour graph with heat-kernel weights (He, Cai & Niyogi 2005) of cells (n, r).

    Cells are joined when either is among the nearest of the other, with weight
    ``exp(−distance² / bandwidth)``; the latter is the mean squared distance of joined cells.
    """
    n_cells = representation.shape[0]
    if n_neighbors is None:
        n_neighbors = min(_USUAL, max(_FEWEST, int(_SHARE * n_cells)))
    n_neighbors = min(n_neighbors, n_cells - 1)
    if n_cells > MOST_EXACT:
        neighbors = approximate_neighbors(representation, n_neighbors, random_state)
    else:
        neighbors = nearest(representation, representation, n_neighbors + 1)
    distances = distances_to_others(*neighbors)
    squared = np.square(distances.data, out=distances.data)
    bandwidth = squared.mean(dtype=np.float64) or 1.0  # where all distances are zero
    np.exp(np.divide(squared, -bandwidth, out=squared), out=squared)
    return sparse.csr_array(distances.maximum(distances.T))


def joined(neighbors: Index) -> sparse.csr_array:
    """Return the graph, without weights, of cells and their nearest others (n, n_neighbors)."""
    n_cells, n_neighbors = neighbors.shape
    ends = np.arange(0, neighbors.size + 1, n_neighbors)
    stored = np.ones(neighbors.size), neighbors.ravel(), ends
    graph = sparse.csr_array(stored, shape=(n_cells, n_cells))
    return sparse.csr_array(graph.maximum(graph.T))


def distances_to_others(distances: Array, neighbors: Index) -> sparse.csr_array:
    """Return distances to all neighbours but the cell itself, or the first of many in its place."""
    n_cells, n_columns = neighbors.shape
    is_other = neighbors != np.arange(n_cells, dtype=neighbors.dtype)[:, None]
    is_other[is_other.all(axis=1), 0] = False
    ends = np.arange(0, is_other.size - n_cells + 1, n_columns - 1)
    stored = distances[is_other], neighbors[is_other], ends
    graph = sparse.csr_array(stored, shape=(n_cells, n_cells))
    graph.sort_indices()
    return graph


@threads.one_thread_if_forked()
def approximate_neighbors(
    cells: Array, n_neighbors: int, random_state: int | None
) -> tuple[Array, Index]:
    """Return distances to nearly the nearest cells, and which these are: of the nearest clusters.

    It is an inverted file (Sivic and Zisserman 2003).  The cell itself may be missing among cells
    in one place.
    """
    cells = np.asarray(cells, dtype=np.float32)
    n_candidates = max(_CANDIDATES, _PER_NEIGHBOR * n_neighbors)
    shape = len(cells), n_neighbors + 1
    neighbors: Index = np.empty(shape, dtype=np.int32)
    distances: Array = np.empty(shape, dtype=np.float32)
    members, centers = _clusters(cells, random_state)
    sizes = np.array([len(of_cluster) for of_cluster in members])

    def look(rows: Index, gaps: Array) -> tuple[Index, Array, Index]:
        order = np.argsort(gaps, kind="stable")
        enough = 1 + np.searchsorted(np.cumsum(sizes[order]), n_candidates)
        candidates = np.concatenate([members[cluster] for cluster in order[:enough]])
        lengths, columns = nearest(cells[rows], cells[candidates], n_neighbors + 1)
        return rows, lengths, candidates[columns]

    done = 0
    for rows, *nearest_cells in threads.in_order(look, members, pairwise_distances(centers)):
        distances[rows], neighbors[rows] = nearest_cells
        done += len(rows)
        show_stage("finding neighbours", done, len(cells))
    return distances, neighbors


def _clusters(cells: Array, random_state: int | None) -> tuple[list[Index], Array]:
    """Cells of each cluster, and the centres, by k-means on some of the cells."""
    n_clusters = max(1, len(cells) // _CELLS_OF_CLUSTER)
    n_sampled = min(_SAMPLE * n_clusters, _MOST_SAMPLED, len(cells))
    n_sampled = max(n_sampled, n_clusters)
    sample = np.random.default_rng(random_state).choice(len(cells), n_sampled, replace=False)
    model = KMeans(n_clusters, init="random", n_init=1, max_iter=_ROUNDS, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # identical cells: fewer clusters
        with threads.one_thread():  # threads would add up in any order
            model.fit(cells[sample])
    chunks = np.split(cells, range(_CHUNK, len(cells), _CHUNK))
    cluster_of_cell = np.concatenate(list(threads.in_order(model.predict, chunks)))
    filled, cluster_of_cell = np.unique(cluster_of_cell, return_inverse=True)
    ends = np.cumsum(np.bincount(cluster_of_cell))[:-1]
    members = np.split(np.argsort(cluster_of_cell, kind="stable"), ends)
    return members, model.cluster_centers_[filled]


def check_coordinates(values: ArrayLike, n_cells: int, name: str = "representation") -> Array:
    """Return coordinates as a float array, or say what is wrong with them."""
    shape = np.shape(values)
    if len(shape) != 2 or shape[0] != n_cells:
        raise InvalidValue(f"`{name}` has shape {shape}, not one row for each of {n_cells} cells")
    coordinates = checks.real(name, values)
    if not np.ptp(coordinates, axis=0).any():
        raise InvalidValue(f"`{name}` is the same for all cells: recompute it")
    return coordinates


def check_graph(graph: Matrix, n_cells: int, name: str = "graph") -> sparse.csr_array:
    """Return `graph` as CSR without self-loops, or say what is wrong with it."""
    shape = np.shape(graph)
    if shape != (n_cells, n_cells):
        raise InvalidValue(f"`{name}` has shape {shape} for {n_cells} cells: recompute it")
    check_indices(graph, name)
    values = native(graph) if sparse.issparse(graph) else checks.real(name, graph)
    graph = sparse.csr_array(values, copy=True)
    graph.data = checks.real(name, graph.data)
    if graph.nnz and graph.data.min() < 0:
        raise InvalidValue(f"`{name}` has negative weights ({graph.data.min():.3g}): recompute it")
    gap = abs(graph - graph.T)
    if gap.nnz and gap.max() > _SYMMETRY * graph.max():
        raise InvalidValue(f"`{name}` is not symmetric: pass the mean of it and its transpose")
    graph.setdiag(0.0)
    graph.eliminate_zeros()
    if graph.nnz == 0:
        raise InvalidValue(f"`{name}` has no edges: recompute it with more neighbours")
    return graph


def laplacian(graph: sparse.csr_array, kind: str = "normalized") -> sparse.csr_array:
    """``L = D − Γ`` of similarities Γ and degrees D, or normalised ``I − D^(-1/2) Γ D^(-1/2)``."""
    return sparse.csr_array(csgraph.laplacian(graph, normed=kind == "normalized"))


def quadratic_form(graph: sparse.csr_array, vectors: Array) -> Array:
    """``VᵀLV`` of the normalised L for the columns of V, shape (r, r); L is never formed."""
    degrees = graph.sum(axis=1)
    inverse = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    degrees = np.sign(degrees)
    (form,), _ = RowMatrix(graph, checked=True).sweep(_form_of_rows, vectors, degrees, inverse)
    return np.asarray((form + form.T) / 2.0)


def _form_of_rows(
    block: sparse.csr_array, rows: slice, vectors: Array, degrees: Array, inverse: Array
) -> tuple[Sums, Matrix]:
    """``V_iᵀ (D V − Γ V)_i`` over some rows i, with D and Γ both scaled by `inverse`."""
    of_rows = np.repeat(inverse[rows], np.diff(block.indptr))
    block = with_values(block, block.data * of_rows * inverse[block.indices])
    differences = vectors[rows] * degrees[rows, None] - csr_product(block, vectors)
    return (vectors[rows].T @ differences,), None
