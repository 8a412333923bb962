"""W: what a panel is to keep of one set of cells.

W is written in whitened coordinates, in which genes are ``g_i`` and the cells are the rows of
``Z = V Q diag(1/√κ)``, with ``K = Q diag(κ) Qᵀ``.  It is positive semidefinite and has trace 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

if TYPE_CHECKING:
    from .._typing import Array, Index
    from ..cells.reduction import Reduced


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
#: A length or a trace that is smaller is rounding.
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
    length
        Of a whitened gene that stands for one measurement: the unit of ``g_i``.
    weights
        How much each cell counts, with mean 1, shape (n_cells,); None: all the same.
    """

    problem: Reduced
    length: float
    weights: Array | None

    def some(self, genes: Index | slice) -> Array:
        """``g_i`` of some genes in units of noise, shape (len(genes), r)."""
        return np.asarray(self.problem.whitened.genes[genes] / self.length)

    @cached_property
    def genes(self) -> Array:
        """``g_i`` of all genes, shape (n_genes, r)."""
        return self.some(slice(None))

    @cached_property
    def counts(self) -> Array:
        """How much each cell counts, shape (n_cells,)."""
        return np.ones(self.problem.n_cells) if self.weights is None else self.weights

    @cached_property
    def gram(self) -> Array:
        """``Σ g_i g_iᵀ``, shape (r, r)."""
        return _gram(self.problem.whitened.genes) / self.length**2

    @property
    def expression(self) -> Array:
        """Genes in the units of the matrix, whitened, shape (n_genes, r)."""
        _, kappa, basis = self.problem.whitened
        return np.asarray(self.problem.projections @ (basis * np.sqrt(kappa)))

    def counted(self, genes: Array) -> Array:
        """Whitened genes as they would be if a cell of weight 2 were two cells."""
        if self.weights is None:
            return genes
        _, kappa, basis = self.problem.whitened
        cells = self.problem.basis @ basis
        within = cells.T @ (cells * self.weights[:, None])
        return np.asarray(genes @ (within * np.sqrt(kappa) / np.sqrt(kappa)[:, None]))

    def coordinates(self, values: Array) -> Array:
        """``ZᵀT`` of values of the cells, shape (r, n_values)."""
        _, kappa, basis = self.problem.whitened
        within = np.asarray(self.problem.basis.T @ values)
        return np.asarray((basis / np.sqrt(kappa)).T @ within)


class Term(ABC):
    """Something to be kept."""

    #: Whether it is a value of each cell, in place of what genes vary in.
    of_cells: ClassVar[bool] = False

    def rows(self, cells: Index) -> Self:  # genes are those of all cells
        """The same of some cells."""
        return self

    @abstractmethod
    def matrix(self, view: View) -> Array:
        """W of any trace, shape (r, r); zero where these cells have nothing of it."""


@dataclass(frozen=True)
class Structure(Term):
    """All that genes vary in: ``(Σ_j g_j g_jᵀ)^½`` over all genes."""

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        if view.weights is None:
            return _rooted(view.gram)
        return _rooted(_gram(view.counted(view.genes)))


@dataclass(frozen=True)
class Expression(Term):
    """The expression of all genes, which is to be predicted: ``Σ_j c_j c_jᵀ``.

    ``c_j = g_j / u_j`` is gene j in the units of the matrix: genes count by how much they vary.
    """

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        return _gram(view.counted(view.expression))


@dataclass(frozen=True)
class Genes(Term):
    """Some genes, which are to be predicted from the panel: ``Σ_j g_j g_jᵀ`` over them.

    Attributes
    ----------
    genes
        Which.
    """

    genes: Index

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        return _gram(view.counted(view.some(self.genes)))


@dataclass(frozen=True)
class Labels(Term):
    """Classes of cells, to be told apart.

    ``(Σ_{a<b} d_ab d_abᵀ)^½`` with ``d_ab ∝ μ_a − μ_b`` of norm 1, μ the mean rows of Z of the
    classes, so that every pair of classes counts alike, however many cells they have.

    Attributes
    ----------
    codes
        Class of every cell, −1 where it is not known, shape (n_cells,).
    """

    codes: Index
    of_cells: ClassVar[bool] = True

    def rows(self, cells: Index) -> Self:
        """The same of some cells."""
        return replace(self, codes=self.codes[cells])

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        known = (self.codes >= 0) & (view.counts > 0)
        classes, codes = np.unique(self.codes[known], return_inverse=True)
        members = np.zeros((len(self.codes), len(classes)))
        members[known] = np.eye(len(classes))[codes] * view.counts[known, None]
        means = view.coordinates(members / members.sum(axis=0))
        first, second = np.triu_indices(len(classes), 1)
        apart = means[:, first] - means[:, second]
        apart = _divided(apart, np.linalg.norm(apart, axis=0))
        return _rooted(apart @ apart.T)


@dataclass(frozen=True)
class Values(Term):
    """Numbers of the cells: T has a column each, centred, with squares that sum to 1.

    Attributes
    ----------
    values
        Not finite where they are not known, shape (n_cells, n_values).
    """

    values: Array
    of_cells: ClassVar[bool] = True

    def rows(self, cells: Index) -> Self:
        """The same of some cells."""
        return replace(self, values=self.values[cells])

    def matrix(self, view: View) -> Array:
        """W, shape (r, r)."""
        known = np.asarray(np.isfinite(self.values).all(axis=1))
        counts = known * view.counts
        values = np.where(known[:, None], self.values, 0.0)
        values = (values - counts @ values / max(counts.sum(), 1.0)) * known[:, None]
        values = _divided(values, np.sqrt(counts @ values**2))
        seen = view.coordinates(values * counts[:, None])
        return _rooted(seen @ seen.T)


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
        suits = [
            SETTINGS.noise_of_cells if term.of_cells else SETTINGS.noise for term, _ in self.terms
        ]
        return float(np.average(suits, weights=[share for _, share in self.terms]))

    def rows(self, cells: Index | None) -> Self:
        """The same of some cells; None: of all."""
        if cells is None:
            return self
        terms = tuple((term.rows(cells), share) for term, share in self.terms)
        weights = None if self.weights is None else self.weights[cells]
        return replace(self, terms=terms, weights=weights)

    def view(self, problem: Reduced, length: float) -> View:
        """One set of cells, with these weights."""
        weights = self.weights
        if weights is not None and weights.any():
            weights = weights / weights.mean()
        return View(problem, length, weights)

    def matrix(self, view: View) -> Array:
        """W of trace 1, shape (r, r); zero where these cells have nothing that is to be kept."""
        total = np.zeros_like(view.problem.stiffness)
        for term, share in self.terms:
            total += share * _of_trace_one(term.matrix(view))
        return _of_trace_one(total)


def _divided(columns: Array, lengths: Array) -> Array:
    """Each column by its length; zero where there is none."""
    return np.divide(columns, lengths, out=np.zeros_like(columns), where=lengths > _NOTHING)


def _gram(genes: Array) -> Array:
    """``Σ_j g_j g_jᵀ``."""
    return np.asarray(genes.T @ genes)


def _of_trace_one(matrix: Array) -> Array:
    """With trace 1, or zero."""
    trace = float(np.trace(matrix))
    return matrix / trace if trace > _NOTHING else np.zeros_like(matrix)


def _rooted(matrix: Array) -> Array:
    """A power of a positive semidefinite matrix, whose zeros stay zero: a root of them is large."""
    values, basis = np.linalg.eigh(matrix)
    values[values < _ROUNDING * values[-1]] = 0.0
    return np.asarray((basis * np.maximum(values, 0.0) ** SETTINGS.power) @ basis.T)
