"""Gradient-based Laplacian feature selection (Wang & Goldenberg), on any of its objectives."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ..core import path
from ..core.descent import TOLERANCE
from ..core.variance import Block, Variance
from ._ranking import Ranking, without_ties

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core._typing import Array, Index
    from ..core.descent import Solution
    from ..core.problem import Problem

#: Weight, in its own direction, of a gene that must be in: that of a path's start.
_INCLUDED_WEIGHT = 12.0
#: At full rank the best genes are those of largest weight among so many times their number.
_ROOM = 4
#: A gene so near to stationary may be the twin, at zero, of one with a weight.
_TWIN = 1e-2
#: Up to here matrices are so small that threads cost more time than they save.
_SMALL_RANK = 512


def rank(
    problems: Sequence[Problem],
    n_genes: int | None = None,
    *,
    objective: str = "exact",
    lam: float | Literal["line_search"] | None = None,
    include: Index | None = None,
    solver: str = "newton",
    tol: float = TOLERANCE,
) -> Ranking:
    """Select genes by the ℓ1-penalised variance of LapRLS.

    Parameters
    ----------
    problems
        One reduced problem per batch, over the same genes.
    n_genes
        Size of the selection.  None: every gene of the solution at `lam`, or, without `lam`, of
        the first solution after the avalanche, the step along λ on which many genes leave at once.
    objective
        One of :data:`~glfs_bio.core.variance.OBJECTIVES`.
    lam
        A value of λ, ``"line_search"`` for the paper's rule, or None: walk the path.
    include
        Genes that are in the selection from the start.
    solver, tol
        See :func:`~glfs_bio.core.path.walk`.

    Returns
    -------
    Ranking
        Weights β.  Scores are 1 + (share of Tr A, or of Σ β in the paper's own problem) for the
        genes of the solution, and the stationarity ratio ``−(∂φ/∂β)/λ ≤ 1`` for the others.
    """
    include = np.empty(0, dtype=np.intp) if include is None else include
    upper = _upper(objective)
    whole = Variance(*(_block(problem, objective) for problem in problems))
    fixed = np.full(len(include), upper)
    if np.isinf(upper):
        fixed = _INCLUDED_WEIGHT / np.maximum(whole.norms[include], np.finfo(float).tiny)
    variance = Variance(*(block.cover(include, fixed) for block in whole.blocks))
    if not variance.norms.any():
        msg = "include holds every gene that varies: there is nothing left to select."
        raise ValueError(msg)

    full_rank = all(problem.full_rank for problem in problems)
    options: dict[str, Any] = {"upper": upper, "solver": solver, "tol": tol}
    wanted = None if n_genes is None else max(n_genes - len(include), 1)
    with _few_threads(variance):
        solutions, chosen = _solve(variance, wanted, lam, full_rank, options)
    chosen = _share_among_twins(variance, chosen)
    if not chosen.converged:
        warnings.warn(
            f"The solver stopped with KKT residual {chosen.kkt:.2g} above tol={tol:g}: "
            "raise tol, or try solver='owlqn'.",
            ConvergenceWarning,
            stacklevel=2,
        )
    sizes = np.sum([_sizes(problem) for problem in problems], axis=0)
    scores = _scores(sizes, chosen, include, by_weight=full_rank and problems[0].noise is None)
    weights = chosen.beta.copy()
    weights[include] = fixed
    n_selected = n_genes if n_genes is not None else chosen.n_genes + len(include)
    return Ranking(weights, scores, n_selected, _report(solutions, chosen, objective))


def panels(
    problem: Problem,
    sizes: Sequence[int],
    *,
    objective: str = "exact",
    solver: str = "newton",
    tol: float = TOLERANCE,
) -> list[Ranking]:
    """Selections of several sizes from one walk along λ: for each the last solution with as many.

    At full rank too, and without room for more: with a graph of classes the directions that λ takes
    first are those within a class.
    """
    upper = _upper(objective)
    variance = Variance(_block(problem, objective))
    walk = path.walk(variance, upper=upper, solver=solver, tol=tol)
    with _few_threads(variance):
        solutions = path.until(walk, min(sizes))
    nothing = np.empty(0, dtype=np.intp)
    rankings = []
    for size in sizes:
        chosen = path.at_least(solutions, size)
        scores = _scores(_sizes(problem), chosen, nothing, by_weight=False)
        rankings.append(Ranking(chosen.beta, scores, size, _report(solutions, chosen, objective)))
    return rankings


def _upper(objective: str) -> float:
    """Upper bound of β: the mse has one, in units of its λ2."""
    return 1.0 if objective == "mse" else np.inf


def _few_threads(variance: Variance) -> threadpool_limits:
    return threadpool_limits(1 if variance.rank <= _SMALL_RANK else None, user_api="blas")


def _block(problem: Problem, objective: str) -> Block:
    """Whitened genes in the gauge of the objective.

    Q has no λ2; the largest gene has length 1, so that β does not depend on the unit of the data.
    For the mse λ2 is the noise of a gene against the prior of the labels, and 0 ≤ β ≤ 1.
    """
    if objective == "mse":
        n_cells, rank_ = problem.basis.shape
        lambda2 = n_cells * problem.noise_level() * np.trace(problem.stiffness) / rank_
        scale = np.sqrt(lambda2)
    else:
        scale = np.sqrt(_sizes(problem).max())
    return Block.of(problem.genes / scale, problem.stiffness, objective)


def _share_among_twins(variance: Variance, solution: Solution) -> Solution:
    """The same point with equal weights for equal genes.

    A holds only the sum of their weights, so that rounding would decide how they divide it.
    """
    beta = solution.beta.copy()
    stationary = -solution.gradient >= (1.0 - _TWIN) * solution.lam
    candidates = np.flatnonzero((beta > 0) | stationary)
    rows = np.hstack([block.genes[candidates] for block in variance.blocks])
    alike = np.unique(np.round(rows / np.abs(rows).max(), 9), axis=0, return_inverse=True)[1]
    alike = alike.ravel()
    beta[candidates] = (np.bincount(alike, beta[candidates]) / np.bincount(alike))[alike]
    return replace(solution, beta=beta)


def _sizes(problem: Problem) -> Array:
    """``‖c_i‖²`` of every gene."""
    return np.asarray(np.einsum("ij,ij->i", problem.genes, problem.genes))


def _solve(
    variance: Variance,
    wanted: int | None,
    lam: float | Literal["line_search"] | None,
    full_rank: bool,
    options: dict[str, Any],
) -> tuple[list[Solution], Solution]:
    """The solutions along the way, and the one that is the answer.

    In a subspace that is the last one with enough genes.  At full rank it is an earlier one, with
    room for more: each direction that λ takes there is one of the data's own.
    """
    if lam == "line_search":
        solutions = path.line_search(variance, **options)
        return solutions, solutions[-1]
    if lam is not None:
        solutions = path.walk_to(variance, float(lam), **options)
        return solutions, solutions[-1]
    walk = path.walk(variance, **options)
    if wanted is None:
        solutions = path.past_avalanche(walk)
        return solutions, path.after_avalanche(solutions)
    enough = _ROOM * wanted if full_rank else wanted
    solutions = path.until(walk, enough)
    chosen = solutions[-1]
    return solutions, chosen if chosen.n_genes >= wanted else path.at_least(solutions, wanted)


def _scores(sizes: Array, chosen: Solution, include: Index, *, by_weight: bool) -> Array:
    share = chosen.beta if by_weight else chosen.beta * sizes
    waiting = np.minimum(-chosen.gradient / chosen.lam, 1.0)
    waiting[sizes == 0] = waiting.min() - 1.0
    scores = np.where(share > 0, 1.0 + share / share.sum(), waiting)
    scores[include] = 2.0 + sizes[include] / sizes.max()
    return without_ties(scores)


def _report(solutions: list[Solution], chosen: Solution, objective: str) -> dict[str, Any]:
    return {
        "objective": objective,
        "lam": chosen.lam,
        "kkt": chosen.kkt,
        "converged": chosen.converged,
        "n_iter": sum(solution.n_iter for solution in solutions),
        "path": {
            "lam": np.array([solution.lam for solution in solutions]),
            "n_genes": np.array([solution.n_genes for solution in solutions]),
            "objective": np.array([solution.value for solution in solutions]),
            "kkt": np.array([solution.kkt for solution in solutions]),
        },
    }
