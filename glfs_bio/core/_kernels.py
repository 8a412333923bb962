"""Loops that no library has: compiled by numba, once an installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from ._typing import Array, Index


@njit(cache=True, nogil=True)
def quadratic_forms(
    indptr: Index,
    indices: Index,
    values: Array,
    form_indptr: Index,
    form_indices: Index,
    form_values: Array,
    n_columns: int,
) -> Array:
    """``x_iᵀ F x_i`` for every column of a CSR matrix; F is symmetric, in CSR.

    Takes ``nnz(F)`` times the entries of a row, where a product of sparse matrices would sort them.
    """
    forms = np.zeros(n_columns)
    row = np.zeros(n_columns)
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            row[indices[p]] += values[p]
        for q in range(form_indptr[i], form_indptr[i + 1]):
            j = form_indices[q]
            if j >= i:  # the other triangle is the same
                weight = form_values[q] if j == i else 2.0 * form_values[q]
                for p in range(indptr[j], indptr[j + 1]):
                    forms[indices[p]] += weight * values[p] * row[indices[p]]
        for p in range(indptr[i], indptr[i + 1]):
            row[indices[p]] = 0.0
    return forms
