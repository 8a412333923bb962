from __future__ import annotations

import functools
import inspect

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from glfs_bio import GLFS
from glfs_bio.cells.graph import knn_graph
from glfs_bio.errors import Caution, InvalidType, InvalidValue
from glfs_bio.estimators import SupervisedGLFS
from glfs_bio.glfs2014 import Exact, path
from glfs_bio.glfs2014.solvers import newton

SIGNAL = set(range(6))


@pytest.mark.filterwarnings("ignore::glfs_bio.errors.Caution")  # noise has no structure
@parametrize_with_checks(
    [GLFS(), GLFS(n_genes=1, n_comps=None), GLFS(preserve="labels"), GLFS(preserve="values")]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_comps": None},
        {"standardize": None},
        {"standardize": "noise", "n_comps": None},
        {"objective": "exact"},
        {"objective": "exact", "n_comps": None},
        {"objective": Exact(solver="owlqn")},
        {"objective": "exact", "standardize": "unit", "n_comps": 5},
        {"objective": "printed"},
    ],
    ids=str,
)
def test_finds_the_signal(clusters, options):
    model = GLFS(n_genes=3, **options).fit(clusters)
    assert set(model.get_support(indices=True)) <= SIGNAL
    assert (model.weights_ >= 0).all()
    assert model.preserved_.shape == (3,)
    assert ((model.losses_ > 0) == model.get_support()).all()
    assert model.transform(clusters).shape == (90, 3)


@pytest.mark.parametrize("objective", ["exact", "printed"])
def test_the_papers_objectives_have_a_path(clusters, objective):
    model = GLFS(n_genes=3, objective=objective).fit(clusters)
    assert model.converged_
    assert model.kkt_ <= model.method.tol
    assert model.n_iter_ > 0
    assert model.lambda_ in model.path_["lam"]
    assert not hasattr(model, "optimality_")


def test_the_default_has_a_bound_and_no_path(clusters):
    model = GLFS(n_genes=4).fit(clusters)
    assert ((model.optimality_ > 0) & (model.optimality_ <= 1 + 1e-9)).all()
    assert model.weights_.sum() == pytest.approx(4)
    assert model.weights_.max() <= 1
    assert not [name for name in ("lambda_", "path_", "kkt_", "curve_") if hasattr(model, name)]


def test_scores_rank_every_gene_without_ties(clusters):
    clusters[:, 10:15] = 1.0
    model = GLFS(n_genes=4).fit(clusters)
    assert len(np.unique(model.scores_)) == 40
    assert sorted(model.ranking_) == list(range(1, 41))
    np.testing.assert_array_equal(np.argsort(-model.scores_), np.argsort(model.ranking_))
    assert model.get_support().sum() == 4
    assert (model.ranking_[10:15] > 6).all()


@pytest.mark.parametrize(
    "options",
    [{}, {"objective": Exact(tol=1e-9)}],  # two roundings may stop anywhere within tol
    ids=str,
)
def test_containers_agree(clusters, container, options):
    clusters[clusters < 1.0] = 0.0
    dense = GLFS(n_genes=5, **options).fit(clusters)
    other = GLFS(n_genes=5, **options).fit(container(clusters))
    np.testing.assert_array_equal(dense.ranking_[:6], other.ranking_[:6])
    np.testing.assert_allclose(dense.weights_, other.weights_, rtol=1e-6, atol=1e-8)


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
    labels = np.repeat(["a", "b", "c"], 30)
    pipe = make_pipeline(GLFS(), KNeighborsClassifier())
    search = GridSearchCV(pipe, {"glfs__n_genes": [2, 4]}, cv=3).fit(clusters, labels)
    assert search.best_score_ == 1.0


def test_set_output_gives_named_columns(clusters):
    frame = pd.DataFrame(clusters, columns=[f"gene{i}" for i in range(40)])
    found = GLFS(n_genes=2).set_output(transform="pandas").fit_transform(frame)
    assert isinstance(found, pd.DataFrame)
    assert set(found.columns) <= {f"gene{i}" for i in SIGNAL}


def test_automatic_number_keeps_the_structure(clusters):
    """Genes 0 and 5, 1 and 4, 2 and 3 say the same; 34 are noise."""
    chosen = GLFS().fit(clusters).get_support(indices=True)
    assert {min(gene, 5 - gene) for gene in chosen} == {0, 1, 2}


