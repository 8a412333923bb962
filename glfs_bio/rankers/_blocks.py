"""Whitened genes of a problem, in the gauge that a method needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..core import noise
from ..core.block import Block
from ..core.graph import knn_graph
from ..core.values import doubled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core._typing import Array, Index
    from ..core.problem import Problem, Reduced


def without_lambda2(problem: Problem, objective: str, n_directions: int | None) -> Block:
    """For Q, which has no λ2: the largest gene has length 1, so that β does not depend on units."""
    reduced = problem.reduced(n_directions)
    return Block.of(reduced.genes / np.sqrt(sizes(reduced).max()), reduced.stiffness, objective)


def with_lambda2(problem: Problem, objective: str, n_directions: int | None = None) -> Block:
    """For He et al.'s criteria, where a gene of weight 1 stands for one measurement.

    λ2 is the noise of a gene against the prior of the labels: ``n · noise · Tr K / r``.
    """
    reduced = problem.reduced(n_directions, in_noise=True)
    stiffness = np.trace(reduced.stiffness) / len(reduced.stiffness)
    lambda2 = len(problem.basis) * problem.noise_level() * stiffness
    return Block.of(reduced.genes / np.sqrt(lambda2), reduced.stiffness, objective)


def sizes(reduced: Reduced) -> Array:
    """``‖c_i‖²`` of every gene."""
    return np.asarray(np.einsum("ij,ij->i", reduced.genes, reduced.genes))


def reliability(problems: Sequence[Problem], support: Index) -> Array:
    """Share of every gene's variance that is structure on the graph of the genes of a support.

    The graph of all genes hardly shows the structure where most of them are noise; the genes that
    are left in a solution show it.  A mean over the problems.
    """
    shares = []
    for problem in problems:
        seen = doubled(problem.data[:, support])
        graph = knn_graph(seen.toarray() if sparse.issparse(seen) else seen)
        residuals = noise.measure(problem.data, problem.variance, graph)
        shares.append(noise.reliability(problem.variance, residuals))
    return np.asarray(np.mean(shares, axis=0))
