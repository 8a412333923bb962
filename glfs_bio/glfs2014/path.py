"""Stationary points of ``φ(β) + λ Σ β`` over β ≥ 0: of one λ, by the paper's solver, orthant-wise
quasi-Newton (OWL-QN), and along a path of growing λ.

φ is zero at β = 0, so a selection is a *local* minimum, on the branch where every direction has
weight a > 1.  As λ grows, directions leave that branch, first many at once, then one by one, until
nothing is left.  Which genes survive depends on the way, so the way is always the same: one start,
one factor.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidValue, short, show_stage

if TYPE_CHECKING:
    from .._typing import Array, Index
    from .variance import Phi, Point, Variance

#: Largest violation of the optimality conditions, in units of λ.
TOLERANCE = 1e-4
#: A step has to make at least this share of the decrease that the slope promises.
_DECREASE = 1e-4
#: Share of the objective by which it may seem to rise.
_ROUNDING = 1e-13
#: Genes that may enter at once, for each direction.
_ENTERING = 2
#: Pairs of steps and gradients that are remembered, if their cosine is at least so large, and where
#: the line search gives up.
_MEMORY, _CURVED, _SHORTEST = 10, 1e-8, 1e-12
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


@dataclass(frozen=True)
class Solution:
    """A stationary point at one λ."""

    #: λ.
    lam: float
    #: β, shape (n_genes,).
    beta: Array
    #: ``∂φ/∂β``, shape (n_genes,).
    gradient: Array
    #: ``φ(β)``, without the penalty.
    objective: float
    #: Largest :func:`kkt_residuals`.
    kkt: float
    #: Accepted steps.
    n_iter: int
    #: Whether `kkt` is within the tolerance.
    converged: bool

    @property
    def n_genes(self) -> int:
        """Number of non-zero weights."""
        return int(np.count_nonzero(self.beta))


def kkt_residuals(beta: Array, gradient: Array, lam: float) -> Array:
    """By how much each gene violates ρ = 0 where β > 0, else ρ ≥ 0, with ``ρ = 1 + (∂φ/∂β)/λ``."""
    rho = 1.0 + gradient / lam
    return np.where(beta <= 0, np.maximum(-rho, 0.0), np.abs(rho))


def minimise(
    objective: Variance, beta: Array, lam: float, *, tol: float = TOLERANCE, max_iter: int = 10_000
) -> Solution:
    """Descend from `beta` to a stationary point.

    One gradient over all genes finds those that must join those with weight, until none does.
    """
    beta, steps = beta.copy(), 0
    working: Index = np.flatnonzero(beta)
    while True:
        point, taken = _descend(objective.of(working).at(beta[working]), lam, tol, max_iter - steps)
        beta[working] = point.beta
        steps += taken
        start = objective.at(beta)
        residuals = kkt_residuals(beta, start.gradient, lam)
        entering = _most_violating(residuals * (beta <= 0), tol, _ENTERING * objective.rank)
        if steps >= max_iter or not len(np.setdiff1d(entering, working)):
            kkt = float(residuals.max())
            return Solution(lam, beta, start.gradient, start.value, kkt, steps, kkt <= tol)
        working = np.union1d(np.flatnonzero(beta), entering)


def _most_violating(residuals: Array, tol: float, most: int) -> Index:
    """Genes above the tolerance, at most so many, but all that are alike."""
    threshold = np.partition(residuals, -most)[-most] if len(residuals) > most else 0.0
    return np.flatnonzero((residuals > tol) & (residuals >= threshold))


def _descend(point: Point, lam: float, tol: float, max_iter: int) -> tuple[Point, int]:
    """Minimise over all genes of a point by OWL-QN (Andrew & Gao 2007); return it and the steps.

    β ≥ 0 fixes the orthant, and both projections of the paper clip at zero: a weight of zero whose
    gradient points outwards is frozen, and the direction is kept only where it descends.
    """
    pairs: deque[tuple[Array, Array]] = deque(maxlen=_MEMORY)
    for steps in range(max_iter):
        residuals = kkt_residuals(point.beta, point.gradient, lam)
        if residuals.max(initial=0.0) <= tol:
            return point, steps
        steepest = np.where(residuals > 0, -(point.gradient + lam), 0.0)
        units = np.maximum(point.beta, np.median(point.beta[point.beta > 0])) / (2.0 * lam)
        direction = two_loop(steepest, pairs, units)
        direction[direction * steepest <= 0] = 0.0
        accepted = _accepted_step(point, direction, lam)
        if accepted is None and pairs:
            pairs.clear()
            accepted = _accepted_step(point, units * steepest, lam)
        if accepted is None:
            return point, steps
        moved, turned = accepted.beta - point.beta, accepted.gradient - point.gradient
        if moved @ turned > _CURVED * np.linalg.norm(moved) * np.linalg.norm(turned):
            pairs.append((moved, turned))
        point = accepted
    return point, max_iter


def two_loop(steepest: Array, pairs: deque[tuple[Array, Array]], units: Array) -> Array:
    """``H⁻¹ · steepest`` with the limited-memory inverse Hessian."""
    direction = steepest.copy()
    shares = []
    for moved, turned in reversed(pairs):
        share = (moved @ direction) / (moved @ turned)
        direction -= share * turned
        shares.append(share)
    direction *= units
    if pairs:
        moved, turned = pairs[-1]
        direction *= (moved @ turned) / (turned @ (units * turned))
    for (moved, turned), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - (turned @ direction) / (moved @ turned)) * moved
    return direction


def _accepted_step(point: Point, direction: Array, lam: float) -> Point | None:
    """First point along the projected direction that keeps branches and decreases enough."""
    slope, value = point.gradient + lam, point.value + lam * point.beta.sum()
    length = 1.0
    while length > _SHORTEST:
        beta = np.maximum(point.beta + length * direction, 0.0)
        expected = float(slope @ (beta - point.beta))
        if expected >= 0:
            return None
        trial = point.objective.at(beta)
        if point.keeps_branches(trial):
            trial_value = trial.value + lam * beta.sum()
            if trial_value <= value + _DECREASE * expected + _ROUNDING * abs(value):
                return trial
        length /= 2.0
    return None


def start(objective: Variance) -> tuple[Array, float]:
    """Where a path begins: equal weights β on the largest genes, and
    ``λ0 = −Σ β_i ∂φ/∂β_i / Σ β_i``, which balances them.

    The weights put the directions that the genes reach well inside the branch of selections.
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
    raise InvalidValue("`X` has genes too unlike in size for any λ: choose another `objective`")


