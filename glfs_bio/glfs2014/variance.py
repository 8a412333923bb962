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
from scipy.linalg import blas, eigvalsh, lapack

from ..criterion.error import inverse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index


#: Genes whose products with a matrix stay in the processor's cache.
_AT_ONCE = 2048


def diagonal(matrix: Array) -> Array:
    """View of the diagonal that can be written to."""
    return np.asarray(np.einsum("ii->i", matrix))


def root(matrix: Array) -> Array:
    """F with ``F Fᵀ`` = `matrix`, which is ⪰ 0 but for rounding."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        weights, basis = np.linalg.eigh(matrix)
        return np.asarray(basis * np.sqrt(np.maximum(weights, 0.0)))
    return np.asarray(factor)


@dataclass(frozen=True)
class Phi:
    """φ on one set of cells."""

    #: ``g_i = M^(-1/2) c_i``, shape (n_genes, r).
    genes: Array
    #: ``N``, ``N₁`` and ``N₂``, shape (r,).
    outer: Array
    left: Array
    right: Array
    #: What A' holds besides the genes that are weighed, shape (r, r).
    covered: Array

    def cover(self, include: Index, beta: Array) -> Self:
        """Fix the weights of some genes: A' keeps them, and they are weighed no more."""
        if not len(include):
            return self
        fixed = self.genes[include]
        rest = self.genes.copy()
        rest[include] = 0.0
        return replace(self, genes=rest, covered=self.covered + (fixed.T * beta) @ fixed)

    def at(self, support: Index, beta: Array) -> _DensePoint | GramPoint:
        """Derivatives at β of the genes of a support: by inner products where these are few."""
        if len(support) < self.genes.shape[1] and not self.covered.any():
            return GramPoint(Grams.of(self, support), beta)
        return _DensePoint(self, support, self.genes[support], beta)


class _DensePoint:
    """φ and its derivatives on one set of cells, by the genes of a support as they are."""

    def __init__(self, phi: Phi, support: Index, on_support: Array, beta: Array) -> None:
        self.phi, self.support, self.on_support = phi, support, on_support
        heavy = beta > 0
        precision = phi.covered + _gram(on_support[heavy].T, beta[heavy])  # A'
        diagonal(precision)[:] += 1.0
        self.inverse = inverse(precision)  # E

    def moved(self, beta: Array) -> _DensePoint:
        """The same genes at another β."""
        return _DensePoint(self.phi, self.support, self.on_support, beta)

    def narrowed(self, among: Index, beta: Array) -> _DensePoint | GramPoint:
        """The genes ``support[among]``, at their β."""
        return self.phi.at(self.support[among], beta)

    @cached_property
    def sandwich(self) -> Array:
        """``E N₂ E``."""
        return _gram(self.inverse, self.phi.right)

    @cached_property
    def kernel(self) -> Array:
        """``Φ``, the matrix of the gradient's quadratic form."""
        e = self.inverse
        turn = (e * self.phi.left) @ self.sandwich
        return np.asarray(turn + turn.T - _gram(e, self.phi.outer))

    @property
    def value(self) -> float:
        e, phi = self.inverse, self.phi
        return float(phi.outer @ np.diag(e) - np.sum(phi.left * np.diag(self.sandwich)))

    @property
    def support_gradient(self) -> Array:
        """``∂φ/∂β_i`` on the support."""
        return self.gradient(self.on_support)

    def gradient(self, genes: Array) -> Array:
        # With Φ = half + halfᵀ, half triangular, gᵀΦg = 2 gᵀ half g: half the work.
        half = np.triu(self.kernel)
        diagonal(half)[:] /= 2.0
        forms = np.empty(len(genes))
        for begin in range(0, len(genes), _AT_ONCE):
            block = genes[begin : begin + _AT_ONCE]
            turned = blas.dtrmm(2.0, half, block.T).T
            forms[begin : begin + _AT_ONCE] = np.einsum("ij,ij->i", turned, block)
        return forms

    def hessian(self, among: Index) -> tuple[Array, Array]:
        g, e, phi = self.on_support[among], self.inverse, self.phi
        ge = g @ e  # GE
        gram = ge @ g.T
        curved = _gram(ge, phi.outer)  # G E N E Gᵀ
        weighed = curved if phi.outer is phi.left else _gram(ge, phi.left)
        turn = ((ge * phi.left) @ (e * phi.right)) @ ge.T  # G E N₁ E N₂ E Gᵀ
        exact = turn + turn.T  # G Φ Gᵀ, and on: new arrays would take longer than these products
        exact -= curved
        exact *= gram
        exact += weighed * _gram(ge, phi.right)
        exact *= -2.0
        gram *= 2.0
        gram *= curved
        return exact, gram

    def largest_drop(self, step: Array) -> float:
        """``−λ_min(E^½ ΔA E^½)``: the largest relative loss of a direction's weight in a step."""
        moving = step != 0
        half = root(self.inverse).T @ self.on_support[moving].T
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
    """Inner products of the genes of a support in the metrics of an objective.

    Those that are alike are one array.
    """

    phi: Phi
    support: Index
    #: Whether N₂ is the identity.
    flat: bool
    #: ``G Gᵀ``, ``G N₁ Gᵀ``, ``G N₂ Gᵀ`` and ``G N Gᵀ``.
    plain: Array
    left: Array
    right: Array
    outer: Array

    @classmethod
    def of(cls, phi: Phi, support: Index) -> Grams:
        """Of some genes of a phi."""
        genes = phi.genes[support]
        flat = bool((phi.right == 1.0).all())
        plain, left = genes @ genes.T, (genes * phi.left) @ genes.T
        if flat:
            return cls(phi, support, flat, plain, left, plain, left)
        right, outer = ((genes * metric) @ genes.T for metric in (phi.right, phi.outer))
        return cls(phi, support, flat, plain, left, right, outer)

    def narrowed(self, among: Index) -> Grams:
        """The genes ``support[among]``."""
        square = np.ix_(among, among)
        plain, left = self.plain[square], self.left[square]
        right = plain if self.flat else self.right[square]
        outer = left if self.flat else self.outer[square]
        return Grams(self.phi, self.support[among], self.flat, plain, left, right, outer)


