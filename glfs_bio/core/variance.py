"""The objectives of GLFS: value, gradient and Hessian.

Everything happens in the eigenbasis of ``K = VᵀBV``, where ``M = K⁻¹`` is the diagonal ``m`` and a
gene ``c_i`` (row of ``C = XV``) becomes ``g_i = M^(-1/2) c_i``.  With ``A' = Σ β_i g_i g_iᵀ`` and
``E = (I + A')⁻¹`` all three objectives are one expression,

    φ(β) = Tr(N E) − Tr(W E U E),      N, W, U diagonal,

    =========  ==================  ========  =====  ======
    objective  what it is          N         W      U
    =========  ==================  ========  =====  ======
    exact      Tr Cov(w)           M         M      I
    printed    Tr(A (M+A)⁻² M²)    M         M²     M⁻¹
    mse        Tr(E)               I         0      0
    =========  ==================  ========  =====  ======

so that one gradient and one Hessian serve them all:

    K_φ = E (W E U + U E W − N) E
    ∂φ/∂β_i      = g_iᵀ K_φ g_i
    ∂²φ/∂β_i∂β_j = −2 [ (g_iᵀEg_j)(g_iᵀK_φ g_j) + (g_iᵀEWEg_j)(g_iᵀEUEg_j) ].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh

if TYPE_CHECKING:
    from ._typing import Array, Index

OBJECTIVES = ("exact", "printed", "mse")


@dataclass(frozen=True)
class Block:
    """One set of cells: its whitened genes and the diagonals of its objective.

    Attributes
    ----------
    genes
        ``g_i = M^(-1/2) c_i``, shape (n_genes, r).
    outer, left, right
        ``N``, ``W`` and ``U`` of the module's table, shape (r,).
    covered
        What A' holds besides the genes that are weighed, shape (r, r).
    """

    genes: Array
    outer: Array
    left: Array
    right: Array
    covered: Array

    @classmethod
    def of(cls, genes: Array, stiffness: Array, objective: str = "exact") -> Block:
        """Whiten reduced genes by their graph matrix.

        Parameters
        ----------
        genes
            ``C``, shape (n_genes, r).
        stiffness
            ``K = VᵀBV``, symmetric positive definite, shape (r, r).
        objective
            One of :data:`OBJECTIVES`.
        """
        k, basis = np.linalg.eigh(stiffness)
        m = 1.0 / k
        one, none = np.ones_like(m), np.zeros_like(m)
        diagonals = {"exact": (m, m, one), "printed": (m, m**2, k), "mse": (one, none, none)}
        whitened = genes @ (basis * np.sqrt(k))
        return cls(whitened, *diagonals[objective], covered=np.zeros_like(stiffness))

    def cover(self, include: Index, beta: Array) -> Block:
        """Fix the weights of some genes: A' keeps them, and they are weighed no more."""
        fixed = self.genes[include]
        rest = self.genes.copy()
        rest[include] = 0.0
        return replace(self, genes=rest, covered=self.covered + (fixed.T * beta) @ fixed)


