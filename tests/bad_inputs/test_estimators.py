"""Bad input to the estimators.  What scikit-learn's ``validate_data`` refuses has its words."""

from __future__ import annotations

import inspect

import anndata as ad
import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.exceptions import NotFittedError

from glfs_bio import GLFS, LapRLSClassifier
from glfs_bio.estimators import GLFSLapRLSClassifier, SupervisedGLFS, fewest_genes

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 12)), np.repeat([0, 1, 2], 10)
INT, NUMBER = "must be an integer ≥ 1", "must be a finite number"


def spoilt(value, at=(3, 5)):
    data = X.copy()
    data[at] = value
    return data


#: estimator, argument, value, exception, words
PARAMETERS = [
    (GLFS, "n_genes", 0, ValueError, ("n_genes=0", INT)),
    (GLFS, "n_genes", 2.0, TypeError, ("n_genes=2.0", INT)),
    (GLFS, "n_genes", 13, ValueError, "n_genes=13 is more than the 12 genes"),
    (GLFS, "objective", "x", ValueError, "objective='x'"),
    (GLFS, "preserve", "x", ValueError, "preserve='x'"),
    (GLFS, "lam", -1, ValueError, "lam=-1"),
    (GLFS, "objective", "mse", ValueError, "objective='mse' is there no more: 'error'"),
    (GLFS, "lam", 1.0, ValueError, "lam=1.0 is for objective='exact' or objective='printed'"),
    (GLFS, "swaps", "x", TypeError, "swaps='x' must be True or False"),
    (GLFS, "standardize", "noise_always", ValueError, "'noise' is in units of noise"),
    (GLFS, "solver", "owlqn", ValueError, "leave it out with objective='error'"),
    (GLFS, "tol", 1e-3, ValueError, "leave it out with objective='error'"),
    (GLFS, "lambda1", -1, ValueError, "lambda1=-1"),
    (GLFS, "standardize", "x", ValueError, "standardize='x'"),
    (GLFS, "n_comps", 0, ValueError, "n_comps=0"),
    (GLFS, "n_neighbors", 0, ValueError, "n_neighbors=0"),
    (GLFS, "laplacian", "x", ValueError, "laplacian='x'"),
    (GLFS, "solver", "adam", ValueError, ("solver='adam'", "'owlqn'")),
    (GLFS, "tol", 0, ValueError, "tol=0"),
    (GLFS, "tol", "small", TypeError, "tol='small'"),
    (GLFS, "random_state", "x", TypeError, "random_state='x'"),
    (GLFS, "random_state", -1, ValueError, "random_state=-1"),
    (SupervisedGLFS, "n_genes", 13, ValueError, "n_genes=13"),
    (SupervisedGLFS, "n_neighbors", -4, ValueError, "n_neighbors=-4"),
    (SupervisedGLFS, "random_state", 1.5, TypeError, "random_state=1.5"),
    (SupervisedGLFS, "objective", "x", ValueError, "objective='x'"),
    (SupervisedGLFS, "lam", "x", ValueError, "lam='x'"),
    (SupervisedGLFS, "swaps", True, ValueError, "swaps=True is for objective='error' only"),
    (SupervisedGLFS, "lambda1", -1, ValueError, "lambda1=-1"),
    (SupervisedGLFS, "standardize", "x", ValueError, "standardize='x'"),
    (SupervisedGLFS, "n_comps", 0, ValueError, "n_comps=0"),
    (SupervisedGLFS, "laplacian", "x", ValueError, "laplacian='x'"),
    (SupervisedGLFS, "solver", "x", ValueError, "solver='x'"),
    (SupervisedGLFS, "tol", -1, ValueError, "tol=-1"),
    (LapRLSClassifier, "lambda1", -1, ValueError, "lambda1=-1"),
    (LapRLSClassifier, "lambda1", np.nan, ValueError, "lambda1=nan"),
    (LapRLSClassifier, "lambda2", 0, ValueError, ("lambda2=0", NUMBER)),
    (LapRLSClassifier, "lambda2", "x", TypeError, "lambda2='x'"),
    (LapRLSClassifier, "graph", "x", ValueError, ("graph='x'", "'classes'")),
    (LapRLSClassifier, "laplacian", "x", ValueError, "laplacian='x'"),
    (LapRLSClassifier, "n_neighbors", 0, ValueError, "n_neighbors=0"),
    (LapRLSClassifier, "class_weight", "x", ValueError, "class_weight='x'"),
    (LapRLSClassifier, "class_weight", 5, ValueError, "class_weight=5"),
    (LapRLSClassifier, "class_weight", {0: -1}, ValueError, "class_weight={0: -1} must give"),
    (LapRLSClassifier, "class_weight", {0: 0, 1: 0, 2: 0}, ValueError, "not only 0"),
    (LapRLSClassifier, "standardize", "x", TypeError, "standardize='x'"),
    (GLFSLapRLSClassifier, "n_genes", [], ValueError, "n_genes=[] must hold numbers"),
    (GLFSLapRLSClassifier, "n_genes", [1, 0], ValueError, "n_genes=0"),
    (GLFSLapRLSClassifier, "n_genes", [1, 2.5], TypeError, "n_genes=2.5"),
    (GLFSLapRLSClassifier, "n_genes", 1.5, TypeError, "n_genes=1.5"),
    (GLFSLapRLSClassifier, "n_genes", 13, ValueError, "the 12 genes"),
    (GLFSLapRLSClassifier, "n_genes", [[1, 2]], TypeError, "n_genes=[[1, 2]]"),
    (GLFSLapRLSClassifier, "cv", 1, ValueError, "cv=1 must be an integer ≥ 2"),
    (GLFSLapRLSClassifier, "cv", "x", TypeError, "cv='x'"),
    (GLFSLapRLSClassifier, "random_state", "x", TypeError, "random_state='x'"),
    (GLFSLapRLSClassifier, "selector", 5, TypeError, "selector=5 must be an estimator"),
    (GLFSLapRLSClassifier, "classifier", "x", TypeError, "classifier='x' must be an estimator"),
    (GLFSLapRLSClassifier, "weighted", "x", TypeError, "weighted='x'"),
]


