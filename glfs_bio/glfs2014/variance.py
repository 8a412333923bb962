"""The paper's objectives: value, gradient and Hessian.

Everything happens in the eigenbasis of ``K = VᵀBV``, where ``M = K⁻¹`` is the diagonal ``m`` and a
gene ``c_i`` (row of ``C = XᵀV``) becomes ``g_i = M^(-1/2) c_i``.  With ``A' = Σ β_i g_i g_iᵀ`` and
``E = (I + A')⁻¹`` both are one expression,

    φ(β) = Tr(N E) − Tr(N₁ E N₂ E),      N = N₁ N₂, N₁ and N₂ diagonal,

    =========  ==================  ========  =====  ======
    objective  what it is          N         N₁      N₂
    =========  ==================  ========  =====  ======
    exact      Tr Cov(w)           M         M      I
    printed    Tr(A (M+A)⁻² M²)    M         M²     M⁻¹
    =========  ==================  ========  =====  ======

so that one gradient and one Hessian serve both (equation (9) of the paper is the gradient where
matrices commute):

    Φ = E (N₁ E N₂ + N₂ E N₁ − N) E
    ∂φ/∂β_i      = g_iᵀ Φ g_i
    ∂²φ/∂β_i∂β_j = −2 [ (g_iᵀEg_j)(g_iᵀΦ g_j) + (g_iᵀEN₁Eg_j)(g_iᵀEN₂Eg_j) ].

For fewer genes than directions the same follows from inner products of genes.  With the genes of a
support as the rows of G, b the diagonal of their √β, and ``Ω = b (I + b G Gᵀ b)⁻¹ b``, the Woodbury
formula is ``E = I − GᵀΩG``, and so ``G E = Θ G`` with ``Θ = I − G Gᵀ Ω``.  All that a Newton step
needs is then products of Θ with inner products of genes that do not change with β,

    G E Gᵀ = Θ (G Gᵀ),    G E N₁ E Gᵀ = Θ (G N₁ Gᵀ) Θᵀ,
    G E N₁ E N₂ E Gᵀ = Θ (G N Gᵀ − G N₁ Gᵀ Ω G N₂ Gᵀ) Θᵀ,

at the cost of a cube of the number of genes; the directions are nowhere in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.linalg import blas, eigvalsh

from ..criterion import cholesky
from ..criterion.error import inverse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index


#: Genes whose products with a matrix stay in the processor's cache.
_AT_ONCE = 2048


@dataclass(frozen=True)
class Block:
    """φ on one set of cells."""

    #: ``g_i = M^(-1/2) c_i``, shape (n_genes, r)
    genes: Array
    #: ``N``, ``N₁`` and ``N₂``, shape (r,)
    outer: Array
    left: Array
    right: Array
    #: A' of the genes that every panel holds, shape (r, r)
    covered: Array

    def cover(self, include: Index, beta: Array) -> Self:
        """Fix the weights of some genes: A' keeps them, and they are weighed no more."""
        if not len(include):
            return self
        fixed = self.genes[include]
        rest = self.genes.copy()
        rest[include] = 0.0
        return replace(self, genes=rest, covered=self.covered + (fixed.T * beta) @ fixed)

    def restricted(self, support: Index) -> _Genes | Grams:
        """The genes of a support: as they are, or their inner products where they are few."""
        if len(support) < self.genes.shape[1] and not self.covered.any():
            return Grams.of(self, support)
        return _Genes(self, support, self.genes[support])


@dataclass(frozen=True)
class _Genes:
    """Genes of a block as they are, for more of them than directions."""

    block: Block
    support: Index
    genes: Array

    def at(self, beta: Array) -> _DensePoint:
        return _DensePoint(self.block, self.genes, beta)

    def narrowed(self, among: Index) -> _Genes | Grams:
        return self.block.restricted(self.support[among])


class _DensePoint:
    """A block's derivatives at one β, those of the genes `on_support`."""

    def __init__(self, block: Block, on_support: Array, beta: Array) -> None:
        self.block = block
        self.on_support = on_support
        heavy = beta > 0
        precision = block.covered + _gram(on_support[heavy].T, beta[heavy])  # A'
        cholesky.diagonal(precision)[:] += 1.0
        self.inverse = inverse(precision)  # E

    @cached_property
    def sandwich(self) -> Array:
        """``E N₂ E``."""
        return _gram(self.inverse, self.block.right)

    @cached_property
    def kernel(self) -> Array:
        """``Φ``, the matrix of the gradient's quadratic form."""
        e = self.inverse
        turn = (e * self.block.left) @ self.sandwich
        return np.asarray(turn + turn.T - _gram(e, self.block.outer))

    @property
    def value(self) -> float:
        e, block = self.inverse, self.block
        return float(block.outer @ np.diag(e) - np.sum(block.left * np.diag(self.sandwich)))

    @property
    def support_gradient(self) -> Array:
        """``∂φ/∂β_i`` on the support."""
        return self.gradient(self.on_support)

    def gradient(self, genes: Array) -> Array:
        # With Φ = half + halfᵀ, half triangular, gᵀΦg = 2 gᵀ half g: half the work.
        half = np.triu(self.kernel)
        cholesky.diagonal(half)[:] /= 2.0
        forms = np.empty(len(genes))
        for begin in range(0, len(genes), _AT_ONCE):
            some = genes[begin : begin + _AT_ONCE]
            turned = blas.dtrmm(2.0, half, some.T).T
            forms[begin : begin + _AT_ONCE] = np.einsum("ij,ij->i", turned, some)
        return forms

    def hessian(self, among: Index) -> tuple[Array, Array]:
        g, e, block = self.on_support[among], self.inverse, self.block
        ge = g @ e  # GE
        gram = ge @ g.T
        curved = _gram(ge, block.outer)  # G E N E Gᵀ
        weighed = curved if block.outer is block.left else _gram(ge, block.left)
        turn = ((ge * block.left) @ (e * block.right)) @ ge.T  # G E N₁ E N₂ E Gᵀ
        exact = turn + turn.T  # G Φ Gᵀ, and on: new arrays would take longer than these products
        exact -= curved
        exact *= gram
        exact += weighed * _gram(ge, block.right)
        exact *= -2.0
        gram *= 2.0
        gram *= curved
        return exact, gram

    def largest_drop(self, step: Array) -> float:
        """``−λ_min(E^½ ΔA E^½)``: the largest relative loss of a direction's weight in a step."""
        moving = step != 0
        half = cholesky.root(self.inverse).T @ self.on_support[moving].T
        change = eigvalsh(
            (half * step[moving]) @ half.T, subset_by_index=(0, 0), check_finite=False
        )
        return float(-change[0])


