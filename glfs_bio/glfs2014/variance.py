"""The paper's objectives: value and gradient.

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

with one gradient (equation (9) of the paper is the gradient where matrices commute):

    ∂φ/∂β_i = g_iᵀ Φ g_i,      Φ = E (N₁ E N₂ + N₂ E N₁ − N) E.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.linalg import blas, lapack

from ..criterion.error import inverse

if TYPE_CHECKING:
    from .._typing import Array, Index

#: Genes whose products with a matrix stay in the processor's cache.
_AT_ONCE = 2048
#: No direction may lose more than this share of its weight 1 + a in one step, or it could jump over
#: the top of a/(1+a)² and leave its branch by accident.
_DROP = 0.3


@dataclass(frozen=True)
class Phi:
    """φ on one set of cells."""

    #: ``g_i = M^(-1/2) c_i``, shape (n_genes, r).
    genes: Array
    #: ``N₁`` and ``N₂``, shape (r,).
    left: Array
    right: Array
    #: A' of genes whose weights are fixed, shape (r, r).
    covered: Array

    def cover(self, include: Index, beta: Array) -> Self:
        """Fix the weights of some genes: A' has them, and the objective weighs them no more."""
        fixed, genes = self.genes[include], self.genes.copy()
        genes[include] = 0.0
        return replace(self, genes=genes, covered=self.covered + (fixed.T * beta) @ fixed)

    def of(self, support: Index) -> Self:
        """φ of the genes of a support alone.

        In the directions that fewer genes than directions span, where N₂ = I: φ is
        ``Tr(M (E − E²))``, and E is I across them.
        """
        genes = self.genes[support]
        if len(support) >= genes.shape[1] or self.covered.any() or (self.right != 1.0).any():
            return replace(self, genes=genes)
        basis = np.linalg.qr(genes.T)[0]
        left, turn = np.linalg.eigh((basis.T * self.left) @ basis)
        genes = genes @ (basis @ turn)
        k = len(left)
        return replace(self, genes=genes, left=left, right=np.ones(k), covered=np.zeros((k, k)))

    def precision(self, beta: Array) -> Array:
        """``I + A'``, shape (r, r)."""
        heavy = np.flatnonzero(beta)
        precision = self.covered + _gram(self.genes[heavy].T, beta[heavy])
        precision.flat[:: len(precision) + 1] += 1.0
        return np.asarray(precision)

    def value_and_kernel(self, precision: Array) -> tuple[float, Array]:
        """φ, and Φ, the matrix of the gradient's quadratic form."""
        e, outer = inverse(precision), self.left * self.right
        sandwich = _gram(e, self.right)  # E N₂ E
        turn = (e * self.left) @ sandwich
        value = outer @ np.diag(e) - np.sum(self.left * np.diag(sandwich))
        return float(value), turn + turn.T - _gram(e, outer)

    def gradient(self, kernel: Array) -> Array:
        """``g_iᵀ Φ g_i`` of every gene."""
        # With Φ = half + halfᵀ, half triangular, gᵀΦg = 2 gᵀ half g: half the work.
        half = np.triu(kernel)
        half.flat[:: len(half) + 1] /= 2.0
        forms = np.empty(len(self.genes))
        for begin in range(0, len(forms), _AT_ONCE):
            genes = self.genes[begin : begin + _AT_ONCE]
            turned = blas.dtrmm(2.0, half, genes.T).T
            forms[begin : begin + _AT_ONCE] = np.einsum("ij,ij->i", turned, genes)
        return forms


def _gram(genes: Array, weights: Array) -> Array:
    """``G diag(w) Gᵀ`` for w ≥ 0; NumPy takes half the time for a product with its transpose."""
    half = genes * np.sqrt(weights)
    return np.asarray(half @ half.T)


@dataclass(frozen=True)
class Variance:
    """``φ(β) = Σ_b φ_b(β)`` over sets of cells (batches), all over the same genes."""

    blocks: tuple[Phi, ...]

    @property
    def rank(self) -> int:
        """Number of directions over all blocks."""
        return sum(block.genes.shape[1] for block in self.blocks)

    @property
    def squared_norms(self) -> Array:
        """``Σ_b ‖g_i‖²``, shape (n_genes,)."""
        return np.asarray(sum(np.einsum("ij,ij->i", b.genes, b.genes) for b in self.blocks))

    def of(self, support: Index) -> Variance:
        """The genes of a support alone, the others at zero."""
        return Variance(tuple(block.of(support) for block in self.blocks))

    def at(self, beta: Array) -> Point:
        """Evaluate at β, shape (n_genes,)."""
        return Point(self, beta)


class Point:
    """φ and its gradient at one β."""

    def __init__(self, objective: Variance, beta: Array) -> None:
        self.objective, self.beta = objective, beta
        self.precisions = [block.precision(beta) for block in objective.blocks]

    @cached_property
    def _values_and_kernels(self) -> list[tuple[float, Array]]:
        pairs = zip(self.objective.blocks, self.precisions, strict=True)
        return [block.value_and_kernel(precision) for block, precision in pairs]

    @property
    def value(self) -> float:
        """``φ(β)``."""
        return sum(value for value, _ in self._values_and_kernels)

    @cached_property
    def gradient(self) -> Array:
        """``∂φ/∂β_i`` for every gene, shape (n_genes,)."""
        pairs = zip(self.objective.blocks, self._values_and_kernels, strict=True)
        return np.asarray(sum(block.gradient(kernel) for block, (_, kernel) in pairs))

    def keeps_branches(self, point: Point) -> bool:
        """Whether no direction loses too much of its weight on the way to another point."""
        pairs = zip(self.precisions, point.precisions, strict=True)
        rests = (to_point - (1.0 - _DROP) * from_point for from_point, to_point in pairs)
        return not any(lapack.dpotrf(rest, lower=1, clean=0)[1] for rest in rests)
