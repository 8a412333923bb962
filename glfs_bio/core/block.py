"""What an objective is made of: the whitened genes of some cells, and three diagonals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

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
        ``N``, ``W`` and ``U`` of the table in :mod:`~glfs_bio.core.variance`, shape (r,).
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