class GramPoint:
    """φ and its derivatives on one set of cells, by inner products of the genes of a support."""

    def __init__(self, grams: Grams, beta: Array) -> None:
        self.phi, self.grams, self.beta = grams.phi, grams, beta
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

    def moved(self, beta: Array) -> GramPoint:
        """The same genes at another β."""
        return GramPoint(self.grams, beta)

    def narrowed(self, among: Index, beta: Array) -> GramPoint:
        """The genes ``support[among]``, at their β."""
        return GramPoint(self.grams.narrowed(among), beta)

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
        half = root(self._plain[np.ix_(moving, moving)])
        change = eigvalsh((half.T * step[moving]) @ half, subset_by_index=(0, 0))
        return float(-change[0])


class Variance:
    """``φ(β) = Σ_b φ_b(β)`` over one set of cells, or over several (batches)."""

    def __init__(self, *blocks: Phi) -> None:
        #: The objective on each set of cells, all over the same genes
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
        return Point([phi.at(support, beta) for phi in self.blocks], beta, support)


class Point:
    """φ and its derivatives at one β (shape of `support`)."""

    def __init__(
        self, points: Sequence[_DensePoint | GramPoint], beta: Array, support: Index
    ) -> None:
        self.beta, self.support = beta, support
        self._points = points

    def moved(self, beta: Array) -> Point:
        """Evaluate at another β on the same support, which saves what depends on the genes only."""
        return Point([point.moved(beta) for point in self._points], beta, self.support)

    def narrowed(self, among: Index) -> Point:
        """Evaluate with the genes ``support[among]`` alone, at their present weights."""
        beta = self.beta[among]
        points = [point.narrowed(among, beta) for point in self._points]
        return Point(points, beta, self.support[among])

    @cached_property
    def value(self) -> float:
        """``φ(β)``."""
        return sum(point.value for point in self._points)

    @cached_property
    def gradient(self) -> Array:
        """``∂φ/∂β_i`` on the support."""
        return np.asarray(sum(point.support_gradient for point in self._points))

    def full_gradient(self) -> Array:
        """``∂φ/∂β_i`` for every gene, shape (n_genes,)."""
        total = np.zeros(len(self._points[0].phi.genes))
        for point in self._points:
            phi, on_support = point.phi, point.phi.genes[self.support]
            dense = _DensePoint(phi, self.support, on_support, self.beta)
            total += dense.gradient(phi.genes)
        return total

    def hessian(self, among: Index) -> tuple[Array, Array]:
        """Hessian of the genes ``support[among]``, and its part that is always ⪰ 0."""
        exact, convex = zip(*(point.hessian(among) for point in self._points), strict=True)
        return reduce(np.add, exact), reduce(np.add, convex)

    def largest_drop(self, step: Array) -> float:
        """Largest relative loss of weight of any direction under ``β + step``."""
        return max(point.largest_drop(step) for point in self._points)
