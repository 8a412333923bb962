"""The λ path: where it starts, how it is walked, and which of its solutions is the answer.

φ is zero at β = 0, so a selection is a *local* minimum, on the branch where every direction has
weight a > 1.  As λ grows, directions leave that branch, first many at once, then one by one, until
nothing is left.  Which genes survive depends on the way, so the way is always the same: one start,
one factor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidValue, short, show_stage
from .solver import TOLERANCE, minimise

if TYPE_CHECKING:
    from .._typing import Array
    from .solver import Solution
    from .variance import Phi, Variance


#: λ grows by this factor from one solution to the next.  These numbers were settled by trial on the
#: paper's images and simulations.
FACTOR = 1.2
#: Weight of the median direction at the start: well above 1, the top of a/(1+a)².  Directions far
#: below it, which are noise, may start off the branch; where they prevail, weights double until
#: none does, and so often at most.
MEDIAN_WEIGHT, _DOUBLINGS = 100.0, 20
#: Genes at the start, for each direction; the rest enter when their gradient says so.
START_GENES = 6
#: Directions below this share of the largest are not reached by the genes.
_REACHED = 1e-8
#: Below so much of the first λ, weights are so large that nothing is left of their differences.
_SMALLEST_LAM = 1e-30
#: C of the paper's line search: at this many times the first λ of a path a median direction weighs
#: 1, and all but strong ones have collapsed.
_LINE_SEARCH_CONSTANT = 2.0**12


class Collapse(InvalidValue):
    """Every weight is zero: λ is larger than the data bear."""


def start(objective: Variance) -> tuple[Array, float]:
    """Where a path begins: equal weights β on the largest genes, and
    ``λ0 = −Σ β_i ∂φ/∂β_i / Σ β_i``, which balances them.

    The weights put the directions that the genes reach well inside the branch of selections.  It
    raises :class:`Collapse` where directions that the genes hardly reach outweigh the others.
    """
    norms = objective.squared_norms
    n_start = min(START_GENES * objective.rank, int(np.count_nonzero(norms)))
    beta = np.where(norms >= np.sort(norms)[len(norms) - n_start], 1.0, 0.0)
    weights = np.concatenate([_directions(phi, beta) for phi in objective.blocks])
    beta *= MEDIAN_WEIGHT / np.median(weights)
    for _ in range(_DOUBLINGS):
        lam = -float(beta @ objective.at(beta).gradient) / beta.sum()
        if lam > 0:
            return beta, lam
        beta *= 2.0
    raise Collapse(
        "`X` has genes of sizes so unlike that no λ balances them: standardise them, or choose "
        "another `objective`"
    )


def _directions(phi: Phi, beta: Array) -> Array:
    """Eigenvalues of A' in the directions that the genes reach."""
    weights = np.linalg.eigvalsh((phi.genes.T * beta) @ phi.genes)
    return np.asarray(weights[weights > _REACHED * weights[-1]])


def walk(
    objective: Variance, *, last: float = np.inf, least: int = 1, tol: float = TOLERANCE
) -> list[Solution]:
    """Solutions along growing λ, each from the one before, until fewer than `least` genes are left.

    Or to a `last` λ, where it raises :class:`Collapse` if no gene is left before.
    """
    beta, lam = start(objective)
    if last < _SMALLEST_LAM * lam:
        raise InvalidValue(
            f"`lam={short(last)}` is smaller than rounding allows: the path starts at λ = {lam:.6g}"
        )
    lam, solutions = min(lam, last), []
    while (solution := _solve(objective, beta, lam, tol)).n_genes:
        solutions.append(solution)
        if lam >= last or solution.n_genes < least:
            return solutions
        following = min(lam * FACTOR, last)
        # On the branch φ falls like 1/β: where the same genes remain, this is the solution.
        beta, lam = solution.beta * np.sqrt(lam / following), following
    if last < np.inf:
        raise Collapse(
            f"`lam={short(last)}` leaves no gene, and none is left at λ = {lam:.6g}: choose a "
            "smaller one"
        )
    if not solutions:
        raise _no_structure(lam)
    return solutions


def _solve(objective: Variance, beta: Array, lam: float, tol: float) -> Solution:
    solution = minimise(objective, beta, lam, tol=tol)
    show_stage(f"λ = {lam:.4g}: {solution.n_genes} genes")
    return solution


def line_search(objective: Variance, *, tol: float = TOLERANCE) -> list[Solution]:
    """The paper's rule for equation (8): the largest λ, up to factors of two, without collapse.

    ``λ ← λ/2`` after a collapse, ``λ ← λ C/2^t`` otherwise, for t up to log₂ C, and early stopping
    when both neighbours of a survivor collapsed ("Parameter Search" of Wang & Goldenberg).  The
    first λ, where a path starts, does not collapse, so that trials begin at C times it.  Each has
    the same dense β.  Returns the survivors in the order of the trials.
    """
    beta, lam = start(objective)
    lam *= _LINE_SEARCH_CONSTANT
    survivors: list[Solution] = []
    history: list[bool] = []
    for t in range(1, int(np.log2(_LINE_SEARCH_CONSTANT)) + 1):
        solution = _solve(objective, beta, lam, tol)
        history.append(solution.n_genes > 0)
        if solution.n_genes:
            survivors.append(solution)
        if history[-3:] == [False, True, False]:
            break
        lam = lam * _LINE_SEARCH_CONSTANT / 2.0**t if solution.n_genes else lam / 2.0
    if not survivors:
        raise _no_structure(lam)
    return survivors


def _no_structure(lam: float) -> Collapse:
    return Collapse(f"`X` shows no structure on the graph: no gene is left at λ = {lam:.6g}")


def at_least(solutions: list[Solution], n_genes: int) -> Solution:
    """Last solution with `n_genes` or more; the largest one where none has as many."""
    enough = [solution for solution in solutions if solution.n_genes >= n_genes]
    return enough[-1] if enough else max(solutions, key=lambda solution: solution.n_genes)
