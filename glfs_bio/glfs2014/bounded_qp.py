"""Convex quadratic programme with lower bounds, the inner problem of the Newton solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..criterion import cholesky

if TYPE_CHECKING:
    from .._typing import Array


def solve_bounded_qp(
    hessian: Array, factor: Array, slope: Array, lower: Array, *, max_iter: int = 50
) -> Array:
    """Minimise ``½ xᵀHx + sᵀx`` over ``x ≥ lower`` by block pivoting.

    `factor` is H's, see :func:`~glfs_bio.criterion.cholesky.factor`.

    Every round solves on the free variables and moves all violated ones at once (Portugal,
    Júdice & Vicente 1994).  Block pivoting can cycle; the last point, clipped to the bounds, is
    then still a good step, and the caller's line search decides how much of it is taken.
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
