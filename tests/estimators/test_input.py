"""The matrix of an estimator."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio import GLFS, LapRLSClassifier
from glfs_bio.errors import InvalidValue
from glfs_bio.estimators._input import validated


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_values_that_are_not_finite_are_refused(two_classes, hold, bad):
    X, y = two_classes
    X[3, 7] = bad
    for call in (GLFS(2).fit, lambda cells: LapRLSClassifier().fit(cells, y)):
        with refused(InvalidValue, "X") as error:
            call(hold(X))
        assert "NaN or infinite" in error.value.problem


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_single_and_double_precision_stay(two_classes, dtype):
    X, y = two_classes
    found, labels = validated(LapRLSClassifier(), X.astype(dtype), y)
    assert found.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(labels, y)
