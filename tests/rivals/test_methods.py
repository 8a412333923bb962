"""What holds for every method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio.criterion.criterion import Target
from glfs_bio.criterion.platform import Detection
from glfs_bio.errors import InvalidValue
from glfs_bio.glfs2014 import Exact
from glfs_bio.options import Request
from glfs_bio.pp import select_genes
from glfs_bio.rivals import QAlpha, SparsePCA
from glfs_bio.selection import rank_genes
from glfs_bio.solvers.panel import METHODS, Problem

#: Two components hold three groups, and the mean of a gene is none of their structure.
OF_GROUPS = {"sparse_pca": SparsePCA(n_components=2), "q_alpha": QAlpha(centered=True)}
RIVALS = sorted(set(METHODS) - {"glfs"})


@pytest.fixture(params=RIVALS)
def method(request):
    return request.param


@pytest.mark.filterwarnings("ignore::glfs_bio.errors.Caution")  # twins in turn have a loading
@pytest.mark.parametrize("method", sorted(METHODS))
def test_constant_genes_come_last(clusters, method):
    """And no two genes are ranked alike."""
    clusters[:, 10] = clusters[:, 11]
    clusters[:, ::3] = 2.0 / 3.0
    for n_comps in (None, 10):
        ranking = rank_genes(clusters, Request.of(4, method=method, n_comps=n_comps))
        assert ranking.n_selected == 4
        assert len(np.unique(ranking.scores)) == 40
        assert np.isfinite(ranking.weights).all()
        np.testing.assert_array_equal(np.sort(ranking.order[-14:]), np.arange(0, 40, 3))


def test_containers_agree(clusters, container, method):
    clusters[clusters < 1.0] = 0.0
    request = Request.of(5, method=method, n_comps=10)
    dense, other = rank_genes(clusters, request), rank_genes(container(clusters), request)
    np.testing.assert_array_equal(dense.order[:5], other.order[:5])
    np.testing.assert_allclose(other.weights, dense.weights, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_sparse_matrix_is_never_made_dense(pbmc, monkeypatch, method):
    def refuse(*_args, **_kwargs):
        pytest.fail("a sparse matrix was made dense")

    for kind in (sparse.csr_matrix, sparse.csr_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    select_genes(pbmc, 10, method=method)


@pytest.mark.parametrize("batch_key", [None, "phase"])
def test_columns_and_record(pbmc, method, batch_key):
    options = {"include": ["CD3D"], "batch_key": batch_key}
    select_genes(pbmc, 10, method=method, key_added="rival", **options)
    columns = pbmc.var[pbmc.var["rival_rank"].notna()]  # 12 are clones
    assert columns["rival_selected"].sum() == 10
    assert columns["rival_score"].is_unique
    assert sorted(columns["rival_rank"]) == list(range(1, 754))
    assert list(columns.index[columns["rival_included"]]) == ["CD3D"]
    assert columns.loc["CD3D", "rival_rank"] == 1
    assert ((columns["rival_loss"] > 0) == columns["rival_selected"]).all()
    entry = pbmc.uns["rival"]
    assert entry["method"] == entry["params"]["method"] == method
    assert not {"lam", "kkt", "path", "objective", "optimality"} & set(entry)
    assert entry["preserved"].shape == (10,)
    assert (np.diff(entry["preserved"]) > 0).all()


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"variance"}))
def test_the_subspace_is_that_of_a_representation(clusters, method):
    request = Request.of(5, method=method)
    where = clusters[:, [20, 30]]
    seen, alone = rank_genes(clusters, request, representation=where), rank_genes(clusters, request)
    assert not np.allclose(seen.weights, alone.weights)


def test_only_the_criterion_answers_some_questions(clusters, method):
    """The number of genes is asked for, and objectives, detection and targets are refused."""

    failing, dark = Detection(failure=np.full(40, 0.1)), Detection(np.ones(40))
    for argument, options, given in (
        ("n_genes", {"n_genes": None}, {}),
        ("objective", {"objective": "exact"}, {}),
        ("objective", {"objective": Exact(lam=1.0)}, {}),
        ("preserve", {}, {"target": Target()}),
        ("platform", {}, {"problem": replace(Problem.of(40), detection=failing)}),
        ("platform", {}, {"problem": replace(Problem.of(40), detection=dark)}),
    ):
        with refused(InvalidValue, argument):
            request = Request.of(**{"n_genes": 5, "method": method} | options)
            rank_genes(clusters, request, **given)


def test_finds_the_groups_in_any_unit(clusters, method):
    n_genes = 3 if method in ("lapaofs", "lapdofs") else 6
    for n_comps in (None, 10):
        request = Request.of(n_genes, method=OF_GROUPS.get(method, method), n_comps=n_comps)
        order = rank_genes(clusters, request).order[:n_genes]
        assert set(order) <= set(range(6))
        in_other_units = rank_genes(1000.0 * clusters, request)
        np.testing.assert_array_equal(in_other_units.order[:n_genes], order)


@pytest.mark.parametrize("method", ["laplacian_score", "variance", "q_alpha", "sparse_pca"])
def test_included_genes_come_first_in_their_own_order(small, method):
    request = Request.of(4, method=method, n_comps=None)
    plain = rank_genes(small, request)
    worst, bad = plain.order[-1], plain.order[-2]
    ranking = rank_genes(small, request, problem=Problem.of(20, [worst, bad]))
    np.testing.assert_array_equal(ranking.order, [bad, worst, *plain.order[:-2]])
    np.testing.assert_array_equal(ranking.weights, plain.weights)