class _BlockPoint:
    """A block's derivatives at one β; `support` are the genes that may be non-zero."""

    def __init__(self, block: Block, beta: Array, support: Index) -> None:
        self.block = block
        self.on_support = block.genes[support]
        heavy = beta > 0
        weighed = self.on_support[heavy]
        precision = block.covered + (weighed.T * beta[heavy]) @ weighed
        precision[np.diag_indices_from(precision)] += 1.0
        self.inverse = _inverse(precision)  # E

    @cached_property
    def sandwich(self) -> Array:
        """``E U E``."""
        return np.asarray((self.inverse * self.block.right) @ self.inverse)

    @cached_property
    def kernel(self) -> Array:
        """``K_φ``, the matrix of the gradient's quadratic form."""
        e = self.inverse
        turn = (e * self.block.left) @ self.sandwich
        return np.asarray(turn + turn.T - (e * self.block.outer) @ e)

    @property
    def value(self) -> float:
        e, block = self.inverse, self.block
        return float(block.outer @ np.diag(e) - np.sum(block.left * np.diag(self.sandwich)))

    def gradient(self, genes: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->i", genes @ self.kernel, genes))

    def hessian(self, among: Index) -> tuple[Array, Array]:
        g, e, block = self.on_support[among], self.inverse, self.block
        gram = g @ e @ g.T
        curved = g @ (e * block.outer) @ e @ g.T
        exact = gram * (g @ self.kernel @ g.T)
        exact += (g @ ((e * block.left) @ e) @ g.T) * (g @ self.sandwich @ g.T)
        return -(exact + exact.T), 2.0 * gram * curved

    def largest_drop(self, step: Array) -> float:
        """``−λ_min(E^½ ΔA E^½)``: the largest relative loss of a direction's weight in a step."""
        moving = step != 0
        half = _root(self.inverse).T @ self.on_support[moving].T
        change = eigvalsh((half * step[moving]) @ half.T, subset_by_index=(0, 0))
        return float(-change[0])


def _inverse(precision: Array) -> Array:
    """``(I + A')⁻¹``, whose eigenvalues are at most 1 whatever rounding made of A'."""
    try:
        factor = cho_factor(precision, lower=True)
    except LinAlgError:
        weights, basis = np.linalg.eigh(precision)
        return np.asarray((basis / np.maximum(weights, 1.0)) @ basis.T)
    return np.asarray(cho_solve(factor, np.eye(len(precision))))


def _root(matrix: Array) -> Array:
    """F with ``F Fᵀ`` = `matrix`, which is ⪰ 0 but for rounding."""
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except LinAlgError:
        weights, basis = np.linalg.eigh(matrix)
        return np.asarray(basis * np.sqrt(np.maximum(weights, 0.0)))


class Variance:
    """``φ(β) = Σ_b φ_b(β)`` over one block of cells, or over several (batches).

    Parameters
    ----------
    blocks
        One :class:`Block` per set of cells, all over the same genes.
    """

    def __init__(self, *blocks: Block) -> None:
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
    def norms(self) -> Array:
        """``Σ_b ‖g_i‖²``, shape (n_genes,)."""
        return np.asarray(sum(np.einsum("ij,ij->i", b.genes, b.genes) for b in self.blocks))

    def at(self, beta: Array, support: Index | None = None) -> Point:
        """Evaluate at β, given for all genes or for the genes of `support` only."""
        if support is None:
            support = np.flatnonzero(beta)
            beta = beta[support]
        return Point(self, beta, support)


class Point:
    """φ and its derivatives at one β (shape of `support`)."""

    def __init__(self, variance: Variance, beta: Array, support: Index) -> None:
        self.beta, self.support = beta, support
        self._blocks = [_BlockPoint(block, beta, support) for block in variance.blocks]

    @property
    def inverses(self) -> list[Array]:
        """``E`` of every block."""
        return [block.inverse for block in self._blocks]

    @cached_property
    def value(self) -> float:
        """``φ(β)``."""
        return sum(block.value for block in self._blocks)

    @cached_property
    def gradient(self) -> Array:
        """``∂φ/∂β_i`` on the support."""
        return np.asarray(sum(block.gradient(block.on_support) for block in self._blocks))

    def full_gradient(self) -> Array:
        """``∂φ/∂β_i`` for every gene, shape (n_genes,)."""
        return np.asarray(sum(block.gradient(block.block.genes) for block in self._blocks))

    def hessian(self, among: Index) -> tuple[Array, Array]:
        """Hessian of the genes ``support[among]``, and its part that is always ⪰ 0."""
        exact, convex = zip(*(block.hessian(among) for block in self._blocks), strict=True)
        return np.asarray(sum(exact)), np.asarray(sum(convex))

    def largest_drop(self, step: Array) -> float:
        """Largest relative loss of weight of any direction under ``β + step``."""
        return max(block.largest_drop(step) for block in self._blocks)
