"""Leading eigenvectors against those of a dense decomposition."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.cells.pca import leading_eigenvectors


def test_eigenvectors_of_a_small_matrix_are_exact():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 30)) @ np.diag(np.linspace(1, 4, 30))
    gram = x.T @ x
    values, found = leading_eigenvectors(lambda block: gram @ block, 30, 6, 0)
    every, vectors = np.linalg.eigh(gram)
    exact = vectors[:, ::-1][:, :6]
    np.testing.assert_allclose(values, every[::-1][:6])
    np.testing.assert_allclose(np.abs(np.sum(found * exact, axis=0)), 1.0, rtol=1e-8)


@pytest.mark.parametrize("rank", [370, 60])
def test_few_products_find_all_directions_of_few_cells(rank):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(370, rank)) @ rng.normal(size=(rank, 900))
    products = 0

    def times(block):
        nonlocal products
        products += 1
        return x @ (x.T @ block)

    values, found = leading_eigenvectors(times, 370, 50, 0)
    every, vectors = np.linalg.eigh(x @ x.T)
    assert products <= 8
    np.testing.assert_allclose(values, every[::-1][:50], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(found * vectors[:, ::-1][:, :50], axis=0)), 1.0)


def test_eigenvectors_of_low_rank_are_as_many_as_the_rank():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 300))
    _, found = leading_eigenvectors(lambda block: x.T @ (x @ block), 300, 10, 0)
    assert found.shape == (300, 3)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-10)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_a_start_may_have_any_unit(unit):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 300)) @ np.diag(0.97 ** np.arange(300))
    gram = x.T @ x
    start = np.linalg.eigh(gram)[1][:, :-7:-1]
    start[:, 5] = 0.0
    one, other = (
        leading_eigenvectors(lambda block: gram @ block, 300, 6, 0, start=scale * start)
        for scale in (1.0, unit)
    )
    np.testing.assert_allclose(other[0], one[0], rtol=1e-10)
    np.testing.assert_allclose(np.abs(other[1]), np.abs(one[1]), atol=1e-8)  # signs are free
