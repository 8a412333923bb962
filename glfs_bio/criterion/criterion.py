"""The one criterion for panels: ``F(S) = Tr(W E(S))``, the error that the genes of S leave.

F is 1 without genes.  The share that a panel keeps is ``(1 − F(S))/(1 − F(all))``, on one scale for
every panel of the same cells, whatever genes may be chosen.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..cells.noise import elsewhere
from ..solvers.across import Across, Largest
from . import cholesky
from .error import Error, eigen
from .targets import Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..cells.reduction import Reduced


#: p of :mod:`~glfs_bio.solvers.across`, for errors between 1 and 0;
#: ``benchmarks/panels/across.py`` has the trials.
SHARPNESS = 100.0


class Criterion:
    """F over one set of cells, or over several (batches): the mean, or the worst of them.

    Over the worst a set counts by the share of what all genes keep of it that is still missing, so
    that sets of little structure count like others.

    Parameters
    ----------
    problems
        One reduced problem per set of cells, over the same genes.
    wanted
        What is to be kept of each set of cells; None: the structure.
    worst
        Whether the set counts of which least is kept.
    detection
        How much of each gene the assay detects that will measure panels, as a share of what is
        detected here, shape (n_genes,); None: the same.

    Raises
    ------
    ValueError
        No set of cells has anything of it.

    Attributes
    ----------
    sets : tuple of Reduced
        The sets of cells.
    wanted : tuple of Wanted
        What is kept of each.
    worst, detection
        As they were given.
    """

    def __init__(
        self,
        problems: Sequence[Reduced],
        wanted: Sequence[Wanted] | None = None,
        *,
        worst: bool = False,
        detection: Array | None = None,
    ) -> None:
        self.sets = tuple(problems)
        self.wanted = (Wanted(),) * len(self.sets) if wanted is None else tuple(wanted)
        self.worst = worst
        self.detection = detection
        self._views = [
            what.view(problem, np.sqrt(what.noise * units_of_noise(problem)))
            for problem, what in zip(self.sets, self.wanted, strict=True)
        ]
        matrices = [what.matrix(view) for view, what in zip(self._views, self.wanted, strict=True)]
        n_filled = sum(bool(matrix.any()) for matrix in matrices)
        if not n_filled:
            msg = "What is to be preserved does not vary over the cells, or not with their genes."
            raise ValueError(msg)
        self._eigen = [eigen(matrix / n_filled) for matrix in matrices]

    @cached_property
    def _reach(self) -> Array:
        """What all genes keep of each set, shape (n_sets,)."""
        grams = [view.gram for view in self._views]
        if self.detection is not None:
            grams = [genes.T @ genes for genes in self._measured(slice(None))]
        return np.array([_fallen(*one, gram) for one, gram in zip(self._eigen, grams, strict=True)])

    def _measured(self, genes: Index | slice) -> list[Array]:
        """Genes of each set as the panel's assay sees them, in units of noise."""
        found = [view.some(genes) for view in self._views]
        if self.detection is None:
            return found
        return [
            own * elsewhere(one.variance, one.residuals, self.detection)[genes, None]
            for own, one in zip(found, self.sets, strict=True)
        ]

    @cached_property
    def _shares(self) -> Array:
        """What the error of each set is multiplied with, shape (n_sets,)."""
        if not self.worst:
            return np.ones(len(self.sets))
        shares = np.zeros(len(self.sets))
        np.divide(1.0, self._reach, out=shares, where=self._reach > 0)
        return shares

    @cached_property
    def _floors(self) -> Array:
        """What the error of each set would be above its share that is missing, shape (n_sets,)."""
        whole = np.array([weights.sum() for weights, _ in self._eigen]) * self._shares
        return np.asarray(whole - (self._shares > 0))

    @cached_property
    def blocks(self) -> list[Error]:
        """F on each set of cells, and on each draw of failures."""
        return self.on(slice(None))

    def on(self, genes: Index | slice) -> list[Error]:
        """The same of some genes, without turning the others into the eigenbasis of W."""
        return [
            Error.turned(measured, weights * share, basis)
            for measured, (weights, basis), share in zip(
                self._measured(genes), self._eigen, self._shares, strict=True
            )
        ]

    @property
    def n_genes(self) -> int:
        """Number of genes."""
        return len(self.sets[0].variance)

    @property
    def rank(self) -> int:
        """Number of directions over all sets of cells."""
        return sum(len(problem.stiffness) for problem in self.sets)

    @cached_property
    def scale(self) -> float:
        """``F(∅) − F(all)``: what all genes keep."""
        return 1.0 if self.worst else float(self._reach.sum())

    def errors(self, order: Index) -> Array:
        """F of no gene, of the first, of the first two, …, shape (len(order) + 1,)."""
        return self._joined(self._of_sets(order))

    def kept(self, order: Index) -> Array:
        """Share that the first 1, 2, … genes keep of what all genes keep."""
        errors = self.errors(order)
        return np.asarray((errors[0] - errors[1:]) / self.scale)

    def kept_in_sets(self, order: Index) -> Array:
        """The same of each set of cells, shape (len(order), n_sets); NaN where there is nothing."""
        errors = self._of_sets(order)
        reach = (self._reach * self._shares)[:, None]
        kept = np.full((len(self.sets), len(order)), np.nan)
        np.divide(errors[:, :1] - errors[:, 1:], reach, out=kept, where=reach > 0)
        return np.asarray(kept.T)

    def _of_sets(self, order: Index) -> Array:
        """Errors of each set along an order, the mean over draws of failures."""
        errors = np.array([_along(block) for block in self.on(order)])
        return np.asarray(errors.reshape(-1, len(self.sets), len(order) + 1).sum(axis=0))

    def _joined(self, errors: Array) -> Array:
        """F from the errors of the sets, shape (n_sets, ...)."""
        if not self.worst:
            return np.asarray(errors.sum(axis=0))
        return np.asarray((errors.T - self._floors).max(axis=-1).T)

    def across(self) -> Across:
        """How errors of blocks are joined while genes enter, before the first."""
        if not self.worst:
            return Across()
        return Largest((self._shares > 0).astype(float), SHARPNESS)

    def bounding(self, panel: Index) -> tuple[list[Error], float]:
        """Blocks whose sum less a number is nowhere above F, and near to F at a panel."""
        if not self.worst:
            return self.blocks, 0.0
        errors = self._of_sets(panel)[:, -1] - self._floors
        weights = Largest(errors, SHARPNESS).weights
        of_blocks = np.resize(weights, len(self.blocks))
        blocks = [
            replace(block, weights=block.weights * weight)
            for block, weight in zip(self.blocks, of_blocks, strict=True)
        ]
        return blocks, float(weights @ self._floors)

    def cells(self, block: int) -> Array:
        """Z of a set of cells, shape (n_cells, r): takes the coordinates of E to the cells.

        ``Z = V Q diag(1/√κ) R``, where ``K = Q diag(κ) Qᵀ`` and R is the eigenbasis of W.
        ``Z E Zᵀ`` is the covariance of what the panel leaves open of a function of the cells.
        """
        problem = self.sets[block]
        _, kappa, basis = problem.whitened
        return np.asarray(problem.basis @ ((basis / np.sqrt(kappa)) @ self._eigen[block][1]))

    def losses(self, panel: Index) -> Array:
        """Share that the panel loses without each of its genes, in units of :meth:`kept`."""
        lost = []
        for measured in self.on(panel):
            seen = measured.genes @ measured.inverse(np.ones(len(panel)))
            left = 1.0 - np.sum(seen * measured.genes, axis=1)
            lost.append((seen**2 @ measured.weights) / left)
        of_sets = np.array(lost).reshape(-1, len(self.sets), len(panel)).sum(axis=0)
        if not self.worst:
            return np.asarray(of_sets.sum(axis=0) / self.scale)
        errors = self._of_sets(panel)[:, -1:]
        return np.asarray((self._joined(errors + of_sets) - self._joined(errors)) / self.scale)


def units_of_noise(problem: Reduced) -> float:
    """``λ2`` at which a gene of weight 1 stands for one measurement: ``n · noise · Tr K / r``."""
    return float(problem.n_cells * problem.noise_level * np.mean(np.diag(problem.stiffness)))


def _fallen(weights: Array, basis: Array, gram: Array) -> float:
    """``Tr(W) − Tr(W (I + Σ g_i g_iᵀ)⁻¹)``, where the sum is known."""
    inverse = cholesky.inverse(np.eye(len(gram)) + gram)
    return float(weights @ (1.0 - np.einsum("ij,ij->j", basis, inverse @ basis)))


def _along(block: Error) -> Array:
    """``Tr(W E)`` while the genes of a block enter one by one."""
    inverse = np.eye(len(block.weights))
    errors = np.empty(len(block.genes) + 1)
    errors[0] = block.weights.sum()
    for place, g in enumerate(block.genes, start=1):
        u = inverse @ g
        s = 1.0 + g @ u
        errors[place] = errors[place - 1] - block.weights @ u**2 / s
        inverse -= np.outer(u, u) / s
    return errors
