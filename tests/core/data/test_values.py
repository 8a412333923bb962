"""Values in single precision, and how many of them are zero."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from glfs_bio.core.data.values import is_sparse, single_product


def counts_like(share):
    rng = np.random.default_rng(0)
    return sparse.csr_array(
        rng.lognormal(1.0, size=(300, 700)) * (rng.uniform(size=(300, 700)) < share)
    )


def test_single_products_do_not_depend_on_block_precision_or_unit():
    x = counts_like(0.1).astype(np.float32)
    weights = np.random.default_rng(1).normal(size=(x.shape[1], 4))
    found = single_product(x, weights)
    assert np.abs(found - x.toarray() @ weights).max() < 1e-5 * np.abs(found).max()
    np.testing.assert_array_equal(single_product(x[100:], weights), found[100:])
    np.testing.assert_array_equal(single_product(x.astype(np.float64), weights), found)
    np.testing.assert_array_equal(single_product(x, weights * 2.0**300), found * 2.0**300)
    for power in (-140, 100):  # of single precision: subnormal, and nearly infinite
        unit = np.float32(2.0**power)
        scaled = single_product(x.astype(np.float64) * unit, weights)
        np.testing.assert_array_equal(scaled, found * np.float64(unit))
        tiny_or_huge = single_product(x * unit, weights) / np.float64(unit)
        assert np.abs(tiny_or_huge - found).max() < 0.1 * np.abs(found).max()


def test_zeros_count_whether_stored_or_not():
    x = counts_like(0.9)
    assert not is_sparse(x)
    x.data[x.data < 4.0] = 0.0
    assert is_sparse(x)
    assert is_sparse(x.toarray())
