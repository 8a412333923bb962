"""E, the posterior covariance of a function on the cells, and F = Tr(W E).

A function that is smooth on the graph has the prior covariance I in whitened coordinates.  Once
genes are measured with weights β, each a noisy linear measurement of it, its covariance is
``E = (I + A')⁻¹`` with ``A' = Σ β_i g_i g_iᵀ``, and

    F(β) = Tr(W E),    ∂F/∂β_i = −g_iᵀ E W E g_i,    0 ≤ β ≤ 1.

F is convex, W ⪰ 0 has trace 1, and F(0) = 1.  A rotation, which leaves I as it is, makes W
diagonal.

The largest error of several sets of cells, ``max_b e_b``, has no use for what a gene gains on the
others.  Genes are chosen by the convex

    Ψ(e) = log(Σ_b exp(γ e_b)) / γ,        max_b e_b ≤ Ψ(e) ≤ max_b e_b + log(n_sets)/γ,

in which a set counts by ``π_b ∝ exp(γ e_b)``.  From e to e + Δ it moves by
``log(Σ_b π_b exp(γ Δ_b)) / γ``.

Where labels are to be told apart by evidence that holds on an instrument up to an unknown factor,
``R(β) = Σ_p w_p log(1 + T_p)`` takes the place of F, with the evidence ``T_p = Σ_i β_i s_ip`` for
each ordered pair of types, where E is ``1/(1 + T_p)``.  What falls is ``R(1) − R(β)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy.linalg import lapack
from scipy.special import logsumexp, softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index

#: Where the sum of Ψ falls by more than this share, its logarithm is exact.
_STEEP = -0.5
#: A smaller sum of counts is none.
_NOTHING = 1e-20


@dataclass(frozen=True)
class Block:
    """F on one set of cells."""

    #: ``g_i`` in the eigenbasis of W, shape (n_genes, r).
    genes: Array
    #: Eigenvalues of W, shape (r,).
    weights: Array
    #: What A' holds besides the genes that are weighed, shape (r, r).
    covered: Array

    def cover(self, include: Index) -> Self:
        """Measure some genes: A' holds them, and they are weighed no more."""
        if not len(include):
            return self
        rest = self.genes.copy()
        rest[include] = 0.0
        return replace(self, genes=rest).measuring(self.genes[include])

    def measuring(self, fixed: Array) -> Self:
        """Measure other genes too, shape (n, r): A' holds them."""
        return replace(self, covered=self.covered + fixed.T @ fixed) if len(fixed) else self

    def only(self, genes: Index | slice) -> Self:
        """Some of the genes."""
        return replace(self, genes=self.genes[genes])

    def inverse(self, beta: Array) -> Array:
        """``E``, shape (r, r), for the weights of all genes."""
        heavy = np.flatnonzero(beta > 0)
        half = self.genes[heavy] * np.sqrt(beta[heavy])[:, None]
        precision = self.covered + half.T @ half
        np.einsum("ii->i", precision)[:] += 1.0
        return inverse(precision)

    def value(self, beta: Array) -> float:
        """``F(β)``."""
        return self.at(self.inverse(beta))[0]

    def at(self, inverse: Array) -> tuple[float, Array]:
        """F and ``∂F/∂β_i`` where E is known."""
        weighted = self.genes @ (inverse * np.sqrt(self.weights))
        return float(self.weights @ np.diag(inverse)), -np.einsum("ij,ij->i", weighted, weighted)

    def losses(self) -> Array:
        """By how much F grows without each gene, where all are measured, shape (n_genes,).

        Without gene i, ``E ← E + E g_i g_iᵀ E/(1 − g_iᵀ E g_i)`` (Sherman & Morrison).
        """
        covariances = self.genes @ self.inverse(np.ones(len(self.genes)))
        unique = 1.0 - np.sum(covariances * self.genes, axis=1)
        return np.asarray((covariances**2 @ self.weights) / unique)

    def curvature(self, inverse: Array) -> Array:
        """``∂²F/∂β_i ∂β_j = 2 (g_iᵀ E g_j)(g_iᵀ E W E g_j)`` where E is known, of all pairs."""
        covariances = self.genes @ inverse
        curved = covariances * self.weights @ covariances.T
        return np.asarray(2.0 * (covariances @ self.genes.T) * curved)

    def changes(self, inverse: Array, leaving: Index) -> tuple[Array, Array, Array]:
        """By how much F grows without genes i of the panel that E is of, a column; by how much it
        falls with every gene j; and by how much it falls again with j once i left.
        """
        curved = (inverse * self.weights) @ inverse
        g = self.genes[leaving]
        u, v = g @ inverse, g @ curved
        rest = 1.0 - np.sum(u * g, axis=1)[:, None]
        loss = np.sum(v * g, axis=1)[:, None] / rest
        covariances, bent = u @ self.genes.T, v @ self.genes.T
        squares = covariances**2 / rest
        lengths = np.einsum("ij,ij->i", self.genes @ inverse, self.genes)
        gains = np.einsum("ij,ij->i", self.genes @ curved, self.genes)
        bent = gains + 2.0 * covariances * bent / rest + loss * squares
        return loss, gains / (1.0 + lengths), bent / (1.0 + lengths + squares)


