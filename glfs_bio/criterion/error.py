"""The error of LapRLS, the criterion that panels come from.

With the genes of weights β measured, labels that are smooth on the graph are predicted by LapRLS
(equations (2) and (3) of the paper) with the error covariance ``E = (I + A')⁻¹``,
``A' = Σ β_i g_i g_iᵀ``, in whitened coordinates.  W says what is to be kept:

    F(β) = Tr(W E),    ∂F/∂β_i = −g_iᵀ E W E g_i,    0 ≤ β ≤ 1.

F is convex, W ⪰ 0 has trace 1, and F(0) = 1.  A rotation, which leaves I as it is, makes W
diagonal.  The variance of LapRLS, which the paper minimises, is F less the squared bias.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from . import cholesky

if TYPE_CHECKING:
    from .._typing import Array, Index


@dataclass(frozen=True)
class Error:
    """F on one set of cells.

    Attributes
    ----------
    genes
        ``g_i`` in the eigenbasis of W, shape (n_genes, r).
    weights
        Eigenvalues of W, shape (r,).
    covered
        What A' holds besides the genes that are weighed, shape (r, r).
    """

    genes: Array
    weights: Array
    covered: Array

    @classmethod
    def of(cls, genes: Array, wanted: Array) -> Error:
        """From whitened genes and W, shape (r, r)."""
        return cls.turned(genes, *eigen(wanted))

    @classmethod
    def turned(cls, genes: Array, weights: Array, basis: Array) -> Error:
        """From whitened genes, and the :func:`eigen` of W."""
        return cls(genes @ basis, weights, np.zeros_like(basis))

    def cover(self, include: Index) -> Error:
        """Measure some genes: A' holds them, and they are weighed no more."""
        if not len(include):
            return self
        fixed, rest = self.genes[include], self.genes.copy()
        rest[include] = 0.0
        return replace(self, genes=rest, covered=self.covered + fixed.T @ fixed)

    def only(self, genes: Index | slice) -> Error:
        """Some of the genes."""
        return replace(self, genes=self.genes[genes])

    def inverse(self, beta: Array) -> Array:
        """``E``, shape (r, r), for the weights of all genes."""
        heavy = np.flatnonzero(beta > 0)
        half = self.genes[heavy] * np.sqrt(beta[heavy])[:, None]
        precision = self.covered + half.T @ half
        cholesky.diagonal(precision)[:] += 1.0
        return cholesky.inverse(precision)

    def value(self, beta: Array) -> float:
        """``F(β)``."""
        return float(self.weights @ np.diag(self.inverse(beta)))

    def value_and_gradient(self, beta: Array) -> tuple[float, Array]:
        """``F(β)`` and ``∂F/∂β``, shape (n_genes,)."""
        inverse = self.inverse(beta)
        return float(self.weights @ np.diag(inverse)), self.gradient(inverse)

    def gradient(self, inverse: Array) -> Array:
        """``∂F/∂β`` where E is known, shape (n_genes,)."""
        seen = self.genes @ (inverse * np.sqrt(self.weights))
        return np.asarray(-np.einsum("ij,ij->i", seen, seen))

    def steepest(self, inverse: Array) -> float:
        """``‖E W E‖``: no gradient is steeper for a gene of norm 1."""
        return float(np.linalg.eigvalsh((inverse * self.weights) @ inverse)[-1])


def eigen(wanted: Array) -> tuple[Array, Array]:
    """Eigenvalues of W, without rounding below zero, and its eigenbasis."""
    weights, basis = np.linalg.eigh(wanted)
    return np.maximum(weights, 0.0), basis