def _gram(genes: Array, weights: Array) -> Array:
    """``G diag(w) Gᵀ`` for w ≥ 0; NumPy takes half the time for a product with its transpose."""
    half = genes * np.sqrt(weights)
    return np.asarray(half @ half.T)


@dataclass(frozen=True)
class Grams:
    """Inner products of the genes of a support in the metrics of an objective."""

    #: Where the genes are, and which they are
    block: Block
    support: Index
    #: N₂ is the identity
    flat: bool
    #: ``G Gᵀ``, ``G N₁ Gᵀ``, ``G N₂ Gᵀ`` and ``G N Gᵀ``; equal ones are one array
    plain: Array
    left: Array
    right: Array
    outer: Array

    @classmethod
    def of(cls, block: Block, support: Index) -> Grams:
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
        within = inverse(gram)  # (I + b G Gᵀ b)⁻¹
        self.covering = within * root * root[:, None]  # Ω
        # Θ = b⁻¹ (I + b G Gᵀ b)⁻¹ b where β > 0: nothing cancels in that.
        light = beta <= 0
        root[light] = 1.0
        self.turn = within * root / root[:, None]  # Θ
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
        """``G N Gᵀ − G N₁ Gᵀ Ω G N₂ Gᵀ``, which is ``G N₁ E N₂ Gᵀ``."""
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
        """``G Φ Gᵀ``."""
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


class Variance:
    """``φ(β) = Σ_b φ_b(β)`` over one set of cells, or over several (batches)."""

    def __init__(self, *blocks: Block) -> None:
        #: One per set of cells, all over the same genes
        self.blocks = blocks

    @property
    def n_genes(self) -> int:
        """Number of genes, whatever their weights."""
        return len(self.blocks[0].genes)

    @property
    def rank(self) -> int:
        """Number of directions over all blocks."""
        return sum(block.genes.shape[1] for block in self.blocks)

    @property
    def squared_norms(self) -> Array:
        """``Σ_b ‖g_i‖²``, shape (n_genes,)."""
        return np.asarray(sum(np.einsum("ij,ij->i", b.genes, b.genes) for b in self.blocks))

    def at(self, beta: Array, support: Index | None = None) -> Point:
        """Evaluate at β, given for all genes or for the genes of `support` only."""
        if support is None:
            support = np.flatnonzero(beta)
            beta = beta[support]
        return Point([block.restricted(support) for block in self.blocks], beta, support)


class Point:
    """φ and its derivatives at one β (shape of `support`)."""

    def __init__(self, parts: Sequence[_Genes | Grams], beta: Array, support: Index) -> None:
        self.beta, self.support = beta, support
        self._parts = parts
        self._blocks = [genes.at(beta) for genes in parts]

    def moved(self, beta: Array) -> Point:
        """Evaluate at another β on the same support, which saves what depends on the genes only."""
        return Point(self._parts, beta, self.support)

    def narrowed(self, among: Index) -> Point:
        """Evaluate with the genes ``support[among]`` alone, at their present weights."""
        parts = [genes.narrowed(among) for genes in self._parts]
        return Point(parts, self.beta[among], self.support[among])

    @cached_property
    def value(self) -> float:
        """``φ(β)``."""
        return sum(block.value for block in self._blocks)

    @cached_property
    def gradient(self) -> Array:
        """``∂φ/∂β_i`` on the support."""
        return np.asarray(sum(block.support_gradient for block in self._blocks))

    def full_gradient(self) -> Array:
        """``∂φ/∂β_i`` for every gene, shape (n_genes,)."""
        total = np.zeros(len(self._parts[0].block.genes))
        for part in self._parts:
            block = part.block
            total += _DensePoint(block, block.genes[self.support], self.beta).gradient(block.genes)
        return total

    def hessian(self, among: Index) -> tuple[Array, Array]:
        """Hessian of the genes ``support[among]``, and its part that is always ⪰ 0."""
        exact, convex = zip(*(block.hessian(among) for block in self._blocks), strict=True)
        return reduce(np.add, exact), reduce(np.add, convex)

    def largest_drop(self, step: Array) -> float:
        """Largest relative loss of weight of any direction under ``β + step``."""
        return max(block.largest_drop(step) for block in self._blocks)
