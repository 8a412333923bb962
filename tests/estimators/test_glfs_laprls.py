"""Selection and classification in one, with the number of genes from cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline

from glfs_bio import GLFS
from glfs_bio.errors import InvalidValue
from glfs_bio.estimators import (
    GLFSLapRLSClassifier,
    LapRLSClassifier,
    SupervisedGLFS,
    fewest_genes,
)
from glfs_bio.estimators._glfs_laprls import default_classifier, default_selector


def test_rare_classes_are_tested_in_fewer_folds(two_classes):
    X, y = two_classes
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


@pytest.mark.parametrize(
    ("n_samples", "kind", "n_comps"),
    [(60, SupervisedGLFS, None), (150, SupervisedGLFS, 50), (401, GLFS, 50)],
)
def test_the_default_selector(n_samples, kind, n_comps):
    chosen = default_selector(np.arange(n_samples) % 2)
    assert type(chosen) is kind
    assert chosen.n_comps == n_comps


@pytest.mark.parametrize(
    ("n_samples", "unlabelled", "selector", "graph"),
    [
        (60, 0, SupervisedGLFS(), "classes"),
        (60, 1, SupervisedGLFS(), "neighbors"),
        (60, 0, GLFS(), "neighbors"),
        (401, 0, SupervisedGLFS(), "neighbors"),
    ],
)
def test_the_default_classifier(n_samples, unlabelled, selector, graph):
    labels = np.arange(n_samples) % 2
    labels[:unlabelled] = -1
    chosen = default_classifier(labels.astype(float), selector)
    assert chosen.graph == graph
    assert chosen.lambda1 == {"classes": 1.0, "neighbors": 0.1}[graph]
    given = default_classifier(labels.astype(float), selector, lambda1=3.0, lambda2=2.0)
    assert (given.graph, given.lambda1, given.lambda2) == (graph, 3.0, 2.0)


@pytest.mark.parametrize("selector", [SupervisedGLFS(n_comps=None), GLFS(n_comps=10)])
@pytest.mark.parametrize("n_genes", [3, [2, 3]])
def test_genes_that_separate_batches_gain_nothing(two_classes, selector, n_genes):
    X, y = two_classes
    batch = np.arange(60) // 15 % 2
    mixed = X.copy()
    mixed[:, 20:24] += 20.0 * batch[:, None]
    model = GLFSLapRLSClassifier(n_genes, selector=selector, cv=3)
    assert not set(range(20, 24)) & set(model.fit(mixed, y, batch=batch).genes_.tolist())
    np.testing.assert_array_equal(mixed[:, :20], X[:, :20])


@pytest.mark.parametrize("selector", [SupervisedGLFS(n_comps=None), GLFS(n_comps=10)])
@pytest.mark.parametrize("n_genes", [3, [2, 3]])
def test_included_genes_come_first(two_classes, selector, n_genes):
    model = GLFSLapRLSClassifier(n_genes, selector=selector, cv=3)
    model.fit(*two_classes, include=[40, 17])
    assert set(model.genes_[:2]) == {17, 40}
    with refused(InvalidValue, "include"):
        model.set_params(n_genes=[1, 5]).fit(*two_classes, include=[40, 17])


def pipeline():
    return Pipeline([("select", SupervisedGLFS(n_comps=None)), ("classify", LapRLSClassifier())])


def test_a_pipeline_whose_number_of_genes_is_searched(two_classes):
    X, y = two_classes
    search = GridSearchCV(pipeline(), {"select__n_genes": [5, 3, 1]}, cv=3, refit=fewest_genes).fit(
        X, y
    )
    means = dict(zip([5, 3, 1], search.cv_results_["mean_test_score"], strict=True))
    best = [n for n, mean in means.items() if mean == max(means.values())]
    assert search.best_params_["select__n_genes"] == min(best)
    assert search.score(X, y) > 0.95


def test_the_quick_search_is_the_slow_one(two_classes):
    X, y = two_classes[0][::2, :20], two_classes[1][::2]
    folds = StratifiedKFold(3, shuffle=True, random_state=2)
    search = GridSearchCV(
        pipeline(), {"select__n_genes": [1, 2, 5]}, cv=folds, refit=fewest_genes
    ).fit(X, y)
    quick = GLFSLapRLSClassifier([5, 2, 1], cv=3, random_state=2, weighted=False).fit(X, y)
    errors = 30 - 30 * search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(quick.cv_errors_, errors, atol=1e-9)
    assert quick.n_genes_ == search.best_params_["select__n_genes"]
    np.testing.assert_array_equal(quick.predict(X), search.predict(X))


def test_an_unsupervised_selector(two_classes):
    X, y = two_classes
    model = GLFSLapRLSClassifier([2, 5], selector=GLFS(n_comps=None), cv=3).fit(X, y)
    assert len(model.genes_) == model.n_genes_
    assert model.predict(X).shape == y.shape


def test_ties_go_to_fewer_genes():
    results = {
        "param_select__n_genes": np.ma.array([20, 5, 10, 2]),
        "mean_test_score": np.array([0.9, 0.9, 0.9, 0.8]),
    }
    assert fewest_genes(results) == 1
    with refused(InvalidValue, "cv_results"):
        fewest_genes({"mean_test_score": np.ones(3)})


def test_selection_never_sees_the_test_part(two_classes, monkeypatch):
    X, y = two_classes
    seen = []
    panels = SupervisedGLFS.panels

    def spy(self, X, y, sizes):
        seen.append((X.copy(), y.copy()))
        return panels(self, X, y, sizes)

    monkeypatch.setattr(SupervisedGLFS, "panels", spy)
    GLFSLapRLSClassifier([2, 3], cv=3).fit(X, y)
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    for (rows, labels), (train, _) in zip(seen, folds, strict=True):
        np.testing.assert_array_equal(rows, X[train])
        np.testing.assert_array_equal(labels, y[train])


def test_permuted_labels_give_chance():
    """300 genes of noise: selecting outside the folds would give almost no errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 300))
    y = np.repeat([0, 1], 20)
    scores = [
        cross_val_score(
            pipeline().set_params(select__n_genes=5),
            X,
            rng.permutation(y),
            cv=StratifiedKFold(3, shuffle=True, random_state=seed),
        ).mean()
        for seed in range(4)
    ]
    assert 0.3 < np.mean(scores) < 0.7


def test_unlabelled_samples_are_never_in_a_test_part(two_classes):
    X, y = two_classes
    some = np.where(np.arange(60) % 3 == 0, -1, y)
    model = GLFSLapRLSClassifier([2, 3, 5], cv=3).fit(X, some)
    assert model.n_labelled_ == 40
    assert model.cv_errors_.max() <= 40
    assert model.score(X[some == -1], y[some == -1]) > 0.9


@pytest.mark.parametrize("selector", [GLFS(n_comps=10), SupervisedGLFS(objective="error")])
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
