"""Products with blocks of vectors: what they are, and the same bits from any threads."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.data import products
from glfs_bio.data import threads as parallel
from glfs_bio.data.matrix import is_sparse
from glfs_bio.data.products import Dense, Sparse


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
    known = products.products(x)
    for product, expected in (
        (known.times(weights.astype(precision)), x.toarray() @ weights),
        (known.transposed_times(scores.astype(precision)), x.toarray().T @ scores),
    ):
        assert product.dtype == precision
        np.testing.assert_allclose(product, expected, atol=exact * np.abs(expected).max())


def test_threads_do_not_change_a_bit(monkeypatch):
    x, weights = counts_like(0.1), np.random.default_rng(1).normal(size=(700, 19))
    expected = Sparse(x).times(weights)
    for n_threads in (1, 2, 7):
        monkeypatch.setattr(parallel, "n_threads", lambda n_threads=n_threads: n_threads)
        np.testing.assert_array_equal(Sparse(x).times(weights), expected)


def test_matrices_with_few_zeros_are_worked_on_as_dense_ones():
    """Zeros count whether they are stored or not."""
    x = counts_like(0.9)
    for container in (x, x.toarray()):
        assert isinstance(products.products(container), Dense)
    x.data[x.data < 4.0] = 0.0
    for container in (x, counts_like(0.1)):
        assert is_sparse(container.toarray())
        assert isinstance(products.products(container), Sparse)


def test_single_products_do_not_depend_on_block_precision_or_unit():
    x = counts_like(0.1).astype(np.float32)
    weights = np.random.default_rng(1).normal(size=(x.shape[1], 4))

    def times(matrix, weights=weights):
        return Sparse(matrix).single_times(weights)

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
    known = Sparse(sparse.csr_array(counts.astype(precision)))
    known.single_times(np.ones((8, 2)))
    known.in_single[0].transposed_times(np.ones((30, 2)))
    left = weakref.ref(known)
    del known  # a pass over many blocks would keep them all until Python looks for cycles
    assert left() is None
