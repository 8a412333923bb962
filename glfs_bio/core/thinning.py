"""From thousands of genes to hundreds: multiplicative updates along growing λ.

On the branch of selections φ is nearly homogeneous of degree −1 (it falls like ``1/β``), and there

    β_i ← β_i · (−(∂φ/∂β_i)/λ)^½

has the stationary points of ``φ + λ Σ β`` as its fixed points.  It is the multiplicative algorithm
for A-optimal designs (Silvey, Titterington & Torsney 1978), which Q becomes where all directions
are far out on the branch.  An update costs one gradient over the genes that are left, and takes
care of thousands at once, where a Newton step would need a Hessian of that size.  λ grows while it
runs; what is left is handed on to a solver that converges.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._typing import Array
    from .variance import Point, Variance

log = logging.getLogger(__name__)

_FACTOR = 1.15
_UPDATES = 3
_MOST_STEPS = 300
#: No weight may grow more than this in one update.
_MOST_GROWTH = 2.0
#: A gene whose weight has fallen below this share of the largest is left behind.
_NEGLIGIBLE = 1e-4
#: Every so many λ all genes are looked at, and as many as there are directions may enter, with this
#: share of the median weight.
_LOOK = 10
_ENTERING_WEIGHT = 0.3


def thin(
    variance: Variance, beta: Array, lam: float, *, most: int, least: int, last: float = np.inf
) -> tuple[Array, float]:
    """Let λ grow until at most `most` genes are left.

    Parameters
    ----------
    variance
        The objective φ.
    beta, lam
        Where to start: on the branch, in balance.
    most
        Number of genes to end with, or fewer.
    least
        Where a step leaves fewer than this, its beginning is returned.
    last
        λ at which to end in any case.

    Returns
    -------
    beta
        Shape (n_genes,).
    lam
        The λ that balances it, ``−Σ β_i ∂φ/∂β_i / Σ β_i``, at most `last`.
    """
    genes = np.flatnonzero(beta)
    point = variance.at(beta[genes], genes)
    for step in range(1, _MOST_STEPS):
        before = point
        for _ in range(_UPDATES):
            rate = np.sqrt(np.maximum(-point.gradient / lam, 0.0))
            weights = point.beta * np.minimum(rate, _MOST_GROWTH)
            point = point.moved(weights)
        stay = weights > _NEGLIGIBLE * weights.max()
        point = point.narrowed(np.flatnonzero(stay))
        if stay.sum() < least or _balance(point) <= 0:
            point = before
            break
        log.info("λ = %.4g: %d genes", lam, stay.sum(), extra={"n_genes": int(stay.sum())})
        if stay.sum() <= most or lam >= last:
            break
        if step % _LOOK == 0:
            point = _with_entering(variance, point, lam)
        following = min(_FACTOR * lam, last)
        point = point.moved(point.beta * np.sqrt(lam / following))
        lam = following
    beta = np.zeros(variance.n_genes)
    beta[point.support] = point.beta
    return beta, min(_balance(point), last)


def balance(variance: Variance, beta: Array) -> float:
    """``−Σ β_i ∂φ/∂β_i / Σ β_i``: positive where most directions are on the branch."""
    return _balance(variance.at(beta))


def _balance(point: Point) -> float:
    return float(np.dot(point.beta, -point.gradient) / np.sum(point.beta))


def _with_entering(variance: Variance, point: Point, lam: float) -> Point:
    violation = -point.full_gradient() / lam - 1.0
    violation[point.support] = 0.0
    entering = np.argsort(-violation, kind="stable")[: variance.rank]
    entering = entering[violation[entering] > 0]
    support = np.union1d(point.support, entering)
    beta = np.full(variance.n_genes, _ENTERING_WEIGHT * np.median(point.beta))
    beta[point.support] = point.beta
    return variance.at(beta[support], support)
