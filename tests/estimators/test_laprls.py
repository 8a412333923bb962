import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.estimators import (
    GLFS,
    GLFSLapRLSClassifier,
    LapRLSClassifier,
    SupervisedGLFS,
)

ignore_skips = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


@ignore_skips
@parametrize_with_checks(
    [
        LapRLSClassifier(),
        LapRLSClassifier(graph="classes", class_weight=None),
        SupervisedGLFS(2),
        GLFSLapRLSClassifier(2),
    ]
)
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def moons():
    """Two parallel arcs in 2 + 3 dimensions, a graph of which says more than 2 labels."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 100)
    along = rng.uniform(-3.0, 3.0, size=200)
    X = np.c_[along, np.where(y == 1, 1.0, -1.0) + rng.normal(scale=0.15, size=200)]
    return X, y


def test_it_is_the_formula_of_the_paper(two_classes):
    X, y = two_classes
    model = LapRLSClassifier(lambda1=10.0, lambda2=0.5, standardize=False, class_weight=None).fit(
        X, y
    )
    x, smoother = (X - X.mean(axis=0)).T, laplacian(knn_graph(X, 15)).toarray()
    left = np.linalg.inv(x @ x.T + 10.0 * x @ smoother @ x.T + 0.5 * np.eye(len(x)))
    expected = left @ x @ (y - y.mean())
    assert np.linalg.norm(model.coef_[0] - expected) < 1e-8 * np.linalg.norm(expected)


@pytest.mark.parametrize("n_genes", [5, 50])
def test_it_is_ridge_regression_without_a_graph(two_classes, n_genes):
    X, y = two_classes[0][:40, :n_genes], two_classes[1][:40]
    model = LapRLSClassifier(lambda1=0.0, lambda2=3.0, standardize=False, class_weight=None).fit(
        X, y
    )
    ridge = Ridge(alpha=3.0, solver="cholesky").fit(X, y)
    np.testing.assert_allclose(model.coef_[0], ridge.coef_, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), ridge.predict(X) - 0.5, atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), (ridge.predict(X) > 0.5).astype(int))


def test_several_classes_one_against_the_rest(two_classes):
    X = two_classes[0]
    y = np.repeat(["a", "b", "c"], 20)
    model = LapRLSClassifier().fit(X, y)
    for i, name in enumerate("abc"):
        one = LapRLSClassifier(class_weight={False: 1.0, True: 1.0}).fit(X, y == name)
        np.testing.assert_allclose(model.coef_[i], one.coef_[0])
        np.testing.assert_allclose(model.decision_function(X)[:, i], one.decision_function(X))


def test_the_scale_of_the_data_does_not_matter(two_classes):
    X, y = two_classes
    plain, scaled = LapRLSClassifier().fit(X, y), LapRLSClassifier().fit(1000.0 * X + 7.0, y)
    np.testing.assert_allclose(
        scaled.decision_function(1000.0 * X + 7.0), plain.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
def test_sparse_data(two_classes, container):
    X, y = two_classes
    X = np.where(X > 0.7, X, 0.0)
    dense, found = LapRLSClassifier().fit(X, y), LapRLSClassifier().fit(container(X), y)
    np.testing.assert_allclose(found.coef_, dense.coef_, atol=1e-9)
    np.testing.assert_allclose(
        found.decision_function(container(X)), dense.decision_function(X), atol=1e-9
    )


def test_unlabelled_samples_help_through_the_graph(moons):
    X, y = moons
    # One label a class, chosen so that the line between them points along the arcs.
    some = np.full(200, -1)
    ends = [np.argmin(X[:100, 0]), 100 + np.argmax(X[100:, 0])]
    some[ends] = 0, 1
    options = {"lambda2": 0.1, "n_neighbors": 8, "standardize": False}
    with_graph = LapRLSClassifier(lambda1=10.0, **options).fit(X, some)
    without = LapRLSClassifier(lambda1=0.0, **options).fit(X, some)
    assert with_graph.n_labelled_ == 2
    assert with_graph.score(X, y) > without.score(X, y) + 0.1
    np.testing.assert_array_equal(with_graph.classes_, [0, 1])


def test_minus_one_and_one_are_two_classes(two_classes):
    X, y = two_classes
    model = LapRLSClassifier().fit(X, 2 * y - 1)
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    np.testing.assert_allclose(model.coef_, LapRLSClassifier().fit(X, y).coef_)


def test_a_given_graph_and_the_graph_of_the_classes(two_classes):
    X, y = two_classes
    same = (y[:, None] == y) - np.eye(60)
    given = LapRLSClassifier(lambda1=50.0).fit(X, y, graph=same)
    named = LapRLSClassifier(lambda1=50.0, graph="classes").fit(X, y)
    np.testing.assert_allclose(given.coef_, named.coef_)
    assert not np.allclose(named.coef_, LapRLSClassifier(lambda1=50.0).fit(X, y).coef_)


def test_shrinkage_does_not_prefer_the_larger_class(two_classes):
    X, y = two_classes[0][20:], two_classes[1][20:]
    strong = {"lambda1": 0.0, "lambda2": 1e4}
    balanced = LapRLSClassifier(**strong).fit(X, y)
    plain = LapRLSClassifier(class_weight=None, **strong).fit(X, y)
    assert (plain.predict(X) == 1).all()
    assert balanced.score(X, y) > 0.9


def test_feature_weights_scale_the_squares(two_classes):
    X, y = two_classes
    weight = np.random.default_rng(1).uniform(0.0, 2.0, size=50)
    weight[:10] = 0.0
    options = {"lambda1": 0.0, "standardize": False}
    model = LapRLSClassifier(**options).fit(X, y, feature_weight=weight)
    scaled = LapRLSClassifier(**options).fit(X * np.sqrt(weight), y)
    np.testing.assert_allclose(
        model.decision_function(X), scaled.decision_function(X * np.sqrt(weight)), atol=1e-10
    )
    assert not model.coef_[0, :10].any()


def test_there_are_no_invented_probabilities():
    assert not hasattr(LapRLSClassifier(), "predict_proba")


@pytest.mark.parametrize(
    ("argument", "value", "kind"),
    [
        ("lambda1", -1.0, InvalidValue),
        ("lambda2", 0.0, InvalidValue),
        ("lambda2", "1", InvalidType),
        ("graph", "class", InvalidValue),
        ("n_neighbors", 0, InvalidValue),
    ],
)
def test_bad_parameters(two_classes, argument, value, kind):
    with refused(kind, argument):
        LapRLSClassifier(**{argument: value}).fit(*two_classes)


def test_bad_labels(two_classes):
    X, y = two_classes
    with refused(InvalidValue, "y"):
        LapRLSClassifier().fit(X, np.zeros(60, dtype=int))
    with refused(InvalidValue, "y"):
        LapRLSClassifier().fit(X, np.where(y == 0, 0, -1))
    with refused(InvalidValue, "y"):
        LapRLSClassifier().fit(X, np.full(60, -1))
    with refused(InvalidValue, "y"):
        LapRLSClassifier().fit(X, np.where(y == 0, np.nan, y))
    with refused(InvalidValue, "y"):
        LapRLSClassifier().fit(X, np.where(y == 0, np.nan, np.array("a", dtype=object)))
    with refused(InvalidValue, "y"):
        SupervisedGLFS().fit(X, np.r_[["rare"], np.repeat(["a", "b"], [29, 30])])


def test_bad_graph_and_weights(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="graph"):
        LapRLSClassifier().fit(X, y, graph=np.ones((3, 3)))
    for weight in (np.ones(3), np.full(50, -1.0), np.full(50, np.nan)):
        with refused(InvalidValue, "feature_weight"):
            LapRLSClassifier().fit(X, y, feature_weight=weight)


@pytest.mark.parametrize("make", [LapRLSClassifier, lambda: GLFSLapRLSClassifier(3)])
def test_other_genes_at_predict_time_are_named(two_classes, make):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"gene{i}" for i in range(50)])
    model = make().fit(frame, y)
    with pytest.raises(ValueError, match="TP53"):
        model.predict(frame.rename(columns={"gene7": "TP53"}))


def test_unlabelled_samples_in_the_graph_of_the_classes(two_classes):
    X, y = two_classes
    some = np.where(np.arange(60) % 3 == 0, -1, y)
    known = some >= 0
    same = (y[:, None] == y) & known & known[:, None] & ~np.eye(60, dtype=bool)
    named = LapRLSClassifier(graph="classes").fit(X, some)
    given = LapRLSClassifier().fit(X, some, graph=same.astype(float))
    np.testing.assert_allclose(named.coef_, given.coef_)


@pytest.mark.parametrize("missing", [-1, np.nan, None, pd.NA])
@pytest.mark.parametrize("texts", [False, True])
def test_samples_without_a_label(two_classes, missing, texts):
    """Whatever stands for that, and in every estimator."""
    X, y = two_classes
    lacks = np.arange(60) % 3 == 0
    some = np.array(["a", "b"], dtype=object)[y] if texts else y.astype(object)
    some[lacks] = "nan" if texts and isinstance(missing, int) else missing
    if not texts and isinstance(missing, int | float):
        some = some.astype(type(missing))
    reference = np.where(lacks, -1, y)
    model, expected = (LapRLSClassifier().fit(X, labels) for labels in (some, reference))
    np.testing.assert_allclose(model.coef_, expected.coef_)
    assert model.n_labelled_ == 40
    assert model.classes_.tolist() == (["a", "b"] if texts else [0, 1])
    chosen = GLFSLapRLSClassifier([1, 2], cv=3).fit(X, some)
    assert chosen.n_labelled_ == 40
    assert chosen.classes_.tolist() == model.classes_.tolist()
    one, other = (SupervisedGLFS(2).fit(X, labels) for labels in (some, reference))
    np.testing.assert_array_equal(one.ranking_, other.ranking_)


def test_labels_that_are_written_alike(two_classes):
    X, y = two_classes
    mixed = y.astype(object)
    mixed[:5] = "0"
    for estimator in (LapRLSClassifier(), SupervisedGLFS(2), GLFS(2, preserve="labels")):
        with refused(InvalidValue, "y"):
            estimator.fit(X, mixed)
