"""Validation of the matrix and of the labels of an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from .. import checks
from ..data.matrix import RowMatrix, check_finite, check_indices
from ..errors import InvalidValue, short
from ..labels import batch_names, coded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator

#: Packages whose matrices are not in memory.
_OUTSIDE = ("dask", "h5py", "zarr")


def is_outside(X: Any) -> bool:
    """Whether a matrix is in a file, or a dask array, and is read as it goes."""
    stored = getattr(X, "group", X)  # of a sparse dataset of anndata
    package = type(stored).__module__.partition(".")[0]
    return isinstance(X, RowMatrix) or package in _OUTSIDE


def rows_of(estimator: BaseEstimator, X: Any, *labels: Any, **how: Any) -> Any:
    """Return the same as :func:`validated`, the matrix by rows, wherever it is."""
    if not is_outside(X):
        checked = validated(estimator, X, *labels, **how)
        matrix, y = checked if labels else (checked, None)
        rows = RowMatrix(matrix, checked=True)
    else:
        rows = RowMatrix(X)
        validate_data(estimator, rows, skip_check_array=True, reset=how.get("reset", True))
        y = None
        if labels:
            y, filled = labels_of(labels[0])
            check_consistent_length(np.empty(rows.shape[0]), filled)
            check_classification_targets(filled)
    return (rows, y) if labels else rows


def as_given(rows: RowMatrix) -> Any:
    """Return a matrix as others take it: NumPy array or CSR where it is in memory."""
    return rows.source if rows.in_memory else rows


def validated(estimator: BaseEstimator, X: Any, *labels: Any, **how: Any) -> Any:
    """Return a matrix, with labels where there are some, as scikit-learn's ``validate_data`` does.

    Labels may be missing.

    Dense, CSR or CSC, in single or double precision.
    """
    checks.no_anndata(X)
    if is_outside(X):
        X = RowMatrix(X).loaded()
    check_indices(X, "X")
    labels_and_filled = [(y, y) if y is None else labels_of(y) for y in labels]
    checked = validate_data(
        estimator,
        X,
        *(filled for _, filled in labels_and_filled),
        accept_sparse=("csr", "csc"),
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        **how,
    )
    matrix = checked[0] if labels else checked
    check_finite(matrix.data if sparse.issparse(matrix) else matrix)
    if not labels:
        return checked
    check_classification_targets(checked[1])
    return matrix, labels_and_filled[0][0]


def batches_of(batch: ArrayLike, n_samples: int) -> NDArray[Any]:
    """Return the name of the batch of every sample."""
    if np.shape(batch) != (n_samples,):
        raise InvalidValue(
            f"`batch={short(batch)}` must have one value for each of the {n_samples} samples"
        )
    return batch_names(batch, "batch")


def labels_of(y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels, and the same with one for each that is missing, as scikit-learn needs."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype == np.object_:
        coding, _ = coded(labels)  # refuses what scikit-learn cannot sort
        labels = pd.Series(labels).infer_objects().to_numpy()
        if labels.dtype == np.object_ and len(coding.categories):
            labels = coding.categories.astype(object)[coding.codes]
            labels[coding.codes < 0] = None
    missing = pd.isna(labels)
    filled = labels
    if missing.any():
        present = pd.Series(labels[~missing]).infer_objects().to_numpy()
        filled = np.zeros(len(labels), dtype=present.dtype if len(present) else int)
        filled[~missing], filled[missing] = present, present[0] if len(present) else 0
        number = present.dtype.kind in "iuf"
        labels = filled.astype(float if number else object)
        labels[missing] = np.nan if number else None
    return labels, filled
