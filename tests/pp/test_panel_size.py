"""How a panel gets its size: along λ, completed greedily, or chosen by what it keeps."""

from __future__ import annotations

import logging

import anndata as ad
import numpy as np
import pytest
import scanpy as sc
from sklearn.decomposition import PCA

from glfs_bio.core.graph import knn_graph
from glfs_bio.pp import select_genes


def panel(adata, n_genes, **options):
    table = select_genes(adata, n_genes, inplace=False, **options)
    return table[table["glfs_selected"]].sort_values("glfs_rank")


@pytest.mark.parametrize("n_genes", [2, 10, 50, 200, 764])
def test_every_size_can_be_had(pbmc, n_genes):
    assert len(panel(pbmc, n_genes)) == n_genes


def test_large_panels_are_completed(pbmc):
    select_genes(pbmc, 200)
    var = pbmc.var
    assert pbmc.uns["glfs"]["finish"] == "greedy"
    assert (var.loc[var["glfs_selected"], "glfs_weight"] > 0).all()
    assert (var.loc[~var["glfs_selected"], "glfs_weight"] == 0).all()


def test_what_completed_panels_keep(pbmc):
    """The weights are the gains of the genes as they entered: their sum, as a share."""
    select_genes(pbmc, 100)
    chosen = pbmc.var[pbmc.var["glfs_selected"]].sort_values("glfs_rank")
    weights = chosen["glfs_weight"].to_numpy()
    completed = pbmc.uns["glfs"]["completed"]
    kept = completed["kept"]
    np.testing.assert_array_equal(completed["n_genes"], np.arange(1, 101))
    np.testing.assert_allclose(kept / kept[-1], np.cumsum(weights) / weights.sum())
    assert 0 < kept[0] < kept[-1] < 1
    select_genes(pbmc, pbmc.n_vars - 1, key_added="all")
    assert pbmc.uns["all"]["completed"]["kept"][-1] == pytest.approx(1, abs=1e-3)
    select_genes(pbmc, 100, finish=None, key_added="none")
    assert "completed" not in pbmc.uns["none"]


def test_the_paper_alone(pbmc):
    select_genes(pbmc, 200, finish=None)
    assert pbmc.uns["glfs"]["finish"] == "none"
    assert pbmc.var["glfs_selected"].sum() == 200


def test_completed_panels_have_the_included_genes(pbmc):
    include = ["CD79A", "CD3D"]
    names = panel(pbmc, 100, include=include).index
    assert set(names[:2]) == set(include)
    assert len(names) == 100


def test_completed_panels_over_batches(pbmc):
    select_genes(pbmc, 100, batch_key="phase")
    assert pbmc.uns["glfs"]["finish"] == "greedy"
    assert pbmc.var["glfs_selected"].sum() == 100


def test_automatic_number(pbmc):
    select_genes(pbmc)
    curve = pbmc.uns["glfs"]["curve"]
    n_genes = pbmc.var["glfs_selected"].sum()
    assert n_genes == pbmc.uns["glfs"]["n_genes"] == curve["n_genes"][-1]
    assert curve["kept"][-1] >= 0.9 > curve["kept"][-2]
    assert (np.diff(curve["kept"]) > 0).all()


def test_automatic_number_counts_the_included(pbmc):
    pbmc.var["wanted"] = np.arange(pbmc.n_vars) < 50
    select_genes(pbmc, include="wanted")
    assert pbmc.var.loc[pbmc.var["wanted"], "glfs_selected"].all()
    assert pbmc.uns["glfs"]["curve"]["kept"][-1] >= 0.9


def test_number_at_a_given_lambda(pbmc):
    select_genes(pbmc, 20)
    lam = float(pbmc.uns["glfs"]["lam"])
    select_genes(pbmc, lam=lam, key_added="there")
    assert "curve" not in pbmc.uns["there"]
    weights = pbmc.var["there_weight"]
    assert (weights[pbmc.var["there_selected"]] > 0).all()


@pytest.fixture
def hidden_group():
    """Fifteen quiet genes tell three groups apart, forty loud ones are noise."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 60)
    quiet = 0.3 * (groups[:, None] == np.arange(3)).repeat(5, axis=1)
    data = np.hstack([quiet + rng.normal(scale=0.05, size=(180, 15)), rng.normal(size=(180, 40))])
    adata = ad.AnnData(data + 5.0)
    adata.obsm["X_pca"] = PCA(5, random_state=0).fit_transform(data)
    adata.obsp["connectivities"] = knn_graph(adata.obsm["X_pca"])
    adata.uns["neighbors"] = {"connectivities_key": "connectivities"}
    return adata


def selected_quiet(adata):
    return adata.var["glfs_selected"].to_numpy()[:15].sum()


def test_components_that_miss_the_structure_are_replaced(hidden_group, caplog):
    with caplog.at_level(logging.WARNING):
        select_genes(hidden_group, 6, n_comps=5)
    assert hidden_group.uns["glfs"]["replaced"]
    assert "computed anew" in caplog.text
    assert selected_quiet(hidden_group) == 6
    del hidden_group.obsm["X_pca"], hidden_group.obsp["connectivities"]
    del hidden_group.uns["neighbors"]
    select_genes(hidden_group, 6, n_comps=5, key_added="alone")
    for column in ("weight", "score", "rank", "selected"):
        assert hidden_group.var[f"glfs_{column}"].equals(hidden_group.var[f"alone_{column}"])


def test_order_of_the_components_does_not_matter(pbmc):
    sc.pp.pca(pbmc)
    sc.pp.neighbors(pbmc)
    select_genes(pbmc, 10)
    pbmc.obsm["X_turned"] = pbmc.obsm["X_pca"][:, ::-1].copy()
    select_genes(pbmc, 10, use_rep="X_turned", key_added="turned")
    np.testing.assert_array_equal(pbmc.var["glfs_selected"], pbmc.var["turned_selected"])


def test_components_that_are_named_are_kept(hidden_group):
    select_genes(hidden_group, 6, use_rep="X_pca")
    assert not hidden_group.uns["glfs"]["replaced"]
    assert selected_quiet(hidden_group) < 6
