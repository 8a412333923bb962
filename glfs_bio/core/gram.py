"""Derivatives of the objectives from inner products of genes, for fewer genes than directions.

With the genes of a support as the rows of G, D the diagonal of their β, and
``C = D^½ (I + D^½ G Gᵀ D^½)⁻¹ D^½``, the Woodbury formula is ``E = I − GᵀCG``, and so ``G E = T G``
with ``T = I − G Gᵀ C``.  All that a Newton step needs is then products of T with inner products of
genes that do not change with β,

    G E Gᵀ = T (G Gᵀ),    G E W E Gᵀ = T (G W Gᵀ) Tᵀ,
    G E W E U E Gᵀ = T (G N Gᵀ − G W Gᵀ C G U Gᵀ) Tᵀ,

at the cost of a cube of the number of genes; the directions are nowhere in it.  N, W and U are
those of :mod:`~glfs_bio.core.variance`: N is WU, or W and U are zero and N is the identity.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigvalsh

from . import cholesky

if TYPE_CHECKING:
    from ._typing import Array, Index
    from .block import Block


class Grams:
    """Inner products of the genes of a support in the metrics of an objective.

    Attributes
    ----------
    block, support
        Where the genes are, and which they are.
    plain, left, right, outer
        ``G Gᵀ``, ``G W Gᵀ``, ``G U Gᵀ`` and ``G N Gᵀ``.  Those that are alike are one array, and
        for the mse, which has neither W nor U, all are.
    """

    def __init__(self, block: Block, support: Index) -> None:
        genes = block.genes[support]
        self.block, self.support = block, support
        self.mse = not block.left.any()
        self.flat = self.mse or bool((block.right == 1.0).all())
        self.plain = genes @ genes.T
        self.left = self.plain if self.mse else (genes * block.left) @ genes.T
        self.right = self.plain if self.flat else (genes * block.right) @ genes.T
        self.outer = self.left if self.flat else (genes * block.outer) @ genes.T

    def at(self, beta: Array) -> GramPoint:
        """Derivatives at β, given for the genes of the support."""
        return GramPoint(self, beta)

    def narrowed(self, among: Index) -> Grams:
        """The genes ``support[among]``."""
        narrow = object.__new__(Grams)
        narrow.block, narrow.support = self.block, self.support[among]
        narrow.mse, narrow.flat = self.mse, self.flat
        square = np.ix_(among, among)
        narrow.plain = self.plain[square]
        narrow.left = narrow.plain if self.mse else self.left[square]
        narrow.right = narrow.plain if self.flat else self.right[square]
        narrow.outer = narrow.left if self.flat else self.outer[square]
        return narrow


class GramPoint:
    """A block's derivatives at one β."""

    def __init__(self, grams: Grams, beta: Array) -> None:
        self.grams, self.beta = grams, beta
        root = np.sqrt(beta)
        gram = grams.plain * root * root[:, None]
        gram[np.diag_indices_from(gram)] += 1.0
        within = cholesky.inverse(gram)  # (I + D^½ G Gᵀ D^½)⁻¹
        self.covering = within * root * root[:, None]  # C
        self.trace = float(np.trace(within))
        # T = D^(-½) (I + D^½ G Gᵀ D^½)⁻¹ D^½ where β > 0: nothing cancels in that.
        light = beta <= 0
        root[light] = 1.0
        self.turn = within * root / root[:, None]  # T
        self.turn[:, light] = 0.0
        self.turn[light] = -grams.plain[light] @ self.covering
        self.turn[light, light] = 1.0

    @cached_property
    def _begun(self) -> Array:
        """``G E W Gᵀ``."""
        return np.asarray(self.turn @ self.grams.left)

    @cached_property
    def _weighed(self) -> Array:
        """``G E W E Gᵀ``."""
        return np.asarray(self._begun @ self.turn.T)

    @cached_property
    def _crossed(self) -> Array:
        """``G N Gᵀ − G W Gᵀ C G U Gᵀ``, which is ``G W E U Gᵀ``."""
        grams = self.grams
        return np.asarray(grams.outer - grams.left @ (self.covering @ grams.right))

    @property
    def value(self) -> float:
        """``φ(β)``, without the differences of large numbers of its definition."""
        grams = self.grams
        if grams.mse:
            return len(grams.block.left) - len(self.beta) + self.trace
        if grams.flat:
            return float(self.beta @ np.einsum("ij,ij->i", self._begun, self.turn))
        return float(np.sum(self.covering * self._crossed))

    @cached_property
    def support_gradient(self) -> Array:
        """``∂φ/∂β_i`` on the support."""
        if self.grams.mse:
            return np.asarray(-np.einsum("ij,ij->i", self._begun, self.turn))
        if self.grams.flat:
            weighed = self._weighed
            return np.asarray(2.0 * np.einsum("ij,ij->i", weighed, self.turn) - np.diag(weighed))
        crossed, outer = (self.turn @ part for part in (self._crossed, self.grams.outer))
        return np.asarray(np.einsum("ij,ij->i", 2.0 * crossed - outer, self.turn))

    @cached_property
    def _kernel(self) -> Array:
        """``G K_φ Gᵀ``."""
        if self.grams.mse:
            return -self._weighed
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
        elif not self.grams.mse:
            exact += self._weighed * (plain @ self.turn.T)
        exact = exact[square]
        return -(exact + exact.T), 2.0 * plain[square] * curved[square]

    def largest_drop(self, step: Array) -> float:
        """``−λ_min(E^½ ΔA E^½)``: the largest relative loss of a direction's weight in a step."""
        moving = step != 0
        half = cholesky.root(self._plain[np.ix_(moving, moving)])
        change = eigvalsh((half.T * step[moving]) @ half, subset_by_index=(0, 0))
        return float(-change[0])
