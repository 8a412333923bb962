"""Bad input to the estimators.  What scikit-learn's ``validate_data`` refuses has its words."""

from __future__ import annotations

import inspect

import anndata as ad
import numpy as np
import pytest
from refusals import refused
from scipy import sparse
from sklearn import config_context
from sklearn.exceptions import NotFittedError

from glfs_bio import GLFS, LapRLSClassifier
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.estimators import GLFSLapRLSClassifier, SupervisedGLFS, fewest_genes

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 10)
X = RNG.normal(size=(30, 12)) + 5.0 * np.eye(3, 12)[Y]


def spoilt(value, at=(3, 5)):
    data = X.copy()
    data[at] = value
    return data


#: estimator, argument, value, kind of refusal
PARAMETERS = [
    (GLFS, "n_genes", 0, InvalidValue),
    (GLFS, "n_genes", 2.0, InvalidType),
    (GLFS, "n_genes", 13, InvalidValue),
    (GLFS, "objective", "x", InvalidValue),
    (GLFS, "preserve", "x", InvalidValue),
    (GLFS, "search", "x", InvalidValue),
    (GLFS, "time_limit", 0, InvalidValue),
    (GLFS, "lambda1", -1, InvalidValue),
    (GLFS, "standardize", "x", InvalidValue),
    (GLFS, "n_comps", 0, InvalidValue),
    (GLFS, "n_neighbors", 0, InvalidValue),
    (GLFS, "random_state", "x", InvalidType),
    (GLFS, "random_state", -1, InvalidValue),
    (SupervisedGLFS, "n_genes", 13, InvalidValue),
    (SupervisedGLFS, "random_state", 1.5, InvalidType),
    (SupervisedGLFS, "objective", "x", InvalidValue),
    (SupervisedGLFS, "lambda1", -1, InvalidValue),
    (SupervisedGLFS, "standardize", "x", InvalidValue),
    (SupervisedGLFS, "n_comps", 0, InvalidValue),
    (LapRLSClassifier, "lambda1", -1, InvalidValue),
    (LapRLSClassifier, "lambda1", np.nan, InvalidValue),
    (LapRLSClassifier, "lambda2", 0, InvalidValue),
    (LapRLSClassifier, "lambda2", "x", InvalidType),
    (LapRLSClassifier, "graph", "x", InvalidValue),
    (LapRLSClassifier, "n_neighbors", 0, InvalidValue),
    (LapRLSClassifier, "class_weight", "x", InvalidValue),
    (LapRLSClassifier, "class_weight", 5, InvalidValue),
    (LapRLSClassifier, "class_weight", {0: -1}, InvalidValue),
    (LapRLSClassifier, "class_weight", {0: 0, 1: 0, 2: 0}, InvalidValue),
    (LapRLSClassifier, "standardize", "x", InvalidType),
    (GLFSLapRLSClassifier, "n_genes", [], InvalidValue),
    (GLFSLapRLSClassifier, "n_genes", [1, 0], InvalidValue),
    (GLFSLapRLSClassifier, "n_genes", [1, 2.5], InvalidType),
    (GLFSLapRLSClassifier, "n_genes", 1.5, InvalidType),
    (GLFSLapRLSClassifier, "n_genes", 13, InvalidValue),
    (GLFSLapRLSClassifier, "n_genes", [[1, 2]], InvalidType),
    (GLFSLapRLSClassifier, "cv", 1, InvalidValue),
    (GLFSLapRLSClassifier, "cv", "x", InvalidType),
    (GLFSLapRLSClassifier, "random_state", "x", InvalidType),
    (GLFSLapRLSClassifier, "selector", 5, InvalidType),
    (GLFSLapRLSClassifier, "classifier", "x", InvalidType),
    (GLFSLapRLSClassifier, "weighted", "x", InvalidType),
]


@pytest.mark.parametrize(("estimator", "argument", "value", "kind"), PARAMETERS)
def test_parameter(estimator, argument, value, kind):
    before = X.copy()
    model = estimator(**{argument: value})
    with refused(kind, argument):
        model.fit(X, Y)
    np.testing.assert_array_equal(X, before)
    assert not [name for name in vars(model) if name.endswith("_") and name.startswith("weights")]


