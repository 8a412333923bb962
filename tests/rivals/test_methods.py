"""What holds for every method."""

from __future__ import annotations

from dataclasses import replace

import anndata as ad
import numpy as np
import pytest
from refusals import refused
from scipy import sparse
from typer.testing import CliRunner

from glfs_bio.cli import app
from glfs_bio.criterion.criterion import Target
from glfs_bio.criterion.platform import Detection
from glfs_bio.errors import InvalidValue
from glfs_bio.glfs2014 import Exact
from glfs_bio.methods import METHODS
from glfs_bio.options import Request
from glfs_bio.pp import select_genes
from glfs_bio.selection import Candidates, rank_genes

RIVALS = sorted(set(METHODS) - {"glfs"})


@pytest.fixture(params=RIVALS)
def method(request):
    return request.param


def test_every_gene_is_ranked_without_ties(clusters, method):
    clusters[:, 10] = clusters[:, 11]
    clusters[:, 12:14] = 1.0
    ranking = rank_genes(clusters, Request.of(6, method=method))
    assert ranking.n_selected == 6
    assert len(np.unique(ranking.scores)) == 40
    assert np.isfinite(ranking.scores).all()
    assert np.isfinite(ranking.weights).all()
    np.testing.assert_array_equal(np.sort(ranking.order[-2:]), [12, 13])


@pytest.mark.parametrize("n_comps", [None, 10])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_constant_genes_come_last(clusters, method, n_comps):
    clusters[:, ::3] = 2.0 / 3.0
    ranking = rank_genes(clusters, Request.of(4, method=method, n_comps=n_comps))
    np.testing.assert_array_equal(np.sort(ranking.order[-14:]), np.arange(0, 40, 3))


def test_finds_the_groups(clusters, method):
    n_genes = 3 if method in ("lapaofs", "lapdofs") else 6
    for n_comps in (None, 10):
        ranking = rank_genes(clusters, Request.of(n_genes, method=method, n_comps=n_comps))
        assert set(ranking.order[:n_genes]) <= set(range(6))


def test_unit_of_the_matrix(clusters, method):
    one = rank_genes(clusters, Request.of(6, method=method))
    other = rank_genes(1000.0 * clusters, Request.of(6, method=method))
    np.testing.assert_array_equal(one.order[:6], other.order[:6])


def test_containers_agree(clusters, container, method):
    clusters[clusters < 1.0] = 0.0
    dense = rank_genes(clusters, Request.of(5, method=method, n_comps=10))
    other = rank_genes(container(clusters), Request.of(5, method=method, n_comps=10))
    np.testing.assert_array_equal(dense.order[:5], other.order[:5])
    np.testing.assert_allclose(other.weights, dense.weights, rtol=1e-5, atol=1e-7)


def test_sparse_matrix_is_never_made_dense(pbmc, monkeypatch, method):
    def refuse(*_args, **_kwargs):
        pytest.fail("a sparse matrix was made dense")

    for kind in (sparse.csr_matrix, sparse.csr_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    select_genes(pbmc, 10, method=method)


def test_columns_and_record_survive_a_file(pbmc, tmp_path, method):
    select_genes(pbmc, 10, method=method, include=["CD3D"], key_added="rival")
    panel = pbmc.var[pbmc.var["rival_selected"]]
    assert len(panel) == 10
    assert "CD3D" in panel.index
    assert pbmc.var["rival_score"].is_unique
    assert sorted(pbmc.var["rival_rank"]) == list(range(1, 766))
    entry = pbmc.uns["rival"]
    assert entry["method"] == entry["params"]["method"] == method
    assert not {"lam", "kkt", "path", "objective", "optimality"} & set(entry)
    assert entry["preserved"].shape == (10,)
    assert (np.diff(entry["preserved"]) > 0).all()
    assert list(pbmc.var_names[pbmc.var["rival_included"]]) == ["CD3D"]
    assert pbmc.var.loc["CD3D", "rival_rank"] == 1
    assert ((pbmc.var["rival_loss"] > 0) == pbmc.var["rival_selected"]).all()
    pbmc.write_h5ad(tmp_path / "panel.h5ad")
    again = ad.read_h5ad(tmp_path / "panel.h5ad")
    assert again.uns["rival"]["method"] == method
    np.testing.assert_array_equal(again.var["rival_score"], pbmc.var["rival_score"])


def test_batches(pbmc, method):
    select_genes(pbmc, 10, method=method, batch_key="phase")
    assert pbmc.var["glfs_selected"].sum() == 10


@pytest.mark.parametrize("objective", ["exact", Exact(lam=1.0), Exact(solver="owlqn")])
def test_an_objective_is_refused(clusters, method, objective):
    with refused(InvalidValue, "objective"):
        rank_genes(clusters, Request.of(5, objective=objective, method=method))


def test_a_number_of_genes_is_needed(clusters, method):
    with refused(InvalidValue, "n_genes"):
        rank_genes(clusters, Request.of(None, method=method))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("detection", Detection(failure=np.full(40, 0.1))),
        ("detection", Detection(np.ones(40))),
        ("target", Target()),
    ],
)
def test_only_the_criterion_answers_some_questions(clusters, method, argument, value):
    given = {"target": value}
    if argument == "detection":
        given = {"candidates": replace(Candidates.of(40), detection=value)}
    with refused(InvalidValue, "preserve" if argument == "target" else "platform"):
        rank_genes(clusters, Request.of(5, method=method), **given)


def test_command_line(pbmc, tmp_path, monkeypatch, method):
    monkeypatch.chdir(tmp_path)
    pbmc.write_h5ad("cells.h5ad")
    words = ["select", "cells.h5ad", "--n-genes", "5", "--method", method]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert len(result.stdout.split()) == 5
    assert "5 of 765 genes" in result.stderr
    assert "λ" not in result.stderr
    result = CliRunner().invoke(app, ["select", "cells.h5ad", "--method", method])
    assert result.exit_code == 1


@pytest.mark.parametrize("method", ["laplacian_score", "variance", "q_alpha", "sparse_pca"])
def test_included_genes_come_first_in_their_own_order(small, method):
    request = Request.of(4, method=method, n_comps=None)
    plain = rank_genes(small, request)
    worst, bad = plain.order[-1], plain.order[-2]
    ranking = rank_genes(small, request, candidates=Candidates.of(20, [worst, bad]))
    np.testing.assert_array_equal(ranking.order, [bad, worst, *plain.order[:-2]])
    np.testing.assert_array_equal(ranking.weights, plain.weights)
