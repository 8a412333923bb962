"""Genes in given units, as an operator on blocks of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .passes import with_values

if TYPE_CHECKING:
    from ._typing import Array, Matrix

#: Share of entries that are not zero from which a matrix is worked on as a dense one.
_DENSE = 0.5
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
        ``X diag(scale) / unit``, cells × genes.
    unit
        Brings products into the range of single precision.
    """

    matrix: Matrix
    unit: float

    @classmethod
    def of(cls, data: Matrix, scale: Array) -> ScaledGenes:
        """Cells × genes in memory, and what genes are multiplied with, shape (n_genes,)."""
        if not sparse.issparse(data):
            return cls(data * scale, 1.0)
        data = sparse.csr_array(data)
        largest = max(data.data.max(initial=0.0), -data.data.min(initial=0.0))
        unit = float(largest * scale.max()) or 1.0
        values = np.empty(data.nnz, dtype=np.float32 if is_sparse(data) else np.float64)
        np.multiply(data.data, (scale / unit)[data.indices], out=values, casting="same_kind")
        return cls(with_values(data, values), unit)

    @property
    def rounding(self) -> float:
        """Share of the largest eigenvalue of ``X̃ᵀX̃`` below which there may be none."""
        return _ROUNDING[self.matrix.dtype.itemsize]

    def scores(self, weights: Array) -> Array:
        """``X̃ w / unit`` for the columns of `weights`, shape (n_cells, k)."""
        product = self.matrix @ weights.astype(self.matrix.dtype, copy=False)
        return np.asarray(product - product.mean(axis=0, dtype=np.float64))

    def weights(self, scores: Array) -> Array:
        """``X̃ᵀ s / unit`` for centred columns of `scores`, shape (n_genes, k)."""
        product = self.matrix.T @ scores.astype(self.matrix.dtype, copy=False)
        return np.asarray(product, dtype=np.float64)


def is_sparse(data: Matrix) -> bool:
    """Whether most entries are zero, stored or not."""
    n_cells, n_genes = data.shape
    values = data.data if sparse.issparse(data) else data
    return bool(np.count_nonzero(values) < _DENSE * n_cells * n_genes)
