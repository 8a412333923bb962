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


class _PointOfSet:
    """φ and its derivatives on one set of cells, at β of the genes of a support."""

    def __init__(self, phi: Phi, on_support: Array, beta: Array) -> None:
        self.phi, self.on_support = phi, on_support
        heavy = beta > 0
        precision = phi.covered + _gram(on_support[heavy].T, beta[heavy])  # A'
        diagonal(precision)[:] += 1.0
        self.inverse = inverse(precision)  # E

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

    def gradient(self, genes: Array) -> Array:
        """Return ``∂φ/∂β_i`` of some genes."""
        # With Φ = half + halfᵀ, half triangular, gᵀΦg = 2 gᵀ half g: half the work.
        half = np.triu(self.kernel)
        diagonal(half)[:] /= 2.0
        forms = np.empty(len(genes))
        for begin in range(0, len(genes), _AT_ONCE):
            some = genes[begin : begin + _AT_ONCE]
            turned = blas.dtrmm(2.0, half, some.T).T
            forms[begin : begin + _AT_ONCE] = np.einsum("ij,ij->i", turned, some)
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
        points = [_PointOfSet(phi, phi.genes[support], beta) for phi in self.blocks]
        return Point(points, beta, support)


class Point:
    """φ and its derivatives at one β (shape of `support`)."""

    def __init__(self, points: Sequence[_PointOfSet], beta: Array, support: Index) -> None:
        self.beta, self.support = beta, support
        self._points = points

    def moved(self, beta: Array) -> Point:
        """Evaluate at another β on the same support."""
        points = [_PointOfSet(point.phi, point.on_support, beta) for point in self._points]
        return Point(points, beta, self.support)

    def narrowed(self, among: Index) -> Point:
        """Evaluate with the genes ``support[among]`` alone, at their present weights."""
        beta = self.beta[among]
        points = [_PointOfSet(point.phi, point.on_support[among], beta) for point in self._points]
        return Point(points, beta, self.support[among])

    @cached_property
    def value(self) -> float:
        """``φ(β)``."""
        return sum(point.value for point in self._points)

    @cached_property
    def gradient(self) -> Array:
        """``∂φ/∂β_i`` on the support."""
        return np.asarray(sum(point.gradient(point.on_support) for point in self._points))

    def full_gradient(self) -> Array:
        """``∂φ/∂β_i`` for every gene, shape (n_genes,)."""
        return np.asarray(sum(point.gradient(point.phi.genes) for point in self._points))

    def hessian(self, among: Index) -> tuple[Array, Array]:
        """Hessian of the genes ``support[among]``, and its part that is always ⪰ 0."""
        exact, convex = zip(*(point.hessian(among) for point in self._points), strict=True)
        return reduce(np.add, exact), reduce(np.add, convex)

    def largest_drop(self, step: Array) -> float:
        """Largest relative loss of weight of any direction under ``β + step``."""
        return max(point.largest_drop(step) for point in self._points)
