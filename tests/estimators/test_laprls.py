import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.estimators import GLFS, GLFSLapRLSClassifier, LapRLSClassifier, SupervisedGLFS


@pytest.mark.parametrize("n_genes", [5, 50])
def test_it_is_the_formula_of_the_paper(two_classes, n_genes):
    X, y = two_classes[0][:40, :n_genes], two_classes[1][:40]
    plain = {"standardize": False, "class_weight": None}
    model = LapRLSClassifier(lambda1=10.0, lambda2=0.5, **plain).fit(X, y)
    x, smoother = (X - X.mean(axis=0)).T, laplacian(knn_graph(X, 15)).toarray()
    left = np.linalg.inv(x @ x.T + 10.0 * x @ smoother @ x.T + 0.5 * np.eye(len(x)))
    expected = left @ x @ (y - y.mean())
    assert np.linalg.norm(model.coef_[0] - expected) < 1e-8 * np.linalg.norm(expected)
    values = expected @ x + y.mean()
    np.testing.assert_allclose(model.decision_function(X), values - 0.5, atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), (values > 0.5).astype(int))


def test_several_classes_one_against_the_rest(two_classes):
    X = two_classes[0]
    y = np.repeat(["a", "b", "c"], 20)
    model = LapRLSClassifier().fit(X, y)
    for i, name in enumerate("abc"):
        alone = LapRLSClassifier(class_weight={False: 1.0, True: 1.0}).fit(X, y == name)
        np.testing.assert_allclose(model.coef_[i], alone.coef_[0])
        np.testing.assert_allclose(model.decision_function(X)[:, i], alone.decision_function(X))
    assert not hasattr(model, "predict_proba")  # which would be invented


def test_neither_units_nor_containers_nor_names_of_classes_matter(two_classes):
    X, y = two_classes
    X = np.where(X > 0.7, X, 0.0)
    values = LapRLSClassifier().fit(X, y).decision_function(X)
    for form in (lambda x: 1e3 * x + 7.0, sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
        model = LapRLSClassifier().fit(form(X), 2 * y - 1)
        np.testing.assert_array_equal(model.classes_, [-1, 1])
        np.testing.assert_allclose(model.decision_function(form(X)), values, atol=1e-9)


def test_unlabelled_samples_help_through_the_graph():
    """Two parallel arcs, a graph of which says more than two labels."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 100)
    along = rng.uniform(-3.0, 3.0, size=200)
    X = np.c_[along, np.where(y == 1, 1.0, -1.0) + rng.normal(scale=0.15, size=200)]
    # one label a class, chosen so that the line between them points along the arcs
    some = np.full(200, -1)
    some[[np.argmin(X[:100, 0]), 100 + np.argmax(X[100:, 0])]] = 0, 1
    options = {"lambda2": 0.1, "n_neighbors": 8, "standardize": False}
    with_graph = LapRLSClassifier(lambda1=10.0, **options).fit(X, some)
    without = LapRLSClassifier(lambda1=0.0, **options).fit(X, some)
    assert with_graph.n_labelled_ == 2
    assert with_graph.score(X, y) > without.score(X, y) + 0.1
    np.testing.assert_array_equal(with_graph.classes_, [0, 1])


def test_a_given_graph_and_the_graph_of_the_classes(two_classes):
    """Samples without a label are in neither."""
    X, y = two_classes
    some = np.where(np.arange(60) % 3 == 0, -1, y)
    for labels in (y, some):
        same = (labels[:, None] == labels) & (labels >= 0) & ~np.eye(60, dtype=bool)
        given = LapRLSClassifier(lambda1=50.0).fit(X, labels, graph=same.astype(float))
        named = LapRLSClassifier(lambda1=50.0, graph="classes").fit(X, labels)
        np.testing.assert_allclose(given.coef_, named.coef_)
        assert not np.allclose(named.coef_, LapRLSClassifier(lambda1=50.0).fit(X, labels).coef_)


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
    scaled = X * np.sqrt(weight)
    expected = LapRLSClassifier(**options).fit(scaled, y).decision_function(scaled)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)
    assert not model.coef_[0, :10].any()


@pytest.mark.parametrize("missing", [-1, np.nan, None, pd.NA])
def test_samples_without_a_label(two_classes, missing):
    """Whatever stands for that, and in every estimator."""
    X, y = two_classes[0][:, :12], two_classes[1]
    lacks = np.arange(60) % 3 == 0
    is_number = isinstance(missing, int | float)
    numbers, texts = y.astype(object), np.array(["a", "b"], dtype=object)[y]
    numbers[lacks], texts[lacks] = missing, "nan" if is_number else missing
    if is_number:
        numbers = numbers.astype(type(missing))
    reference = np.where(lacks, -1, y)
    for labels, classes in ((numbers, [0, 1]), (texts, ["a", "b"])):
        model, expected = (LapRLSClassifier().fit(X, y) for y in (labels, reference))
        np.testing.assert_allclose(model.coef_, expected.coef_)
        assert model.n_labelled_ == 40
        assert model.classes_.tolist() == classes
    chosen, expected = (SupervisedGLFS(2).fit(X, y) for y in (texts, reference))
    np.testing.assert_array_equal(chosen.ranking_, expected.ranking_)
    both = GLFSLapRLSClassifier([1, 2], selector=GLFS(n_comps=5), cv=3).fit(X, texts)
    assert both.n_labelled_ == 40
    assert both.classes_.tolist() == ["a", "b"]
