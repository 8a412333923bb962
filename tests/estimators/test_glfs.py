"""``GLFS`` in pipelines, and with labels or numbers of the cells in place of their structure."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from refusals import refused
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from glfs_bio import GLFS
from glfs_bio.cells.graph import knn_graph
from glfs_bio.errors import Caution, InvalidValue
from glfs_bio.estimators import SupervisedGLFS
from glfs_bio.glfs2014 import Exact, path
from glfs_bio.glfs2014.path import minimise

SIGNAL = set(range(6))


def chosen(model):
    return set(model.get_support(indices=True).tolist())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"standardize": None, "n_comps": None},
        {"standardize": "noise"},
        {"objective": "exact", "standardize": "unit", "n_comps": 5},
        {"objective": Exact(tol=1e-5), "n_comps": None},
        {"objective": "printed"},
    ],
    ids=str,
)
def test_finds_the_signal(clusters, options):
    model = GLFS(n_genes=3, **options).fit(clusters)
    assert chosen(model) <= SIGNAL
    assert (model.weights_ >= 0).all()
    assert model.preserved_.shape == (3,)
    assert ((model.losses_ > 0) == model.get_support()).all()
    assert sorted(model.ranking_) == list(range(1, 41))
    np.testing.assert_array_equal(np.argsort(-model.scores_), np.argsort(model.ranking_))
    assert model.transform(clusters).shape == (90, 3)
    if "objective" in options:  # those of the paper have a path
        assert model.converged_
        assert model.kkt_ <= model.method.tol
        assert model.n_iter_ > 0
        assert model.lambda_ in model.path_["lam"]
        assert not hasattr(model, "optimality_")
    else:
        assert ((model.optimality_ > 0) & (model.optimality_ <= 1 + 1e-9)).all()
        assert model.weights_.sum() == pytest.approx(3, rel=1e-3)
        assert model.weights_.max() <= 1
        of_a_path = ("lambda_", "path_", "kkt_", "curve_")
        assert not [name for name in of_a_path if hasattr(model, name)]


def test_full_rank_of_the_subspace_is_full_rank(clusters):
    """All principal components span what the genes span, so the problem is the same."""
    graph = knn_graph(clusters)
    options = {"objective": Exact(tol=1e-9), "standardize": None}
    whole = GLFS(6, n_comps=None, **options).fit(clusters, graph=graph)
    options["objective"] = Exact(lam=whole.lambda_, tol=1e-9)
    whole = GLFS(n_comps=None, **options).fit(clusters, graph=graph)
    reduced = GLFS(n_comps=40, **options).fit(clusters, graph=graph)
    np.testing.assert_allclose(reduced.weights_, whole.weights_, atol=1e-6 * whole.weights_.max())


def test_works_in_a_pipeline_and_a_grid(clusters):
    model = GLFS(objective=Exact(tol=1e-3), n_comps=10)
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(
        make_pipeline(model, KNeighborsClassifier()),
        {"glfs__n_genes": [2, 4], "glfs__objective": ["error", Exact(tol=1e-2)]},
        cv=3,
    ).fit(clusters, np.repeat(["a", "b", "c"], 30))
    assert search.best_score_ == 1.0
    named, given = (GLFS(3, objective=objective).fit(clusters) for objective in ("exact", Exact()))
    np.testing.assert_array_equal(named.weights_, given.weights_)


@pytest.mark.parametrize("objective", ["error", "exact"])
def test_four_signals_among_noise(objective):
    """The paper's simulation: at full rank exactly the four genes that carry the groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(4), 50, axis=0)
    data = np.hstack([groups, np.zeros((200, 400))]) + rng.normal(scale=0.2, size=(200, 404))
    assert chosen(GLFS(n_genes=4, objective=objective, n_comps=None).fit(data)) == {0, 1, 2, 3}


