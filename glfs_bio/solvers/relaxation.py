"""How far a panel is from the best possible: the choice of genes in parts, by an interior point.

    minimise F(β)  over  0 ≤ β ≤ 1,  A β ≤ b

F is convex, so that at any β and for every panel s of k genes ``F(s) ≥ F(β) + ∇F(β)ᵀ(s − β)``,
which is smallest for the k genes of steepest gradient: one gradient bounds panels of every size.

The first row of A counts genes; the others are upper limits, and lower ones with their signs
turned.  Newton steps for the optimality conditions with a duality measure μ that falls to zero,

    ∇F + Aᵀζ − ν⁻ + ν⁺ = 0,    A β + s = b,    ζ s = ν⁻ β = ν⁺ (1 − β) = μ,

take as many iterations for many genes as for few (Wright 1997, chapters 5 and 11), and each costs
the cube of their number.  Genes of weight 0 are many: they stay out of a working set while their
slope of the bound, which any β and ζ give, says that they would not come in.

What the bound says of single genes.  With multipliers ζ ≥ 0 of the limits

    F(s) ≥ F(β) + ∇F(β)ᵀ(s − β) + ζᵀ(A s − b) = ℓ + υᵀs,

and with a price ζ₀ ≥ 0 of each of at most k genes ``F(s) ≥ ℓ − ζ₀k + Σ_i s_i (υ_i + ζ₀)``.  The
right side is least, L, for all genes of negative reduced cost.  A panel that holds another gene, or
lacks one of these, pays that gene's reduced cost:

    holding gene i:  F(s) ≥ L + max(υ_i + ζ₀, 0),    lacking it:  F(s) ≥ L + max(−υ_i − ζ₀, 0).

Where that is above F of a panel that is known, gene i is in no best panel, or in every one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy.linalg import lapack

from ..criterion.error import Block, Linear, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from .constraints import Rows
    from .panel import Problem


#: Iterations, at most; a few suffice unless nothing is within the limits.
_STEPS = 50
#: Share of the way to the boundary of what stays positive, and of μ that one step leaves.
_NEAR, _CENTRE = 0.95, 0.15
#: Weights to begin with are so far within 0 and 1.
_INSIDE = 0.02
#: So much room each limit is given, as a share of it, so that there is an inside of ties.
_ROOM = 1e-6
#: Sizes of a working set: genes beside twice those asked for, and rounds of adding to it.
_MORE, _ROUNDS = 60, 8
#: Prices of limits grow beyond this, in units of the first slope, where nothing is within them.
_HUGE = 1e9
#: Weights stay so far within 0 and 1, and within limits, whatever rounding makes of them.
_TINY, _SMALL = 1e-9, float(np.finfo(float).tiny)
#: A weight that is zero, in the working set and in what is shown.
_ZERO, _NOTHING = 1e-6, 1e-4
#: F above its bound, as a share of F without genes, at the size asked for and at smaller ones.
_GAP, _ROUGH_GAP = 1e-5, 1e-3


class Relaxation(NamedTuple):
    """The choice of genes with weights between 0 and 1."""

    #: Bounds for panels of 1, 2, … genes within the upper limits, the last one within all limits.
    lower: Array
    #: Nearly best weights of the largest panel, shape (n_genes,).
    beta: Array
    #: Bounds for panels of the largest number that hold, or lack, each gene, shape (n_genes,).
    holding: Array
    lacking: Array


def relax(
    blocks: Sequence[Block],
    size: int,
    rows: Rows | None = None,
    *,
    n_sizes: int | None = None,
    alike: Rows | None = None,
) -> Relaxation:
    """Bound panels of 1 to `n_sizes` genes within limits, and return the weights of the largest.

    `blocks` are the criterion on each set of cells, with ``covered`` genes that every panel holds
    besides; `rows` is what limits leave beside these.  The panel that is judged has `n_sizes` genes
    (None: `size`), and its bound is that of panels of at most `size`.
    """
    n_genes = len(blocks[0].genes)
    n_sizes = size if n_sizes is None else n_sizes
    beta = np.zeros(n_genes)
    value, gradient, _ = evaluate(blocks, beta)
    lower = Linear(value, gradient).along(n_sizes)
    polytope = Polytope(np.ones((1, n_genes)), np.array([float(size)]))
    if rows is not None:
        polytope = Polytope.of(rows, size)
    is_upper, slopes = polytope.most >= 0, gradient
    for halvings in range(n_sizes.bit_length() - 1, 0, -1):
        smaller = n_sizes >> halvings
        most = np.append(float(smaller), polytope.most[is_upper][1:])
        limits = Polytope(polytope.matrix[is_upper], most)
        point = relaxed(blocks, limits, beta, gap=_ROUGH_GAP * value, slopes=slopes)
        lower = np.maximum(lower, point.bound.along(n_sizes))
        beta, slopes = point.beta, point.bound.slopes
    point = relaxed(blocks, polytope, beta, gap=_GAP * value, slopes=slopes)
    if alike is not None:
        broken = np.flatnonzero(alike.matrix @ without_zeros(point.beta) > alike.most)
        if len(broken):
            unit = alike.upper[broken]
            matrix = np.vstack([polytope.matrix, alike.matrix[broken].toarray() / unit[:, None]])
            polytope = Polytope(matrix, np.append(polytope.most, alike.most[broken] / unit))
            point = relaxed(blocks, polytope, point.beta, gap=_GAP * value)
    # Panels of fewer genes need to meet no lower limit.
    of_lower_limits = np.where(polytope.most >= 0, 0.0, -point.prices)
    of_upper_limits = point.bound.within(polytope.matrix, polytope.most, of_lower_limits)
    lower = np.maximum(lower, of_upper_limits.along(n_sizes))
    least = point.bound.least(size)
    lower[-1] = least if size > n_sizes else max(lower[-1], least)
    holding, lacking = point.bound.of_genes(size)
    weights = np.where((gradient < 0.0) & (point.beta > _NOTHING), point.beta, 0.0)
    return Relaxation(lower, weights, holding, lacking)


def relax_beside(
    problem: Problem, blocks: Sequence[Block], chosen: Index, size: int
) -> tuple[Index, Relaxation]:
    """Return genes that may join those that must be in, and a relaxed choice of `size` in all."""
    fixed, limits, alike = problem.fixed, None, None
    may_join = ~np.isin(np.arange(len(problem.genes)), fixed)
    if problem.limits is not None:
        limits = problem.limits.only(problem.genes).remaining(fixed)
        may_join &= limits.allowed
    if problem.alike:
        alike = problem.rows_alike.remaining(fixed)
        may_join &= alike.allowed
    genes = np.flatnonzero(may_join)
    relaxation = relax(
        [block.cover(fixed).only(genes) for block in blocks],
        min(size - len(fixed), len(genes)),
        None if limits is None else limits.only(genes),
        n_sizes=len(chosen) - len(fixed),
        alike=None if alike is None else alike.only(genes),
    )
    return genes, relaxation


class Polytope(NamedTuple):
    """Panels in parts, ``matrix @ β ≤ most``: by size first, then by limits in their units."""

    matrix: Array
    most: Array

    @classmethod
    def of(cls, rows: Rows, size: int) -> Self:
        """From the limits on panels of at most `size` genes."""
        total = rows.matrix.sum(axis=1)
        packs = np.flatnonzero((total > rows.upper) & (rows.upper > 0))
        covers = np.flatnonzero(rows.lower > 0)
        upper, lower = rows.upper[packs], rows.lower[covers]
        packed = rows.matrix[packs].toarray() / upper[:, None]
        covered = -rows.matrix[covers].toarray() / lower[:, None]
        matrix = np.concatenate([np.ones((1, rows.n_genes)), packed, covered])
        most = np.concatenate([[float(size)], rows.most[packs] / upper, -np.ones(len(covers))])
        return cls(matrix, most)

    def remaining(self, inside: Index, genes: Index) -> Polytope | None:
        """Return what limits leave to some genes where others are in, without rows that all of them
        fit; None where no panel is within the limits.
        """
        room = self.most - self.matrix[:, inside].sum(axis=1)
        matrix = self.matrix[:, genes]
        if (np.minimum(matrix, 0.0).sum(axis=1) > room + _ROOM).any():
            return None
        return Polytope(matrix, room).binding(np.arange(len(genes)))

    def binding(self, genes: Index) -> Polytope:
        """The number of genes, and the rows that some genes do not fit all together."""
        rows = np.maximum(self.matrix[:, genes], 0.0).sum(axis=1) > self.most
        rows[0] = True
        return Polytope(self.matrix[rows], self.most[rows])


class Point(NamedTuple):
    """β, F there, the prices ζ of the limits, and the bound that both give."""

    beta: Array
    value: float
    prices: Array
    bound: Linear


def relaxed(
    blocks: Sequence[Block],
    polytope: Polytope,
    start: Array,
    *,
    gap: float,
    enough: float = np.inf,
    slopes: Array | None = None,
) -> Point:
    """Nearly the best β, from a first guess with its `slopes` of F, and the bound it gives.

    It ends once F is above the bound by `gap` at most, or the bound reaches `enough`.  Where no
    panel is within the limits the bound grows without end.
    """
    size, n_genes = int(polytope.most[0]), len(start)
    working = np.arange(n_genes)
    if n_genes > 2 * (size + _MORE):
        working = np.flatnonzero(start > 0.0)  # of a similar problem
        covers = np.flatnonzero(polytope.most < 0)
        taken = polytope.matrix[np.ix_(covers, working)].sum(axis=1)
        if len(working) < size + _MORE // 2 or (taken >= polytope.most[covers]).any():
            slopes = evaluate(blocks, start)[1] if slopes is None else slopes
            working = np.union1d(working, _steepest(polytope, slopes, 2 * size + _MORE))
    for _ in range(_ROUNDS):
        is_all = len(working) == n_genes
        if is_all:
            weights, prices = _interior(blocks, polytope, start, gap, enough)
        else:
            of_working = Polytope(polytope.matrix[:, working], polytope.most)
            few = [block.only(working) for block in blocks]
            weights, prices = _interior(few, of_working, start[working], gap)
        beta = np.zeros(n_genes)
        beta[working] = weights
        value, gradient, _ = evaluate(blocks, beta)
        bound = Linear(float(value - gradient @ beta), gradient)
        bound = bound.within(polytope.matrix[1:], polytope.most[1:], prices[1:])
        point = Point(beta, value, prices, bound)
        least = point.bound.least(size)
        if is_all or least >= enough or value - least <= 2.0 * gap:
            break
        heavy = working[weights > _ZERO]
        steep = np.argsort(point.bound.slopes, kind="stable")[: len(heavy) + _MORE]
        larger = np.union1d(heavy, steep)
        if np.isin(larger, working).all():
            break
        working, start = larger, beta
    return point


def _steepest(polytope: Polytope, slopes: Array, n_genes: int) -> Index:
    """Return so many genes of steepest slopes, and as many as lower limits need."""
    steepest = np.argsort(slopes, kind="stable")
    chosen = [steepest[:n_genes]]
    for row in np.flatnonzero(polytope.most < 0):
        counted = steepest[polytope.matrix[row, steepest] < 0]
        met = np.cumsum(polytope.matrix[row, counted]) <= polytope.most[row]
        chosen.append(counted[: 2 * (np.argmax(met) + 1)])
    return np.concatenate(chosen)


def _interior(
    blocks: Sequence[Block], polytope: Polytope, start: Array, gap: float, enough: float = np.inf
) -> tuple[Array, Array]:
    """β and the prices whose bound is the largest of all iterations."""
    (matrix, most), n_genes = polytope, len(start)
    size = int(most[0])
    if not n_genes:  # all are in or out
        return start, np.zeros(len(most))
    beta = np.clip(start, _INSIDE, 1.0 - _INSIDE)
    beta *= min(1.0, (size - _INSIDE) / beta.sum())
    slack = np.maximum(most - matrix @ beta, _INSIDE)
    value, gradient, inverses = evaluate(blocks, beta)
    scale = float(np.abs(gradient).max()) or 1.0
    prices = np.full(len(most), 0.1 * scale)
    prices[0] = -np.partition(gradient, size - 1)[size - 1] if 0 < size < n_genes else 0.0
    prices = np.maximum(prices, 0.1 * scale * _INSIDE)
    lower, upper = 0.1 * scale / beta, 0.1 * scale / (1.0 - beta)
    best, best_point = -np.inf, (beta, np.zeros(len(most)))
    for _ in range(_STEPS):
        bound = Linear(float(value - gradient @ beta), gradient)
        least = bound.within(matrix[1:], most[1:], prices[1:]).least(size)
        if least > best:
            best, best_point = least, (beta, prices)
        over = matrix @ beta + slack - most - _ROOM
        is_near = value - best <= gap and np.abs(over).max() <= _INSIDE * gap + _ROOM
        if best >= enough or is_near or prices.max() > _HUGE * scale:
            break
        measure = _CENTRE * (prices @ slack + lower @ beta + upper @ (1.0 - beta))
        measure /= len(most) + 2 * n_genes
        pull = prices / slack
        curvature = sum(block.curvature(e) for block, e in zip(blocks, inverses, strict=True))
        system = curvature + (matrix.T * pull) @ matrix
        np.einsum("ii->i", system)[:] += lower / beta + upper / (1.0 - beta)
        residual = measure / beta - measure / (1.0 - beta) - gradient
        residual -= (measure / slack + pull * over) @ matrix
        _, step, failed = lapack.dposv(system, residual, lower=1, overwrite_a=1)
        if failed:
            break
        moved = matrix @ step
        d_slack = -over - moved
        d_prices = measure / slack - prices - pull * d_slack
        d_lower = measure / beta - lower - lower / beta * step
        d_upper = measure / (1.0 - beta) - upper + upper / (1.0 - beta) * step
        shares = np.concatenate([-step / beta, step / (1.0 - beta), -d_slack / slack])
        far = min(1.0, _NEAR / max(shares.max(), _SMALL))
        beta = np.clip(beta + far * step, _TINY, 1.0 - _TINY)
        slack = np.maximum(slack + far * d_slack, _TINY)
        shares = np.concatenate([-d_prices / prices, -d_lower / lower, -d_upper / upper])
        far = min(1.0, _NEAR / max(shares.max(), _SMALL))
        prices, lower, upper = prices + far * d_prices, lower + far * d_lower, upper + far * d_upper
        value, gradient, inverses = evaluate(blocks, beta)
    return best_point


def without_zeros(beta: Array) -> Array:
    """Return β without what is left of zeros."""
    return np.where(beta > _NOTHING, beta, 0.0)
