"""Ranking by a value that every gene has of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..selection._ranking import Ranking, without_ties

if TYPE_CHECKING:
    from typing import Any

    from .._typing import Array, Index


def by_value(values: Array, n_genes: int, include: Index, **info: Any) -> Ranking:
    """Largest value first, after the genes of `include`, which are in the same order.

    Weights are the values, scores too: those of `include` are lifted above all others.
    """
    lowest, highest = values.min(), values.max()
    scores = values.copy()
    scores[include] += 2.0 * (highest - lowest) + max(abs(highest), np.finfo(float).tiny)
    return Ranking(values, without_ties(scores), n_genes, info)


def below_all(values: Array, alive: Array) -> Array:
    """Give genes that are not `alive`, which have no value, one below all others."""
    lowest = values[alive].min()
    return np.where(alive, values, lowest - max(abs(lowest), 1.0))
