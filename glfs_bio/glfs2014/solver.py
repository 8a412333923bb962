"""The paper's solver of ``φ(β) + λ Σ β`` over β ≥ 0: orthant-wise quasi-Newton (OWL-QN)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import Array, Index
    from .variance import Point, Variance

#: Largest violation of the optimality conditions, in units of λ.
TOLERANCE = 1e-4
#: Share of the decrease that the slope promises, of which a step has to make at least as much.
_DECREASE = 1e-4
#: Share of the objective by which it may seem to rise.
_ROUNDING = 1e-13
#: Genes that may enter at once, for each direction.
_ENTERING = 2
#: Pairs of steps and gradients that are remembered, if their cosine is at least so large, and where
#: the line search gives up.
_MEMORY, _CURVED, _SHORTEST = 10, 1e-8, 1e-12


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


def minimise(
    objective: Variance,
    beta: Array,
    lam: float,
    *,
    tol: float = TOLERANCE,
    max_iter: int = 10_000,
) -> Solution:
    """Descend from `beta`, shape (n_genes,), to a stationary point.

    The genes with weight are solved first; then one gradient over all genes finds those that must
    join them, until none does.
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

    β ≥ 0 fixes the orthant, so that both projections of the paper become clipping at zero: a
    coordinate at zero whose gradient points outwards is frozen, the quasi-Newton direction is
    kept only where it is a descent direction, and the step is projected onto β ≥ 0.
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
        accepted = _line_search(point, direction, lam)
        if accepted is None and pairs:
            pairs.clear()
            accepted = _line_search(point, units * steepest, lam)
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


def _line_search(point: Point, direction: Array, lam: float) -> Point | None:
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
