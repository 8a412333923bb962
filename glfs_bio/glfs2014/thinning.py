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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import Array
    from .variance import Point, Variance

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rules:
    """How fast λ grows and weights move.  Settled by time and by the genes left."""

    #: λ grows by `factor` a step, by `fast` where the balance is `far_out` of λ, since all
    #: directions are then far out on the branch
    factor: float = 1.15
    fast: float = 1.15**4
    far_out: float = 0.99
    #: Updates per step, and steps
    updates: int = 3
    most_steps: int = 300
    #: Of a weight in one update
    most_growth: float = 2.0
    #: Of a weight in an avalanche, where λ stays as long as more than the share `leaving` of the
    #: genes want to leave
    most_shrinking: float = 0.5
    leaving: float = 0.05
    #: A gene below this share of the largest weight is dropped
    negligible: float = 1e-4
    #: Growth of λ after which all genes are looked at, and as many as there are directions may
    #: enter with this share of the median weight
    look: float = 3.0
    entering_weight: float = 0.3


RULES = Rules()


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
    for _ in range(RULES.most_steps):
        before = point
        for _ in range(RULES.updates):
            rate = np.sqrt(np.maximum(-point.gradient / lam, 0.0))
            weights = point.beta * np.clip(rate, slowest, RULES.most_growth)
            point = point.moved(weights)
        stay = weights > RULES.negligible * weights.max()
        point = point.narrowed(np.flatnonzero(stay))
        if slowest == 0 and (stay.sum() < least or _balance(point) <= 0):
            point, slowest = before, RULES.most_shrinking
            continue
        if stay.sum() < least:
            point = before
            break
        log.info("λ = %.4g: %d genes", lam, stay.sum(), extra={"n_genes": int(stay.sum())})
        if (stay.sum() <= most and _balance(point) > 0) or lam >= last:
            break
        if slowest > 0 and np.mean(point.gradient > 0) > RULES.leaving:
            continue
        if lam > RULES.look * looked:
            point, looked = _with_entering(objective, point, lam), lam
        factor = RULES.fast if _balance(point) > RULES.far_out * lam else RULES.factor
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
    beta = np.full(objective.n_genes, RULES.entering_weight * np.median(point.beta))
    beta[point.support] = point.beta
    return objective.at(beta[support], support)