def test_every_parameter_has_a_row():
    for estimator in (GLFS, SupervisedGLFS, LapRLSClassifier, GLFSLapRLSClassifier):
        tried = {argument for one, argument, *_ in PARAMETERS if one is estimator}
        assert set(inspect.signature(estimator).parameters) == tried, estimator


#: matrices that scikit-learn refuses: exception and words
MATRICES = [
    (spoilt(np.nan), "has NaN or infinite values"),
    (spoilt(np.inf), "has NaN or infinite values"),
    (X + 1j, "Complex data not supported"),
    (X[0], "Expected 2D array"),
    (X[:2], "minimum of 3 is required"),
    (np.full((30, 12), "a"), "could not convert string to float"),
]


@pytest.mark.parametrize(("value", "words"), MATRICES)
def test_matrix_of_glfs(value, words):
    with pytest.raises(ValueError, match=words):
        GLFS(2).fit(value)


#: what is given to ``GLFS(2).fit`` beside X, or in its place
GLFS_DATA = [
    ({"X": X[:, :1]}, "n_genes", InvalidValue),
    ({"include": [0.5]}, "include", InvalidType),
    ({"include": ["a"]}, "include", InvalidType),
    ({"include": np.ones(12, dtype=bool)}, "include", InvalidType),
    ({"include": [100]}, "include", InvalidValue),
    ({"include": [-1]}, "include", InvalidValue),
    ({"include": [1, 2, 3]}, "include", InvalidValue),
]


@pytest.mark.parametrize(("given", "argument", "kind"), GLFS_DATA)
def test_data_of_glfs(given, argument, kind):
    with refused(kind, argument):
        GLFS(2).fit(**{"X": X} | given)


#: what ``cells/`` refuses
CELLS = [
    ({"X": np.ones((30, 12))}, ValueError),
    ({"graph": np.ones((3, 3))}, ValueError),
    ({"graph": [[1]]}, ValueError),
    ({"graph": "x"}, ValueError),
    ({"graph": -np.ones((30, 30))}, ValueError),
    ({"graph": np.triu(np.ones((30, 30)))}, ValueError),
    ({"graph": np.full((30, 30), np.nan)}, ValueError),
    ({"graph": np.eye(30)}, ValueError),
    ({"graph": np.ones((30, 30)) * 1j}, TypeError),
    ({"graph": np.full((30, 30), "x", dtype=object)}, TypeError),
    ({"representation": np.ones((3, 3))}, ValueError),
    ({"representation": np.ones((30, 3))}, ValueError),
    ({"representation": spoilt(np.inf)}, ValueError),
    ({"representation": "x"}, ValueError),
    ({"representation": X * 1j}, TypeError),
    ({"batch": [1, 2]}, ValueError),
    ({"batch": np.repeat(np.arange(15), 2)}, ValueError),
    ({"batch": np.full(30, np.nan)}, ValueError),
    ({"batch": [None] * 15 + ["a"] * 15}, ValueError),
    ({"batch": Y, "graph": np.ones((30, 30))}, ValueError),
]


@pytest.mark.parametrize(("given", "error"), CELLS)
def test_cells_of_glfs(given, error):
    named = next(iter(given))
    with pytest.raises(error, match="gene" if named == "X" else named):
        GLFS(2).fit(**{"X": X} | given)


@pytest.mark.parametrize(
    "estimator", [GLFS, SupervisedGLFS, LapRLSClassifier, GLFSLapRLSClassifier]
)
def test_an_object_in_place_of_its_matrix(estimator):
    """Whether or not there are labels."""
    adata = ad.AnnData(X)
    with refused(InvalidType, "X"):
        estimator().fit(adata, Y)
    if issubclass(estimator, GLFS):
        with refused(InvalidType, "X"):
            estimator().fit(adata)


