"""Targets beside the structure: expression, genes, labels and values of the cells.

A target is a small class that makes its W, see :mod:`.criterion`; its trace does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from .criterion import NOTHING, Term, rooted

if TYPE_CHECKING:
    from .._typing import Array, Index
    from ..cells.cells import Cells


@dataclass(frozen=True)
class ExpressionTerm(Term):
    """The expression of all genes, which is to be predicted: ``Σ_j c_j c_jᵀ``.

    ``c_j`` is gene j in the units of the matrix: genes count by how much they vary.
    Noise is left in: it hardly weighs at exponent 1, and taking it off predicted no better.
    """

    def matrix(self, cells: Cells, weights: Array | None) -> Array:
        """W, shape (r, r)."""
        return cells.whitened_form(cells.projections.T @ cells.projections, weights)


@dataclass(frozen=True)
class GenesTerm(Term):
    """Some genes, which are to be predicted from the panel: ``Σ_j g_j g_jᵀ`` over them."""

    genes: Index

    def matrix(self, cells: Cells, weights: Array | None) -> Array:
        """W, shape (r, r)."""
        in_units = cells.projections[self.genes] * cells.units[self.genes, None]
        return cells.whitened_form(in_units.T @ in_units, weights)


@dataclass(frozen=True)
class LabelsTerm(Term):
    """Classes of cells, to be told apart.

    ``(Σ_{m<m'} δ_mm' δ_mm'ᵀ)^½`` with the differences δ, of norm 1, of the mean rows of Z of the
    classes, so that every pair of classes counts alike, however many cells they have.
    """

    #: Class of every cell, −1 where it is not known, shape (n_cells,).
    codes: Index
    of_cells: ClassVar[bool] = True

    def rows(self, cells: Index) -> Self:
        """The same of some cells."""
        return replace(self, codes=self.codes[cells])

    def matrix(self, cells: Cells, weights: Array | None) -> Array:
        """W, shape (r, r)."""
        counts = np.ones(len(self.codes)) if weights is None else weights
        labelled = (self.codes >= 0) & (counts > 0)
        classes, codes = np.unique(self.codes[labelled], return_inverse=True)
        members = np.zeros((len(self.codes), len(classes)))
        members[labelled] = np.eye(len(classes))[codes] * counts[labelled, None]
        means = cells.coordinates(members / members.sum(axis=0))
        first, second = np.triu_indices(len(classes), 1)
        differences = means[:, first] - means[:, second]
        differences = _divided(differences, np.linalg.norm(differences, axis=0))
        return rooted(differences @ differences.T)


@dataclass(frozen=True)
class ValuesTerm(Term):
    """Numbers of the cells: Y has a column each, centred, with squares that sum to 1."""

    #: Not finite where they are not known, shape (n_cells, n_values).
    values: Array
    of_cells: ClassVar[bool] = True

    def rows(self, cells: Index) -> Self:
        """The same of some cells."""
        return replace(self, values=self.values[cells])

    def matrix(self, cells: Cells, weights: Array | None) -> Array:
        """W, shape (r, r)."""
        measured = np.asarray(np.isfinite(self.values).all(axis=1))
        counts = measured * (1.0 if weights is None else weights)
        values = np.where(measured[:, None], self.values, 0.0)
        values = (values - counts @ values / max(counts.sum(), 1.0)) * measured[:, None]
        values = _divided(values, np.sqrt(counts @ values**2))
        coordinates = cells.coordinates(values * counts[:, None])
        return rooted(coordinates @ coordinates.T)


def _divided(columns: Array, lengths: Array) -> Array:
    """Each column by its length; zero where there is none."""
    return np.divide(columns, lengths, out=np.zeros_like(columns), where=lengths > NOTHING)
