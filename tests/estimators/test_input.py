"""The matrix of an estimator."""

from __future__ import annotations

import numpy as np

from glfs_bio import LapRLSClassifier
from glfs_bio.estimators._input import validated


def test_single_and_double_precision_stay(two_classes):
    X, y = two_classes
    for dtype, stays in ((np.int64, np.float64), (np.float32, np.float32), (float, float)):
        matrix, labels = validated(LapRLSClassifier(), X.astype(dtype), y)
        assert matrix.dtype == stays
        np.testing.assert_array_equal(labels, y)
