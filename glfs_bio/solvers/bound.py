"""How far a panel is from the best possible: the convex relaxation of the choice of genes.

F is convex, so that at any β and for every panel s of k genes

    F(s) ≥ F(β) + ∇F(β)ᵀ(s − β),

which is smallest for the k genes of steepest gradient.  One gradient bounds the panels of every
size, whether β is a minimiser or not.  The bounds are close where β is one for that size, so that
the largest is taken over minimisers of ``F + λ Σ β``, 0 ≤ β ≤ 1, along falling λ.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..criterion.error import evaluate, penalised
from .certificate import Linear
from .relaxation import Polytope, relaxed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..criterion.error import Block
    from .constraints import Rows

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rules:
    """How closely the relaxation is solved; the bounds hold however that is.

    Attributes
    ----------
    factor
        λ falls by this factor from one β to the next; above ½, or the strong rule of
        :func:`_minimiser` would leave no gene out.
    smallest
        Below this share of the first λ all genes that vary are in.
    halvings
        Of the interval of λ in which the weights sum to the genes asked for.
    steps, tolerance
        Steps of L-BFGS-B at one λ, and the violation of its optimality conditions, in units of λ.
    gap
        Under limits: F above its bound, as a share of F without genes.
    """

    factor: float = 0.65
    smallest: float = 1e-12
    halvings: int = 2
    steps: int = 60
    tolerance: float = 1e-2
    gap: float = 1e-5


RULES = Rules()


@dataclass(frozen=True)
class Relaxation:
    """The choice of genes with weights between 0 and 1.

    Attributes
    ----------
    lower
        Bound of the criterion for panels of 1, 2, … genes: none is below it.
    beta
        Nearly best weights that sum to the largest of these numbers, shape (n_genes,).
    holding, lacking
        Bounds for panels of the largest number that hold each gene, and that lack it, shape
        (n_genes,).
    """

    lower: Array
    beta: Array
    holding: Array
    lacking: Array


class _At(NamedTuple):
    """F, its gradient and β at one λ."""

    value: float
    gradient: Array
    beta: Array
    lam: float

    @property
    def bound(self) -> Linear:
        """What F is nowhere below."""
        return Linear(float(self.value - self.gradient @ self.beta), self.gradient)


def relax(blocks: Sequence[Block], n_genes: int) -> Relaxation:
    """Bounds for panels of 1 to `n_genes` genes, and the weights of the largest.

    Parameters
    ----------
    blocks
        The criterion on each set of cells, with ``covered`` genes that every panel holds besides.
    n_genes
        Largest number of genes, at most as many as there are.
    """
    squares = [np.einsum("ij,ij->i", block.genes, block.genes) for block in blocks]
    nothing = np.zeros(len(blocks[0].genes))
    value, gradient = evaluate(blocks, nothing)
    first = -float(gradient.min())
    below, above = _At(value, gradient, nothing, first), None
    lower = below.bound.along(n_genes)
    enough = min(n_genes, int(np.count_nonzero(gradient)))
    halvings = 0
    while halvings < RULES.halvings and below.lam > RULES.smallest * first:
        lam = below.lam * RULES.factor
        if above is not None:
            lam, halvings = float(np.sqrt(below.lam * above.lam)), halvings + 1
        found = _minimiser(blocks, squares, below, lam)
        lower = np.maximum(lower, found.bound.along(n_genes))
        total = found.beta.sum()
        log.info("bound at λ = %.4g: %.1f genes", lam, total, extra={"n_genes": int(total)})
        if total >= enough:
            above = found
        else:
            below = found
    beta = _mixed(below.beta, (above or below).beta, n_genes)
    last = _At(*_evaluate_steep(blocks, squares, beta, RULES.factor * below.lam), beta, below.lam)
    lower = np.maximum(lower, last.bound.along(n_genes))
    return Relaxation(lower, beta, *last.bound.of_genes(n_genes))


def relax_within(blocks: Sequence[Block], rows: Rows, size: int, start: Relaxation) -> Relaxation:
    """Bounds for panels within linear limits, and the weights of the largest.

    Parameters
    ----------
    blocks
        The criterion on each set of cells, with ``covered`` genes that every panel holds besides.
    rows
        What the limits leave beside those genes; every gene fits on its own.
    size
        Largest number of genes.
    start
        The relaxation without limits, for panels of as many genes as are judged.

    Returns
    -------
    Relaxation
        Its ``lower`` bounds panels of 1, 2, … genes within the upper limits; the last one bounds
        panels of at most `size` genes within all limits.
    """
    polytope, n_sizes = Polytope.of(rows, size), len(start.lower)
    gap = RULES.gap * sum(block.value(np.zeros(len(start.beta))) for block in blocks)
    found = relaxed(blocks, polytope, start.beta, gap=gap)
    lower = np.maximum(start.lower, found.within_upper(polytope).along(n_sizes))
    least = found.bound.least(size)
    lower[-1] = least if size > n_sizes else max(lower[-1], least)
    return Relaxation(lower, found.weights, *found.bound.of_genes(size))


def relax_beside(
    blocks: Sequence[Block],
    rows: Rows,
    chosen: Index,
    n_fixed: int,
    size: int,
    start: Relaxation | None = None,
) -> tuple[Index, Relaxation]:
    """Genes that may join the first of a panel, which had to be in, and their relaxed choice, of
    `size` genes with these; `start` is that of all genes without limits, if it is known.
    """
    fixed, more = chosen[:n_fixed], chosen[n_fixed:]
    left = rows.remaining(rows.sums(fixed))
    may = left.allowed
    may[fixed] = False
    free = np.flatnonzero(may)
    blocks = [block.cover(fixed).only(free) for block in blocks]
    found = relax(blocks, len(more)) if start is None else replace(start, beta=start.beta[free])
    if len(rows.names):
        found = relax_within(blocks, left.only(free), min(size - n_fixed, len(free)), found)
    return free, found


def _minimiser(blocks: Sequence[Block], squares: Sequence[Array], start: _At, lam: float) -> _At:
    """Nearly the minimiser at λ, from that at a larger λ.

    Only genes that may enter are looked at, by the sequential strong rule (Tibshirani et al. 2012).
    It can leave one out, which makes a bound less close and no less valid.
    """
    near = np.flatnonzero((start.beta > 0) | (-start.gradient >= 2.0 * lam - start.lam))
    solved = minimize(
        penalised([block.only(near) for block in blocks], lam),
        start.beta[near],
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(near),
        options={"maxiter": RULES.steps, "gtol": RULES.tolerance},
    )
    beta = np.zeros_like(start.beta)
    beta[near] = solved.x
    above = (2.0 * RULES.factor - 1.0) * lam
    return _At(*_evaluate_steep(blocks, squares, beta, above), beta, lam)


def _evaluate_steep(
    blocks: Sequence[Block], squares: Sequence[Array], beta: Array, above: float
) -> tuple[float, Array]:
    """``F(β)`` and its gradient, which is exact where it may be steeper than `above`.

    Elsewhere it is ``−‖E W E‖ ‖g_i‖²``, which is steeper than the gradient and keeps every bound
    valid where β = 0.  These are nearly all genes, and are not multiplied with anything.
    """
    inverses = [block.inverse(beta) for block in blocks]
    reach = np.zeros(len(beta))
    for block, inverse, square in zip(blocks, inverses, squares, strict=True):
        reach += block.steepest(inverse) * square
    some = np.flatnonzero((beta > 0) | (reach >= above))
    gradient = -reach
    gradient[some] = 0.0
    value = 0.0
    for block, inverse in zip(blocks, inverses, strict=True):
        value += float(block.weights @ np.diag(inverse))
        gradient[some] += block.only(some).gradient(inverse)
    return value, gradient


def _mixed(below: Array, above: Array, total: float) -> Array:
    """The mean of two solutions whose weights sum to `total`: as good as their mean, or better."""
    lesser, greater = below.sum(), above.sum()
    if greater <= total or greater == lesser:
        return above
    share = (total - lesser) / (greater - lesser)
    return np.asarray((1.0 - share) * below + share * above)
