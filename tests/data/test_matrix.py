"""Passes over rows: whatever holds the matrix, the numbers are those of the matrix."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import sparse

from glfs_bio.data import matrix as rows
from glfs_bio.data.matrix import RowMatrix, moments, no_rows
from glfs_bio.errors import InvalidValue


def values(seed, n_cells=23, n_genes=9):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.7, (n_cells, n_genes)) * rng.random(n_genes)


def dense(x):
    return x.toarray() if sparse.issparse(x) else x


def part(block, rows, weights):
    product = block @ weights
    return (block.T @ product, np.array(float(rows.stop - rows.start))), product


@pytest.mark.usefixtures("small_blocks")
def test_sweep_is_the_product(holder):
    x, weights = values(0), np.random.default_rng(1).normal(size=(9, 2))
    (total, count), rows = RowMatrix(holder(x)).sweep(part, weights)
    np.testing.assert_allclose(total, x.T @ (x @ weights))
    np.testing.assert_allclose(rows, x @ weights)
    assert count == 23


@pytest.mark.usefixtures("small_blocks")
def test_some_cells_and_genes_in_the_order_of_the_call(holder):
    x = values(1)
    held = holder(x)
    cells, genes = np.array([0, 3, 8, 9, 21]), np.array([1, 2, 7])
    some = RowMatrix(RowMatrix(held, genes=np.array([0, 1, 2, 7])), cells, np.array([1, 2, 3]))
    assert some.shape == (5, 3)
    *_, taken = moments(some, np.array([1, 4]))
    np.testing.assert_allclose(dense(taken), x[np.ix_([3, 21], genes)])
    first = some.first(2) if some.in_memory or some.by_columns else RowMatrix(held).first(2)
    assert first.shape[0] == 2
    genes = np.array([7, 0, 3])
    loaded = RowMatrix(held, cells, genes).loaded()
    np.testing.assert_array_equal(dense(loaded), x[np.ix_(cells, genes)])
    silent = RowMatrix(held, genes=genes, silent=np.array([0])).loaded()
    np.testing.assert_allclose(silent.sum(axis=0), x[:, genes].sum(axis=0) * [1, 0, 1])


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_cells=st.integers(3, 40),
    n_genes=st.integers(1, 9),
    block=st.integers(4, 200),
)
def test_moments_do_not_depend_on_blocks(holders, seed, n_cells, n_genes, block):
    x = values(seed, n_cells, n_genes) + 1e3
    x[:, 0] = 0.1
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DENSE_BLOCK", "SPARSE_READ", "SPARSE_BLOCK"):
            patch.setattr(rows, name, block)
        for hold in holders.values():
            mean, variance, taken = moments(RowMatrix(hold(x)), np.array([1]))
            np.testing.assert_allclose(mean, x.mean(axis=0), rtol=1e-12)
            # less than 1e-12 of the mean square may be rounding, and is none
            np.testing.assert_allclose(variance, x.var(axis=0), rtol=1e-5, atol=2e-6)
            assert variance[0] == 0.0
            assert taken.shape == (1, n_genes)


def test_values_that_are_not_finite_are_found(holder):
    matrices = [values(2) for _ in range(3)]
    for x, bad in zip(matrices, (np.nan, np.inf, -np.inf), strict=True):
        x[20, 4] = bad
        with refused(InvalidValue, "X"):
            moments(RowMatrix(holder(x)))


def test_duplicate_entries_are_summed():
    twice = sparse.csr_array((np.ones(4), np.zeros(4, dtype=int), np.array([0, 2, 3, 4])), (3, 1))
    mean, variance, _ = moments(RowMatrix(twice))
    np.testing.assert_allclose([mean[0], variance[0]], [4 / 3, 2 / 9])
    assert twice.nnz == 4


def test_dask_sums_are_a_tree_and_wait_for_nothing():
    x = values(3)
    lazy = da.from_array(x, chunks=(1, 9))
    (total,), _ = RowMatrix(lazy).sweep(lambda block, rows: ((block.sum(axis=0),), no_rows(block)))
    np.testing.assert_allclose(total, x.sum(axis=0))


def test_a_matrix_object(clusters):
    with pytest.warns(PendingDeprecationWarning):  # NumPy's own
        cells = RowMatrix(np.matrix(clusters))
    assert type(cells.source) is np.ndarray
    np.testing.assert_array_equal(cells.source, clusters)
