"""The similarity graph of the cells and its Laplacian."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.neighbors import kneighbors_graph

from .. import checks
from ..data.indices import check_indices
from ..data.matrix import RowMatrix, no_rows, with_values
from ..data.products import Sparse
from ..data.threads import one_thread_if_forked
from ..errors import NO_VALUE, InvalidValue
from . import neighbors

if TYPE_CHECKING:
    from .._typing import Array, Matrix
    from ..data.matrix import Sums

LAPLACIANS = ("normalized", "unnormalized")
_SYMMETRY = 1e-5
#: Beyond so many cells neighbours are approximate.  All distances of so many take 3 s.
MOST_EXACT = 20_000
#: Neighbours of a cell: so many, of few cells a share of them, but no fewer than the last.
_USUAL, _SHARE, _FEWEST = 15, 0.05, 8


def neighbors_of_each(n_cells: int, n_neighbors: int | None = None) -> int:
    """Return how many neighbours a cell has in a graph of `n_cells`.

    None: 15, of fewer than 300 cells a twentieth of them, and at least 8.  Fifteen neighbours among
    72 samples are more than a class of them may have.
    """
    if n_neighbors is None:
        n_neighbors = min(_USUAL, max(_FEWEST, int(_SHARE * n_cells)))
    return min(n_neighbors, n_cells - 1)


@one_thread_if_forked
def knn_graph(
    representation: Matrix, n_neighbors: int | None = None, random_state: int | None = 0
) -> sparse.csr_array:
    """Nearest-neighbour graph of cells, shape (n_cells, r), with heat-kernel weights (He, Cai &
    Niyogi 2005).

    Two cells are joined when either is among the `n_neighbors` nearest of the other, with weight
    ``exp(−distance² / bandwidth)``; the latter is the mean squared distance of joined cells, and
    the weights do not depend on the unit of the representation.  Neighbours are exact up to
    :data:`MOST_EXACT` cells, and nearly all are found beyond (:mod:`.neighbors`).
    """
    n_neighbors = neighbors_of_each(representation.shape[0], n_neighbors)
    if representation.shape[0] > MOST_EXACT:
        distances = neighbors.distances(representation, n_neighbors, random_state)
    else:
        distances = sparse.csr_array(
            kneighbors_graph(representation, n_neighbors, mode="distance", include_self=False)
        )
    squared = np.square(distances.data, out=distances.data)
    bandwidth = squared.mean(dtype=np.float64)
    if bandwidth > 0:
        np.exp(np.divide(squared, -bandwidth, out=squared), out=squared)
    else:
        squared[:] = 1.0
    return sparse.csr_array(distances.maximum(distances.T))


def check_graph(graph: Matrix, n_cells: int, name: str = "graph") -> sparse.csr_array:
    """Return `graph` as CSR without self-loops, or say what is wrong with it."""
    shape = np.shape(graph)
    if shape != (n_cells, n_cells):
        raise InvalidValue(
            name,
            NO_VALUE,
            f"has shape {shape}, but there are {n_cells} cells",
            "recompute it on these cells",
        )
    check_indices(graph, name)
    graph = sparse.csr_array(
        graph if sparse.issparse(graph) else checks.real(name, graph), copy=True
    )
    graph.data = checks.real(name, graph.data)
    if graph.nnz and graph.data.min() < 0:
        raise InvalidValue(
            name,
            NO_VALUE,
            f"has negative weights (smallest {graph.data.min():.3g}), and similarities must be ≥ 0",
            "recompute it",
        )
    gap = abs(graph - graph.T)
    if gap.nnz and gap.max() > _SYMMETRY * graph.max():
        raise InvalidValue(
            name,
            NO_VALUE,
            "is not symmetric",
            "pass its elementwise maximum with its transpose, or the mean of both",
        )
    graph.setdiag(0.0)
    graph.eliminate_zeros()
    if graph.nnz == 0:
        raise InvalidValue(name, NO_VALUE, "has no edges", "recompute it with more neighbours")
    return graph


def n_components(graph: sparse.csr_array) -> int:
    """Number of connected components."""
    return int(csgraph.connected_components(graph, directed=False, return_labels=False))


def laplacian(graph: sparse.csr_array, kind: str = "normalized") -> sparse.csr_array:
    """``L = D − Γ`` of similarities Γ and degrees D, or normalised ``I − D^(-1/2) Γ D^(-1/2)``.

    A cell without neighbours has a zero row in both.
    """
    return sparse.csr_array(csgraph.laplacian(graph, normed=kind == "normalized"))


def quadratic_form(graph: sparse.csr_array, vectors: Array, kind: str = "normalized") -> Array:
    """``VᵀLV`` for the columns of V, shape (r, r); L is never formed."""
    degrees = graph.sum(axis=1)
    inverse = None
    if kind == "normalized":
        inverse = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
        degrees = np.sign(degrees)
    (form,), _ = RowMatrix(graph).sweep(_form_of_rows, vectors, degrees, inverse)
    return np.asarray((form + form.T) / 2.0)


def _form_of_rows(
    block: sparse.csr_array, rows: slice, vectors: Array, degrees: Array, inverse: Array | None
) -> tuple[Sums, Matrix]:
    """``V_iᵀ (D V − Γ V)_i`` over some rows i, with D and Γ both scaled by `inverse`, if there."""
    if inverse is not None:
        of_rows = np.repeat(inverse[rows], np.diff(block.indptr))
        block = with_values(block, block.data * of_rows * inverse[block.indices])
    own = vectors[rows]
    apart = own * degrees[rows, None] - Sparse(block).times(vectors)
    return (own.T @ apart,), no_rows(block)
