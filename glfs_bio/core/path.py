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
from .descent import TOLERANCE
from .thinning import balance, thin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._typing import Array
    from .block import Block
    from .descent import Solution
    from .variance import Variance

log = logging.getLogger(__name__)

SOLVERS = {"newton": newton.minimise, "owlqn": owlqn.minimise}

#: λ grows by this factor from one solution to the next.
FACTOR = 1.2
#: Weights of directions at the start: well above 1, the top of a/(1+a)².  The median decides, and
#: directions far below it, which are noise, may start off the branch; where they prevail, none may.
_MEDIAN_WEIGHT = 100.0
_WEAKEST_WEIGHT = 12.0
#: Genes at the start, for each direction; the rest enter when their gradient says so.
_START_GENES = 6
_REACHED = 1e-8
_FEW_LOST = 0.75
#: More genes than a Newton step can handle well are thinned out first.
_MANY_GENES = 900
#: Below so much of the first λ, weights are so large that nothing is left of their differences.
_SMALLEST_LAM = 1e-30
_LINE_SEARCH_CONSTANT = 2.0**40


class Collapse(ValueError):
    """Every weight is zero: λ is larger than the data bear."""


def start(variance: Variance, upper: float = np.inf) -> tuple[Array, float]:
    """Where a path begins: equal weights on the largest genes, and the λ that balances them.

    The weights put the directions that the genes reach well inside the branch of selections.
    With an upper bound the start is that bound.

    Returns
    -------
    beta
        Shape (n_genes,).
    lam
        ``λ0 = −Σ β_i ∂φ/∂β_i / Σ β_i``, positive.

    Raises
    ------
    Collapse
        There is none: directions that the genes hardly reach outweigh the others.
    """
    norms = variance.norms
    n_start = min(_START_GENES * variance.rank, int(np.count_nonzero(norms)))
    beta = np.where(norms >= np.sort(norms)[len(norms) - n_start], 1.0, 0.0)
    if np.isfinite(upper):
        beta *= upper
        return beta, balance(variance, beta)
    weights = np.concatenate([_directions(block, beta) for block in variance.blocks])
    middle = beta * (_MEDIAN_WEIGHT / np.median(weights))
    lam = balance(variance, middle)
    if lam > 0:
        return middle, lam
    all_inside = beta * (_WEAKEST_WEIGHT / weights.min())
    lam = balance(variance, all_inside)
    if not lam > 0:
        msg = (
            "No λ balances the genes: their sizes are too unlike. "
            "Standardize them, or choose another objective."
        )
        raise Collapse(msg)
    return all_inside, lam


def _directions(block: Block, beta: Array) -> Array:
    """Eigenvalues of A' in the directions that the genes reach."""
    weights = np.linalg.eigvalsh((block.genes.T * beta) @ block.genes)
    return np.asarray(weights[weights > _REACHED * weights[-1]])


def walk(
    variance: Variance,
    *,
    last: float = np.inf,
    upper: float = np.inf,
    solver: str = "newton",
    tol: float = TOLERANCE,
    factor: float = FACTOR,
    least: int = 1,
    most: int = _MANY_GENES,
) -> Iterator[Solution]:
    """Solutions along growing λ, each from the one before, until nothing is left.

    Parameters
    ----------
    variance
        The objective φ.
    last
        λ at which to end.
    upper
        Upper bound of every β.
    solver
        Key of :data:`SOLVERS`.
    tol
        See :func:`~glfs_bio.core.newton.minimise`.
    factor
        Ratio of two successive λ.
    least
        Number of genes that will be asked for: so many are there at the first λ, if they can be.
    most
        Number of genes that may be there at the first λ: more are thinned out
        (:func:`~glfs_bio.core.thinning.thin`).

    Raises
    ------
    Collapse
        Nothing is left at the first λ already.
    """
    beta, lam = start(variance, upper)
    if last < _SMALLEST_LAM * lam:
        msg = f"lam={last:.6g} is smaller than rounding allows: the path starts at λ = {lam:.6g}."
        raise ValueError(msg)
    lam, started = min(lam, last), False
    if np.isinf(upper) and np.count_nonzero(beta) > most:
        beta, lam = thin(variance, beta, lam, most=most, least=least, last=last)
    while True:
        solution = SOLVERS[solver](variance, beta, lam, upper=upper, tol=tol)
        log.info("λ = %.4g: %d genes", lam, solution.n_genes, extra={"n_genes": solution.n_genes})
        if solution.n_genes == 0:
            break
        yield solution
        if lam >= last:
            return
        following = min(lam * factor, last)
        # On the branch φ falls like 1/β: where the same genes remain, this is the solution.
        beta = solution.beta * np.sqrt(lam / following)
        lam, started = following, True
    if not started:
        msg = f"No gene is left at λ = {lam:.6g}, where the path starts"
        msg += ": choose a smaller lam." if lam == last else ": the graph shows no structure."
        raise Collapse(msg)


def walk_to(variance: Variance, lam: float, **options: Any) -> list[Solution]:
    """The path up to a given λ, whose solution comes last.

    Raises
    ------
    Collapse
        Nothing is left at `lam`.
    """
    solutions = list(walk(variance, last=lam, **options))
    if solutions[-1].lam < lam:
        reach = solutions[-1].lam
        msg = (
            f"lam={lam:.6g} leaves no gene: the path collapses above λ = {reach:.6g}; "
            "choose a smaller lam."
        )
        raise Collapse(msg)
    return solutions


def line_search(
    variance: Variance, *, upper: float = np.inf, solver: str = "newton", tol: float = TOLERANCE
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


def through_avalanche(path: Iterator[Solution], solutions: list[Solution]) -> Solution | None:
    """Go on while a step loses more than a quarter of the genes; what it leaves, if that lasts.

    A solution that has no fewer genes one step of λ later is what the avalanche was about.
    """
    for solution in path:
        before = solutions[-1].n_genes
        solutions.append(solution)
        if solution.n_genes == before:
            return solution
        if solution.n_genes > _FEW_LOST * before:
            break
    return None


def at_least(solutions: list[Solution], n_genes: int) -> Solution:
    """Last solution with `n_genes` or more; the largest one where none has as many."""
    enough = [solution for solution in solutions if solution.n_genes >= n_genes]
    return enough[-1] if enough else max(solutions, key=lambda solution: solution.n_genes)