def test_a_lambda_selects_its_whole_support(clusters):
    """That of the line search is the paper's sparse end."""
    searched = GLFS(objective=Exact(lam="line_search"), n_comps=None).fit(clusters)
    assert 1 <= searched.n_selected_ <= 7
    assert chosen(searched) <= SIGNAL
    walked = GLFS(n_genes=1, objective="exact").fit(clusters).path_
    lam = walked["lam"][len(walked["lam"]) // 2]
    model = GLFS(objective=Exact(lam=lam)).fit(clusters)
    assert model.lambda_ == lam
    assert model.n_selected_ == np.count_nonzero(model.weights_)


def test_nothing_but_included_genes(clusters):
    clusters[:, 2:] = 1.0
    model = GLFS().fit(clusters, include=[0, 1])
    assert chosen(model) == {0, 1}
    assert model.preserved_[-1] == pytest.approx(1)
    with refused(InvalidValue, "include"):
        GLFS(objective="exact").fit(clusters, include=[0, 1])


def test_not_converged_is_said_aloud(clusters, monkeypatch):
    monkeypatch.setattr(path, "minimise", functools.partial(minimise, max_iter=2))
    with pytest.warns(Caution):
        model = GLFS(n_genes=3, objective="exact").fit(clusters)
    assert not model.converged_


def test_batches_share_one_selection(clusters):
    """A gene that only separates batches wins without batch, and loses with it."""
    batch = np.tile(["x", "y"], 45)
    clusters[:, 39] += 8.0 * (batch == "x")
    assert 39 in chosen(GLFS(n_genes=3, standardize=None).fit(clusters))
    assert chosen(GLFS(n_genes=3, standardize=None).fit(clusters, batch=batch)) <= SIGNAL


def test_disconnected_graph_works_with_a_note(clusters, caplog):
    blocks = np.kron(np.eye(3), np.ones((30, 30)))
    graph = sparse.csr_matrix(knn_graph(clusters).multiply(blocks))
    assert chosen(GLFS(n_genes=3).fit(clusters, graph=graph)) <= SIGNAL
    (message,) = caplog.messages
    assert "3 connected components" in message
    caplog.clear()
    GLFS(n_genes=3, n_neighbors=2).fit(clusters, batch=np.tile(["x", "y"], 45))
    assert len(caplog.records) == 1


def test_supervised_selection_finds_the_genes_that_differ(two_classes):
    """Among the samples that have a label."""
    X, y = two_classes
    model = SupervisedGLFS(n_genes=3, n_comps=None)
    assert chosen(model.fit(X, y)) == {4, 9, 31}
    some = np.where(np.arange(60) % 3 == 0, -1, y)
    every = clone(model).fit(X, some)
    known = clone(model).fit(X[some >= 0], y[some >= 0])
    np.testing.assert_array_equal(every.weights_, known.weights_)


def test_the_best_panel(clusters):
    nested = GLFS(4, n_comps=10).fit(clusters)
    best = GLFS(4, n_comps=10, search="best", time_limit=600.0).fit(clusters)
    assert best.proof_.proven
    assert best.optimality_[-1] == 1.0
    assert best.preserved_[-1] >= nested.preserved_[-1] - 1e-12
    assert not hasattr(nested, "proof_")
    for model in (nested, best):
        assert set(model.certificates_) <= {"every", "none", "open"}
        assert model.certificates_.shape == (clusters.shape[1],)
    assert set(np.flatnonzero(best.certificates_ == "every")) <= chosen(best)
    known = nested.certificates_ != "open"
    assert (best.certificates_[known] == nested.certificates_[known]).all()
    ignored = GLFS(2, n_comps=10).fit(clusters, ignore=[5])
    assert ignored.certificates_[5] == "none"


#: Genes that tell the classes apart, and genes of a larger structure that does not.
TELLING, LOUD = {0, 1}, {2, 3, 4, 5}


@pytest.fixture
def cells():
    """90 cells of three classes, in two clusters that have nothing to do with them."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1, 2], 30)
    X = rng.normal(scale=0.5, size=(90, 30))
    X[:, :2] += 2.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    X[:, 2:6] += 5.0 * np.repeat([0.0, 1.0], 45)[:, None]
    return X, y


def chosen_genes(X, y, n_genes=2, **options):
    return set(GLFS(n_genes, n_comps=10, **options).fit(X, y).get_support(indices=True).tolist())


def test_labels_and_values_choose_other_genes_than_the_structure(cells):
    X, y = cells
    assert chosen_genes(X, y, 1) <= LOUD
    assert chosen_genes(X, y, preserve="labels") == TELLING
    assert chosen_genes(X, X[:, :2] @ [1.0, 1.0], preserve="values") == TELLING
    assert chosen_genes(X, X[:, :2], preserve="values") == TELLING
    y[0] = 7  # a class of one cell is no obstacle
    assert len(chosen_genes(X, y, preserve="labels")) == 2


def test_genes_that_vary_more_count_more_for_expression(cells):
    X, _ = cells
    varying = X * np.where(np.isin(np.arange(30), list(TELLING)), 3.0, 1.0)
    assert chosen_genes(varying, None, preserve="expression") == TELLING
    assert chosen_genes(varying, None) & LOUD


def test_labels_are_ignored_by_default(cells):
    X, y = cells
    for preserve in ("structure", "expression"):
        model = GLFS(5, n_comps=10, preserve=preserve)
        np.testing.assert_array_equal(model.fit(X, None).ranking_, model.fit(X, y).ranking_)


@pytest.mark.parametrize("unknown", [-1, np.nan, None])
def test_cells_without_a_label_or_number(cells, unknown):
    """They take part as cells, whatever stands for them."""
    X, y = cells
    some, numbers = y.astype(object if unknown is None else float), X[:, 0] + X[:, 1]
    some[::4], numbers[::4] = unknown, np.nan
    reference = np.where(np.arange(90) % 4 == 0, -1, y)
    model = GLFS(5, n_comps=10, preserve="labels")
    np.testing.assert_array_equal(model.fit(X, some).ranking_, model.fit(X, reference).ranking_)
    assert chosen_genes(X, some, preserve="labels") == TELLING
    assert chosen_genes(X, numbers, preserve="values") == TELLING


def test_automatic_number_keeps_the_structure(clusters):
    """Genes 0 and 5, 1 and 4, 2 and 3 say the same; 34 are noise."""
    assert {min(gene, 5 - gene) for gene in chosen(GLFS().fit(clusters))} == {0, 1, 2}


def test_included_genes_are_in_and_complemented(clusters):
    best = int(np.argmin(GLFS(n_genes=3).fit(clusters).ranking_))
    model = GLFS(n_genes=3).fit(clusters, include=[20, best])
    assert set(model.ranking_[[20, best]]) == {1, 2}
    third = chosen(model) - {20, best}
    assert len(third) == 1
    assert third <= SIGNAL


def test_data_stay_as_they_are(clusters, container):
    data = container(clusters)
    before = data.copy()
    GLFS(n_genes=5).fit(data)
    assert abs(data - before).max() == 0
