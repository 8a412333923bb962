"""Genes in given units, as an operator on blocks of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .passes import doubled, with_values

if TYPE_CHECKING:
    from ._typing import Array, Matrix

#: Share of entries that are not zero from which a matrix is worked on as a dense one.
_DENSE = 0.5
#: Products of such numbers, and sums of these, are in the range of single precision.
_IN_RANGE = 1e15
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
        What genes are multiplied with, at most one, shape (n_genes,).
    unit
        What is left out of both.
    """

    matrix: Matrix
    scale: Array
    unit: float

    @classmethod
    def of(cls, data: Matrix, scale: Array) -> ScaledGenes:
        """Cells × genes in memory, and what genes are multiplied with, shape (n_genes,)."""
        largest_scale = float(scale.max()) or 1.0
        scale = scale / largest_scale
        if not sparse.issparse(data):
            return cls(doubled(data), scale, largest_scale)
        data = sparse.csr_array(data)
        if not is_sparse(data):
            return cls(doubled(data), scale, largest_scale)
        values, unit = _single(data.data)
        return cls(with_values(data, values), scale, unit * largest_scale)

    @property
    def rounding(self) -> float:
        """Share of the largest eigenvalue of ``X̃ᵀX̃`` below which there may be none."""
        return _ROUNDING[self.matrix.dtype.itemsize]

    def scores(self, weights: Array) -> Array:
        """``X̃ w / unit`` for the columns of `weights`, shape (n_cells, k)."""
        product = self.matrix @ (self._scale * weights.astype(self.matrix.dtype, copy=False))
        return np.asarray(product - product.mean(axis=0, dtype=np.float64))

    def weights(self, scores: Array) -> Array:
        """``X̃ᵀ s / unit`` for centred columns of `scores`, (n_genes, k), in the matrix's dtype."""
        product = self.matrix.T @ scores.astype(self.matrix.dtype, copy=False)
        product *= self._scale
        return np.asarray(product)

    @cached_property
    def _scale(self) -> Array:
        return self.scale[:, None].astype(self.matrix.dtype)


def single_product(block: sparse.csr_array, weights: Array) -> Array:
    """``X w`` for the columns of `weights`, in single precision but for its unit.

    A sum for each cell, whose rounding does not depend on what other cells are in the block.
    """
    (values, unit), (weights, weight) = _single(block.data), _single(weights)
    product = with_values(block, values) @ weights
    return np.asarray(np.float64(unit * weight) * product)


def _single(values: Array) -> tuple[Array, float]:
    """In single precision and its range, and their unit: a power of two, which changes no digit."""
    extent = largest(values)
    if values.dtype == np.float32 and 1.0 / _IN_RANGE < extent < _IN_RANGE:
        return values, 1.0
    unit = 2.0 ** int(np.frexp(extent)[1])
    single = np.empty(values.shape, dtype=np.float32)
    return np.multiply(values, np.float64(1.0 / unit), out=single, casting="same_kind"), unit


def largest(values: Array) -> float:
    """The largest absolute value, found without an array of these."""
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def is_sparse(data: Matrix) -> bool:
    """Whether most entries are zero, stored or not."""
    n_cells, n_genes = data.shape
    values = data.data if sparse.issparse(data) else data
    return bool(np.count_nonzero(values) < _DENSE * n_cells * n_genes)
