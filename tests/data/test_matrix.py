"""Passes over rows and products: the numbers of the matrix, whatever holds it, the same bits."""

from __future__ import annotations

import weakref

import dask.array as da
import h5py
import numpy as np
import pytest
from anndata.io import sparse_dataset, write_elem
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import sparse

from glfs_bio.data import matrix as rows
from glfs_bio.data import products
from glfs_bio.data import threads as parallel
from glfs_bio.data.matrix import RowMatrix, is_sparse, moments
from glfs_bio.data.products import Products
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
    first = some.first(2) if some.in_memory else RowMatrix(held).first(2)
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


@pytest.mark.parametrize("value", [1.0, np.int8(100)])  # whose sum is no such integer
def test_duplicate_entries_are_summed(value):
    places = np.zeros(4, dtype=int), np.array([0, 2, 3, 4])
    twice = sparse.csr_array((np.full(4, value), *places), (3, 1))
    mean, variance, _ = moments(RowMatrix(twice))
    unit = float(value)
    np.testing.assert_allclose([mean[0], variance[0]], [4 / 3 * unit, 2 / 9 * unit**2])
    assert twice.nnz == 4


def test_dask_sums_are_a_tree_and_wait_for_nothing():
    x = values(3)
    lazy = da.from_array(x, chunks=(1, 9))
    (total,), _ = RowMatrix(lazy).sweep(lambda block, rows: ((block.sum(axis=0),), None))
    np.testing.assert_allclose(total, x.sum(axis=0))


def test_a_matrix_object(clusters):
    with pytest.warns(PendingDeprecationWarning):  # NumPy's own
        cells = RowMatrix(np.matrix(clusters))
    assert type(cells.source) is np.ndarray
    np.testing.assert_array_equal(cells.source, clusters)


def test_a_file_by_genes_is_read_to_memory_once(tmp_path):
    x, path = values(5), tmp_path / "cells.h5"
    with h5py.File(path, "w") as file:
        write_elem(file, "X", sparse.csc_matrix(x))
        data = RowMatrix(sparse_dataset(file["X"]))
        np.testing.assert_array_equal(
            RowMatrix(data, genes=[3, 1]).loaded().toarray(), x[:, [3, 1]]
        )
        assert data.first(2).shape == (2, 9)
        del file["X"]
        np.testing.assert_allclose(data.weighted_sums(np.ones((23, 1)))[:, 0], x.sum(axis=0))


def counts_like(share):
    rng = np.random.default_rng(0)
    return sparse.csr_array(
        rng.lognormal(1.0, size=(300, 700)) * (rng.uniform(size=(300, 700)) < share)
    )


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("precision", "exact"), [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_of_a_sparse_matrix(index, precision, exact, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(products, "_rows", products._rows.py_func)
    x = counts_like(0.1)[:40].astype(np.float32)
    x.data[x.indptr[3] : x.indptr[4]] = 0.0  # a cell without counts
    x.eliminate_zeros()
    x.indices, x.indptr = x.indices.astype(index), x.indptr.astype(index)
    rng = np.random.default_rng(1)
    weights, scores = rng.normal(size=(700, 5)), rng.normal(size=(40, 5))
    known = Products.of(x)
    for product, expected in (
        (known.times(weights.astype(precision)), x.toarray() @ weights),
        (known.transposed.times(scores.astype(precision)), x.toarray().T @ scores),
    ):
        assert product.dtype == precision
        np.testing.assert_allclose(product, expected, atol=exact * np.abs(expected).max())


def test_threads_do_not_change_a_bit(monkeypatch):
    x, weights = counts_like(0.1), np.random.default_rng(1).normal(size=(700, 19))
    expected = Products(x, True).times(weights)
    for n_threads in (1, 2, 7):
        monkeypatch.setattr(parallel, "n_threads", lambda n_threads=n_threads: n_threads)
        np.testing.assert_array_equal(Products(x, True).times(weights), expected)


def test_matrices_with_few_zeros_are_worked_on_as_dense_ones():
    """Zeros count whether they are stored or not."""
    x = counts_like(0.9)
    for container in (x, x.toarray()):
        assert not Products.of(container).mostly_zero
    x.data[x.data < 4.0] = 0.0
    for container in (x, counts_like(0.1)):
        assert is_sparse(container.toarray())
        assert Products.of(container).mostly_zero


def test_single_products_do_not_depend_on_block_precision_or_unit():
    x = counts_like(0.1).astype(np.float32)
    weights = np.random.default_rng(1).normal(size=(x.shape[1], 4))

    def times(matrix, weights=weights):
        return Products(matrix, True).single_times(weights)

    plain = times(x)
    assert np.abs(plain - x.toarray() @ weights).max() < 1e-5 * np.abs(plain).max()
    np.testing.assert_array_equal(times(x[100:]), plain[100:])
    np.testing.assert_array_equal(times(x.astype(np.float64)), plain)
    np.testing.assert_array_equal(times(x, weights * 2.0**300), plain * 2.0**300)
    for power in (-140, 100):  # of single precision: subnormal, and nearly infinite
        unit = np.float32(2.0**power)
        scaled = times(x.astype(np.float64) * unit)
        np.testing.assert_array_equal(scaled, plain * np.float64(unit))
        tiny_or_huge = times(x * unit) / np.float64(unit)
        assert np.abs(tiny_or_huge - plain).max() < 0.1 * np.abs(plain).max()


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_products_are_freed_at_once(precision):
    counts = np.random.default_rng(0).poisson(0.3, (30, 8))
    known = Products(sparse.csr_array(counts.astype(precision)), True)
    known.single_times(np.ones((8, 2)))
    known.in_single[0].transposed.times(np.ones((30, 2)))
    left = weakref.ref(known)
    del known  # a pass over many blocks would keep them all until Python looks for cycles
    assert left() is None
