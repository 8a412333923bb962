"""Derivatives of the objectives from inner products of genes, for fewer genes than directions.

With the genes of a support as the rows of G, D the diagonal of their β, and
``C = D^½ (I + D^½ G Gᵀ D^½)⁻¹ D^½``, the Woodbury formula is ``E = I − GᵀCG``, and so ``G E = T G``
with ``T = I − G Gᵀ C``.  All that a Newton step needs is then products of T with inner products of
genes that do not change with β,

    G E Gᵀ = T (G Gᵀ),    G E N₁ E Gᵀ = T (G N₁ Gᵀ) Tᵀ,
    G E N₁ E N₂ E Gᵀ = T (G N Gᵀ − G N₁ Gᵀ C G N₂ Gᵀ) Tᵀ,

at the cost of a cube of the number of genes; the directions are nowhere in it.  N, N₁ and N₂ are
those of :mod:`~glfs_bio.glfs2014.variance`, and N is N₁N₂.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigvalsh

from ..criterion import cholesky
from ..criterion.error import inverse

if TYPE_CHECKING:
    from .._typing import Array, Index
    from .variance import Variance


@dataclass(frozen=True)
class Grams:
    """Inner products of the genes of a support in the metrics of an objective.

    Attributes
    ----------
    block, support
        Where the genes are, and which they are.
    flat
        Whether N₂ is the identity.
    plain, left, right, outer
        ``G Gᵀ``, ``G N₁ Gᵀ``, ``G N₂ Gᵀ`` and ``G N Gᵀ``.  Those that are alike are one array.
    """

    block: Variance
    support: Index
    flat: bool
    plain: Array
    left: Array
    right: Array
    outer: Array

    @classmethod
    def of(cls, block: Variance, support: Index) -> Grams:
        """Of some genes of a block."""
        genes = block.genes[support]
        flat = bool((block.right == 1.0).all())
        plain, left = genes @ genes.T, (genes * block.left) @ genes.T
        if flat:
            return cls(block, support, flat, plain, left, plain, left)
        right, outer = ((genes * metric) @ genes.T for metric in (block.right, block.outer))
        return cls(block, support, flat, plain, left, right, outer)

    def at(self, beta: Array) -> GramPoint:
        """Derivatives at β, given for the genes of the support."""
        return GramPoint(self, beta)

    def narrowed(self, among: Index) -> Grams:
        """The genes ``support[among]``."""
        square = np.ix_(among, among)
        plain, left = self.plain[square], self.left[square]
        right = plain if self.flat else self.right[square]
        outer = left if self.flat else self.outer[square]
        return Grams(self.block, self.support[among], self.flat, plain, left, right, outer)


class GramPoint:
    """A block's derivatives at one β."""

    def __init__(self, grams: Grams, beta: Array) -> None:
        self.grams, self.beta = grams, beta
        root = np.sqrt(beta)
        gram = grams.plain * root * root[:, None]
        gram[np.diag_indices_from(gram)] += 1.0
        within = inverse(gram)  # (I + D^½ G Gᵀ D^½)⁻¹
        self.covering = within * root * root[:, None]  # C
        # T = D^(-½) (I + D^½ G Gᵀ D^½)⁻¹ D^½ where β > 0: nothing cancels in that.
        light = beta <= 0
        root[light] = 1.0
        self.turn = within * root / root[:, None]  # T
        self.turn[:, light] = 0.0
        self.turn[light] = -grams.plain[light] @ self.covering
        self.turn[light, light] = 1.0

    @cached_property
    def _begun(self) -> Array:
        """``G E N₁ Gᵀ``."""
        return np.asarray(self.turn @ self.grams.left)

    @cached_property
    def _weighed(self) -> Array:
        """``G E N₁ E Gᵀ``."""
        return np.asarray(self._begun @ self.turn.T)

    @cached_property
    def _crossed(self) -> Array:
        """``G N Gᵀ − G N₁ Gᵀ C G N₂ Gᵀ``, which is ``G N₁ E N₂ Gᵀ``."""
        grams = self.grams
        return np.asarray(grams.outer - grams.left @ (self.covering @ grams.right))

    @property
    def value(self) -> float:
        """``φ(β)``, without the differences of large numbers of its definition."""
        grams = self.grams
        if grams.flat:
            return float(self.beta @ np.einsum("ij,ij->i", self._begun, self.turn))
        return float(np.sum(self.covering * self._crossed))

    @cached_property
    def support_gradient(self) -> Array:
        """``∂φ/∂β_i`` on the support."""
        if self.grams.flat:
            weighed = self._weighed
            return np.asarray(2.0 * np.einsum("ij,ij->i", weighed, self.turn) - np.diag(weighed))
        crossed, outer = (self.turn @ part for part in (self._crossed, self.grams.outer))
        return np.asarray(np.einsum("ij,ij->i", 2.0 * crossed - outer, self.turn))

    @cached_property
    def _kernel(self) -> Array:
        """``G K_φ Gᵀ``."""
        if self.grams.flat:
            turned = self._weighed @ self.turn.T
            return np.asarray(turned + turned.T - self._weighed)
        middle = self._crossed + self._crossed.T - self.grams.outer
        return np.asarray(self.turn @ middle @ self.turn.T)

    @cached_property
    def _plain(self) -> Array:
        """``G E Gᵀ``."""
        plain = self.turn @ self.grams.plain
        return np.asarray((plain + plain.T) / 2.0)

    def hessian(self, among: Index) -> tuple[Array, Array]:
        """Hessian of the genes ``support[among]``, and its part that is always ⪰ 0."""
        square = np.ix_(among, among)
        plain, curved = self._plain, self._weighed
        exact = plain * self._kernel
        if not self.grams.flat:
            curved = self.turn @ self.grams.outer @ self.turn.T
            exact += self._weighed * (self.turn @ self.grams.right @ self.turn.T)
        else:
            exact += self._weighed * (plain @ self.turn.T)
        exact = exact[square]
        return -(exact + exact.T), 2.0 * plain[square] * curved[square]

    def largest_drop(self, step: Array) -> float:
        """``−λ_min(E^½ ΔA E^½)``: the largest relative loss of a direction's weight in a step."""
        moving = step != 0
        half = cholesky.root(self._plain[np.ix_(moving, moving)])
        change = eigvalsh((half.T * step[moving]) @ half, subset_by_index=(0, 0))
        return float(-change[0])
