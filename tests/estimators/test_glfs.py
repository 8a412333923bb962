from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from glfs_bio import GLFS
from glfs_bio.cells.graph import knn_graph
from glfs_bio.glfs2014 import newton, path

SIGNAL = set(range(6))


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
        {"swaps": True},
        {"standardize": None},
        {"standardize": "noise", "n_comps": None},
        {"laplacian": "unnormalized"},
        {"objective": "exact"},
        {"objective": "exact", "n_comps": None},
        {"objective": "exact", "solver": "owlqn"},
        {"objective": "exact", "standardize": "unit", "n_comps": 5},
        {"objective": "printed"},
    ],
    ids=str,
)
def test_finds_the_signal(clusters, options):
    model = GLFS(n_genes=3, **options).fit(clusters)
    assert set(model.get_support(indices=True)) <= SIGNAL
    assert (model.weights_ >= 0).all()
    assert model.kept_.shape == (3,)
    assert ((model.losses_ > 0) == model.get_support()).all()
    assert model.transform(clusters).shape == (90, 3)


@pytest.mark.parametrize("objective", ["exact", "printed"])
def test_the_papers_objectives_have_a_path(clusters, objective):
    model = GLFS(n_genes=3, objective=objective).fit(clusters)
    assert model.converged_
    assert model.kkt_ <= model.tol
    assert model.n_iter_ > 0
    assert model.lambda_ in model.path_["lam"]
    assert not hasattr(model, "of_best_possible_")


def test_the_default_has_a_bound_and_no_path(clusters):
    model = GLFS(n_genes=4).fit(clusters)
    assert ((model.of_best_possible_ > 0) & (model.of_best_possible_ <= 1 + 1e-9)).all()
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
    [{}, {"objective": "exact", "tol": 1e-9}],  # two roundings may stop anywhere within tol
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
    options = {"objective": "exact", "standardize": None, "tol": 1e-9}
    whole = GLFS(6, n_comps=None, **options).fit(clusters, graph=graph)
    options["lam"] = whole.lambda_
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
    model = GLFS(objective="exact", lam="line_search", n_comps=None).fit(clusters)
    assert 1 <= model.n_selected_ <= 7
    assert set(model.get_support(indices=True)) <= SIGNAL


def test_lam_alone_selects_its_whole_support(clusters):
    walked = GLFS(n_genes=1, objective="exact").fit(clusters).path_
    lam = walked["lam"][len(walked["lam"]) // 2]
    model = GLFS(objective="exact", lam=lam).fit(clusters)
    assert model.lambda_ == lam
    assert model.n_selected_ == np.count_nonzero(model.weights_)


def test_collapse_is_an_error(clusters):
    with pytest.raises(ValueError, match="lam=1e\\+09 leaves no gene"):
        GLFS(objective="exact", lam=1e9).fit(clusters)


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
    assert chosen.kept_[-1] == pytest.approx(1)
    with pytest.raises(ValueError, match="include holds every gene that varies"):
        GLFS(objective="exact").fit(clusters, include=[0, 1])


def test_not_converged_is_said_aloud(clusters, monkeypatch):
    limited = functools.partial(newton.minimise, max_iter=2)
    monkeypatch.setitem(path.SOLVERS, "newton", limited)
    with pytest.warns(ConvergenceWarning, match="KKT residual"):
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
    assert "3 connected components" in caplog.text
    assert "n_neighbors must be larger" in caplog.text
    caplog.clear()
    GLFS(n_genes=3, n_neighbors=2).fit(clusters, batch=np.tile(["x", "y"], 45))
    assert caplog.text.count("connected components") == 1


def test_input_is_not_changed(clusters, container):
    data = container(clusters.copy())
    before = data.copy()
    GLFS(n_genes=3).fit(data)
    assert abs(data - before).max() == 0


BAD = [
    ({"n_genes": 41}, {}, "n_genes=41 is more than the 40 genes"),
    ({"n_genes": 0}, {}, "n_genes=0"),
    ({"n_comps": 0}, {}, "n_comps=0"),
    ({"n_neighbors": 0}, {}, "n_neighbors=0"),
    ({"lambda1": -1.0}, {}, "lambda1=-1.0"),
    ({"lambda1": np.inf}, {}, "lambda1=inf"),
    ({"lam": 0.0}, {}, "lam=0.0"),
    ({"lam": 1.0}, {}, "lam=1.0 is for objective='exact' or objective='printed'"),
    ({"solver": "owlqn"}, {}, "solver='owlqn' is for objective='exact'"),
    ({"tol": 1e-6}, {}, "tol=1e-06 is for objective='exact'"),
    ({"objective": "exact", "swaps": True}, {}, "swaps=True is for objective='error' only"),
    ({"objective": "mse"}, {}, "objective='mse' is there no more"),
    ({"standardize": "noise_always"}, {}, "standardize='noise_always' is there no more"),
    ({"lam": "largest"}, {}, "lam='largest'"),
    ({"tol": 0.0}, {}, "tol=0.0"),
    ({"objective": "best"}, {}, "objective='best'"),
    ({"standardize": "z"}, {}, "standardize='z'"),
    ({"laplacian": "random"}, {}, "laplacian='random'"),
    ({"solver": "adam"}, {}, "solver='adam'"),
    ({}, {"graph": np.ones((3, 3))}, "graph has shape"),
    ({}, {"representation": np.ones((3, 3))}, "representation has shape"),
    ({}, {"representation": np.full((90, 3), np.nan)}, "representation has values"),
    ({}, {"batch": ["a", "b"]}, "batch has shape"),
    ({}, {"batch": [f"{i // 2}" for i in range(90)]}, "No batch has 3 cells"),
    ({}, {"include": [40]}, "include has gene 40"),
    ({"n_genes": 2}, {"include": [1, 2, 3]}, "include has 3 genes"),
    ({}, {"batch": ["a"] * 90, "graph": np.ones((90, 90))}, "cannot be combined"),
]


@pytest.mark.parametrize(("options", "extra", "message"), BAD)
def test_bad_input_is_refused(clusters, options, extra, message):
    with pytest.raises(ValueError, match=message):
        GLFS(**options).fit(clusters, **extra)


@pytest.mark.parametrize(
    "options", [{"n_genes": 2.5}, {"n_genes": True}, {"lambda1": "100"}, {"n_comps": "all"}]
)
def test_wrong_types_are_refused(clusters, options):
    with pytest.raises(TypeError, match=next(iter(options))):
        GLFS(**options).fit(clusters)


def test_nothing_that_varies(clusters):
    with pytest.raises(ValueError, match="No gene varies"):
        GLFS().fit(np.ones((20, 5)))
