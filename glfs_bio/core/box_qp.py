"""Convex quadratic programme with bounds, the inner problem of the Newton solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import cholesky

if TYPE_CHECKING:
    from ._typing import Array

_AT_LOWER, _FREE, _AT_UPPER = -1, 0, 1


def solve_box_qp(
    hessian: Array, slope: Array, lower: Array, upper: Array, *, max_iter: int = 50
) -> Array:
    """Minimise ``½ xᵀHx + sᵀx`` over ``lower ≤ x ≤ upper`` by block pivoting.

    Every round solves on the free variables and moves all violated ones at once (Portugal,
    Júdice & Vicente 1994).  Block pivoting can cycle; the last point, clipped to the box, is then
    still a good step, and the caller's line search decides how much of it is taken.
    """
    state = np.full(len(slope), _FREE)
    x = np.zeros_like(slope)
    for _ in range(max_iter):
        free = state == _FREE
        x = np.where(state == _AT_LOWER, lower, np.where(state == _AT_UPPER, upper, 0.0))
        if free.any():
            there = np.flatnonzero(free)
            pull = slope[there] + (hessian @ x)[there]
            among = hessian if free.all() else hessian[there][:, there]
            x[there] = cholesky.solve(among, -pull)
        downhill = hessian @ x + slope
        moved = state.copy()
        moved[free & (x < lower)] = _AT_LOWER
        moved[free & (x > upper)] = _AT_UPPER
        moved[(state == _AT_LOWER) & (downhill < 0)] = _FREE
        moved[(state == _AT_UPPER) & (downhill > 0)] = _FREE
        if np.array_equal(moved, state):
            break
        state = moved
    return np.clip(x, lower, upper)
