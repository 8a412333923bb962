"""Greedy selection of genes by rank-one updates (He, Ji, Zhang & Bao 2011).

A gene enters with weight 1, or leaves.  With ``u = E g`` the Sherman–Morrison formula gives

    E ← E − u uᵀ/(1 + gᵀu)        entering,        E ← E + u uᵀ/(1 − gᵀu)        leaving,

and what gene i would gain is known for all genes at once, at the cost of one product of the genes
with two vectors for each that enters:

    ===========  =======================  ======================================
    criterion    falls, or grows          gain of gene i
    ===========  =======================  ======================================
    trace        Tr(W E) falls            ``g_iᵀ E W E g_i / (1 + g_iᵀ E g_i)``
    determinant  log det(I + A') grows    ``log(1 + g_iᵀ E g_i)``
    ===========  =======================  ======================================

Over several sets of cells errors add up, or the largest counts (:mod:`.across`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..criterion import cholesky
from .across import Across

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..criterion.error import Error

CRITERIA = ("trace", "determinant")


class Greedy:
    """Genes one by one, each the one that gains most beside those before it.

    Parameters
    ----------
    blocks
        The criterion on each set of cells.
    criterion
        One of :data:`CRITERIA`.
    across
        What becomes of the gains on several sets; None: they add up.

    Attributes
    ----------
    picked : list of int
        Genes in the order in which they entered.
    gains : list of float
        What each of them gained.
    """

    def __init__(
        self,
        blocks: Sequence[Error],
        criterion: str = "trace",
        *,
        across: Across | None = None,
    ) -> None:
        self._blocks = [_Measured(block) for block in blocks]
        self._criterion = criterion
        self._across = Across() if across is None else across
        self._open = np.ones(len(blocks[0].genes), dtype=bool)
        self.picked: list[int] = []
        self.gains: list[float] = []

    @property
    def n_genes(self) -> int:
        """Number of genes to choose from."""
        return len(self._open)

    def grow(self, n_genes: int, among: Index | None = None) -> None:
        """Let genes enter, those of `among` only if given, until there are `n_genes` or no more."""
        allowed = self._open.copy()
        if among is not None:
            allowed[np.setdiff1d(np.arange(len(allowed)), among)] = False
        while len(self.picked) < n_genes and allowed.any():
            gains = np.where(allowed, self.waiting, -np.inf)
            gene = int(np.argmax(gains))
            self.picked.append(gene)
            self.gains.append(float(gains[gene]))
            allowed[gene] = False
            self.enter(gene)

    def enter(self, gene: int) -> None:
        """Measure a gene."""
        self._open[gene] = False
        self._across.move(self._updated(gene, 1.0))

    def leave(self, gene: int) -> float:
        """Measure a gene no more; by how much Tr(W E) grows."""
        self._open[gene] = True
        return float(self._across.move(self._updated(gene, -1.0)))

    @property
    def waiting(self) -> Array:
        """What each gene would gain next, shape (n_genes,)."""
        if self._criterion == "trace":
            gains = np.array([b.curved / (1.0 + b.lengths) for b in self._blocks])
            return -self._across.moved(-gains)
        return np.asarray(sum(np.log1p(b.lengths) for b in self._blocks))

    def _updated(self, gene: int, sign: float) -> Array:
        return np.array([block.update(gene, sign) for block in self._blocks])


class _Measured:
    """A set of cells, and what is left open by the genes that have entered.

    Attributes
    ----------
    inverse, curved_inverse
        E and E W E.
    lengths, curved
        ``g_iᵀ E g_i`` and ``g_iᵀ E W E g_i``, shape (n_genes,).
    """

    def __init__(self, block: Error) -> None:
        self.genes = genes = block.genes
        self.inverse = cholesky.inverse(np.eye(genes.shape[1]) + block.covered)
        self.curved_inverse = (self.inverse * block.weights) @ self.inverse
        self.lengths, self.curved = (
            np.einsum("ij,ij->i", genes @ form, genes)
            for form in (self.inverse, self.curved_inverse)
        )

    def update(self, gene: int, sign: float) -> float:
        """A gene enters (1) or leaves (−1); by how much Tr(W E) changes."""
        g = self.genes[gene]
        u, v = self.inverse @ g, self.curved_inverse @ g
        s, a = 1.0 + sign * (g @ u), g @ v
        gu, gv = (self.genes @ np.column_stack([u, v])).T
        self.lengths -= sign * gu**2 / s
        self.curved += sign * gu * (sign * a / s * gu - 2.0 * gv) / s
        uu, uv = np.outer(u, u), np.outer(u, v)
        self.inverse -= sign * uu / s
        self.curved_inverse += sign * (sign * a / s * uu - uv - uv.T) / s
        return float(-sign * a / s)
