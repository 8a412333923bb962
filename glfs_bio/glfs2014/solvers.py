"""Solvers of ``φ(β) + λ Σ β`` over β ≥ 0: active-set Newton, and OWL-QN, the paper's.

They share the optimality conditions, the rules of a step, and the form of the answer.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from .variance import diagonal

if TYPE_CHECKING:
    from .._typing import Array, Index
    from .variance import Point, Variance

#: Largest violation of the optimality conditions, in units of λ.
TOLERANCE = 1e-4
#: No direction may lose more than this share of its weight in one step, or it could jump over the
#: top of a/(1+a)² and leave its branch by accident.
_DROP = 0.3
#: Share of the decrease that the slope promises, of which a step has to make at least as much.
_DECREASE = 1e-4
#: Share of the objective by which it may seem to rise.
_ROUNDING = 1e-13
#: Added to the Hessian in units of its diagonal; more, towards a gradient step, where rounding has
#: left no descent in the step before.
_RIDGES = (1e-7, 1e-4, 1e-1, 1e2)
#: Genes that may enter at once, for each direction.
_ENTERING = 2
#: Multiples of a Newton step: where the line search gives up, and how far a step is gone on along
#: whose model was made more convex than the objective.
_SHORTEST, _LONGEST = 1e-10, 64.0
#: Pairs of steps and gradients that OWL-QN remembers, and where its line search gives up.
_MEMORY, _SHORTEST_PROJECTED = 10, 1e-12


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
    value: float
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
    """Violation of the first-order conditions of ``φ(β) + λ Σ β``, β ≥ 0, per gene.

    With ``ρ = 1 + (∂φ/∂β)/λ`` a stationary point has ρ = 0 where β > 0, and ρ ≥ 0 at zero.
    """
    rho = 1.0 + gradient / lam
    return np.where(beta <= 0, np.maximum(-rho, 0.0), np.abs(rho))


def longest_step(drop: float, at_most: float = 1.0) -> float:
    """Multiple of a step that keeps every direction on its branch; `drop` is its largest drop."""
    return at_most if drop * at_most <= _DROP else _DROP / drop


def keeps_branches(drop: float) -> bool:
    """Whether no direction loses more in a step than it may, up to rounding."""
    return drop <= _DROP * (1.0 + 1e-9)


def decreases_enough(point: Point, trial: Point, lam: float, expected: float) -> bool:
    """Armijo's rule for ``φ(β) + λ Σ β``; `expected` is the slope times the step."""
    objective = point.value + lam * point.beta.sum()
    objective_of_trial = trial.value + lam * trial.beta.sum()
    return bool(objective_of_trial <= objective + _DECREASE * expected + _ROUNDING * abs(objective))


def newton(
    objective: Variance,
    beta: Array,
    lam: float,
    *,
    tol: float = TOLERANCE,
    max_iter: int = 1000,
) -> Solution:
    """Descend from `beta` to a stationary point by projected Newton steps on the genes that matter.

    The genes with β > 0 are solved first; then one gradient over all genes finds those that must
    join them, until none does.

    Shapes: `beta` (n_genes,).
    """
    beta = beta.copy()
    steps = 0
    working: Index = np.flatnonzero(beta)
    while True:
        point, taken = _on_working_set(objective, beta, working, lam, tol, max_iter - steps)
        steps += taken
        gradient = point.full_gradient()
        residuals = kkt_residuals(beta, gradient, lam)
        support: Index = np.flatnonzero(beta)
        entering = _most_violating(residuals * (beta <= 0), tol, _ENTERING * objective.rank)
        stuck = len(np.setdiff1d(entering, working)) == 0
        if stuck or steps >= max_iter:
            kkt = float(residuals.max())
            return Solution(lam, beta, gradient, point.value, kkt, steps, kkt <= tol)
        working = np.union1d(support, entering)


def _most_violating(residuals: Array, tol: float, most: int) -> Index:
    """Genes above the tolerance, at most so many, but all that are alike."""
    threshold = np.partition(residuals, -most)[-most] if len(residuals) > most else 0.0
    return np.flatnonzero((residuals > tol) & (residuals >= threshold))


