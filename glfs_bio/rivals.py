"""Methods that GLFS is compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from . import checks
from .cells.graph import laplacian
from .cells.noise import graph_residuals
from .criterion.criterion import units_of_noise
from .criterion.error import Block
from .data.matrix import RowMatrix, divided, doubled, moments
from .errors import InvalidValue, caution
from .solvers.greedy import Greedy
from .solvers.panel import Method, Panel, by_value, in_order

if TYPE_CHECKING:
    from ._typing import Array, Matrix
    from .cells.cells import Cells
    from .solvers.panel import Problem

#: Share of its squares below which the spread of a gene is rounding.
_ROUNDING = 1e-12
#: Change of α, or of a direction, that ends the rounds, and how many there are at most of each.
_TOL, _ROUNDS_OF_ALPHA, _ROUNDS_OF_LOADINGS = 1e-6, 200, 500
#: Krylov vectors a round, which starts from the α of the one before, and the relative accuracy of
#: its eigenvector.
_KRYLOV, _TOL_INSIDE = 8, 1e-10


class LargestVariance(Method):
    """The simplest rival."""

    name = "variance"
    title = "Largest variance"

    def solve(self, problem: Problem) -> Panel:
        """Rank genes by their variance in the units of the matrix, within batches."""
        n_cells = [cells.n_cells for cells in problem.sets]
        values = np.average([cells.variance for cells in problem.sets], axis=0, weights=n_cells)
        return by_value(values, problem)


class LapAOFS(Method):
    """Greedy features that make the normal matrix of LapRLS, ``Λ = XᵀBX + λ2 I``, A-optimal:
    ``Tr Λ⁻¹``, the approximate variance, falls most.

    λ2, which the paper leaves open, is the noise of a gene against the prior of the labels,
    ``n · noise · Tr K / r``: a gene of weight 1 stands for one measurement.
    """

    name = "lapaofs"
    title = "LapAOFS: greedy A-optimal features"
    reference = "He, Ji, Zhang & Bao 2011"
    #: What :class:`~glfs_bio.solvers.greedy.Greedy` looks at, of E of whitened genes.
    criterion = "trace"

    def solve(self, problem: Problem) -> Panel:
        """Pick genes one by one where all directions count alike, ``W = I``.

        Gains add up over batches.  Weights are what a gene gained when it entered, zero for the
        others.
        """
        n_genes: Any = problem.n_genes
        greedy = Greedy([_all_directions(cells) for cells in problem.sets], self.criterion)
        greedy.grow(len(problem.fixed), among=problem.fixed)
        greedy.grow(n_genes)
        weights = np.zeros_like(greedy.waiting)
        weights[greedy.picked] = np.maximum(greedy.gains, np.finfo(float).tiny)
        return Panel(weights, in_order(greedy.picked, greedy.waiting), n_genes)


class LapDOFS(LapAOFS):
    """Greedy features that make Λ D-optimal: ``log det Λ`` grows most, by ``log(1 + gᵀEg)``."""

    name = "lapdofs"
    title = "LapDOFS: greedy D-optimal features"
    criterion = "determinant"


def _all_directions(cells: Cells) -> Block:
    """The criterion where all directions count alike."""
    genes = cells.whitened / np.sqrt(units_of_noise(cells))
    r = genes.shape[1]
    return Block(genes, np.ones(r), np.zeros((r, r)))


class LaplacianScore(Method):
    """Little variation along the graph."""

    name = "laplacian_score"
    title = "Laplacian Score: little variation along the graph"
    reference = "He, Cai & Niyogi 2005"

    def solve(self, problem: Problem) -> Panel:
        """Rank genes by how little they vary along the graph, beside how much they vary at all.

        ``L_i = f̃ᵀLf̃ / f̃ᵀDf̃`` with ``f̃`` centred by the degrees D of the cells and
        ``L = D − Γ``, whatever Laplacian the problem has.  Small is good: the score is ``−L_i``.
        Sums are over batches, each centred by itself; of many cells a sample is looked at.
        """
        along, spread, smallest = np.sum([_forms(cells) for cells in problem.sets], axis=0)
        alive = spread > smallest
        if not alive.any():
            raise InvalidValue("`X` has no gene that varies over the cells that the graph joins")
        values = -np.divide(along, spread, out=np.zeros_like(along), where=alive)
        lowest = values[alive].min()
        values[~alive] = lowest - max(abs(lowest), 1.0)
        return by_value(values, problem)


def _forms(cells: Cells) -> tuple[Array, Array, Array]:
    """``f̃ᵀLf̃`` and ``f̃ᵀDf̃``, and what rounding makes of the second where a gene is constant."""
    data, graph = doubled(cells.data), cells.data_graph
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    size = _squares(data, degrees)
    if not sparse.issparse(data):
        data = data - degrees @ data / degrees.sum()
    along = len(degrees) * graph_residuals(data, laplacian(graph, "unnormalized"))
    if not sparse.issparse(data):
        return along, _squares(data, degrees), _ROUNDING**2 * size
    spread = size - np.asarray(data.T @ degrees) ** 2 / degrees.sum()
    return along, spread, _ROUNDING * size


def _squares(data: Matrix, degrees: Array) -> Array:
    """``fᵀDf`` of every gene."""
    if sparse.issparse(data):
        return np.asarray(data.multiply(data).T @ degrees)
    return np.asarray(np.einsum("i,ij,ij->j", degrees, data, data))


@dataclass(frozen=True)
class QAlpha(Method):
    """Weights that make the clusters of the cells coherent.

    Q has `n_clusters` columns.  Genes have unit norm, and, where asked for, are `centered`.
    """

    n_clusters: int = 10
    centered: bool = False

    name = "q_alpha"
    title = "Q−α: weights that make clusters coherent"
    reference = "Wolf & Shashua 2003, 2005"

    def __post_init__(self) -> None:
        checks.whole_number("n_clusters", self.n_clusters, at_least=1)
        checks.flags(centered=self.centered)

    def solve(self, problem: Problem) -> Panel:
        """Rank genes by |α| at a maximum of ``Tr QᵀA_α²Q``, ``A_α = Σ α_i m_i m_iᵀ``, ``αᵀα = 1``.

        The genes m are brought to unit norm, and seen through the subspace of the problem and their
        mean; at full rank that is the method as published.  Several batches are one matrix, each
        with its mean.
        """
        sets = problem.sets
        blocks = [cells.projections for cells in sets]
        squared = sum(cells.n_cells * cells.variance for cells in sets)
        varies = squared > 0
        if not self.centered:
            for cells in sets:
                mean = moments(RowMatrix(cells.data, checked=True))[0]
                squared = squared + cells.n_cells * mean**2
                blocks.append(np.sqrt(cells.n_cells) * mean[:, None])
        scale = np.divide(1.0, np.sqrt(squared), out=np.zeros_like(squared), where=varies)
        genes = np.hstack(blocks) * scale[:, None]
        alpha, rounds, converged = coherent_weights(genes, self.n_clusters, _ROUNDS_OF_ALPHA)
        if not converged:
            caution(f"Q−α did not converge in {rounds} rounds: its ranking is approximate.")
        return by_value(np.abs(alpha), problem, n_iter=rounds, converged=converged)


def coherent_weights(genes: Array, n_clusters: int, max_iter: int) -> tuple[Array, int, bool]:
    """Alternate α, the leading eigenvector of G, and Q, one orthogonal iteration on A_α.

    ``G_ij = (m_i·m_j)(m_iᵀQQᵀm_j)`` is genes × genes and never formed: with ``H = FQ``,
    ``Gx = rowsum((F (Fᵀ diag(x) H)) ∘ H)``.  Returns α of unit length, the number of rounds, and
    whether the last changed α by no more than the tolerance.
    """
    n_genes, rank = genes.shape
    basis = np.linalg.eigh(genes.T @ genes)[1][:, ::-1][:, : min(n_clusters, rank)]
    alpha = np.full(n_genes, 1.0 / np.sqrt(n_genes))
    for rounds in range(1, max_iter + 1):
        previous = alpha
        alpha = _leading(genes, genes @ basis, previous)
        basis = np.linalg.qr(genes.T @ (alpha[:, None] * (genes @ basis)))[0]
        if np.linalg.norm(alpha - previous) <= _TOL:
            return alpha, rounds, True
    return alpha, max_iter, False


def _leading(genes: Array, projected: Array, start: Array) -> Array:
    """Leading eigenvector of G, its sign such that the weights sum to more than zero."""

    def times(x: Array) -> Array:
        inner = genes.T @ (np.ravel(x)[:, None] * projected)
        return np.asarray(np.einsum("ij,ij->i", genes @ inner, projected))

    n = len(genes)
    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    vector = eigsh(operator, 1, v0=start, ncv=min(n, _KRYLOV), tol=_TOL_INSIDE)[1][:, 0]
    return np.asarray(vector * (1.0 if vector.sum() >= 0 else -1.0))


@dataclass(frozen=True)
class SparsePCA(Method):
    """Components with few loadings, `n_components` of them."""

    n_components: int = 20

    name = "sparse_pca"
    title = "Sparse principal components"
    reference = "Zou, Hastie & Tibshirani 2004"

    def __post_init__(self) -> None:
        checks.whole_number("n_components", self.n_components, at_least=1)

    def solve(self, problem: Problem) -> Panel:
        """Rank genes by their largest absolute loading on components of unit length.

        The matrix is seen through the subspace of the problem, in r dimensions a gene.  Several
        batches are one matrix whose batches are centred each by itself.
        Genes without a loading are ordered, below those with one, by how near they are to one.
        """
        genes = np.hstack([cells.projections * cells.units[:, None] for cells in problem.sets])
        n_genes: Any = problem.n_genes
        n_components = min(self.n_components, n_genes, *genes.shape)
        loadings, scores, info = components(genes, n_components, -(-n_genes // n_components))
        if not info["converged"]:
            caution("Sparse PCA did not converge: its ranking is approximate.")
        return replace(by_value(scores, problem, **info), weights=loadings)


def components(
    genes: Array, n_components: int, n_loadings: int
) -> tuple[Array, Array, dict[str, int | bool]]:
    """Largest absolute loading of every gene on components of unit length, scores, and rounds.

    Loadings B of directions A, ``AᵀA = I``, by the iteration for many more genes than cells: with
    ``C = GGᵀA``, B is C less a threshold, where it is larger, that leaves `n_loadings` for each
    component; A is ``UVᵀ`` of ``GGᵀB = UDVᵀ``.
    """
    directions = np.linalg.svd(genes, full_matrices=False)[0][:, :n_components]
    change, rounds = np.inf, 0
    while change > _TOL and rounds < _ROUNDS_OF_LOADINGS:
        sizes = genes @ (genes.T @ directions)
        least = (1.0 - _TOL) * np.sort(np.abs(sizes), axis=0)[-n_loadings]
        threshold = np.where(np.abs(sizes) < least, np.abs(sizes), 0.0).max(axis=0)
        loadings = np.sign(sizes) * np.maximum(np.abs(sizes) - threshold, 0.0)
        left, _, right = np.linalg.svd(genes @ (genes.T @ loadings), full_matrices=False)
        change, rounds = np.abs(left @ right - directions).max(), rounds + 1
        directions = left @ right
    lengths = np.maximum(np.linalg.norm(loadings, axis=0), np.finfo(float).tiny)
    largest = (np.abs(loadings) / lengths).max(axis=1)
    shares = np.minimum(np.abs(sizes), threshold)
    nearness = divided(shares, threshold)
    scores = np.where(largest > 0, largest, nearness.max(axis=1) - 1.0)
    return largest, scores, {"n_iter": rounds, "converged": bool(change <= _TOL)}
