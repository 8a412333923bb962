"""The answer of every method: a weight and a score for each gene."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._typing import Array, Index
    from .criterion.criterion import Criterion


@dataclass(frozen=True)
class Ranking:
    """Result of a method."""

    #: The method's own, zero for what it left out; its scores where it has none
    weights: Array
    #: One finite number per gene, larger is better, all different
    scores: Array
    #: Number of selected genes, the best ones
    n_selected: int
    #: More results, ready to be written to a file
    info: dict[str, Any] = field(default_factory=dict)
    #: What the selection loses without each of its genes, zero for the others, as a share of what
    #: all genes preserve; empty until it is measured
    losses: Array = field(default_factory=lambda: np.empty(0))

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


def measured(ranking: Ranking, criterion: Criterion, candidates: Index) -> Ranking:
    """Return the ranking of the candidates with preserved shares and losses."""
    chosen = ranking.order[: ranking.n_selected]
    losses = np.zeros(len(candidates))
    losses[chosen] = criterion.losses(candidates[chosen])
    preserved = criterion.preserved(candidates[chosen])
    return replace(ranking, losses=losses, info={**ranking.info, "preserved": preserved})


def by_value(values: Array, n_genes: int, include: Index, **info: Any) -> Ranking:
    """Largest value first, after the genes of `include`, which are in the same order.

    Weights are the values, scores too: those of `include` are lifted above all others.
    """
    lowest, highest = values.min(), values.max()
    scores = values.copy()
    scores[include] += 2.0 * (highest - lowest) + max(abs(highest), np.finfo(float).tiny)
    return Ranking(values, without_ties(scores), n_genes, info)


def in_order(picked: Sequence[int] | Index, waiting: Array) -> Array:
    """Scores of genes that were picked one by one: 1 + (place from the end)/n.

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
    place = np.empty(len(scores))
    place[order] = np.arange(len(scores)) - firsts[level[order]]
    spread = scores - 0.5 * gaps[level] * place / counts[level]
    best_first = np.argsort(-spread, kind="stable")
    spread[best_first] = _strictly_falling(spread[best_first])
    return np.asarray(spread)


def _strictly_falling(values: Array) -> Array:
    """The nearest numbers below or equal to sorted ones so that no two are alike.

    Bits of floating-point numbers, read as integers, are in the order of the numbers.
    """
    lowest, places = np.int64(np.iinfo(np.int64).min), np.arange(len(values))
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    steps = np.where(bits < 0, lowest - bits, bits)
    steps = np.minimum.accumulate(steps + places) - places
    return np.where(steps < 0, lowest - steps, steps).view(np.float64)
