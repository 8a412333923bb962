"""Selection and classification in one, with the number of genes from cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

from glfs_bio import GLFS
from glfs_bio.errors import InvalidValue
from glfs_bio.estimators import (
    GLFSLapRLSClassifier,
    LapRLSClassifier,
    SupervisedGLFS,
)
from glfs_bio.estimators._glfs_laprls import default_classifier, default_selector


def test_rare_classes_are_tested_in_fewer_folds(two_classes):
    X, y = two_classes[0][:, :12], two_classes[1]
    y = y.astype(object)
    y[[0, 1, 30]] = "pair", "pair", "one"
    y = y.astype(str)
    model = GLFSLapRLSClassifier([2, 4], cv=5).fit(X, y)
    assert (model.n_folds_, model.n_tested_, model.n_labelled_) == (5, 59, 60)
    assert set(model.classes_) == {"0", "1", "pair", "one"}
    few = np.where(np.arange(60) % 10 == 0, y, "-1").astype(object)
    few = np.array([int(name) if name in "01" else -1 for name in few])
    model = GLFSLapRLSClassifier([2, 4]).fit(X, few)
    assert model.n_folds_ == np.bincount(few[few >= 0]).max()


def test_a_class_of_one_sample_needs_no_other(two_classes):
    X, y = two_classes
    labels = np.where(y == 0, 0, -1)
    labels[40] = 1
    model = GLFSLapRLSClassifier(3).fit(X, labels)
    assert type(model.selector_) is GLFS
    assert model.predict(X[40:41]) == 1
    with refused(InvalidValue, "y"):
        GLFSLapRLSClassifier(3, selector=SupervisedGLFS()).fit(X, labels)
    with refused(InvalidValue, "n_genes"):
        GLFSLapRLSClassifier([2, 3]).fit(X, np.where(np.isin(np.arange(60), [0, 40]), y, -1))


def test_defaults():
    """Few samples have their classes in both, many have a graph of neighbours."""
    supervised, unsupervised = SupervisedGLFS(), GLFS()
    for n_samples, kind, n_comps in (
        (60, SupervisedGLFS, None),
        (150, SupervisedGLFS, 50),
        (401, GLFS, 50),
    ):
        selector = default_selector(np.arange(n_samples) % 2)
        assert (type(selector), selector.n_comps) == (kind, n_comps)
    labels = np.arange(401) % 2.0
    unlabelled = np.where(np.arange(60) == 0, -1, labels[:60])
    for known, selector, graph, lambda1 in (
        (labels[:60], supervised, "classes", 1.0),
        (unlabelled, supervised, "neighbors", 0.1),
        (labels[:60], unsupervised, "neighbors", 0.1),
        (labels, supervised, "neighbors", 0.1),
    ):
        classifier = default_classifier(known, selector)
        assert (classifier.graph, classifier.lambda1) == (graph, lambda1)


@pytest.mark.parametrize(
    "model",
    [
        GLFSLapRLSClassifier([2, 3, 4], selector=SupervisedGLFS(n_comps=None), cv=3),
        GLFSLapRLSClassifier(4, selector=GLFS(n_comps=10)),
    ],
    ids=["supervised", "unsupervised"],
)
def test_included_genes_come_first_and_genes_of_batches_never(two_classes, model):
    X, y = two_classes
    batch = np.arange(60) // 15 % 2
    mixed = X.copy()
    mixed[:, 20:24] += 20.0 * batch[:, None]
    genes = model.fit(mixed, y, batch=batch, include=[40, 17]).genes_.tolist()
    assert set(genes[:2]) == {17, 40}
    assert not set(range(20, 24)) & set(genes)
    np.testing.assert_array_equal(mixed[:, :20], X[:, :20])
    with refused(InvalidValue, "include") as refusal:
        clone(model).set_params(n_genes=[1, 5]).fit(X, y, include=[40, 17])
    assert "`n_genes`" in str(refusal.value)


def test_the_quick_search_is_the_slow_one(two_classes):
    X, y = two_classes[0][::2, :20], two_classes[1][::2]
    folds = StratifiedKFold(3, shuffle=True, random_state=2)
    pipeline = make_pipeline(SupervisedGLFS(n_comps=None), LapRLSClassifier())
    sizes = {"supervisedglfs__n_genes": [1, 2, 5]}
    search = GridSearchCV(pipeline, sizes, cv=folds).fit(X, y)
    quick = GLFSLapRLSClassifier([5, 2, 1], cv=3, random_state=2, weighted=False).fit(X, y)
    errors = 30 - 30 * search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(quick.cv_errors_, errors, atol=1e-9)
    assert quick.n_genes_ == search.best_params_["supervisedglfs__n_genes"]
    np.testing.assert_array_equal(quick.predict(X), search.predict(X))


def test_unlabelled_samples_are_never_in_a_test_part(two_classes):
    X, y = two_classes[0][:, :12], two_classes[1]
    some = np.where(np.arange(60) % 3 == 0, -1, y)
    model = GLFSLapRLSClassifier([2, 3, 5], cv=3).fit(X, some)
    assert model.n_labelled_ == 40
    assert model.cv_errors_.max() <= 40
    assert model.score(X[some == -1], y[some == -1]) > 0.9


@pytest.mark.parametrize("selector", [GLFS(n_comps=10), SupervisedGLFS(objective="error")], ids=str)
def test_genes_of_a_whole_panel_count_alike_but_for_their_variance(two_classes, selector):
    """The weights of the relaxed panel may be zero for a gene that is in."""
    X, y = two_classes
    chosen = GLFSLapRLSClassifier(4, selector=selector).fit(X, y)
    some = X[:, chosen.genes_]
    weight = some.var(axis=0)
    classifier = default_classifier(y, selector)
    expected = classifier.fit(some, y, feature_weight=weight / weight.mean())
    np.testing.assert_allclose(chosen.classifier_.coef_, expected.coef_, rtol=1e-6)
    assert (chosen.classifier_.coef_ != 0).all()
    tried = GLFSLapRLSClassifier([1, 3, 5], selector=selector, cv=3).fit(X, y)
    assert tried.n_genes_ in (1, 3, 5)
    np.testing.assert_array_equal(tried.genes_[:1], chosen.genes_[:1])