@pytest.mark.parametrize("form", ["estimator", "configuration"])
def test_a_table_of_sparse_columns_is_refused_before_the_fit(form):
    model = GLFS(2)
    data = sparse.csr_matrix(X)
    if form == "estimator":
        model.set_output(transform="pandas")
    with config_context(**({"transform_output": "pandas"} if form == "configuration" else {})):
        with refused(InvalidValue, "X"):
            model.fit_transform(data)
        assert not hasattr(model, "weights_")
        assert model.fit_transform(data.toarray()).shape == (30, 2)
    assert GLFS(2).fit_transform(data).shape == (30, 2)


#: call, exception, words: those of scikit-learn
CALLS = [
    (lambda: GLFS(2).transform(X), NotFittedError, "not fitted"),
    (lambda: GLFS(2).fit(X).transform(X[:, :3]), ValueError, "expecting 12 features"),
    (lambda: SupervisedGLFS(2).fit(X, Y[:4]), ValueError, "inconsistent numbers of samples"),
    (lambda: LapRLSClassifier().fit(spoilt(np.inf), Y), ValueError, "has NaN or infinite values"),
    (lambda: LapRLSClassifier().fit(X, None), ValueError, "requires y to be passed"),
    (lambda: LapRLSClassifier().fit(X, X[:, 0]), ValueError, "Unknown label type"),
    (lambda: LapRLSClassifier().fit(X, Y, graph=np.ones((3, 3))), ValueError, "graph"),
    (lambda: LapRLSClassifier().fit(X, Y, graph=-np.ones((30, 30))), ValueError, "graph"),
    (lambda: LapRLSClassifier().predict(X), NotFittedError, "not fitted"),
    (lambda: LapRLSClassifier().fit(X, Y).predict(X[:, :2]), ValueError, "expecting 12 features"),
    (
        lambda: LapRLSClassifier().fit(X, Y).predict(spoilt(np.nan)),
        ValueError,
        "has NaN or infinite values",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_call(call, error, words):
    with pytest.raises(error, match=words):
        call()


#: call, argument, kind of refusal
REFUSED = [
    (lambda: SupervisedGLFS(2).fit(X), "y", InvalidValue),
    (lambda: SupervisedGLFS(2).fit(X, np.zeros(30)), "y", InvalidValue),
    (lambda: SupervisedGLFS(2).fit(X, [0] * 29 + [1]), "y", InvalidValue),
    (lambda: LapRLSClassifier().fit(X, np.zeros(30)), "y", InvalidValue),
    (lambda: LapRLSClassifier().fit(X, np.full(30, -1)), "y", InvalidValue),
    (lambda: LapRLSClassifier().fit(X, Y, feature_weight=[1]), "feature_weight", InvalidValue),
    (lambda: LapRLSClassifier().fit(X, Y, feature_weight="x"), "feature_weight", InvalidType),
    (
        lambda: LapRLSClassifier().fit(X, Y, feature_weight=-np.ones(12)),
        "feature_weight",
        InvalidValue,
    ),
    (lambda: GLFSLapRLSClassifier(2).fit(X, np.zeros(30)), "y", InvalidValue),
    (lambda: GLFSLapRLSClassifier(2).fit(X[:, :1], Y), "X", InvalidValue),
    (lambda: GLFSLapRLSClassifier(2).fit(X, Y, batch=[1, 2]), "batch", InvalidValue),
    (lambda: fewest_genes(5), "cv_results", InvalidType),
    (lambda: fewest_genes({"param_n_genes": [1]}), "cv_results", InvalidType),
    (lambda: fewest_genes({"mean_test_score": [1.0]}), "cv_results", InvalidValue),
    (
        lambda: fewest_genes({"param_n_genes": [1, 2], "mean_test_score": [1.0]}),
        "cv_results",
        InvalidValue,
    ),
    (
        lambda: fewest_genes({"param_n_genes": [1], "mean_test_score": [np.nan]}),
        "cv_results",
        InvalidValue,
    ),
]


@pytest.mark.parametrize(("call", "argument", "kind"), REFUSED)
def test_refused_call(call, argument, kind):
    with refused(kind, argument):
        call()
