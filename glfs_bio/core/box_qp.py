"""Convex quadratic programme with bounds, the inner problem of the Newton solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import cholesky

if TYPE_CHECKING:
    from ._typing import Array

_AT_LOWER, _FREE, _AT_UPPER = -1, 0, 1


def solve_box_qp(
    hessian: Array,
    factor: Array,
    slope: Array,
    lower: Array,
    upper: Array,
    *,
    max_iter: int = 50,
) -> Array:
    """Minimise ``½ xᵀHx + sᵀx`` over ``lower ≤ x ≤ upper`` by block pivoting.

    `factor` is H's, see :func:`~glfs_bio.core.cholesky.factor`.

    Every round solves on the free variables and moves all violated ones at once (Portugal,
    Júdice & Vicente 1994).  Block pivoting can cycle; the last point, clipped to the box, is then
    still a good step, and the caller's line search decides how much of it is taken.
    """
    state = np.full(len(slope), _FREE)
    x = np.zeros_like(slope)
    for _ in range(max_iter):
        free = state == _FREE
        x = np.where(state == _AT_LOWER, lower, np.where(state == _AT_UPPER, upper, 0.0))
        if free.all():
            x = cholesky.solve_with(factor, -slope)
        elif free.any():
            there = np.flatnonzero(free)
            pull = slope[there] + (hessian @ x)[there]
            x[there] = cholesky.solve(hessian[there][:, there], -pull)
        downhill = slope if free.all() else hessian @ x + slope  # matters at bounds only
        moved = state.copy()
        moved[free & (x < lower)] = _AT_LOWER
        moved[free & (x > upper)] = _AT_UPPER
        moved[(state == _AT_LOWER) & (downhill < 0)] = _FREE
        moved[(state == _AT_UPPER) & (downhill > 0)] = _FREE
        if np.array_equal(moved, state):
            break
        state = moved
    return np.clip(x, lower, upper)
