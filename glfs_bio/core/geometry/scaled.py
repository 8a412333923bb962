"""Genes in given units, as an operator on blocks of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..data.values import doubled, is_sparse, single, with_values

if TYPE_CHECKING:
    from .._typing import Array, Matrix

#: By the bytes of a number.
_ROUNDING = {4: 1e-6, 8: 1e-9}


@dataclass(frozen=True)
class ScaledGenes:
    """``X̃ = (X − mean) diag(scale)``, which is never formed.

    Products with a sparse matrix take the time of reading it and the vectors, which single
    precision halves.  What makes them is a function of the values alone, never of the container,
    so that its rounding cannot make a difference between containers.

    Attributes
    ----------
    matrix
        X in a unit that brings products into the range of single precision, cells × genes.
    scale
        What genes are multiplied with, at most one, shape (n_genes, 1) and of the matrix's dtype.
    unit
        What is left out of both.
    """

    matrix: Matrix
    scale: Array
    unit: float

    @classmethod
    def of(cls, data: Matrix, scale: Array) -> ScaledGenes:
        """Cells × genes in memory, and what genes are multiplied with, shape (n_genes,)."""
        matrix = sparse.csr_array(data) if sparse.issparse(data) else data
        if sparse.issparse(matrix) and is_sparse(matrix):
            values, unit = single(matrix.data)
            matrix = with_values(matrix, values)
        else:
            matrix, unit = doubled(matrix), 1.0
        most = float(scale.max()) or 1.0
        return cls(matrix, (scale[:, None] / most).astype(matrix.dtype), unit * most)

    @property
    def rounding(self) -> float:
        """Share of the largest eigenvalue of ``X̃ᵀX̃`` below which there may be none."""
        return _ROUNDING[self.matrix.dtype.itemsize]

    def scores(self, weights: Array) -> Array:
        """``X̃ w / unit`` for the columns of `weights`, shape (n_cells, k)."""
        product = self.matrix @ (self.scale * weights.astype(self.matrix.dtype, copy=False))
        return np.asarray(product - product.mean(axis=0, dtype=np.float64))

    def weights(self, scores: Array) -> Array:
        """``X̃ᵀ s / unit`` for centred columns of `scores`, (n_genes, k), in the matrix's dtype."""
        product = self.matrix.T @ scores.astype(self.matrix.dtype, copy=False)
        product *= self.scale
        return np.asarray(product)
