"""A panel: the answer of every method, with a weight and a score for each gene."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._typing import Array, Index
    from .criterion.criterion import Criterion
    from .solvers.certificate import Certificates
    from .solvers.prove import Proof

#: A gene adds nothing to a panel if less is lost without it than this share of the mean loss.
_NOTHING = 0.01


@dataclass(frozen=True)
class Panel:
    """The answer of every method: the best genes in order, with a score for every candidate."""

    #: The method's own weights, zero for what it left out; its scores where it has none.
    weights: Array
    #: One finite number a gene, larger is better, no two alike.
    scores: Array
    #: How many of the best genes are selected.
    n_selected: int
    #: Share of what all genes preserve that the first 1, 2, … genes preserve.
    preserved: Array = field(default_factory=lambda: np.empty(0))
    #: Lower bound on that share relative to the best panel of this size; NaN where nothing is left
    #: to preserve, and up to the genes that had to be in.  Under limits the best panel is the best
    #: within them: of the whole size with at most as many genes, of the beginnings within the upper
    #: limits.
    optimality: Array = field(default_factory=lambda: np.empty(0))
    #: What is known of the genes of all panels that are nearly the best; None: nothing.
    certificates: Certificates | None = None
    #: What was proven of it; None: no proof was asked for.
    proof: Proof | None = None
    #: What is lost without each selected gene, as a share of what all genes preserve; else zero.
    losses: Array = field(default_factory=lambda: np.empty(0))
    #: What else the method has to say, ready to be written to a file.
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> Index:
        """Genes from best to worst."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def ranks(self) -> Index:
        """Rank of every gene, 1 for the best."""
        ranks = np.empty(len(self.scores), dtype=np.intp)
        ranks[self.order] = np.arange(1, len(self.scores) + 1)
        return ranks


def picked(order: Sequence[int], gains: Array, **fields: Any) -> Panel:
    """Return the panel of genes that were picked one by one, from what the others would gain."""
    return Panel(scores=without_ties(in_order(order, gains)), **fields)


def measured(panel: Panel, criterion: Criterion, candidates: Index) -> Panel:
    """Return the panel of some candidates with preserved shares and losses."""
    chosen = panel.order[: panel.n_selected]
    losses = np.zeros(len(candidates))
    losses[chosen] = criterion.losses(candidates[chosen])
    return replace(panel, losses=losses, preserved=criterion.preserved(candidates[chosen]))


def adds_nothing(losses: Array) -> NDArray[np.bool_]:
    """Return whether each gene of a panel adds nothing, by the losses of all."""
    return np.asarray(losses <= _NOTHING * losses.mean())


def by_value(values: Array, n_genes: int, include: Index, **info: Any) -> Panel:
    """Return the panel of the largest values, after `include`, whose genes are in the same order.

    Weights are the values, scores too: those of `include` are lifted above all others.
    """
    lowest, highest = values.min(), values.max()
    scores = values.copy()
    scores[include] += 2.0 * (highest - lowest) + max(abs(highest), np.finfo(float).tiny)
    return Panel(values, without_ties(scores), n_genes, info=info)


def in_order(picked: Sequence[int] | Index, waiting: Array) -> Array:
    """Return scores of genes that were picked one by one: 1 + (place from the end)/n.

    Those of the others are what they would gain next, relative to the best of these.
    """
    scores = waiting / max(np.delete(waiting, picked).max(initial=0.0), np.finfo(float).tiny)
    scores[picked] = 2.0 - np.arange(len(picked)) / len(picked)
    return np.asarray(scores)


def without_ties(scores: Array) -> Array:
    """Spread equal scores, in the order of the genes, over half the gap to the next lower one."""
    levels, level, counts = np.unique(scores, return_inverse=True, return_counts=True)
    gaps = np.diff(levels, prepend=levels[0] - max(1.0, abs(levels[0])))
    order = np.argsort(level, kind="stable")
    firsts = np.cumsum(counts) - counts
    position = np.empty(len(scores))
    position[order] = np.arange(len(scores)) - firsts[level[order]]
    spread = scores - 0.5 * gaps[level] * position / counts[level]
    best_first = np.argsort(-spread, kind="stable")
    spread[best_first] = _strictly_falling(spread[best_first])
    return np.asarray(spread)


def _strictly_falling(values: Array) -> Array:
    """Return the nearest numbers below or equal to sorted ones so that no two are alike.

    Bits of floating-point numbers, read as integers, are in the order of the numbers.
    """
    lowest, positions = np.int64(np.iinfo(np.int64).min), np.arange(len(values))
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    steps = np.where(bits < 0, lowest - bits, bits)
    steps = np.minimum.accumulate(steps + positions) - positions
    return np.where(steps < 0, lowest - steps, steps).view(np.float64)
