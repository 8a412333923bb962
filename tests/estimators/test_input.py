"""What scikit-learn asks of estimators, bad input, and matrices outside of memory."""

from __future__ import annotations

import inspect
from functools import partial

import anndata as ad
import h5py
import numpy as np
import pytest
from refusals import accepted, refused
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from glfs_bio.data.matrix import RowMatrix
from glfs_bio.errors import InvalidType, InvalidValue, Refusal
from glfs_bio.estimators import (
    GLFS,
    GLFSLapRLSClassifier,
    LapRLSClassifier,
    SupervisedGLFS,
)
from glfs_bio.estimators._input import validated

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 10)
X = RNG.normal(size=(30, 12)) + 5.0 * np.eye(3, 12)[Y]
ALIKE = np.where(np.arange(30) < 5, "0", Y.astype(object))


def spoilt(value, at=(3, 5)):
    data = X.copy()
    data[at] = value
    return data


#: Kind of refusal, a value, and the parameters that do not take it.
PARAMETERS = {
    GLFS: [
        (InvalidValue, 0, "n_genes n_comps n_neighbors time_limit"),
        (InvalidValue, -1, "lambda1 random_state"),
        (InvalidValue, 13, "n_genes"),
        (InvalidValue, np.inf, "lambda1"),
        (InvalidValue, "x", "objective preserve search standardize"),
        (InvalidType, "x", "n_comps lambda1 random_state"),
        (InvalidType, 2.5, "n_genes"),
    ],
    SupervisedGLFS: [
        (InvalidValue, 0, "n_comps"),
        (InvalidValue, -1, "lambda1"),
        (InvalidValue, 13, "n_genes"),
        (InvalidValue, "x", "objective standardize"),
        (InvalidType, 1.5, "random_state"),
    ],
    LapRLSClassifier: [
        (InvalidValue, 0, "lambda2 n_neighbors"),
        (InvalidValue, -1, "lambda1"),
        (InvalidValue, np.nan, "lambda1"),
        (InvalidValue, "x", "graph class_weight"),
        (InvalidValue, 5, "class_weight"),
        (InvalidValue, {0: -1}, "class_weight"),
        (InvalidValue, {0: 0, 1: 0, 2: 0}, "class_weight"),
        (InvalidType, "x", "lambda2 standardize"),
    ],
    GLFSLapRLSClassifier: [
        (InvalidValue, [], "n_genes"),
        (InvalidValue, [1, 0], "n_genes"),
        (InvalidValue, 13, "n_genes"),
        (InvalidValue, 1, "cv"),
        (InvalidType, [1, 2.5], "n_genes"),
        (InvalidType, [[1, 2]], "n_genes"),
        (InvalidType, 1.5, "n_genes"),
        (InvalidType, "x", "cv random_state selector classifier weighted"),
    ],
}


def fit_with(estimator, argument, value):
    """Fit with one parameter; a model that is refused has learnt nothing."""
    model = estimator(**{argument: value})
    try:
        model.fit(X, Y)
    except Refusal:
        assert not [name for name in vars(model) if name.startswith("weights")]
        raise


@pytest.mark.parametrize("estimator", PARAMETERS)
def test_every_parameter(estimator):
    before, passed, tried = X.copy(), [], set()
    for kind, value, arguments in PARAMETERS[estimator]:
        for argument in arguments.split():
            tried.add(argument)
            fit = partial(fit_with, estimator, argument)
            passed += [(argument, value)] if accepted(fit, [value], argument, kind) else []
    assert passed == []
    assert set(inspect.signature(estimator).parameters) == tried
    np.testing.assert_array_equal(X, before)