def _directions(phi: Phi, beta: Array) -> Array:
    """Eigenvalues of A' in the directions that the genes reach."""
    weights = np.linalg.eigvalsh((phi.genes.T * beta) @ phi.genes)
    return np.asarray(weights[weights > _REACHED * weights[-1]])


def walk(
    objective: Variance, *, last: float = np.inf, least: int = 1, tol: float = TOLERANCE
) -> list[Solution]:
    """Solutions along growing λ, each from the one before, until fewer than `least` genes are left.

    Or to a `last` λ, which is refused if no gene is left before.
    """
    beta, lam = start(objective)
    if last < _SMALLEST_LAM * lam:
        raise InvalidValue(f"`lam={short(last)}` is too small: the path starts at λ = {lam:.6g}")
    lam, solutions = min(lam, last), []
    while (solution := _solve(objective, beta, lam, tol)).n_genes:
        solutions.append(solution)
        if lam >= last or solution.n_genes < least:
            return solutions
        following = min(lam * FACTOR, last)
        # On the branch φ falls like 1/β: where the same genes remain, this is the solution.
        beta, lam = solution.beta * np.sqrt(lam / following), following
    if last < np.inf:
        raise InvalidValue(f"`lam={short(last)}` leaves no gene: choose one below {lam:.6g}")
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
    when both neighbours of a survivor collapsed ("Parameter Search" of Wang & Goldenberg).  Trials
    begin at C times the λ where a path starts, each with the same dense β.
    """
    beta, lam = start(objective)
    lam *= _LINE_SEARCH_CONSTANT
    trials: list[Solution] = []
    for t in range(1, int(np.log2(_LINE_SEARCH_CONSTANT)) + 1):
        trials.append(_solve(objective, beta, lam, tol))
        survives = [trial.n_genes > 0 for trial in trials]
        if survives[-3:] == [False, True, False]:
            break
        lam = lam * _LINE_SEARCH_CONSTANT / 2.0**t if survives[-1] else lam / 2.0
    if not any(survives):
        raise _no_structure(lam)
    return [trial for trial in trials if trial.n_genes > 0]


def _no_structure(lam: float) -> InvalidValue:
    return InvalidValue(f"`X` shows no structure on the graph: no gene is left at λ = {lam:.6g}")


def at_least(solutions: list[Solution], n_genes: int) -> Solution:
    """Last solution with `n_genes` or more; the largest one where none has as many."""
    enough = [solution for solution in solutions if solution.n_genes >= n_genes]
    return enough[-1] if enough else max(solutions, key=lambda solution: solution.n_genes)
