"""The paper's solver: orthant-wise limited-memory quasi-Newton (Andrew & Gao 2007), β ≥ 0."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from .descent import (
    TOLERANCE,
    Solution,
    decreases_enough,
    keeps_branches,
    kkt_residuals,
    longest_step,
)

if TYPE_CHECKING:
    from .._typing import Array
    from .variance import Point, Variance

_MEMORY = 10
_SHORTEST_STEP = 1e-12


def minimise(
    objective: Variance,
    beta: Array,
    lam: float,
    *,
    tol: float = TOLERANCE,
    max_iter: int = 10_000,
) -> Solution:
    """Descend from `beta` to a stationary point with gradients over all genes, as
    :func:`glfs_bio.glfs2014.newton.minimise` does.

    The orthant is fixed by β ≥ 0, so both projections of the paper become clipping at zero: a
    coordinate at a bound whose gradient points outwards is frozen, the quasi-Newton direction is
    kept only where it is a descent direction, and the step is projected onto β ≥ 0.
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
    while length > _SHORTEST_STEP:
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