@dataclass(frozen=True)
class Evidence(Block):
    """What R falls short of that of all genes.

    ``genes`` is s, shape (n_genes, n_pairs); ``weights`` are w, and ``covered`` and E have a number
    per pair.
    """

    #: T of all genes, shape (n_pairs,).
    total: Array

    @classmethod
    def of_types(cls, sizes: Array, moments: Array, noise: float, amplitude: Array) -> Self:
        """R of types, by their numbers of cells, and means, variances and mean counts of genes:
        ``s_imm' = p_im a_i² (μ_im − μ_im')₊² / ((v_im + v_im')/2 + σ_0²)`` for m ≠ m', with
        ``p_im`` the share of type m of the mean counts; w is in proportion to ``√(n_m n_m')``,
        and R of all genes is 1.
        """
        means, variances, counts = moments
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), _NOTHING)
        shares *= np.reshape(amplitude, (-1, 1)) ** 2
        evidence = np.maximum(means[:, :, None] - means[:, None], 0.0)
        evidence **= 2
        evidence *= shares[:, :, None]
        evidence /= (variances[:, :, None] + variances[:, None]) / 2.0 + noise
        genes, total = evidence.reshape(len(means), -1), evidence.sum(axis=0).ravel()
        weights = np.sqrt(np.outer(sizes, sizes)).ravel()
        weights /= weights @ np.log1p(total) or 1.0
        return cls(genes, weights, np.zeros_like(total), total)

    def measuring(self, fixed: Array) -> Self:
        """Measure other genes too, shape (n, n_pairs)."""
        return replace(self, covered=self.covered + fixed.sum(axis=0))

    def inverse(self, beta: Array) -> Array:
        """``1/(1 + T_p)``."""
        return np.asarray(1.0 / (1.0 + self.covered + beta @ self.genes))

    def at(self, inverse: Array) -> tuple[float, Array]:
        """``R(all) − R`` and ``−Σ_p w_p s_ip/(1 + T_p)``."""
        missing = self.weights @ (np.log1p(self.total) + np.log(inverse))
        return float(missing), -self.genes @ (self.weights * inverse)

    def curvature(self, inverse: Array) -> Array:
        """``Σ_p w_p s_ip s_jp/(1 + T_p)²``."""
        return np.asarray((self.genes * (self.weights * inverse**2)) @ self.genes.T)

    def along(self) -> Array:
        """What is missing while the genes enter."""
        totals = np.cumsum(np.vstack([self.covered, self.genes]), axis=0)
        return np.asarray((np.log1p(self.total) - np.log1p(totals)) @ self.weights)

    def losses(self) -> Array:
        """``−Σ_p w_p log(1 − s_ip/(1 + T_p))``, where all are measured."""
        return -self.gains(-self.inverse(np.ones(len(self.genes))))

    def gains(self, inverse: Array) -> Array:
        """``Σ_p w_p log(1 + s_ip/(1 + T_p))``, what each gene would add."""
        shares = self.genes * inverse
        return np.asarray(np.log1p(shares, out=shares) @ self.weights)

    def changes(self, inverse: Array, leaving: Index) -> tuple[Array, Array, Array]:
        """As of F, one gene that leaves after another."""
        losses, without = -self.only(leaving).gains(-inverse)[:, None], 1.0 / inverse
        again = [self.gains(1.0 / (without - self.genes[gene])) for gene in leaving]
        return losses, self.gains(inverse), np.reshape(again, (len(leaving), -1))


