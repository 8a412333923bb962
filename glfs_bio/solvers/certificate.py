"""What a linear bound says of each gene: that it is in every best panel, or in none.

With multipliers ζ ≥ 0 of limits ``A s ≤ b`` the tangent of F at any β bounds it for every panel s
within the limits,

    F(s) ≥ F(β) + ∇F(β)ᵀ(s − β) + ζᵀ(A s − b) = ℓ + υᵀs,

and with a price ζ₀ ≥ 0 of each of at most k genes ``F(s) ≥ ℓ − ζ₀k + Σ_i s_i (υ_i + ζ₀)``.  The
right side is least, L, for all genes of negative reduced cost.  A panel that holds another gene, or
lacks one of these, pays that gene's reduced cost:

    holding gene i:  F(s) ≥ L + max(υ_i + ζ₀, 0),    lacking it:  F(s) ≥ L + max(−υ_i − ζ₀, 0).

Where that is above F of a panel that is known, gene i is in no best panel, or in every one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array, Index

#: What a panel may lose to be nearly the best, as a share of what the best one preserves.
TOLERANCE = 0.005
#: Differences of F that count as rounding, as a share of F without genes: a statement must hold by
#: more.  Bounds in double and in extended precision differ by a millionth of it.
ROUNDING = 1e-9
#: What is known of a gene: it is in every panel that is nearly the best, that is open, or in none.
STATES = EVERY, OPEN, NONE = "every", "open", "none"


class Linear(NamedTuple):
    """``F(s) ≥ level + slopesᵀ s`` for every panel s of some kind."""

    level: float
    slopes: Array

    def along(self, n_sizes: int) -> Array:
        """The bounds of panels of at most 1, 2, … `n_sizes` genes, shape (n_sizes,)."""
        first = np.partition(self.slopes, n_sizes - 1)[:n_sizes] if n_sizes else self.slopes[:0]
        return np.asarray(self.level + np.cumsum(np.minimum(np.sort(first), 0.0)))

    def least(self, size: int) -> float:
        """The bound of panels of at most `size` genes."""
        slopes = self.slopes
        if 0 < size < len(slopes):
            slopes = np.partition(slopes, size - 1)
        return float(self.level + np.minimum(slopes[:size], 0.0).sum())

    def of_genes(self, size: int) -> tuple[Array, Array]:
        """The bounds of panels of at most `size` genes that hold each gene, and that lack it.

        The price of a gene is best where as many genes as asked for are worth it: between the last
        of these and the next one.
        """
        slopes, n_genes = self.slopes, len(self.slopes)
        ranks = [rank for rank in (size - 1, size) if 0 <= rank < n_genes]
        by_rank = np.partition(slopes, ranks) if ranks else slopes
        holding, lacking = np.full((2, n_genes), -np.inf)
        for rank in (size - 1, size):
            price = max(-by_rank[rank], 0.0) if rank in ranks else 0.0
            reduced = slopes + price
            level = self.level - price * size + np.minimum(reduced, 0.0).sum()
            np.maximum(holding, level + np.maximum(reduced, 0.0), out=holding)
            np.maximum(lacking, level + np.maximum(-reduced, 0.0), out=lacking)
        return holding, lacking


@dataclass(frozen=True)
class Certificates:
    """What is known of the genes of all panels that are nearly the best."""

    #: No panel that holds, or that lacks, each gene has less F; shape (n_genes,).
    holding: Array
    lacking: Array
    #: F of the best panel known, and without genes.
    error: float
    start: float

    def over(self, earlier: Certificates, genes: Index) -> Self:
        """Return these certificates of some genes, with earlier ones of these and all others.

        Bounds here are of panels of these genes alone: a panel that holds another one has that
        one's bound.
        """
        holding, lacking = earlier.holding.copy(), earlier.lacking.copy()
        beyond = np.delete(holding, genes).min(initial=np.inf)
        holding[genes] = np.maximum(holding[genes], np.minimum(self.holding, beyond))
        lacking[genes] = np.maximum(lacking[genes], np.minimum(self.lacking, beyond))
        return replace(self, holding=holding, lacking=lacking)

    def of(self, tolerance: float = 0.0) -> NDArray[np.str_]:
        """Return one of :data:`STATES` for each gene, for panels that lose at most `tolerance` of
        what the best panel known preserves.
        """
        return np.array(STATES)[self.codes(tolerance)]

    def codes(self, tolerance: float) -> NDArray[np.int8]:
        """Return the index of each gene's state in :data:`STATES`."""
        above = self.error + tolerance * (self.start - self.error) + ROUNDING * self.start
        codes = np.full(len(self.holding), STATES.index(OPEN), dtype=np.int8)
        codes[self.holding > above] = STATES.index(NONE)
        codes[self.lacking > above] = STATES.index(EVERY)
        return codes
