"""W: what a panel is to keep of one set of cells.

W is written in whitened coordinates, in which genes are ``g_i`` and the cells are the rows of
``Z = V Q diag(1/√κ)``, with ``K = Q diag(κ) Qᵀ``.  It is positive semidefinite and has trace 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from ..core._typing import Array, Index
    from ..core.geometry.reduced import Reduced


@dataclass(frozen=True)
class Settings:
    """What was settled by trial, once for all data sets; ``benchmarks/panels/README.md`` says how.

    Attributes
    ----------
    power
        Of ``Σ g_j g_jᵀ`` and of the like sums for labels and numbers of the cells: 0 is all
        directions alike (A-optimal designs), 1 the error of predicting every gene (I-optimal).
    noise, noise_of_cells
        τ of ``λ2 = τ · n · Tr K / r``, the noise of a measured gene against the structure: where
        genes are to be predicted, and where labels and numbers of the cells are.  Less favours
        accuracy and rare types, more favours the same genes from other cells.
    """

    power: float = 0.5
    noise: float = 0.2
    noise_of_cells: float = 0.05


SETTINGS = Settings()
#: A W of a smaller trace, as a share of what it could be, holds nothing but rounding.
_NOTHING = 1e-20
#: An eigenvalue of a smaller share of the largest is zero.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class View:
    """One set of cells as a term sees it.

    Attributes
    ----------
    problem
        The reduced problem.
    genes
        ``g_i`` in units of noise, shape (n_genes, r).
    weights
        How much each cell counts, with mean 1, shape (n_cells,); None: all the same.
    """

    problem: Reduced
    genes: Array
    weights: Array | None

    @cached_property
    def weighted_genes(self) -> Array:
        """``g_i`` as they would be if a cell of weight 2 were two cells."""
        if self.weights is None:
            return self.genes
        _, kappa, basis = self.problem.whitened
        cells = self.problem.basis @ basis
        within = cells.T @ (cells * self.weights[:, None])
        return np.asarray(self.genes @ (within * np.sqrt(kappa) / np.sqrt(kappa)[:, None]))

    def coordinates(self, values: Array) -> Array:
        """``ZᵀT`` of values of the cells, shape (r, n_values)."""
        _, kappa, basis = self.problem.whitened
        within = np.asarray(self.problem.basis.T @ values)
        return np.asarray((basis / np.sqrt(kappa)).T @ within)


class Term(Protocol):
    """Something to be kept."""

    @property
    def noise(self) -> float:
        """τ that suits it."""

    def rows(self, cells: Index) -> Self:
        """The same of some cells."""

    def matrix(self, view: View) -> Array:
        """W of any trace, shape (r, r); zero where these cells have nothing of it."""


@dataclass(frozen=True)
class Structure:
    """All that genes vary in: ``(Σ_j g_j g_jᵀ)^½`` over all genes."""

    @property
    def noise(self) -> float:
        """τ that suits it."""
        return SETTINGS.noise

    def rows(self, cells: Index) -> Self:  # of the protocol
        """The same of some cells."""
        return self

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        return _power(view.weighted_genes.T @ view.weighted_genes, SETTINGS.power)


@dataclass(frozen=True)
class Genes:
    """Some genes, which are to be predicted from the panel: ``Σ_j g_j g_jᵀ`` over them.

    Attributes
    ----------
    genes
        Which.
    """

    genes: Index

    @property
    def noise(self) -> float:
        """τ that suits it."""
        return SETTINGS.noise

    def rows(self, cells: Index) -> Self:  # of the protocol
        """The same of some cells."""
        return self

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        some = view.weighted_genes[self.genes]
        return np.asarray(some.T @ some)


@dataclass(frozen=True)
class Labels:
    """Classes of cells, to be told apart.

    ``(Σ_{a<b} d_ab d_abᵀ)^½`` with ``d_ab ∝ μ_a − μ_b`` of norm 1, μ the mean rows of Z of the
    classes, so that every pair of classes counts alike, however many cells they have.

    Attributes
    ----------
    codes
        Class of every cell, −1 where it is not known, shape (n_cells,).
    """

    codes: Index

    @property
    def noise(self) -> float:
        """τ that suits it."""
        return SETTINGS.noise_of_cells

    def rows(self, cells: Index) -> Self:
        """The same of some cells."""
        return replace(self, codes=self.codes[cells])

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        known = self.codes >= 0 if view.weights is None else (self.codes >= 0) & (view.weights > 0)
        classes, codes = np.unique(self.codes[known], return_inverse=True)
        members = np.zeros((len(self.codes), len(classes)))
        members[known] = np.eye(len(classes))[codes]
        if view.weights is not None:
            members *= view.weights[:, None]
        means = view.coordinates(members / members.sum(axis=0))
        first, second = np.triu_indices(len(classes), 1)
        apart = means[:, first] - means[:, second]
        length = np.linalg.norm(apart, axis=0)
        apart = np.divide(apart, length, out=np.zeros_like(apart), where=length > _NOTHING)
        return _power(apart @ apart.T, SETTINGS.power)


@dataclass(frozen=True)
class Values:
    """Numbers of the cells: T has a column each, centred, with squares that sum to 1.

    Attributes
    ----------
    values
        Not finite where they are not known, shape (n_cells, n_values).
    """

    values: Array

    @property
    def noise(self) -> float:
        """τ that suits it."""
        return SETTINGS.noise_of_cells

    def rows(self, cells: Index) -> Self:
        """The same of some cells."""
        return replace(self, values=self.values[cells])

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        known = np.asarray(np.isfinite(self.values).all(axis=1))
        count = known.astype(float) if view.weights is None else known * view.weights
        values = np.where(known[:, None], self.values, 0.0)
        values = (values - count @ values / max(count.sum(), 1.0)) * known[:, None]
        length = np.sqrt(count @ values**2)
        values = np.divide(values, length, out=np.zeros_like(values), where=length > _NOTHING)
        seen = view.coordinates(values * count[:, None])
        return _power(seen @ seen.T, SETTINGS.power)


@dataclass(frozen=True)
class Wanted:
    """Several things to be kept, and how much each counts.

    Attributes
    ----------
    terms
        With their shares.
    weights
        How much each cell counts, shape (n_cells,); None: all the same.
    """

    terms: tuple[tuple[Term, float], ...] = ((Structure(), 1.0),)
    weights: Array | None = None

    @property
    def noise(self) -> float:
        """τ, the mean of what suits the terms."""
        return sum(share * term.noise for term, share in self.terms) / sum(
            share for _, share in self.terms
        )

    def rows(self, cells: Index | None) -> Self:
        """The same of some cells; None: of all."""
        if cells is None:
            return self
        terms = tuple((term.rows(cells), share) for term, share in self.terms)
        return replace(
            self, terms=terms, weights=None if self.weights is None else self.weights[cells]
        )

    def matrix(self, problem: Reduced, genes: Array) -> Array:
        """W of trace 1, shape (r, r); zero where these cells have nothing that is to be kept."""
        weights = self.weights
        if weights is not None and weights.any():
            weights = weights / weights.mean()
        view = View(problem, genes, weights)
        total = np.zeros((genes.shape[1], genes.shape[1]))
        for term, share in self.terms:
            matrix = term.matrix(view)
            trace = float(np.trace(matrix))
            if trace > _NOTHING:
                total += share / trace * matrix
        trace = float(np.trace(total))
        return total / trace if trace > 0.0 else total


def _power(matrix: Array, power: float) -> Array:
    """Of a symmetric positive semidefinite matrix; a small power would make much of rounding."""
    values, basis = np.linalg.eigh(matrix)
    values[values < _ROUNDING * values[-1]] = 0.0
    return np.asarray((basis * np.maximum(values, 0.0) ** power) @ basis.T)