def _on_working_set(
    objective: Variance,
    beta: Array,
    working: Index,
    lam: float,
    tol: float,
    max_iter: int,
) -> tuple[Point, int]:
    """Minimise over the genes of `working`; updates `beta` in place."""
    point = objective.at(beta[working], working)
    for taken in range(max_iter):
        weights = point.beta
        residuals = kkt_residuals(weights, point.gradient, lam)
        if residuals.max(initial=0.0) <= tol:
            return point, taken
        slope = point.gradient + lam
        for ridge in _RIDGES:
            step, convex = _newton_step(point, slope, residuals, ridge)
            drop = point.largest_drop(step)
            accepted = _line_search(point, step, drop, slope, lam)
            if accepted is not None:
                break
        else:
            return point, taken
        if not convex:
            accepted = _lengthen(point, accepted, step, drop, lam)
        point = accepted
        beta[working] = point.beta
    return point, max_iter


def _newton_step(point: Point, slope: Array, residuals: Array, ridge: float) -> tuple[Array, bool]:
    """Minimiser of the local quadratic model over β ≥ 0, and whether the model is the true one.

    Where the Hessian is not positive definite, as much of its convex part is added as it takes.
    """
    weights = point.beta
    movable = np.flatnonzero((weights > 0) | (residuals > 0))
    exact, convex = point.hessian(movable)
    unit = 1.0 / np.sqrt(np.diag(convex))
    units = np.outer(unit, unit)
    for matrix in (exact, convex):
        matrix *= units
        diagonal(matrix)[:] += ridge
    hessian, shift = exact, 0.0
    while (half := cholesky_factor(hessian)) is None:
        shift = max(0.5, 2.0 * shift)
        hessian = exact + shift * convex
    lower = -weights[movable] / unit
    step = np.zeros_like(weights)
    scaled = solve_bounded_qp(hessian, half, unit * slope[movable], lower)
    # Exactly to zero, or rounding leaves 1e-16 of β, then 1e-32, and never zero
    step[movable] = np.where(scaled <= lower, -weights[movable], unit * scaled)
    return step, shift == 0.0


def _line_search(point: Point, step: Array, drop: float, slope: Array, lam: float) -> Point | None:
    """First point along the step with enough decrease, or None where rounding leaves none."""
    expected = float(slope @ step)
    length = longest_step(drop)
    while expected < 0 and length > _SHORTEST:
        trial = point.moved(np.maximum(point.beta + length * step, 0.0))
        if decreases_enough(point, trial, lam, length * expected):
            return trial
        length /= 2.0
    return None


def _lengthen(point: Point, accepted: Point, step: Array, drop: float, lam: float) -> Point:
    """Go on along a step whose model was made more convex, and so shorter, than the objective."""
    length, longest = 2.0, longest_step(drop, at_most=_LONGEST)
    while length <= longest:
        trial = point.moved(np.maximum(point.beta + length * step, 0.0))
        if trial.value + lam * trial.beta.sum() >= accepted.value + lam * accepted.beta.sum():
            break
        accepted = trial
        length *= 2.0
    return accepted


def solve_bounded_qp(
    hessian: Array, factor: Array, slope: Array, lower: Array, *, max_iter: int = 50
) -> Array:
    """Minimise ``½ xᵀHx + sᵀx`` over ``x ≥ lower`` by block pivoting.

    `factor` is H's, see :func:`cholesky_factor`.

    Every round solves on the free variables and moves all violated ones at once (Portugal,
    Júdice & Vicente 1994).  Block pivoting can cycle; the last point, clipped to the bounds, is
    then still a good step, and the caller's line search decides how much of it is taken.
    """
    free = np.ones(len(slope), dtype=bool)
    x = np.zeros_like(slope)
    for _ in range(max_iter):
        if free.all():
            x = solve_with(factor, -slope)
        else:
            x = np.where(free, 0.0, lower)
            indices = np.flatnonzero(free)
            if len(indices):
                pull = slope[indices] + (hessian @ x)[indices]
                x[indices] = _solve(hessian[indices][:, indices], -pull)
        downhill = slope if free.all() else hessian @ x + slope  # matters at bounds only
        moved = np.where(free, x >= lower, downhill < 0)
        if np.array_equal(moved, free):
            break
        free = moved
    return np.maximum(x, lower)


