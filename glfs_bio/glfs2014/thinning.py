"""From thousands of genes to hundreds: multiplicative updates along growing λ.

On the branch of selections φ is nearly homogeneous of degree −1 (it falls like ``1/β``), and there

    β_i ← β_i · (−(∂φ/∂β_i)/λ)^½

has the stationary points of ``φ + λ Σ β`` as its fixed points.  It is the multiplicative algorithm
for A-optimal designs (Silvey, Titterington & Torsney 1978), which φ becomes where all directions
are far out on the branch.  An update costs one gradient over the genes that are left, and takes
care of thousands at once, where a Newton step would need a Hessian of that size.  λ grows while it
runs, fast as long as φ is homogeneous and nothing but the weights' size changes; where directions
leave by the hundred at once, it waits for them.  What is left is handed on to a solver that
converges.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import Array
    from .variance import Point, Variance

log = logging.getLogger(__name__)


#: Settled by time and by the genes left.  λ grows by the first factor a step, by the second where
#: the balance is `_FAR_OUT` of λ: all directions are far out on the branch then.
_FACTOR, _FAST, _FAR_OUT = 1.15, 1.15**4, 0.99
#: Updates a step, and steps.
_UPDATES, _MOST_STEPS = 3, 300
#: No weight may grow more in one update.
_MOST_GROWTH = 2.0
#: In an avalanche none may shrink more, and λ stays as long as more genes than this share want to
#: leave.
_MOST_SHRINKING, _LEAVING = 0.5, 0.05
#: A gene whose weight has fallen below this share of the largest is left behind.
_NEGLIGIBLE = 1e-4
#: When λ has grown by this factor all genes are looked at, and as many as there are directions may
#: enter, with this share of the median weight.
_LOOK, _ENTERING_WEIGHT = 3.0, 0.3


def thin(
    objective: Variance, beta: Array, lam: float, *, most: int, least: int, last: float = np.inf
) -> tuple[Array, float]:
    """Let λ grow, from a balance on the branch, until at most `most` genes are left, or to `last`.

    Returns β and the λ that balances it, ``−Σ β_i ∂φ/∂β_i / Σ β_i``.  Where a step leaves fewer
    than `least` genes, its beginning is returned.
    """
    genes = np.flatnonzero(beta)
    point = objective.at(beta[genes], genes)
    slowest, looked = 0.0, lam
    for _ in range(_MOST_STEPS):
        start = point
        for _ in range(_UPDATES):
            rate = np.sqrt(np.maximum(-point.gradient / lam, 0.0))
            weights = point.beta * np.clip(rate, slowest, _MOST_GROWTH)
            point = point.moved(weights)
        stay = weights > _NEGLIGIBLE * weights.max()
        point = point.narrowed(np.flatnonzero(stay))
        if slowest == 0 and (stay.sum() < least or _balance(point) <= 0):
            point, slowest = start, _MOST_SHRINKING
            continue
        if stay.sum() < least:
            point = start
            break
        log.info("λ = %.4g: %d genes", lam, stay.sum(), extra={"n_genes": int(stay.sum())})
        if (stay.sum() <= most and _balance(point) > 0) or lam >= last:
            break
        if slowest > 0 and np.mean(point.gradient > 0) > _LEAVING:
            continue
        if lam > _LOOK * looked:
            point, looked = _with_entering(objective, point, lam), lam
        factor = _FAST if _balance(point) > _FAR_OUT * lam else _FACTOR
        following = min(factor * lam, last)
        point = point.moved(point.beta * np.sqrt(lam / following))
        lam = following
    beta = np.zeros(objective.n_genes)
    beta[point.support] = point.beta
    return beta, min(_balance(point), last)


def balance(objective: Variance, beta: Array) -> float:
    """``−Σ β_i ∂φ/∂β_i / Σ β_i``: positive where most directions are on the branch."""
    return _balance(objective.at(beta))


def _balance(point: Point) -> float:
    return float(np.dot(point.beta, -point.gradient) / np.sum(point.beta))


def _with_entering(objective: Variance, point: Point, lam: float) -> Point:
    violation = -point.full_gradient() / lam - 1.0
    violation[point.support] = 0.0
    entering = np.argsort(-violation, kind="stable")[: objective.rank]
    entering = entering[violation[entering] > 0]
    support = np.union1d(point.support, entering)
    beta = np.full(objective.n_genes, _ENTERING_WEIGHT * np.median(point.beta))
    beta[point.support] = point.beta
    return objective.at(beta[support], support)