@pytest.mark.parametrize(("estimator", "argument", "value", "error", "words"), PARAMETERS)
def test_parameter(refuses, estimator, argument, value, error, words):
    before = X.copy()
    model = estimator(**{argument: value})
    refuses(lambda: model.fit(X, Y), None, error, words)
    np.testing.assert_array_equal(X, before)
    assert not [name for name in vars(model) if name.endswith("_") and name.startswith("weights")]


def test_every_parameter_has_a_row():
    for estimator in (GLFS, SupervisedGLFS, LapRLSClassifier, GLFSLapRLSClassifier):
        tried = {argument for one, argument, *_ in PARAMETERS if one is estimator}
        assert set(inspect.signature(estimator).parameters) == tried, estimator


#: what is given to ``GLFS(2).fit`` beside X, or in its place
GLFS_DATA = [
    ({"X": spoilt(np.nan)}, ValueError, "contains NaN"),
    ({"X": spoilt(np.inf)}, ValueError, "contains infinity"),
    ({"X": X + 1j}, ValueError, "Complex data not supported"),
    ({"X": X[0]}, ValueError, "Expected 2D array"),
    ({"X": X[:2]}, ValueError, "minimum of 3 is required"),
    ({"X": X[:, :1]}, ValueError, "n_genes=2 is more than the 1 genes"),
    ({"X": np.ones((30, 12))}, ValueError, "No gene varies"),
    ({"X": np.full((30, 12), "a")}, ValueError, "could not convert string to float"),
    ({"graph": np.ones((3, 3))}, ValueError, "graph has shape (3, 3), but there are 30 cells"),
    ({"graph": [[1]]}, ValueError, "graph has shape (1, 1)"),
    ({"graph": "x"}, ValueError, "graph has shape ()"),
    ({"graph": -np.ones((30, 30))}, ValueError, "negative weights"),
    ({"graph": np.triu(np.ones((30, 30)))}, ValueError, "not symmetric"),
    ({"graph": np.full((30, 30), np.nan)}, ValueError, "not finite"),
    ({"graph": np.eye(30)}, ValueError, "no edges"),
    ({"graph": np.ones((30, 30)) * 1j}, TypeError, "dtype complex"),
    ({"graph": np.full((30, 30), "x", dtype=object)}, TypeError, "graph must hold real numbers"),
    ({"representation": np.ones((3, 3))}, ValueError, "representation has shape (3, 3)"),
    ({"representation": np.ones((30, 3))}, ValueError, "is the same for all cells"),
    ({"representation": spoilt(np.inf)}, ValueError, "representation has values"),
    ({"representation": "x"}, ValueError, "representation has shape ()"),
    ({"representation": X * 1j}, TypeError, "dtype complex"),
    ({"batch": [1, 2]}, ValueError, "batch has shape (2,)"),
    ({"batch": np.repeat(np.arange(15), 2)}, ValueError, "No batch has 3 cells"),
    ({"batch": np.full(30, np.nan)}, ValueError, "batch is missing for 30 cells"),
    ({"batch": [None] * 15 + ["a"] * 15}, ValueError, "batch is missing for 15 cells"),
    ({"batch": Y, "graph": np.ones((30, 30))}, ValueError, "graph cannot be combined with batch"),
    ({"include": [0.5]}, TypeError, "include has dtype float64"),
    ({"include": ["a"]}, TypeError, "include has dtype"),
    ({"include": np.ones(12, dtype=bool)}, TypeError, "include has dtype bool"),
    ({"include": [100]}, ValueError, "include has gene 100, but there are 12"),
    ({"include": [-1]}, ValueError, "include has gene -1"),
    ({"include": [1, 2, 3]}, ValueError, "include has 3 genes, more than n_genes=2"),
]


