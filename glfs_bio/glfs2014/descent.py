"""What both solvers share: the optimality conditions, the rules of a step, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import Array
    from .variance import Point

#: Largest violation of the optimality conditions, in units of λ.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Rules:
    """Which steps are taken."""

    #: Largest share of its weight that a direction loses in one step: more could jump over the top
    #: of a/(1+a)² and leave its branch by accident
    drop: float = 0.3
    #: Smallest share of the decrease promised by the slope
    decrease: float = 1e-4
    #: Share of the objective by which it may seem to rise
    rounding: float = 1e-13


RULES = Rules()


@dataclass(frozen=True)
class Solution:
    """A stationary point at one λ."""

    lam: float
    #: β, shape (n_genes,)
    beta: Array
    #: ``∂φ/∂β``, shape (n_genes,)
    gradient: Array
    #: ``φ(β)``, without the penalty
    value: float
    #: Largest :func:`kkt_residuals`
    kkt: float
    #: Accepted steps
    n_iter: int
    #: Whether `kkt` is within the tolerance
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
    return at_most if drop * at_most <= RULES.drop else RULES.drop / drop


def keeps_branches(drop: float) -> bool:
    """Whether no direction loses more in a step than it may, up to rounding."""
    return drop <= RULES.drop * (1.0 + 1e-9)


def decreases_enough(point: Point, trial: Point, lam: float, expected: float) -> bool:
    """Armijo's rule for ``φ(β) + λ Σ β``; `expected` is the slope times the step."""
    now = point.value + lam * point.beta.sum()
    then = trial.value + lam * trial.beta.sum()
    return bool(then <= now + RULES.decrease * expected + RULES.rounding * abs(now))
