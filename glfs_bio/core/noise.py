"""Technical noise of genes, measured as what the graph of the cells does not explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ._kernels import quadratic_forms
from .graph import laplacian
from .moments import moments
from .passes import Cells

if TYPE_CHECKING:
    from ._typing import Array, Matrix

_SMALLEST_SHARE = 1e-3
_BLOCK = 2**21


def variances(data: Matrix) -> Array:
    """Variance of every gene over the cells, shape (n_genes,)."""
    return moments(Cells(data))[0].variance


def graph_residuals(data: Matrix, smoother: sparse.csr_array) -> Array:
    """``σ_i² = f_iᵀ L f_i / n`` for the centred genes, with L = `smoother`, shape (n_genes,).

    Half the mean squared difference of neighbouring cells: for a gene without structure it equals
    the variance, for one that is constant among neighbours it is zero.
    """
    n_cells, n_genes = data.shape
    ones = smoother @ np.ones(n_cells)
    weights = np.column_stack([np.full(n_cells, 1.0 / n_cells), ones])
    mean, along = Cells(data).weighted_sums(weights).T
    quadratic = -2.0 * mean * along + mean**2 * ones.sum()
    if sparse.issparse(data):
        data, form = sparse.csr_array(data), sparse.csr_array(smoother)
        quadratic += quadratic_forms(
            *(data.indptr, data.indices, data.data),
            *(form.indptr, form.indices, form.data.astype(np.float64)),
            n_genes,
        )
    else:
        columns = max(1, _BLOCK // n_cells)
        for begin in range(0, n_genes, columns):
            some = slice(begin, begin + columns)
            genes = data[:, some].astype(np.float64)
            quadratic[some] += np.einsum("ij,ij->j", genes, smoother @ genes)
    return np.asarray(np.maximum(quadratic, 0.0) / n_cells)


def measure(
    data: Matrix, variance: Array, graph: sparse.csr_array, own: Array | None = None
) -> Array:
    """``σ_i²``: the residual on the normalised Laplacian, at least 10⁻³ of the variance.

    Parameters
    ----------
    data
        Cells × genes.
    variance
        Variance of every gene.
    graph
        Similarities of the cells.
    own
        Variance in `data` where these are a sample of the cells that `variance` is of: the residual
        is measured as a share of it.  A gene that no cell of the sample expresses is all noise.
    """
    residuals = graph_residuals(data, laplacian(graph))
    if own is not None:
        share = np.divide(residuals, own, out=np.ones_like(own), where=own > 0)
        residuals = share * variance
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
