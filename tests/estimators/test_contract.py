"""What scikit-learn asks of every estimator."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_estimator

from glfs_bio.estimators import GLFS, GLFSLapRLSClassifier, LapRLSClassifier, SupervisedGLFS

ESTIMATORS = [
    GLFS(),
    GLFS(n_genes=1, n_comps=None, preserve="labels"),
    GLFS(preserve="values"),
    SupervisedGLFS(2),
    LapRLSClassifier(),
    LapRLSClassifier(graph="classes", class_weight=None),
    GLFSLapRLSClassifier(2),
]


@pytest.mark.filterwarnings("ignore::glfs_bio.errors.Caution")  # noise has no structure
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_contract_of_scikit_learn(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = [result for result in results if result["status"] == "failed"]
    assert failed == []
