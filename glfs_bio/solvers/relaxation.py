"""The choice of genes in parts, under linear limits, by an interior-point method.

    minimise F(β)  over  0 ≤ β ≤ 1,  A β ≤ b

The first row of A counts genes; the others are upper limits, and lower ones with their signs
turned.  Newton steps for the optimality conditions with a duality measure μ that falls to zero,

    ∇F + Aᵀζ − ν⁻ + ν⁺ = 0,    A β + s = b,    ζ s = ν⁻ β = ν⁺ (1 − β) = μ,

take as many iterations for many genes as for few (Wright 1997, chapters 5 and 11), and each costs
the cube of their number.  Genes of weight 0 are many: they stay out of a working set while their
slope of the bound, which any β and ζ give (:mod:`.certificate`), says that they would not come in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy.linalg import lapack

from ..criterion.error import evaluate
from .certificate import Linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..criterion.error import Block
    from .constraints import Rows

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
#: A weight that is zero, in the working set and in what is shown.
_ZERO, _NOTHING = 1e-6, 1e-4


@dataclass(frozen=True)
class Polytope:
    """Panels in parts within limits: ``matrix @ β ≤ most``, the number of genes first.

    Rows are in units of their limits.
    """

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
        """Return what limits leave to some genes where others are in; None where no panel is within
        them.

        Rows that all of the genes fit are left out.
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

    def only(self, genes: Index) -> Polytope:
        """The same rows of some of the genes."""
        return Polytope(self.matrix[:, genes], self.most)

    @property
    def size(self) -> int:
        """Most genes."""
        return int(self.most[0])

    def bound(self, value: float, gradient: Array, beta: Array, prices: Array) -> Linear:
        """The linear bound of F, of the tangent at β and prices ζ of the limits."""
        level = value - gradient @ beta - prices[1:] @ self.most[1:]
        return Linear(float(level), gradient + prices[1:] @ self.matrix[1:])


class Point(NamedTuple):
    """β, F there, the prices ζ of the limits, and the bound that both give."""

    beta: Array
    value: float
    prices: Array
    bound: Linear

    @property
    def weights(self) -> Array:
        """β without what is left of zeros."""
        return np.where(self.beta > _NOTHING, self.beta, 0.0)

    def within_upper(self, polytope: Polytope) -> Linear:
        """The bound of panels that need to meet no lower limit."""
        prices = np.where(polytope.most > 0, self.prices, 0.0) - self.prices
        level = self.bound.level - float(prices @ polytope.most)
        return Linear(level, self.bound.slopes + prices @ polytope.matrix)


def relaxed(
    blocks: Sequence[Block], polytope: Polytope, start: Array, *, gap: float, enough: float = np.inf
) -> Point:
    """Nearly the best β, from a first guess, and the bound it gives.

    It ends once F is above the bound by `gap` at most, or the bound reaches `enough`.  Where no
    panel is within the limits the bound grows without end.
    """
    size, n_genes = polytope.size, len(start)
    working = np.arange(n_genes)
    if n_genes > 2 * (size + _MORE):
        working = _first_working_set(blocks, polytope, start)
    for _ in range(_ROUNDS):
        is_all = len(working) == n_genes
        weights, prices = _interior(
            blocks if is_all else [block.only(working) for block in blocks],
            polytope if is_all else polytope.only(working),
            start[working],
            gap=gap,
            enough=enough if is_all else np.inf,
        )
        beta = np.zeros(n_genes)
        beta[working] = weights
        value, gradient = evaluate(blocks, beta)
        point = Point(beta, value, prices, polytope.bound(value, gradient, beta, prices))
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


def _first_working_set(blocks: Sequence[Block], polytope: Polytope, start: Array) -> Index:
    """A first working set: that of a similar problem, of which every gene has some weight, or the
    steepest genes, and as many as lower limits need.
    """
    similar = np.flatnonzero(start > 0.0)
    if len(similar) >= polytope.size + _MORE // 2:
        return similar
    _, gradient = evaluate(blocks, start)
    steepest = np.argsort(gradient, kind="stable")
    chosen = [similar, steepest[: 2 * polytope.size + _MORE]]
    for row in np.flatnonzero(polytope.most < 0):
        counted = steepest[polytope.matrix[row, steepest] < 0]
        met = np.cumsum(polytope.matrix[row, counted]) <= polytope.most[row]
        chosen.append(counted[: 2 * (np.argmax(met) + 1)])
    return np.unique(np.concatenate(chosen))


def _interior(
    blocks: Sequence[Block], polytope: Polytope, start: Array, *, gap: float, enough: float
) -> tuple[Array, Array]:
    """β and the prices whose bound is the largest of all iterations."""
    matrix, most, size, n_genes = polytope.matrix, polytope.most, polytope.size, len(start)
    beta = np.clip(start, _INSIDE, 1.0 - _INSIDE)
    beta *= min(1.0, (size - _INSIDE) / beta.sum())
    slack = np.maximum(most - matrix @ beta, _INSIDE)
    best, best_point = -np.inf, (beta, np.zeros(len(most)))
    prices = np.zeros(0)
    for _ in range(_STEPS):
        value, gradient, curvature = _second_order(blocks, beta)
        if not len(prices):
            scale = float(np.abs(gradient).max()) or 1.0
            prices = np.full(len(most), 0.1 * scale)
            prices[0] = -np.partition(gradient, size - 1)[size - 1] if 0 < size < n_genes else 0.0
            prices = np.maximum(prices, 0.1 * scale * _INSIDE)
            lower, upper = 0.1 * scale / beta, 0.1 * scale / (1.0 - beta)
        least = polytope.bound(value, gradient, beta, prices).least(size)
        if least > best:
            best, best_point = least, (beta, prices)
        over = matrix @ beta + slack - most - _ROOM
        if best >= enough or (value - best <= gap and np.abs(over).max() <= _INSIDE * gap + _ROOM):
            break
        measure = _CENTRE * (prices @ slack + lower @ beta + upper @ (1.0 - beta))
        measure /= len(most) + 2 * n_genes
        pull = prices / slack
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
        far = _longest_step((-step / beta, step / (1.0 - beta), -d_slack / slack))
        beta, slack = beta + far * step, slack + far * d_slack
        far = _longest_step((-d_prices / prices, -d_lower / lower, -d_upper / upper))
        prices, lower, upper = prices + far * d_prices, lower + far * d_lower, upper + far * d_upper
    return best_point


def _second_order(blocks: Sequence[Block], beta: Array) -> tuple[float, Array, Array]:
    """F, its gradient and its second derivatives, over all sets of cells."""
    value, gradient, curvature = 0.0, np.zeros(len(beta)), np.zeros((len(beta), len(beta)))
    for block in blocks:
        inverse = block.inverse(beta)
        value += float(block.weights @ np.diag(inverse))
        gradient += block.gradient(inverse)
        curvature += block.curvature(inverse)
    return value, gradient, curvature


def _longest_step(shares: tuple[Array, ...]) -> float:
    """The longest step that leaves all positive."""
    return float(min(1.0, _NEAR / max(max(share.max() for share in shares), np.finfo(float).tiny)))