def owlqn(
    objective: Variance,
    beta: Array,
    lam: float,
    *,
    tol: float = TOLERANCE,
    max_iter: int = 10_000,
) -> Solution:
    """Descend from `beta` to a stationary point with gradients over all genes.

    The paper's solver, orthant-wise limited-memory quasi-Newton (Andrew & Gao 2007), for β ≥ 0.

    The orthant is fixed by β ≥ 0, so both projections of the paper become clipping at zero: a
    coordinate at a bound whose gradient points outwards is frozen, the quasi-Newton direction is
    kept only where it is a descent direction, and the step is projected onto β ≥ 0.

    Parameters and return value are those of :func:`newton`.
    """
    everything = np.arange(objective.n_genes)
    point = objective.at(beta.copy(), everything)
    pairs: deque[tuple[Array, Array]] = deque(maxlen=_MEMORY)
    steps = 0
    while True:
        here, gradient = point.beta, point.gradient
        residuals = kkt_residuals(here, gradient, lam)
        kkt = float(residuals.max())
        if kkt <= tol or steps >= max_iter:
            break
        steepest = np.where(residuals > 0, -(gradient + lam), 0.0)
        direction = _two_loop(steepest, pairs)
        direction[np.sign(direction) * np.sign(steepest) <= 0] = 0.0
        accepted = None
        for way in (direction, steepest):
            accepted = _projected_search(objective, point, way, lam, first=steps == 0)
            if accepted is not None:
                break
            pairs.clear()
        if accepted is None:
            break
        moved, turned = accepted.beta - here, accepted.gradient - gradient
        if moved @ turned > 1e-12 * (moved @ moved):
            pairs.append((moved, turned))
        point = accepted
        steps += 1
    return Solution(lam, point.beta, point.gradient, point.value, kkt, steps, kkt <= tol)


def _two_loop(steepest: Array, pairs: deque[tuple[Array, Array]]) -> Array:
    """``H⁻¹ · steepest`` with the limited-memory inverse Hessian."""
    direction = steepest.copy()
    shares = []
    for moved, turned in reversed(pairs):
        share = (moved @ direction) / (moved @ turned)
        direction -= share * turned
        shares.append(share)
    if pairs:
        moved, turned = pairs[-1]
        direction *= (moved @ turned) / (turned @ turned)
    for (moved, turned), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - (turned @ direction) / (moved @ turned)) * moved
    return direction


def _projected_search(
    objective: Variance, point: Point, direction: Array, lam: float, *, first: bool
) -> Point | None:
    """Backtrack along the projected direction until the penalised objective decreases enough.

    It begins where a part of the whole, projected step would keep every direction on its branch;
    a shorter step, projected itself, is another, and must keep them too.
    """
    here = point.beta
    slope = point.gradient + lam
    length = longest_step(point.largest_drop(np.maximum(here + direction, 0.0) - here))
    if first:
        length = min(length, 0.1 * here.sum() / max(np.abs(direction).sum(), np.finfo(float).tiny))
    while length > _SHORTEST_PROJECTED:
        there = np.maximum(here + length * direction, 0.0)
        expected = float(slope @ (there - here))
        if expected >= 0:
            return None
        if keeps_branches(point.largest_drop(there - here)):
            trial = point.moved(there)
            if decreases_enough(point, trial, lam, expected):
                return trial
        length /= 2.0
    return None


def cholesky_factor(matrix: Array) -> Array | None:
    """Cholesky factor for :func:`solve_with`; None: the matrix is not positive definite."""
    factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
    return None if failed else np.asarray(factor)


def solve_with(factor: Array, right: Array) -> Array:
    """``matrix⁻¹ right`` for the `factor` of a symmetric positive definite matrix."""
    return np.asarray(lapack.dpotrs(factor, right, lower=1)[0])


def _solve(matrix: Array, right: Array) -> Array:
    """``matrix⁻¹ right`` for a symmetric positive definite matrix."""
    factor = cholesky_factor(matrix)
    if factor is None:
        msg = "The matrix is not positive definite."
        raise np.linalg.LinAlgError(msg)
    return solve_with(factor, right)
