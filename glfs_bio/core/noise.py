"""Technical noise of genes, measured as what the graph of the cells does not explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .graph import laplacian

if TYPE_CHECKING:
    from ._typing import Array, Matrix

_SMALLEST_SHARE = 1e-3
_CHUNK_BYTES = 2**27


def variances(data: Matrix) -> Array:
    """Variance of every gene over the cells, shape (n_genes,)."""
    mean = np.asarray(data.mean(axis=0)).ravel()
    if not sparse.issparse(data):
        return np.asarray(np.square(data - mean).mean(axis=0))
    squares = np.asarray(data.multiply(data).mean(axis=0)).ravel()
    spread = squares - mean**2
    return np.where(spread > 1e-12 * squares, spread, 0.0)


def graph_residuals(data: Matrix, smoother: sparse.csr_array) -> Array:
    """``σ_i² = f_iᵀ L f_i / n`` for the centred genes, with L = `smoother`, shape (n_genes,).

    Half the mean squared difference of neighbouring cells: for a gene without structure it equals
    the variance, for one that is constant among neighbours it is zero.
    """
    n_cells, n_genes = data.shape
    mean = np.asarray(data.mean(axis=0)).ravel()
    ones = smoother @ np.ones(n_cells)
    quadratic = -2.0 * mean * (data.T @ ones) + mean**2 * ones.sum()
    # Both triangles of L are alike: one is enough, with half the diagonal, and takes half the time.
    half = sparse.csr_array(
        sparse.triu(smoother, 1) + sparse.diags_array(smoother.diagonal() / 2.0)
    )
    rows = max(1, _CHUNK_BYTES // (8 * n_genes))
    for begin in range(0, n_cells, rows):
        some = slice(begin, begin + rows)
        smooth = half[some] @ data
        if sparse.issparse(data):
            quadratic += 2.0 * np.asarray(data[some].multiply(smooth).sum(axis=0)).ravel()
        else:
            quadratic += 2.0 * np.einsum("ij,ij->j", data[some], smooth)
    return np.asarray(np.maximum(quadratic, 0.0) / n_cells)


def measure(data: Matrix, variance: Array, graph: sparse.csr_array) -> Array:
    """``σ_i²``: the residual on the normalised Laplacian, at least 10⁻³ of the variance."""
    residuals = graph_residuals(data, laplacian(graph))
    return np.maximum(residuals, _SMALLEST_SHARE * variance)


def reliability(variance: Array, residuals: Array) -> Array:
    """``h_i = clip(1 − σ_i²/var_i, 10⁻³, 1)``: the share of a gene's variance that is structure."""
    share = np.divide(residuals, variance, out=np.ones_like(variance), where=variance > 0)
    return np.clip(1.0 - share, _SMALLEST_SHARE, 1.0)


def gene_weights(variance: Array, residuals: Array, exponent: float) -> Array:
    """``h_i (σ_i²)^(-exponent)``, zero for a constant gene.

    Dividing by σ (exponent ½) puts genes in units of their noise, not dividing keeps those that are
    expressed highly enough to be measured.  The first genes of a panel are chosen half way, on the
    logarithmic scale (¼): a choice made by trial on the data sets of ``benchmarks/panels``.
    """
    alive = variance > 0
    weights = np.zeros_like(variance)
    weights[alive] = reliability(variance, residuals)[alive] * residuals[alive] ** -exponent
    return weights