@pytest.mark.parametrize(("value", "error", "words"), GLFS_DATA)
def test_data_of_glfs(refuses, value, error, words):
    refuses(lambda: GLFS(2).fit(**{"X": X} | value), None, error, words)


@pytest.mark.parametrize(
    "estimator", [GLFS, SupervisedGLFS, LapRLSClassifier, GLFSLapRLSClassifier]
)
def test_an_object_in_place_of_its_matrix(refuses, estimator):
    """Whether or not there are labels."""
    adata = ad.AnnData(X)
    words = ("X is an AnnData object", "pass adata.X", "glfs_bio.pp.select_genes(adata)")
    refuses(lambda: estimator().fit(adata, Y), adata, TypeError, words)
    if issubclass(estimator, GLFS):
        refuses(lambda: estimator().fit(adata), adata, TypeError, words)


@pytest.mark.parametrize("form", ["estimator", "configuration"])
def test_a_table_of_sparse_columns_is_refused_before_the_fit(refuses, form):
    model = GLFS(2)
    data = sparse.csr_matrix(X)
    if form == "estimator":
        model.set_output(transform="pandas")
    with config_context(**({"transform_output": "pandas"} if form == "configuration" else {})):
        words = ("X is sparse", "set_output(transform='pandas')")
        refuses(lambda: model.fit_transform(data), None, ValueError, words)
        assert not hasattr(model, "weights_")
        assert model.fit_transform(data.toarray()).shape == (30, 2)
    assert GLFS(2).fit_transform(data).shape == (30, 2)


#: call, exception, words
CALLS = [
    (lambda: GLFS(2).transform(X), NotFittedError, "not fitted"),
    (lambda: GLFS(2).fit(X).transform(X[:, :3]), ValueError, "expecting 12 features"),
    (lambda: SupervisedGLFS(2).fit(X), ValueError, "requires y to be passed"),
    (lambda: SupervisedGLFS(2).fit(X, Y[:4]), ValueError, "inconsistent numbers of samples"),
    (lambda: SupervisedGLFS(2).fit(X, np.zeros(30)), ValueError, "one class"),
    (lambda: SupervisedGLFS(2).fit(X, [0] * 29 + [1]), ValueError, "class 1 with 1 sample"),
    (lambda: LapRLSClassifier().fit(spoilt(np.inf), Y), ValueError, "contains infinity"),
    (lambda: LapRLSClassifier().fit(X, None), ValueError, "requires y to be passed"),
    (lambda: LapRLSClassifier().fit(X, np.zeros(30)), ValueError, "one class, 0.0"),
    (lambda: LapRLSClassifier().fit(X, np.full(30, -1)), ValueError, "no label"),
    (lambda: LapRLSClassifier().fit(X, X[:, 0]), ValueError, "Unknown label type"),
    (lambda: LapRLSClassifier().fit(X, Y, graph=np.ones((3, 3))), ValueError, "graph has shape"),
    (lambda: LapRLSClassifier().fit(X, Y, graph=-np.ones((30, 30))), ValueError, "negative"),
    (lambda: LapRLSClassifier().fit(X, Y, feature_weight=[1]), ValueError, "got shape (1,)"),
    (lambda: LapRLSClassifier().fit(X, Y, feature_weight="x"), TypeError, "real numbers"),
    (lambda: LapRLSClassifier().fit(X, Y, feature_weight=-np.ones(12)), ValueError, "number ≥ 0"),
    (lambda: LapRLSClassifier().predict(X), NotFittedError, "not fitted"),
    (lambda: LapRLSClassifier().fit(X, Y).predict(X[:, :2]), ValueError, "expecting 12 features"),
    (lambda: LapRLSClassifier().fit(X, Y).predict(spoilt(np.nan)), ValueError, "contains NaN"),
    (lambda: GLFSLapRLSClassifier(2).fit(X, np.zeros(30)), ValueError, "one class"),
    (lambda: GLFSLapRLSClassifier(2).fit(X[:, :1], Y), ValueError, "There is 1 gene"),
    (lambda: fewest_genes(5), TypeError, "cv_results must be those of GridSearchCV"),
    (lambda: fewest_genes({"param_n_genes": [1]}), TypeError, "no mean_test_score"),
    (lambda: fewest_genes({"mean_test_score": [1.0]}), ValueError, "one parameter n_genes"),
    (
        lambda: fewest_genes({"param_n_genes": [1, 2], "mean_test_score": [1.0]}),
        ValueError,
        "each of the 2 candidates",
    ),
    (
        lambda: fewest_genes({"param_n_genes": [1], "mean_test_score": [np.nan]}),
        ValueError,
        "each of the 1 candidates",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_call(refuses, call, error, words):
    refuses(call, None, error, words)
