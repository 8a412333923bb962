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


#: λ falls by this factor from one β to the next; above ½, or the strong rule of
#: :func:`_minimiser` would leave no gene out.
_FACTOR = 0.65
#: Below this share of the first λ all genes that vary are in.
_SMALLEST = 1e-12
#: Halvings of the interval of λ in which the weights sum to the genes asked for.
_HALVINGS = 2
#: Steps of L-BFGS-B at one λ, and the violation of its optimality conditions, in units of λ.
_STEPS, _TOLERANCE = 60, 1e-2
#: Under limits: F above its bound, as a share of F without genes.
_GAP = 1e-5


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


class _Weights(NamedTuple):
    """β at one λ, and the bound of F that its tangent is."""

    bound: Linear
    beta: Array
    lam: float


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
    no_weights = np.zeros(len(blocks[0].genes))
    value, gradient = evaluate(blocks, no_weights)
    first = -float(gradient.min())
    below, above = _Weights(Linear(float(value), gradient), no_weights, first), None
    lower = below.bound.along(n_genes)
    enough = min(n_genes, int(np.count_nonzero(gradient)))
    halvings = 0
    while halvings < _HALVINGS and below.lam > _SMALLEST * first:
        lam = below.lam * _FACTOR
        if above is not None:
            lam, halvings = float(np.sqrt(below.lam * above.lam)), halvings + 1
        weights = _minimiser(blocks, squares, below, lam)
        lower = np.maximum(lower, weights.bound.along(n_genes))
        total = weights.beta.sum()
        log.info("bound at λ = %.4g: %.1f genes", lam, total, extra={"n_genes": int(total)})
        if total >= enough:
            above = weights
        else:
            below = weights
    beta = _interpolated(below.beta, (above or below).beta, n_genes)
    bound = _steep_bound(blocks, squares, beta, _FACTOR * below.lam)
    lower = np.maximum(lower, bound.along(n_genes))
    return Relaxation(lower, beta, *bound.of_genes(n_genes))


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
    gap = _GAP * sum(block.value(np.zeros(len(start.beta))) for block in blocks)
    point = relaxed(blocks, polytope, start.beta, gap=gap)
    lower = np.maximum(start.lower, point.within_upper(polytope).along(n_sizes))
    least = point.bound.least(size)
    lower[-1] = least if size > n_sizes else max(lower[-1], least)
    return Relaxation(lower, point.weights, *point.bound.of_genes(size))


def relax_beside(
    blocks: Sequence[Block],
    rows: Rows,
    chosen: Index,
    n_fixed: int,
    size: int,
    start: Relaxation | None = None,
) -> tuple[Index, Relaxation]:
    """Return the genes that may join the first of a panel, which had to be in, and their relaxed
    choice, of `size` genes with these; `start` is that of all genes without limits, or None.
    """
    fixed, n_more = chosen[:n_fixed], len(chosen) - n_fixed
    remaining = rows.remaining(rows.sums(fixed))
    genes = np.setdiff1d(np.flatnonzero(remaining.allowed), fixed)
    blocks = [block.cover(fixed).only(genes) for block in blocks]
    relaxation = relax(blocks, n_more) if start is None else replace(start, beta=start.beta[genes])
    if rows.names:
        most = min(size - n_fixed, len(genes))
        relaxation = relax_within(blocks, remaining.only(genes), most, relaxation)
    return genes, relaxation


def _minimiser(
    blocks: Sequence[Block], squares: Sequence[Array], start: _Weights, lam: float
) -> _Weights:
    """Return nearly the minimiser at λ, from that at a larger λ.

    Only genes that may enter are looked at, by the sequential strong rule (Tibshirani et al. 2012).
    It can leave one out, which makes a bound less close and no less valid.
    """
    may_enter = -start.bound.slopes >= 2.0 * lam - start.lam
    genes = np.flatnonzero((start.beta > 0) | may_enter)
    solved = minimize(
        penalised([block.only(genes) for block in blocks], lam),
        start.beta[genes],
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(genes),
        options={"maxiter": _STEPS, "gtol": _TOLERANCE},
    )
    beta = np.zeros_like(start.beta)
    beta[genes] = solved.x
    return _Weights(_steep_bound(blocks, squares, beta, (2.0 * _FACTOR - 1.0) * lam), beta, lam)


def _steep_bound(
    blocks: Sequence[Block], squares: Sequence[Array], beta: Array, above: float
) -> Linear:
    """Return the tangent of F at β, with a gradient that is exact where it may be above `above`.

    Elsewhere it is ``−‖E W E‖ ‖g_i‖²``, which is steeper than the gradient and keeps every bound
    valid where β = 0.  These are nearly all genes, and are not multiplied with anything.
    """
    inverses = [block.inverse(beta) for block in blocks]
    reach = np.zeros(len(beta))
    for block, inverse, square in zip(blocks, inverses, squares, strict=True):
        reach += block.steepest(inverse) * square
    steep = np.flatnonzero((beta > 0) | (reach >= above))
    gradient = -reach
    gradient[steep] = 0.0
    value = 0.0
    for block, inverse in zip(blocks, inverses, strict=True):
        value += float(block.weights @ np.diag(inverse))
        gradient[steep] += block.only(steep).gradient(inverse)
    return Linear(float(value - gradient @ beta), gradient)


def _interpolated(below: Array, above: Array, total: float) -> Array:
    """The mean of two solutions whose weights sum to `total`: as good as their mean, or better."""
    lesser, greater = below.sum(), above.sum()
    if greater <= total or greater == lesser:
        return above
    share = (total - lesser) / (greater - lesser)
    return np.asarray((1.0 - share) * below + share * above)
