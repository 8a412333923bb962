"""Genes in given units, as an operator on blocks of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..data.products import Sparse

if TYPE_CHECKING:
    from .._typing import Array
    from ..data.products import Products

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
    products
        With X in a unit that brings them into the range of single precision.
    scale
        What genes are multiplied with, at most one, shape (n_genes, 1) and in the precision of
        products.
    unit
        What is left out of both.
    """

    products: Products
    scale: Array
    unit: float

    @classmethod
    def of(cls, products: Products, scale: Array) -> ScaledGenes:
        """Products with cells × genes, and what genes are multiplied with, shape (n_genes,)."""
        most = float(scale.max()) or 1.0
        scale = scale[:, None] / most
        if not isinstance(products, Sparse):
            return cls(products, scale, most)
        products, unit = products.in_single
        return cls(products, scale.astype(np.float32), unit * most)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of cells and genes."""
        n_cells, n_genes = self.products.matrix.shape
        return n_cells, n_genes

    @property
    def rounding(self) -> float:
        """Share of the largest eigenvalue of ``X̃ᵀX̃`` below which there may be none."""
        return _ROUNDING[self.scale.dtype.itemsize]

    def scores(self, weights: Array) -> Array:
        """``X̃ w / unit`` for the columns of `weights`, shape (n_cells, k)."""
        product = self.products.times(self.scale * weights.astype(self.scale.dtype, copy=False))
        return np.asarray(product - product.mean(axis=0, dtype=np.float64))

    def weights(self, scores: Array) -> Array:
        """``X̃ᵀ s / unit`` for centred columns of `scores`, (n_genes, k), in their precision."""
        product = self.products.transposed_times(scores.astype(self.scale.dtype, copy=False))
        product *= self.scale
        return np.asarray(product)
