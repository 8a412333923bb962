"""Greedy selection of genes by rank-one updates (He, Ji, Zhang & Bao 2011).

A gene enters with weight 1.  With ``u = E g`` the Sherman–Morrison formula gives

    E ← E − u uᵀ/(1 + gᵀu),

and what gene i would gain is known for all genes at once, at the cost of two matrix–vector products
a gene that enters:

    ===========  =======================  ======================================
    criterion    falls, or grows          gain of gene i
    ===========  =======================  ======================================
    trace        Tr(N E) falls            ``g_iᵀ E N E g_i / (1 + g_iᵀ E g_i)``
    determinant  log det(I + A') grows    ``log(1 + g_iᵀ E g_i)``
    ===========  =======================  ======================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._typing import Array, Index
    from .block import Block

CRITERIA = ("trace", "determinant")


class Greedy:
    """Genes one by one, each the one that gains most beside those before it.

    Parameters
    ----------
    blocks
        Whitened genes, one block per set of cells; N is their ``outer``.  Gains add up.
    criterion
        One of :data:`CRITERIA`.

    Attributes
    ----------
    picked : list of int
        Genes in the order in which they entered.
    gains : list of float
        What each of them gained.
    """

    def __init__(self, blocks: Sequence[Block], criterion: str = "trace") -> None:
        self._blocks = [_Covered.of(block) for block in blocks]
        self._criterion = criterion
        self._open = np.ones(len(blocks[0].genes), dtype=bool)
        self.picked: list[int] = []
        self.gains: list[float] = []

    @property
    def n_genes(self) -> int:
        """Number of genes to choose from."""
        return len(self._open)

    @property
    def value(self) -> float:
        """``Tr(N E)`` with the genes that have entered."""
        return sum(float(b.block.outer @ np.diag(b.inverse)) for b in self._blocks)

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
            self._open[gene] = allowed[gene] = False
            for block in self._blocks:
                block.enter(gene)

    @property
    def waiting(self) -> Array:
        """What each gene would gain next, shape (n_genes,)."""
        if self._criterion == "trace":
            return np.asarray(sum(b.curved / (1.0 + b.lengths) for b in self._blocks))
        return np.asarray(sum(np.log1p(b.lengths) for b in self._blocks))


@dataclass
class _Covered:
    """A block and what the genes that have entered leave of it."""

    block: Block
    inverse: Array  # E
    curved_inverse: Array  # E N E
    lengths: Array  # g_iᵀ E g_i
    curved: Array  # g_iᵀ E N E g_i

    @classmethod
    def of(cls, block: Block) -> _Covered:
        r = block.genes.shape[1]
        inverse = cho_solve(cho_factor(np.eye(r) + block.covered, lower=True), np.eye(r))
        curved = (inverse * block.outer) @ inverse
        quadratic = [np.einsum("ij,ij->i", block.genes @ e, block.genes) for e in (inverse, curved)]
        return cls(block, inverse, curved, *quadratic)

    def enter(self, gene: int) -> None:
        genes = self.block.genes
        u, v = self.inverse @ genes[gene], self.curved_inverse @ genes[gene]
        s, a = 1.0 + genes[gene] @ u, genes[gene] @ v
        gu, gv = genes @ u, genes @ v
        self.lengths -= gu**2 / s
        self.curved += gu * (a / s * gu - 2.0 * gv) / s
        uv = np.outer(u, v)
        self.inverse -= np.outer(u, u) / s
        self.curved_inverse += (a / s * np.outer(u, u) - uv - uv.T) / s
