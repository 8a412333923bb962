"""Validation of the matrix of an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from .. import checks
from ..data.matrix import check_finite, check_indices

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def validated(estimator: BaseEstimator, X: Any, *labels: Any, **how: Any) -> Any:
    """Return a matrix, with labels where there are some, as scikit-learn's ``validate_data`` does.

    Dense, CSR or CSC, in single or double precision.
    """
    checks.no_anndata(X)
    check_indices(X, "X")
    found = validate_data(
        estimator,
        X,
        *labels,
        accept_sparse=("csr", "csc"),
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        **how,
    )
    matrix = found[0] if labels else found
    check_finite(matrix.data if sparse.issparse(matrix) else matrix)
    return found
