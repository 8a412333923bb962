"""The λ path: where it starts, how it is walked, and which of its solutions is the answer.

φ is zero at β = 0, so a selection is a *local* minimum, on the branch where every direction has
weight a > 1.  As λ grows, directions leave that branch, first many at once, then one by one, until
nothing is left.  Which genes survive depends on the way, so the way is always the same: one start,
one factor.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from . import newton, owlqn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._typing import Array
    from .descent import Solution
    from .variance import Variance

log = logging.getLogger(__name__)

SOLVERS = {"newton": newton.minimise, "owlqn": owlqn.minimise}

#: λ grows by this factor from one solution to the next.
FACTOR = 1.2
#: Weight of the median direction at the start: well above 1, the top of a/(1+a)².
_START_WEIGHT = 100.0
#: Genes at the start, for each direction; the rest enter when their gradient says so.
_START_GENES = 6
_REACHED = 1e-8
#: A step of the path that loses more than this share of the genes is the avalanche.
_AVALANCHE = 1.0 / 3.0
_LINE_SEARCH_CONSTANT = 2.0**40


class Collapse(ValueError):
    """Every weight is zero: λ is larger than the data bear."""


def start(variance: Variance, upper: float = np.inf) -> tuple[Array, float]:
    """Where a path begins: equal weights on the largest genes, and the λ that balances them.

    The weights put every direction that the genes reach well inside the branch of selections.
    With an upper bound the start is that bound, where no direction can be lost.

    Returns
    -------
    beta
        Shape (n_genes,).
    lam
        ``λ0 = −Σ β_i ∂φ/∂β_i / Σ β_i``.
    """
    norms = variance.norms
    n_start = min(_START_GENES * variance.rank, int(np.count_nonzero(norms)))
    beta = np.where(norms >= np.sort(norms)[len(norms) - n_start], 1.0, 0.0)
    if np.isfinite(upper):
        beta *= upper
    else:
        beta *= _START_WEIGHT / _median_direction(variance, beta)
    point = variance.at(beta)
    lam = float(np.dot(point.beta, -point.gradient) / np.sum(beta))
    return beta, lam


def _median_direction(variance: Variance, beta: Array) -> float:
    """Median eigenvalue of A' over the directions that the genes reach, over all blocks."""
    reached = []
    for block in variance.blocks:
        weights = np.linalg.eigvalsh((block.genes.T * beta) @ block.genes)
        reached.append(weights[weights > _REACHED * weights[-1]])
    return float(np.median(np.concatenate(reached)))


def walk(
    variance: Variance,
    *,
    upper: float = np.inf,
    solver: str = "newton",
    tol: float = 1e-4,
    factor: float = FACTOR,
) -> Iterator[Solution]:
    """Solutions along growing λ, each from the one before, up to the last that is not empty.

    Parameters
    ----------
    variance
        The objective φ.
    upper
        Upper bound of every β.
    solver
        Key of :data:`SOLVERS`.
    tol
        See :func:`~glfs_bio.core.newton.minimise`.
    factor
        Ratio of two successive λ.
    """
    beta, lam = start(variance, upper)
    while True:
        solution = SOLVERS[solver](variance, beta, lam, upper=upper, tol=tol)
        if solution.n_genes == 0:
            return
        log.info("λ = %.4g: %d genes", lam, solution.n_genes, extra={"n_genes": solution.n_genes})
        yield solution
        beta, lam = solution.beta / np.sqrt(factor), lam * factor


def walk_to(variance: Variance, lam: float, **options: Any) -> list[Solution]:
    """The path up to a given λ, whose solution comes last.

    Raises
    ------
    Collapse
        Nothing is left at `lam`.
    """
    upper = options.get("upper", np.inf)
    solver, tol = options.get("solver", "newton"), options.get("tol", 1e-4)
    beta, first = start(variance, upper)
    solutions: list[Solution] = []
    if lam > first:
        for solution in walk(variance, **options):
            if solution.lam >= lam:
                break
            solutions.append(solution)
            beta = solution.beta
    last = SOLVERS[solver](variance, beta, lam, upper=upper, tol=tol)
    if last.n_genes == 0:
        reach = solutions[-1].lam if solutions else first
        msg = (
            f"lam={lam:.6g} leaves no gene: the path collapses above λ = {reach:.6g}; "
            "choose a smaller lam."
        )
        raise Collapse(msg)
    return [*solutions, last]


def line_search(
    variance: Variance, *, upper: float = np.inf, solver: str = "newton", tol: float = 1e-4
) -> list[Solution]:
    """The paper's rule: the largest λ, up to factors of two, that does not collapse.

    ``λ ← λ/2`` after a collapse, ``λ ← λ C/2^t`` otherwise, for t up to log₂ C, and early stopping
    when both neighbours of a survivor collapsed ("Parameter Search" of Wang & Goldenberg).  Every
    trial starts from the same dense β.  Returns the survivors in the order they were found.
    """
    beta, lam = start(variance, upper)
    survivors: list[Solution] = []
    history: list[bool] = []
    for t in range(int(np.log2(_LINE_SEARCH_CONSTANT)) + 1):
        solution = SOLVERS[solver](variance, beta, lam, upper=upper, tol=tol)
        history.append(solution.n_genes > 0)
        log.info("λ = %.4g: %d genes", lam, solution.n_genes, extra={"n_genes": solution.n_genes})
        if solution.n_genes:
            survivors.append(solution)
        if history[-3:] == [False, True, False]:
            break
        lam = lam * _LINE_SEARCH_CONSTANT / 2.0**t if solution.n_genes else lam / 2.0
    if not survivors:
        msg = "The line search found no λ that keeps a gene: the graph shows no structure."
        raise Collapse(msg)
    return survivors


def until(path: Iterator[Solution], n_genes: int) -> list[Solution]:
    """Walk until fewer than `n_genes` are left; that last, too small solution is included."""
    solutions = []
    for solution in path:
        solutions.append(solution)
        if solution.n_genes < n_genes:
            break
    return solutions


def at_least(solutions: list[Solution], n_genes: int) -> Solution:
    """Last solution with `n_genes` or more; the largest one where none has as many."""
    enough = [solution for solution in solutions if solution.n_genes >= n_genes]
    return enough[-1] if enough else max(solutions, key=lambda solution: solution.n_genes)


def until_avalanche(path: Iterator[Solution]) -> list[Solution]:
    """Walk past the first step that loses many genes at once, or, where none does, to the end."""
    solutions: list[Solution] = []
    for solution in path:
        solutions.append(solution)
        if len(solutions) > 1 and solution.n_genes < (1 - _AVALANCHE) * solutions[-2].n_genes:
            break
    return solutions


def after_largest_drop(solutions: list[Solution]) -> Solution:
    """First solution after the step that loses most genes."""
    sizes = [solution.n_genes for solution in solutions]
    return solutions[int(np.argmin(np.diff(sizes, prepend=sizes[0])))]
