"""Inverse and root, where Cholesky factors exist and where rounding leaves none."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.criterion import cholesky
from glfs_bio.criterion.error import inverse


def covering(smallest):
    """``I + A`` whose eigenvalues go from `smallest`, less than 1 by rounding only, to 1e20."""
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    weights = np.array([smallest, 1.0, 2.0, 30.0, 1e20])
    matrix = (basis * weights) @ basis.T
    return (matrix + matrix.T) / 2.0


def test_inverse():
    half = np.random.default_rng(0).normal(size=(6, 9))
    matrix = np.eye(6) + half @ half.T
    np.testing.assert_allclose(inverse(matrix), np.linalg.inv(matrix), rtol=1e-10)


@pytest.mark.parametrize("smallest", [1.0, -1e3])
def test_inverse_has_no_eigenvalue_above_one(smallest):
    found = inverse(covering(smallest))
    values = np.linalg.eigvalsh(found)
    assert values.min() >= -1e-12
    assert values.max() <= 1.0 + 1e-9
    np.testing.assert_allclose(found, found.T)


@pytest.mark.parametrize("size", [3, 6])
def test_root(size):
    half = np.random.default_rng(0).normal(size=(6, size))  # of rank 3 there is no factor
    root = cholesky.root(half @ half.T)
    np.testing.assert_allclose(root @ root.T, half @ half.T, atol=1e-12)


def test_no_factor_where_not_positive_definite():
    assert cholesky.factor(np.diag([1.0, 2.0])) is not None
    assert cholesky.factor(np.diag([1.0, -2.0])) is None


def test_solve():
    half = np.random.default_rng(0).normal(size=(6, 9))
    matrix, right = half @ half.T, np.arange(6.0)
    np.testing.assert_allclose(matrix @ cholesky.solve(matrix, right), right, atol=1e-12)
    found = cholesky.solve_with(cholesky.factor(matrix), right)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-12)


def test_solve_refuses_what_has_no_factor():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        cholesky.solve(np.diag([1.0, -1.0]), np.ones(2))


def test_diagonal_is_a_view():
    matrix = np.zeros((3, 3))
    cholesky.diagonal(matrix)[:] += [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(matrix, np.diag([1.0, 2.0, 3.0]))
