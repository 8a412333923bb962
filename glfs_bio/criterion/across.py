"""Maximin over batches: nearly the largest of the errors on several sets of cells.

The largest error ``max_b e_b`` has no use for what a gene gains on the other sets.  Genes are
chosen by the convex

    Ψ(e) = log(Σ_b exp(γ e_b)) / γ,        max_b e_b ≤ Ψ(e) ≤ max_b e_b + log(n_sets)/γ,

in which a set counts by ``π_b ∝ exp(γ e_b)``.  From e to e + Δ it moves by
``log(Σ_b π_b exp(γ Δ_b)) / γ``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp, softmax

if TYPE_CHECKING:
    from .._typing import Array


#: Where the sum falls by more than this share, its logarithm is exact.
_STEEP = -0.5


class Largest:
    """Ψ, which genes are chosen by where the worst set of cells counts.

    Parameters
    ----------
    levels
        Errors e of the sets of cells to begin with, shape (n_sets,).
    sharpness
        γ.
    """

    def __init__(self, levels: Array, sharpness: float) -> None:
        self.levels = levels.copy()
        self.sharpness = sharpness

    @property
    def weights(self) -> Array:
        """How much each set counts, shape (n_sets,); they sum to 1."""
        return np.asarray(softmax(self.sharpness * self.levels))

    def moved(self, changes: Array) -> Array:
        """By how much Ψ changes; several blocks of one set, one in n_sets, add up."""
        changes = changes.reshape(-1, len(self.levels), *changes.shape[1:]).sum(axis=0)
        powers = self.sharpness * changes
        grown = np.tensordot(self.weights, np.expm1(powers), axes=1)
        moved = np.log1p(np.maximum(grown, _STEEP))  # exact where hardly anything changes
        steep = np.asarray(grown < _STEEP)
        if steep.any():
            each = self.weights[:, None]
            moved = np.asarray(moved)
            moved[steep] = logsumexp(powers[:, steep].reshape(len(each), -1), axis=0, b=each)
        return np.asarray(moved / self.sharpness)

    def move(self, changes: Array) -> Array:
        """Move the levels, and return by how much Ψ changes."""
        moved = self.moved(changes)
        self.levels += changes.reshape(-1, len(self.levels)).sum(axis=0)
        return moved