def evaluate(blocks: Sequence[Block], beta: Array) -> tuple[float, Array, list[Array]]:
    """``F(β)`` and its gradient over all sets of cells, and E of each."""
    value, gradient, inverses = 0.0, np.zeros(len(beta)), []
    for block in blocks:
        inverse = block.inverse(beta)
        of_block, slopes = block.at(inverse)
        value, gradient = value + of_block, gradient + slopes
        inverses.append(inverse)
    return value, gradient, inverses


class Linear(NamedTuple):
    """``F(s) ≥ level + slopesᵀ s`` for every panel s of some kind."""

    level: float
    slopes: Array

    def within(self, matrix: Array, most: Array, prices: Array) -> Linear:
        """The bound of panels within ``matrix @ s ≤ most``, by prices ≥ 0 of these limits."""
        return Linear(float(self.level - prices @ most), self.slopes + prices @ matrix)

    def along(self, n_sizes: int) -> Array:
        """The bounds of panels of at most 1, 2, … `n_sizes` genes, shape (n_sizes,)."""
        first = np.partition(self.slopes, n_sizes - 1)[:n_sizes] if n_sizes else self.slopes[:0]
        return np.asarray(self.level + np.cumsum(np.minimum(np.sort(first), 0.0)))

    def least(self, size: int) -> float:
        """The bound of panels of at most `size` genes."""
        slopes = self.slopes
        if 0 < size < len(slopes):
            slopes = np.partition(slopes, size - 1)
        return float(self.level + np.minimum(slopes[:size], 0.0).sum())

    def of_genes(self, size: int) -> tuple[Array, Array]:
        """The bounds of panels of at most `size` genes that hold each gene, and that lack it: at
        the best prices of a gene, between the last that is worth it and the next one.
        """
        slopes, n_genes = self.slopes, len(self.slopes)
        ranks = [rank for rank in (size - 1, size) if 0 <= rank < n_genes]
        by_rank = np.partition(slopes, ranks) if ranks else slopes
        holding, lacking = np.full((2, n_genes), -np.inf)
        for rank in (size - 1, size):
            price = max(-by_rank[rank], 0.0) if rank in ranks else 0.0
            reduced = slopes + price
            level = self.level - price * size + np.minimum(reduced, 0.0).sum()
            np.maximum(holding, level + np.maximum(reduced, 0.0), out=holding)
            np.maximum(lacking, level + np.maximum(-reduced, 0.0), out=lacking)
        return holding, lacking


class Largest:
    """Ψ, which genes are chosen by where the worst set of cells counts."""

    def __init__(self, levels: Array, sharpness: float) -> None:
        #: e, shape (n_sets,), and γ.
        self.levels, self.sharpness = levels.copy(), sharpness

    @property
    def weights(self) -> Array:
        """How much each set counts, shape (n_sets,); they sum to 1."""
        return np.asarray(softmax(self.sharpness * self.levels))

    def moved(self, changes: Array) -> Array:
        """By how much Ψ changes; several blocks of one set, one in n_sets, add up."""
        changes = changes.reshape(-1, len(self.levels), *changes.shape[1:]).sum(axis=0)
        powers = self.sharpness * changes
        grown = np.tensordot(self.weights, np.expm1(powers), axes=1)
        moved = np.log1p(np.maximum(grown, _STEEP))  # exact where hardly anything changes
        steep = np.asarray(grown < _STEEP)
        if steep.any():
            each = self.weights[:, None]
            moved = np.asarray(moved)
            moved[steep] = logsumexp(powers[:, steep].reshape(len(each), -1), axis=0, b=each)
        return np.asarray(moved / self.sharpness)

    def move(self, changes: Array) -> Array:
        """Move the levels, and return by how much Ψ changes."""
        moved = self.moved(changes)
        self.levels += changes.reshape(-1, len(self.levels)).sum(axis=0)
        return moved


def inverse(matrix: Array) -> Array:
    """``(I + A)⁻¹`` from ``I + A``, A ⪰ 0: eigenvalues are at most 1, whatever A is by rounding."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if not failed:
        lower, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        weights, basis = np.linalg.eigh(matrix)
        return np.asarray((basis / np.maximum(weights, 1.0)) @ basis.T)
    both = np.asarray(lower + lower.T)  # above the diagonal dpotrf has left zeros
    np.einsum("ii->i", both)[:] /= 2.0
    return both