#: For each argument, what is given to ``GLFS(2).fit`` beside X, or in its place.
DATA_OF_GLFS = {
    "X": [np.ones((30, 12)), sparse.csr_array(spoilt(np.inf)), sparse.csc_matrix(spoilt(np.nan))],
    "n_genes": [{"X": X[:, :1]}],
    "include": [[0.5], ["a"], np.ones(12, dtype=bool), [100], [-1], [1, 2, 3]],
    "graph": [
        *(np.ones((3, 3)), [[1]], "x", -np.ones((30, 30)), np.triu(np.ones((30, 30)))),
        *(np.full((30, 30), np.nan), np.eye(30), np.ones((30, 30)) * 1j),
        *(np.full((30, 30), "x", dtype=object), {"batch": Y, "graph": np.ones((30, 30))}),
    ],
    "representation": [np.ones((3, 3)), np.ones((30, 3)), spoilt(np.inf), "x", X * 1j],
    "batch": [[1, 2], np.arange(30) // 2, np.full(30, np.nan), [None] * 15 + ["a"] * 15],
}


@pytest.mark.parametrize("argument", DATA_OF_GLFS)
def test_data_of_glfs(argument):
    def fit(value):
        given = value if isinstance(value, dict) else {argument: value}
        GLFS(2).fit(**{"X": X} | given)

    assert accepted(fit, DATA_OF_GLFS[argument], argument, Refusal) == []


#: Calls that are refused for an argument.
CALLS = {
    "y": [
        lambda: SupervisedGLFS(2).fit(X),
        lambda: SupervisedGLFS(2).fit(X, [0] * 29 + [1]),
        lambda: SupervisedGLFS(2).fit(X, ALIKE),
        lambda: LapRLSClassifier().fit(X, np.zeros(30)),
        lambda: LapRLSClassifier().fit(X, np.full(30, -1)),
        lambda: LapRLSClassifier().fit(X, np.where(Y == 0, 0, -1)),
        lambda: LapRLSClassifier().fit(X, np.where(Y == 0, None, "a")),
        lambda: LapRLSClassifier().fit(X, ALIKE),
        lambda: GLFS(2, preserve="labels").fit(X),
        lambda: GLFS(2, preserve="labels").fit(X, np.zeros(30, dtype=int)),
        lambda: GLFS(2, preserve="labels").fit(X, ALIKE),
        lambda: GLFS(2, preserve="values").fit(X, np.full(30, np.inf)),
    ],
    "X": [
        lambda: LapRLSClassifier().fit(X, Y).predict(spoilt(np.nan)),
        lambda: GLFSLapRLSClassifier(2).fit(X[:, :1], Y),
    ],
    "batch": [lambda: GLFSLapRLSClassifier(2).fit(X, Y, batch=[1, 2])],
    "graph": [
        lambda: LapRLSClassifier().fit(X, Y, graph=np.ones((3, 3))),
        lambda: LapRLSClassifier().fit(X, Y, graph=-np.ones((30, 30))),
    ],
    "feature_weight": [
        lambda: LapRLSClassifier().fit(X, Y, feature_weight=[1]),
        lambda: LapRLSClassifier().fit(X, Y, feature_weight="x"),
        lambda: LapRLSClassifier().fit(X, Y, feature_weight=-np.ones(12)),
        lambda: LapRLSClassifier().fit(X, Y, feature_weight=np.full(12, np.nan)),
    ],
}


@pytest.mark.parametrize("argument", CALLS)
def test_calls(argument):
    passed = accepted(lambda call: call(), CALLS[argument], argument, Refusal)
    assert [inspect.getsource(call).strip() for call in passed] == []


def test_what_the_contract_does_not_try():
    """In words of scikit-learn, or of NumPy."""
    for words, call in {
        "could not convert string": lambda: GLFS(2).fit(np.full((30, 12), "a")),
        "inconsistent numbers": lambda: SupervisedGLFS(2).fit(X, Y[:4]),
        "inconsistent numbers of": lambda: GLFS(2, preserve="labels").fit(X, Y[:4]),
        "vary": lambda: GLFS(2, preserve="values").fit(X, np.ones(30)),
    }.items():
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize("estimator", PARAMETERS)
def test_an_object_in_place_of_its_matrix(estimator):
    """Whether or not there are labels."""
    for labels in (Y, None):
        with refused(InvalidType, "X"):
            estimator().fit(ad.AnnData(X), labels)


ESTIMATORS = [
    GLFS(),
    GLFS(n_genes=1, n_comps=2, preserve="values"),
    SupervisedGLFS(2, n_comps=2),
    LapRLSClassifier(),
    GLFSLapRLSClassifier(2, selector=GLFS(preserve="labels", n_comps=2)),
]


@pytest.mark.filterwarnings("ignore::glfs_bio.errors.Caution")  # noise has no structure
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_contract_of_scikit_learn(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = [result for result in results if result["status"] == "failed"]
    assert failed == []


def test_single_and_double_precision_stay(two_classes):
    X, _ = two_classes
    for dtype, stays in ((np.int64, np.float64), (np.float32, np.float32), (float, float)):
        assert validated(LapRLSClassifier(), X.astype(dtype)).dtype == stays


PLACES = ("csr", "csc", "dense", "dask")


@pytest.fixture(params=PLACES)
def held(request, pbmc, tmp_path):
    """The matrix outside memory, the same in memory, and labels."""
    X, y = pbmc.X[::3, ::3], pbmc.obs["bulk_labels"].astype(str).to_numpy()[::3]
    path = tmp_path / "x.h5ad"
    if request.param == "dask":
        da = pytest.importorskip("dask.array")
        return da.from_array(X.toarray(), chunks=(50, -1)), X.toarray(), y
    if request.param == "dense":
        with h5py.File(path, "w") as file:
            file["X"] = X.toarray()
        return h5py.File(path)["X"], X.toarray(), y
    form = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}[request.param]
    ad.AnnData(form(X)).write_h5ad(path)
    return ad.read_h5ad(path, backed="r").X, form(X), y


MODELS = {
    "GLFS": GLFS(6),
    "labels": GLFS(4, preserve="labels"),
    "classes": SupervisedGLFS(3),
    "LapRLS": LapRLSClassifier(),
    "both": GLFSLapRLSClassifier([2, 4], cv=2, selector=GLFS(preserve="labels", n_comps=10)),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_it_is_fitted_as_in_memory(held, model):
    outside, X, y = held
    expected = {**vars(model.fit(X, y))}
    model.fit(outside, y)
    for name in {"ranking_", "genes_", "n_genes_", "cv_errors_"} & set(expected):
        np.testing.assert_array_equal(getattr(model, name), expected[name])
    if hasattr(model, "predict"):
        values = (model.decision_function(matrix) for matrix in (outside, X))
        np.testing.assert_allclose(*values, rtol=1e-5, atol=1e-8)
        assert (model.predict(outside) == model.predict(X)).all()
        with pytest.raises(ValueError, match="5 features"):
            model.predict(RowMatrix(outside, genes=np.arange(5)))


def test_more_pairs_than_have_room_are_refused(monkeypatch, held):
    monkeypatch.setattr("glfs_bio.laprls._MOST_PAIRS", 100)
    with refused(InvalidValue, "y"):
        SupervisedGLFS(2).fit(held[0], held[2])
