"""Roots and systems of symmetric matrices by Cholesky factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

if TYPE_CHECKING:
    from .._typing import Array


def diagonal(matrix: Array) -> Array:
    """View of the diagonal that can be written to."""
    return np.asarray(np.einsum("ii->i", matrix))


def root(matrix: Array) -> Array:
    """F with ``F Fᵀ`` = `matrix`, which is ⪰ 0 but for rounding."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        weights, basis = np.linalg.eigh(matrix)
        return np.asarray(basis * np.sqrt(np.maximum(weights, 0.0)))
    return np.asarray(factor)


def factor(matrix: Array) -> Array | None:
    """Cholesky factor for :func:`solve_with`; None: the matrix is not positive definite."""
    found, failed = lapack.dpotrf(matrix.T, lower=1, clean=0)
    return None if failed else np.asarray(found)


def solve_with(factor: Array, right: Array) -> Array:
    """``matrix⁻¹ right`` for the `factor` of a symmetric positive definite matrix."""
    return np.asarray(lapack.dpotrs(factor, right, lower=1)[0])


def solve(matrix: Array, right: Array) -> Array:
    """``matrix⁻¹ right`` for a symmetric positive definite matrix."""
    found = factor(matrix)
    if found is None:
        msg = "The matrix is not positive definite."
        raise np.linalg.LinAlgError(msg)
    return solve_with(found, right)
