"""Sparse principal components (Zou, Hastie & Tibshirani 2004)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..errors import caution
from ..solvers.panel import Method, by_value

if TYPE_CHECKING:
    from .._typing import Array
    from ..solvers.panel import Panel, Problem

#: Change of a direction that ends the rounds, and how many there are at most.
_TOL, _ROUNDS = 1e-6, 500


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

        Weights are the loadings.  Genes without a loading are ordered, below those with one, by how
        near they are to having one.  ``info`` has ``n_iter`` and ``converged``.
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
    while change > _TOL and rounds < _ROUNDS:
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
    nearness = np.divide(shares, threshold, out=np.zeros_like(shares), where=threshold > 0)
    scores = np.where(largest > 0, largest, nearness.max(axis=1) - 1.0)
    return largest, scores, {"n_iter": rounds, "converged": bool(change <= _TOL)}