@pytest.mark.parametrize("objective", ["error", "exact"])
def test_four_signals_among_noise(objective):
    """The paper's simulation: at full rank exactly the four genes that carry the groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(4), 50, axis=0)
    data = np.hstack([groups, np.zeros((200, 400))]) + rng.normal(scale=0.2, size=(200, 404))
    model = GLFS(n_genes=4, objective=objective, n_comps=None).fit(data)
    assert list(model.get_support(indices=True)) == [0, 1, 2, 3]


def test_line_search_is_the_papers_sparse_end(clusters):
    model = GLFS(objective=Exact(lam="line_search"), n_comps=None).fit(clusters)
    assert 1 <= model.n_selected_ <= 7
    assert set(model.get_support(indices=True)) <= SIGNAL


def test_lam_alone_selects_its_whole_support(clusters):
    walked = GLFS(n_genes=1, objective="exact").fit(clusters).path_
    lam = walked["lam"][len(walked["lam"]) // 2]
    model = GLFS(objective=Exact(lam=lam)).fit(clusters)
    assert model.lambda_ == lam
    assert model.n_selected_ == np.count_nonzero(model.weights_)


def test_collapse_is_an_error(clusters):
    with refused(path.Collapse, "lam"):
        GLFS(objective=Exact(lam=1e9)).fit(clusters)


def test_included_genes_are_in_and_complemented(clusters):
    best = int(np.argmin(GLFS(n_genes=3).fit(clusters).ranking_))
    model = GLFS(n_genes=3).fit(clusters, include=[20, best])
    assert set(model.ranking_[[20, best]]) == {1, 2}
    third = set(model.get_support(indices=True)) - {20, best}
    assert len(third) == 1
    assert third <= SIGNAL


def test_nothing_but_included_genes(clusters):
    clusters[:, 2:] = 1.0
    chosen = GLFS().fit(clusters, include=[0, 1])
    assert list(chosen.get_support(indices=True)) == [0, 1]
    assert chosen.preserved_[-1] == pytest.approx(1)
    with refused(InvalidValue, "include"):
        GLFS(objective="exact").fit(clusters, include=[0, 1])


def test_not_converged_is_said_aloud(clusters, monkeypatch):
    limited = functools.partial(newton, max_iter=2)
    monkeypatch.setitem(path.SOLVERS, "newton", limited)
    with pytest.warns(Caution):
        model = GLFS(n_genes=3, objective="exact").fit(clusters)
    assert not model.converged_


def test_batches_share_one_selection(clusters):
    """A gene that only separates batches wins without batch, and loses with it."""
    batch = np.tile(["x", "y"], 45)
    clusters[:, 39] += 8.0 * (batch == "x")
    blind = GLFS(n_genes=3, standardize=None).fit(clusters)
    aware = GLFS(n_genes=3, standardize=None).fit(clusters, batch=batch)
    assert blind.get_support()[39]
    assert not aware.get_support()[39]
    assert set(aware.get_support(indices=True)) <= SIGNAL


def test_disconnected_graph_works_with_a_note(clusters, caplog):
    blocks = np.kron(np.eye(3), np.ones((30, 30)))
    graph = sparse.csr_matrix(knn_graph(clusters).multiply(blocks))
    model = GLFS(n_genes=3).fit(clusters, graph=graph)
    assert set(model.get_support(indices=True)) <= SIGNAL
    (said,) = caplog.messages
    assert "3 connected components" in said
    caplog.clear()
    GLFS(n_genes=3, n_neighbors=2).fit(clusters, batch=np.tile(["x", "y"], 45))
    assert len(caplog.records) == 1


def test_input_is_not_changed(clusters, container):
    data = container(clusters.copy())
    before = data.copy()
    GLFS(n_genes=3).fit(data)
    assert abs(data - before).max() == 0


BAD = [
    ({"n_genes": 41}, {}, "n_genes"),
    ({"n_genes": 0}, {}, "n_genes"),
    ({"n_comps": 0}, {}, "n_comps"),
    ({"n_neighbors": 0}, {}, "n_neighbors"),
    ({"lambda1": -1.0}, {}, "lambda1"),
    ({"lambda1": np.inf}, {}, "lambda1"),
    ({"objective": "best"}, {}, "objective"),
    ({"standardize": "z"}, {}, "standardize"),
    ({}, {"include": [40]}, "include"),
    ({}, {"include": [-1]}, "include"),
    ({"n_genes": 2}, {"include": [1, 2, 3]}, "include"),
]
#: What ``cells/`` refuses.
BAD_DATA = [
    {"graph": np.ones((3, 3))},
    {"representation": np.ones((3, 3))},
    {"representation": np.full((90, 3), np.nan)},
    {"batch": ["a", "b"]},
    {"batch": [f"{i // 2}" for i in range(90)]},
    {"batch": ["a"] * 90, "graph": np.ones((90, 90))},
]


@pytest.mark.parametrize(("options", "extra", "argument"), BAD)
def test_bad_input_is_refused(clusters, options, extra, argument):
    with refused(InvalidValue, argument):
        GLFS(**options).fit(clusters, **extra)


@pytest.mark.parametrize("extra", BAD_DATA)
def test_bad_data_are_refused(clusters, extra):
    with pytest.raises(ValueError, match=next(iter(extra))):
        GLFS().fit(clusters, **extra)


@pytest.mark.parametrize(
    "options", [{"n_genes": 2.5}, {"n_genes": True}, {"lambda1": "100"}, {"n_comps": "all"}]
)
def test_wrong_types_are_refused(clusters, options):
    with refused(InvalidType, next(iter(options))):
        GLFS(**options).fit(clusters)


@pytest.mark.parametrize(
    ("kind", "argument", "value"),
    [
        (InvalidValue, "lam", 0.0),
        (InvalidValue, "lam", "largest"),
        (InvalidType, "lam", [1.0]),
        (InvalidValue, "solver", "adam"),
        (InvalidValue, "tol", 0.0),
        (InvalidType, "tol", "small"),
    ],
)
def test_an_objective_checks_its_options(kind, argument, value):
    with refused(kind, argument):
        Exact(**{argument: value})


def test_an_objective_is_a_parameter_like_others(clusters):
    model = GLFS(3, objective=Exact(tol=1e-3), n_comps=10)
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(
        make_pipeline(model, KNeighborsClassifier()),
        {"glfs__objective": ["error", Exact(), Exact(tol=1e-2)]},
        cv=3,
    ).fit(clusters, np.repeat(["a", "b", "c"], 30))
    assert search.best_score_ == 1.0
    named, given = (GLFS(3, objective=one).fit(clusters) for one in ("exact", Exact()))
    np.testing.assert_array_equal(named.weights_, given.weights_)


def test_nothing_that_varies(clusters):
    with refused(InvalidValue, "X"):
        GLFS().fit(np.ones((20, 5)))


def test_supervised_selection_finds_the_genes_that_differ(two_classes):
    X, y = two_classes
    found = SupervisedGLFS(n_genes=3, n_comps=None).fit(X, y).get_support(indices=True)
    np.testing.assert_array_equal(found, [4, 9, 31])


def test_unlabelled_samples_are_left_out_of_a_supervised_selection(two_classes):
    X, y = two_classes
    some = np.where(np.arange(60) % 3 == 0, -1, y)
    every = SupervisedGLFS(n_genes=3, n_comps=None).fit(X, some)
    known = SupervisedGLFS(n_genes=3, n_comps=None).fit(X[some >= 0], y[some >= 0])
    np.testing.assert_array_equal(every.weights_, known.weights_)


def test_the_constructor_is_that_of_glfs():
    assert "n_comps" in inspect.signature(SupervisedGLFS).parameters


def test_the_best_panel(clusters):
    nested = GLFS(4, n_comps=10).fit(clusters)
    best = GLFS(4, n_comps=10, search="best", time_limit=20.0).fit(clusters)
    assert best.proof_.proven
    assert best.optimality_[-1] == 1.0
    assert best.preserved_[-1] >= nested.preserved_[-1] - 1e-12
    assert not hasattr(nested, "proof_")
    for model in (nested, best):
        assert set(model.certificates_) <= {"every", "none", "open"}
        assert model.certificates_.shape == (clusters.shape[1],)
    assert set(np.flatnonzero(best.certificates_ == "every")) <= set(best.get_support(indices=True))
    known = nested.certificates_ != "open"
    assert (best.certificates_[known] == nested.certificates_[known]).all()
    ignored = GLFS(2, n_comps=10).fit(clusters, ignore=[5])
    assert ignored.certificates_[5] == "none"
    with pytest.raises(InvalidValue):
        GLFS(4, objective="exact", search="best").fit(clusters)
