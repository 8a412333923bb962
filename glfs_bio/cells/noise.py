"""Technical noise of genes, the units that it gives them, and how far noise reaches by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..data import threads
from ..data.matrix import RowMatrix, moments
from ..data.products import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._typing import Array, Index, Matrix

    Stored: TypeAlias = tuple[Index, Index, Array]

#: ``σ_0²``, noise of the assay that will measure a panel, in units of :func:`mean`.  Less trusts
#: genes that hardly vary, more takes highly expressed ones; ``benchmarks/ARCHIVE.md`` has trials.
ASSAY = 0.3
#: No gene has less noise than this share of its variance.
SMALLEST_SHARE = 1e-3
#: Entries of a block of dense genes, and cells whose sums are added up by themselves.
_BLOCK, _ROWS = 2**21, 1024
#: A leading axis this many times the edge of the noise is not compared with chance, which reached 6
#: at most, where there were few genes.
EVIDENT = 10.0
#: Structure reaches so many times what chance reaches.
MARGIN = 1.2
#: Of fewer cells the farthest of so many draws is chance, of more cells a single draw.
_FEW_CELLS, _DRAWS = 200, 5


def graph_residuals(data: Matrix, smoother: sparse.csr_array) -> Array:
    """``σ_i² = f_iᵀ L f_i / n`` for the centred genes, with L = `smoother`, shape (n_genes,).

    Half the mean squared difference of neighbours: the variance of a gene without structure.
    """
    n_cells, n_genes = data.shape
    ones = smoother @ np.ones(n_cells)
    weights = np.column_stack([np.full(n_cells, 1.0 / n_cells), ones])
    mean, along = RowMatrix(data, checked=True).weighted_sums(weights).T
    quadratic = -2.0 * mean * along + mean**2 * ones.sum()
    if sparse.issparse(data):
        # The sums of some rows are added up in the order of these, whatever the threads.
        ends = [*range(0, n_cells, _ROWS), n_cells]
        blocks = range(len(ends) - 1)
        sums = np.zeros((len(blocks), n_genes))
        csr, form = sparse.csr_array(data), sparse.csr_array(smoother)
        stored = csr.indptr, csr.indices, csr.data
        forms = form.indptr, form.indices, form.data.astype(np.float64)
        threads.work(lambda k: _forms_of_rows(stored, forms, ends[k], ends[k + 1], sums[k]), blocks)
        quadratic += sums.sum(axis=0)
    else:
        columns = max(1, _BLOCK // n_cells)
        for begin in range(0, n_genes, columns):
            columns_of_block = slice(begin, begin + columns)
            genes = data[:, columns_of_block].astype(np.float64)
            quadratic[columns_of_block] += np.einsum("ij,ij->j", genes, smoother @ genes)
    return np.asarray(np.maximum(quadratic, 0.0) / n_cells)


def measure(
    data: Matrix, variance: Array, graph: sparse.csr_array, *, of_all: bool = True
) -> Array:
    """``σ_i²``: the residual on the normalised Laplacian, at least 10⁻³ of the variance.

    Where the data are not `of_all` cells, as the variance is, the residual is a share of that in
    the data; a gene that none of these cells expresses is all noise.
    """
    residuals = graph_residuals(data, sparse.csr_array(csgraph.laplacian(graph, normed=True)))
    if not of_all:
        _, in_sample, _ = moments(RowMatrix(data, checked=True))
        share = np.ones_like(in_sample)
        residuals = np.divide(residuals, in_sample, out=share, where=in_sample > 0) * variance
    residuals[variance == 0] = 0.0  # where rounding left some
    return np.maximum(residuals, SMALLEST_SHARE * variance)


def reliability(variance: Array, residuals: Array) -> Array:
    """``h_i = clip(1 − σ_i²/var_i, 10⁻³, 1)``: the share of a gene's variance that is structure."""
    share = np.divide(residuals, variance, out=np.ones_like(variance), where=variance > 0)
    return np.clip(1.0 - share, SMALLEST_SHARE, 1.0)


def mean(variance: Array, residuals: Array) -> float:
    """``σ̄²``, the mean of ``σ_i²``, each by the variance that is structure, ``h_i var_i``."""
    return float(np.average(residuals, weights=reliability(variance, residuals) * variance))


def gene_units(variance: Array, residuals: Array) -> Array:
    """``u_i = h_i / √(σ_i² + σ_0²)``, zero for a constant gene."""
    units = np.zeros_like(variance)
    noise = np.sqrt(residuals + ASSAY * mean(variance, residuals))
    return np.divide(reliability(variance, residuals), noise, out=units, where=variance > 0)


def edge(noise: Array, n_cells: int) -> float:
    """What noise of variances ``ν_i`` gives along the largest axis of n cells (Marchenko–Pastur).

    ``ν (1 + √(n/d_eff))²`` with ``ν = Σ ν_i``, what it gives along any fixed axis, and
    ``d_eff = (Σ ν_i)² / Σ ν_i²``, the number of genes of equal noise that it would be.
    """
    total, squares = noise.sum(), (noise**2).sum()
    if squares == 0.0:
        return 0.0
    return float(total * (1.0 + np.sqrt(n_cells * squares) / total) ** 2)


def inverse_root(squares: Array) -> Array:
    """Return one over the root of every square, zero where there is nothing."""
    roots = np.sqrt(squares)
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)


def signal(variance: Array, residuals: Array) -> Array:
    """``u_i² h_i var_i``, the structure of each gene in units of noise, shape (n_genes,)."""
    structure = reliability(variance, residuals) * variance
    return np.asarray(gene_units(variance, residuals) ** 2 * structure)


@compiled()
def _forms_of_rows(stored: Stored, form: Stored, begin: int, end: int, forms: Array) -> None:
    """``Σ_i x_i · (form x)_i`` over some rows i of every column x, added to `forms`."""
    (indptr, indices, values), (form_indptr, form_indices, form_values) = stored, form
    product = np.empty(len(forms))
    for i in range(begin, end):
        product[:] = 0.0
        for q in range(form_indptr[i], form_indptr[i + 1]):
            j = form_indices[q]
            if j >= i:  # the other triangle is the same
                weight = form_values[q] if j == i else 2.0 * form_values[q]
                for p in range(indptr[j], indptr[j + 1]):
                    product[indices[p]] += weight * values[p]
        for p in range(indptr[i], indptr[i + 1]):
            forms[indices[p]] += values[p] * product[indices[p]]


def permutations(data: Matrix, random_state: int | None) -> Iterator[Matrix]:
    """Cells × genes with every gene permuted: several times where there are few cells."""
    rng = np.random.default_rng(random_state)
    for _ in range(_DRAWS if data.shape[0] < _FEW_CELLS else 1):
        yield permuted(data, rng)


def permuted(data: Matrix, rng: np.random.Generator) -> Matrix:
    """Every gene permuted over the cells by itself, so that genes have nothing in common."""
    if not sparse.issparse(data):
        return rng.permuted(data, axis=0)
    columns = sparse.csc_array(data, copy=True)
    n_cells = columns.shape[0]
    for begin, end in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        columns.indices[begin:end] = rng.permutation(n_cells)[: end - begin]
    columns.has_sorted_indices = False
    return sparse.csr_array(columns)
