"""From a matrix and a graph to the reduced problem that every method is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from . import graph as graphs
from . import noise, subspace

if TYPE_CHECKING:
    from ._typing import Array, Matrix

STANDARDIZE = ("noise", "noise_always", "unit", None)


@dataclass(frozen=True)
class Problem:
    """Cells, their graph, and the genes seen through a subspace of the cells.

    Attributes
    ----------
    data
        Cells × genes, as given.
    graph
        Similarities S, shape (n_cells, n_cells).
    basis
        V, orthonormal, shape (n_cells, r).
    genes
        ``C = XV`` of the centred, standardised genes, shape (n_genes, r).
    stiffness
        ``K = Vᵀ (I + λ1 L) V``, shape (r, r).
    variance
        Variance of every gene in the units of `data`, shape (n_genes,).
    weights
        What the centred genes were multiplied with, shape (n_genes,).
    noise
        ``σ_i²``, technical noise in the units of `data`; None when it was not measured.
    full_rank
        Whether V spans all that the genes span.
    """

    data: Matrix
    graph: sparse.csr_array
    basis: Array
    genes: Array
    stiffness: Array
    variance: Array
    weights: Array
    noise: Array | None
    full_rank: bool

    def noise_level(self) -> float:
        """Mean noise variance of the genes in the units of `genes`."""
        noise_ = self.noise
        if noise_ is None:
            noise_ = noise.measure(self.data, self.variance, self.graph)
        alive = self.variance > 0
        return float(np.mean(self.weights[alive] ** 2 * noise_[alive]))


def build_problem(
    data: Matrix,
    *,
    representation: Array | None = None,
    graph: sparse.csr_array | None = None,
    n_comps: int | None = 50,
    n_neighbors: int = 15,
    lambda1: float = 100.0,
    laplacian: str = "normalized",
    standardize: str | None = "noise",
    whole_space: bool = False,
    random_state: int | None = 0,
) -> Problem:
    """Assemble the reduced problem, computing what was not given.

    Parameters
    ----------
    data
        Cells × genes, dense or sparse; never changed.
    representation
        Coordinates of the cells whose span is V, shape (n_cells, r); None: principal components.
    graph
        Checked similarities (:func:`~glfs_bio.core.graph.check_graph`); None: nearest neighbours
        in the representation.
    n_comps
        Number of principal components; None is full rank, the problem as the paper states it.
    n_neighbors
        Neighbours of a cell where the graph is computed here.
    lambda1
        λ1 of ``B = I + λ1 L``.
    laplacian
        Which Laplacian B uses.
    standardize
        ``"noise"``: weight genes by noise and reliability, except at full rank;
        ``"noise_always"``: at full rank too; ``"unit"``: unit variance; None: as they are.
    whole_space
        At full rank, see :func:`~glfs_bio.core.subspace.full_rank`.
    random_state
        Seed of the principal components.

    Raises
    ------
    ValueError
        Every gene is constant.
    """
    variance = noise.variances(data)
    if not variance.any():
        msg = "No gene varies over the cells: there is nothing to select."
        raise ValueError(msg)
    coordinates = _Coordinates(data, representation, n_comps, random_state)
    residuals = None
    if standardize == "noise_always" or (standardize == "noise" and n_comps is not None):
        cells, first = coordinates.with_graph(np.ones_like(variance), graph, n_neighbors)
        residuals = noise.measure(data, variance, first)
        if representation is None:
            cells, graph = coordinates.with_graph(_inverse(np.sqrt(residuals)), graph, n_neighbors)
            residuals = noise.measure(data, variance, graph)
        else:
            graph = first
        weights = noise.gene_weights(variance, residuals)
    else:
        weights = _inverse(np.sqrt(variance)) if standardize == "unit" else np.ones_like(variance)
        cells, graph = coordinates.with_graph(weights, graph, n_neighbors)
    if n_comps is None:
        basis = subspace.full_rank(data, whole_space=whole_space)
    else:
        basis = subspace.orthonormal(cells)
    genes = subspace.project(data, basis) * weights[:, None]
    smooth = graphs.laplacian(graph, laplacian)
    stiffness = basis.T @ basis + lambda1 * (basis.T @ (smooth @ basis))
    return Problem(
        data=data,
        graph=graph,
        basis=basis,
        genes=genes,
        stiffness=(stiffness + stiffness.T) / 2.0,
        variance=variance,
        weights=weights,
        noise=residuals,
        full_rank=n_comps is None,
    )


@dataclass(frozen=True)
class _Coordinates:
    """Where the cells are, for genes in given units."""

    data: Matrix
    representation: Array | None
    n_comps: int | None
    random_state: int | None

    def with_graph(
        self, scale: Array, graph: sparse.csr_array | None, n_neighbors: int
    ) -> tuple[Array, sparse.csr_array]:
        cells = self.representation
        if cells is None:
            cells = _scale_genes(self.data, scale)
            if self.n_comps is not None:
                cells = subspace.principal_components(cells, self.n_comps, self.random_state)
        return cells, graphs.knn_graph(cells, n_neighbors) if graph is None else graph


def _inverse(scale: Array) -> Array:
    """``1/scale``, zero for genes without any."""
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)


def _scale_genes(data: Matrix, scale: Array) -> Matrix:
    if sparse.issparse(data):
        return data @ sparse.diags_array(scale)
    return data * scale
