"""Validation of the matrix and of the labels of an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from ..data.matrix import RowMatrix, check_finite, check_indices
from ..errors import InvalidType, InvalidValue, short
from ..labels import batch_names, check_classes, coded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from .._typing import Index, Matrix

#: Packages whose matrices are not in memory.
_OUTSIDE = ("dask", "h5py", "zarr")


class OfMatrices(BaseEstimator):  # type: ignore[misc]
    """An estimator whose matrices may be sparse."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def is_outside(X: Any) -> bool:
    """Whether a matrix is in a file, or a dask array, and is read as it goes."""
    stored = getattr(X, "group", X)  # of a sparse dataset of anndata
    package = type(stored).__module__.partition(".")[0]
    return isinstance(X, RowMatrix) or package in _OUTSIDE


def rows_of(estimator: BaseEstimator, X: Any, *, reset: bool = True, **how: Any) -> RowMatrix:
    """Return a valid matrix by rows, wherever it is."""
    if not is_outside(X):
        return RowMatrix(validated(estimator, X, reset=reset, **how), checked=True)
    rows = RowMatrix(X)
    validate_data(estimator, rows, skip_check_array=True, reset=reset)
    return rows


def validated(estimator: BaseEstimator, X: Any, **how: Any) -> Matrix:
    """Return a valid matrix in memory: dense, CSR or CSC, in single or double precision."""
    if hasattr(X, "obs_names") and hasattr(X, "var_names"):
        remedy = "call `glfs_bio.pp.select_genes(adata)` or `glfs_bio.tl.classify(adata)`"
        raise InvalidType(f"`X` is an AnnData object: pass its matrix `adata.X`, or {remedy}")
    if is_outside(X):
        X = RowMatrix(X).loaded()
    check_indices(X, "X")
    formats = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}
    matrix = validate_data(estimator, X, ensure_all_finite=False, **formats, **how)
    check_finite(matrix.data if sparse.issparse(matrix) else matrix)
    return matrix


def batches_of(batch: ArrayLike, n_samples: int) -> NDArray[Any]:
    """Return the name of the batch of every sample."""
    if np.shape(batch) != (n_samples,):
        raise InvalidValue(f"`batch={short(batch)}` must have one value a sample ({n_samples})")
    return batch_names(batch, "batch")


def labels_of(
    estimator: BaseEstimator, y: ArrayLike | None, n_samples: int
) -> tuple[Index, NDArray[Any]]:
    """Return the number of the class of every sample, −1 where it has none, and the classes."""
    if y is None:
        raise no_target(estimator, "labels")
    labels = column_or_1d(y, warn=True)
    check_consistent_length(np.empty(n_samples), labels)
    is_object = labels.dtype == np.object_
    if not is_object:
        present = labels[~pd.isna(labels)]
        assert_all_finite(present, input_name="y")
        check_classification_targets(present)
    codes, categories = coded(labels)[0]
    labelled = codes >= 0
    names = categories[codes[labelled]] if is_object else labels[labelled]
    classes, codes[labelled] = np.unique(names, return_inverse=True)
    check_classes(classes)
    return codes, classes


def no_target(estimator: BaseEstimator, values: str) -> InvalidValue:
    """Return the refusal of a fit without `y`, in words that scikit-learn's checks look for."""
    text = f"`y` is missing: {type(estimator).__name__} requires y to be passed"
    return InvalidValue(f"{text}, but the target y is None: pass the {values}")
