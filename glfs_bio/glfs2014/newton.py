"""Active-set projected Newton for ``φ(β) + λ Σ β`` over β ≥ 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..criterion import cholesky
from .descent import TOLERANCE, Solution, decreases_enough, kkt_residuals, longest_step

if TYPE_CHECKING:
    from .._typing import Array, Index
    from .variance import Point, Variance


@dataclass(frozen=True)
class Rules:
    """How far a Newton step goes, and how many genes it is taken on."""

    #: Added to the Hessian in units of its diagonal; the next, towards a gradient step, where
    #: rounding left no descent
    ridges: tuple[float, ...] = (1e-7, 1e-4, 1e-1, 1e2)
    #: Genes that may enter at once, per direction
    entering: int = 2
    #: Multiples of a step: where the line search gives up, and how far it goes on where the model
    #: was made more convex than the objective
    shortest: float = 1e-10
    longest: float = 64.0


RULES = Rules()


def minimise(
    objective: Variance,
    beta: Array,
    lam: float,
    *,
    tol: float = TOLERANCE,
    max_iter: int = 1000,
) -> Solution:
    """Descend from `beta`, shape (n_genes,), to a stationary point, by Newton steps on the genes
    that matter.

    The genes with β > 0 are solved first; then one gradient over all genes finds those that must
    join them, until none does.  `tol` is the largest violation of the optimality conditions in
    units of λ, `max_iter` counts accepted steps over all rounds.
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
        entering = _most_violating(residuals * (beta <= 0), tol, RULES.entering * objective.rank)
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
        here = point.beta
        residuals = kkt_residuals(here, point.gradient, lam)
        if residuals.max(initial=0.0) <= tol:
            return point, taken
        slope = point.gradient + lam
        for ridge in RULES.ridges:
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
    here = point.beta
    movable = np.flatnonzero((here > 0) | (residuals > 0))
    exact, convex = point.hessian(movable)
    unit = 1.0 / np.sqrt(np.diag(convex))
    units = np.outer(unit, unit)
    for part in (exact, convex):
        part *= units
        cholesky.diagonal(part)[:] += ridge
    hessian, shift = exact, 0.0
    while (half := cholesky.factor(hessian)) is None:
        shift = max(0.5, 2.0 * shift)
        hessian = exact + shift * convex
    lower = -here[movable] / unit
    step = np.zeros_like(here)
    scaled = solve_bounded_qp(hessian, half, unit * slope[movable], lower)
    # Exactly to zero, or rounding leaves 1e-16 of β, then 1e-32, and never zero
    step[movable] = np.where(scaled <= lower, -here[movable], unit * scaled)
    return step, shift == 0.0


def _line_search(point: Point, step: Array, drop: float, slope: Array, lam: float) -> Point | None:
    """First point along the step with enough decrease, or None where rounding leaves none."""
    expected = float(slope @ step)
    length = longest_step(drop)
    while expected < 0 and length > RULES.shortest:
        trial = point.moved(np.maximum(point.beta + length * step, 0.0))
        if decreases_enough(point, trial, lam, length * expected):
            return trial
        length /= 2.0
    return None


def _lengthen(point: Point, accepted: Point, step: Array, drop: float, lam: float) -> Point:
    """Go on along a step whose model was made more convex, and so shorter, than the objective."""
    length, longest = 2.0, longest_step(drop, at_most=RULES.longest)
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
    """Minimise ``½ xᵀHx + sᵀx`` over ``x ≥ lower`` by block pivoting; `factor` is that of H
    (:func:`~glfs_bio.criterion.cholesky.factor`).

    Every round solves on the free variables and moves all violated ones at once (Portugal, Júdice &
    Vicente 1994).  Block pivoting can cycle; the last point, clipped to the bounds, is then still a
    good step, and the caller's line search decides how much of it is taken.
    """
    free = np.ones(len(slope), dtype=bool)
    x = np.zeros_like(slope)
    for _ in range(max_iter):
        if free.all():
            x = cholesky.solve_with(factor, -slope)
        else:
            x = np.where(free, 0.0, lower)
            there = np.flatnonzero(free)
            if len(there):
                pull = slope[there] + (hessian @ x)[there]
                x[there] = cholesky.solve(hessian[there][:, there], -pull)
        downhill = slope if free.all() else hessian @ x + slope  # matters at bounds only
        moved = np.where(free, x >= lower, downhill < 0)
        if np.array_equal(moved, free):
            break
        free = moved
    return np.maximum(x, lower)
