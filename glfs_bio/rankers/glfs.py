"""Gradient-based Laplacian feature selection (Wang & Goldenberg), on any of its objectives."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ..core import path
from ..core.descent import TOLERANCE
from ..core.variance import Variance
from ._blocks import reliability, sizes, with_lambda2, without_lambda2
from ._finish import complete, kept
from ._ranking import Ranking, without_ties

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..core._typing import Array, Index
    from ..core.block import Block
    from ..core.descent import Solution
    from ..core.problem import Problem

#: Weight, in its own direction, of a gene that must be in: that of a path's start.
_INCLUDED_WEIGHT = 12.0
#: Directions of the cells that λ is asked to cover: the first of these with a solution that has the
#: genes asked for and few more.  Chosen by trial, on quarters of the development sets too.
_DIRECTIONS = (16, 14, 12, 10)
_FEW_MORE = 1.3
#: Where nothing completes what λ gives: half a direction a gene, and at least so many.
_FEWEST_DIRECTIONS = 20
#: At full rank the best genes are those of largest weight among more: so many times their number at
#: most, and less where there are fewer genes for each direction.
_MOST_ROOM = 2.0
#: There the path begins with this times as many, and at least so many: before that a step costs a
#: cube of the number of directions.
_AHEAD, _FEWEST_FIRST = 1.25, 150
#: A gene so near to stationary may be the twin, at zero, of one with a weight.
_TWIN = 1e-2
#: Up to this rank, and so many numbers, matrices are so small that threads cost more time than
#: they save.
_SMALL_RANK = 512
_SMALL = 2_000_000


def rank(
    problems: Sequence[Problem],
    n_genes: int | None = None,
    *,
    include: Index | None = None,
    objective: str = "exact",
    lam: float | Literal["line_search"] | None = None,
    finish: str | None = "auto",
    solver: str = "newton",
    tol: float = TOLERANCE,
) -> Ranking:
    """Select genes by the ℓ1-penalised variance of LapRLS.

    Parameters
    ----------
    problems
        One reduced problem per batch, over the same genes.
    n_genes
        Size of the selection.  None: every gene of the solution at `lam`, or, without `lam`, the
        fewest genes that keep 90 % of the structure (:func:`~glfs_bio.rankers._finish.kept`).
    include
        Genes that are in the selection from the start.
    objective
        One of :data:`~glfs_bio.core.variance.OBJECTIVES`.
    lam
        A value of λ, ``"line_search"`` for the paper's rule, or None: walk the path.
    finish
        ``"greedy"``: where no solution has the genes asked for, or few more, complete the panel
        greedily (:func:`~glfs_bio.rankers._finish.complete`); None: rank the genes of a solution by
        weight; ``"auto"``: greedy in a subspace, not at full rank.
    solver, tol
        See :func:`~glfs_bio.core.path.walk`.

    Returns
    -------
    Ranking
        Weights β.  Scores are 1 + (share of Tr A, or in the paper's own problem of ``Σ √h_i β_i``
        with the :func:`~glfs_bio.rankers._blocks.reliability` h) for the genes of the solution, and
        the stationarity ratio ``−(∂φ/∂β)/λ ≤ 1`` for the others.
        ``info["finish"]`` says whether the panel was completed greedily; weights and scores are
        then those of that, and ``info["completed"]`` the share of the structure that its first
        genes keep.
    """
    include = np.empty(0, dtype=np.intp) if include is None else include
    full_rank = all(problem.full_rank for problem in problems)
    finishing = finish == "greedy" or (finish == "auto" and not full_rank)
    curve = kept(problems, include) if n_genes is None and lam is None else None
    if curve is not None:
        n_genes = len(curve)
    wanted = None if n_genes is None else n_genes - len(include)

    tried: Sequence[int | None] = (None,)
    if n_genes is not None and lam is None and objective != "mse" and not full_rank:
        tried = _DIRECTIONS if finishing else (max(_FEWEST_DIRECTIONS, n_genes // 2),)
    options: dict[str, Any] = {"lam": lam, "full_rank": full_rank, "solver": solver, "tol": tol}
    walk, fits = _first_that_fits(
        (_walk(problems, include, wanted, objective, r, **options) for r in tried), wanted
    )
    chosen = walk.chosen
    if not chosen.converged:
        warnings.warn(
            f"The solver stopped with KKT residual {chosen.kkt:.2g} above tol={tol:g}: "
            "raise tol, or try solver='owlqn'.",
            ConvergenceWarning,
            stacklevel=2,
        )
    n_selected = chosen.n_genes + len(include) if n_genes is None else n_genes
    completed = finishing and not fits
    if completed:
        weights, scores, steps = complete(
            problems, n_selected, include, np.flatnonzero(chosen.beta)
        )
    else:
        total = np.sum([sizes(problem.reduced(walk.directions)) for problem in problems], axis=0)
        worth = total
        if full_rank and problems[0].noise is None:
            worth = np.sqrt(reliability(problems, np.flatnonzero(chosen.beta)))
        scores = _scores(total, chosen, worth)
        scores[include] = 2.0 + total[include] / total.max()
        weights = chosen.beta.copy()
        weights[include] = walk.fixed
    info = _report(walk.solutions, chosen, objective, "greedy" if completed else "none")
    if completed:
        info["completed"] = {"n_genes": np.arange(1, len(steps) + 1), "kept": steps}
    if curve is not None:
        info["curve"] = {"n_genes": np.arange(1, len(curve) + 1), "kept": curve}
    return Ranking(weights, without_ties(scores), n_selected, info)


def panels(
    problem: Problem,
    numbers: Sequence[int],
    *,
    objective: str = "exact",
    solver: str = "newton",
    tol: float = TOLERANCE,
) -> list[Ranking]:
    """Selections of several sizes from one walk along λ: for each the last solution with as many.

    At full rank too, and without room for more: with a graph of classes the directions that λ takes
    first are those within a class.
    """
    variance = Variance(_block(problem, objective, None))
    walk = path.walk(variance, upper=_upper(objective), solver=solver, tol=tol)
    with _few_threads(variance):
        solutions = path.until(walk, min(numbers))
    total = sizes(problem.reduced())
    rankings = []
    for number in numbers:
        chosen = path.at_least(solutions, number)
        scores = without_ties(_scores(total, chosen, total))
        info = _report(solutions, chosen, objective, "none")
        rankings.append(Ranking(chosen.beta, scores, number, info))
    return rankings


@dataclass(frozen=True)
class _Walk:
    """Solutions along λ, and the one that is the answer."""

    directions: int | None
    fixed: Array  # weights of the genes that must be in
    solutions: list[Solution]
    chosen: Solution


def _walk(
    problems: Sequence[Problem],
    include: Index,
    wanted: int | None,
    objective: str,
    directions: int | None,
    *,
    lam: float | Literal["line_search"] | None,
    full_rank: bool,
    solver: str,
    tol: float,
) -> _Walk:
    """Walk in the leading directions, or to a given λ."""
    upper = _upper(objective)
    whole = Variance(*(_block(problem, objective, directions) for problem in problems))
    fixed = np.full(len(include), upper)
    if np.isinf(upper):
        fixed = _INCLUDED_WEIGHT / np.maximum(whole.norms[include], np.finfo(float).tiny)
    variance = Variance(*(block.cover(include, fixed) for block in whole.blocks))
    if not variance.norms.any():
        msg = "include holds every gene that varies: there is nothing left to select."
        raise ValueError(msg)
    options: dict[str, Any] = {"upper": upper, "solver": solver, "tol": tol}
    with _few_threads(variance):
        if lam == "line_search":
            solutions = path.line_search(variance, **options)
            chosen = solutions[-1]
        elif lam is not None:
            solutions = path.walk_to(variance, float(lam), **options)
            chosen = solutions[-1]
        else:
            solutions, chosen = _along(variance, max(wanted or 1, 1), full_rank, options)
    return _Walk(directions, fixed, solutions, _share_among_twins(variance, chosen))


def _along(
    variance: Variance, wanted: int, full_rank: bool, options: dict[str, Any]
) -> tuple[list[Solution], Solution]:
    """Walk until there are too few genes, and choose.

    In a subspace the answer is the last solution with enough genes.  At full rank it may be an
    earlier one, with room for more, since each direction that λ takes there is one of the data's
    own; unless an avalanche leaves enough genes that last, which are then the signal in the noise.
    """
    if not full_rank:
        solutions = path.until(path.walk(variance, least=wanted, **options), wanted)
        return solutions, path.at_least(solutions, wanted)
    room = wanted * np.clip(np.count_nonzero(variance.norms) / variance.rank, 1.0, _MOST_ROOM)
    most = max(int(_AHEAD * room), _FEWEST_FIRST)
    walk = path.walk(variance, least=wanted, most=most, **options)
    solutions = path.until(walk, int(room))
    chosen = solutions[-1]
    if chosen.n_genes < wanted:
        chosen = path.at_least(solutions, wanted)
    left = path.through_avalanche(walk, solutions)
    return solutions, left if left is not None and left.n_genes >= wanted else chosen


def _first_that_fits(walks: Iterator[_Walk], wanted: int | None) -> tuple[_Walk, bool]:
    """The first walk that ends with the genes asked for and few more, else the first of all."""
    first: _Walk | None = None
    for walk in walks:
        size = walk.chosen.n_genes
        if wanted is None or wanted <= size <= _FEW_MORE * wanted:
            return walk, True
        first = first or walk
        if size < wanted:  # and so would a walk in fewer directions
            break
    return cast("_Walk", first), False


def _upper(objective: str) -> float:
    """Upper bound of β: the mse has one, in units of its λ2."""
    return 1.0 if objective == "mse" else np.inf


def _few_threads(variance: Variance) -> threadpool_limits:
    small = variance.rank <= _SMALL_RANK and variance.rank * variance.n_genes <= _SMALL
    return threadpool_limits(1 if small else None, user_api="blas")


def _block(problem: Problem, objective: str, directions: int | None) -> Block:
    if objective == "mse":
        return with_lambda2(problem, objective)
    return without_lambda2(problem, objective, directions)


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


def _scores(sizes: Array, chosen: Solution, worth: Array) -> Array:
    share = chosen.beta * worth
    waiting = np.minimum(-chosen.gradient / chosen.lam, 1.0)
    waiting[sizes == 0] = waiting.min() - 1.0
    return np.where(share > 0, 1.0 + share / share.sum(), waiting)


def _report(
    solutions: list[Solution], chosen: Solution, objective: str, finish: str
) -> dict[str, Any]:
    return {
        "objective": objective,
        "finish": finish,
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
