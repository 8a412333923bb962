"""Q−α: weights that make the clusters of the cells coherent (Wolf & Shashua 2003, 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from .. import checks
from ..data.matrix import RowMatrix, moments
from ..errors import caution
from ..solvers.panel import Method, by_value

if TYPE_CHECKING:
    from .._typing import Array
    from ..solvers.panel import Panel, Problem


#: Change of α that ends the rounds, and how many there are at most.
_TOL, _ROUNDS = 1e-6, 200
#: Krylov vectors a round, which starts from the α of the one before, and the relative accuracy of
#: its eigenvector.
_KRYLOV, _TOL_INSIDE = 8, 1e-10


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

        Weights |α|.  ``info`` has ``n_iter`` and ``converged``.
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
        alpha, rounds, converged = coherent_weights(genes, self.n_clusters, _ROUNDS)
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
