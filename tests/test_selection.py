"""Panels of every size: nested, what they keep, and how near they are to the best possible."""

from __future__ import annotations

import itertools
import logging

import anndata as ad
import numpy as np
import pytest
import scanpy as sc
from sklearn.decomposition import PCA

from glfs_bio.cells.graph import knn_graph
from glfs_bio.glfs2014 import Exact
from glfs_bio.pp import select_genes, structure


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


@pytest.mark.parametrize("n_genes", [1, 2, 10, 50, 200, 764, 765])
def test_every_size_can_be_had(pbmc, n_genes):
    select_genes(pbmc, n_genes)
    assert len(best_first(pbmc)) == n_genes


@pytest.mark.parametrize("options", [{}, {"batch_key": "phase"}, {"include": ["CD79A", "CD3D"]}])
def test_panels_are_nested(pbmc, options):
    select_genes(pbmc, 60, **options)
    large = pbmc.uns["glfs"]
    for n_genes in (5, 25):
        select_genes(pbmc, n_genes, **options, key_added="small")
        assert best_first(pbmc, "small") == best_first(pbmc)[:n_genes]
        np.testing.assert_allclose(pbmc.uns["small"]["preserved"], large["preserved"][:n_genes])


def test_a_panel_keeps_more_with_every_gene_and_all_genes_keep_all(pbmc):
    select_genes(pbmc, pbmc.n_vars)
    kept = pbmc.uns["glfs"]["preserved"]
    assert kept[0] > 0
    assert (np.diff(kept) >= -1e-12).all()
    assert kept[-1] == pytest.approx(1, abs=1e-9)


def test_kept_is_of_the_panel_and_not_of_the_method(pbmc):
    """The same genes, by whatever method or objective, keep the same."""
    structure(pbmc, standardize="noise", key_added="noise")
    select_genes(pbmc, 8)
    for options in ({"objective": "exact"}, {"method": "variance"}, {"method": "lapdofs"}):
        same = {"include": best_first(pbmc), "use_rep": "noise"}
        select_genes(pbmc, 8, key_added="other", **options, **same)
        assert set(best_first(pbmc, "other")) == set(best_first(pbmc))
        found, expected = pbmc.uns["other"]["preserved"][-1], pbmc.uns["glfs"]["preserved"][-1]
        assert found == pytest.approx(expected, rel=1e-6)


def test_loss_is_what_the_panel_keeps_less_without_the_gene(pbmc):
    select_genes(pbmc, 6)
    panel, kept = best_first(pbmc), pbmc.uns["glfs"]["preserved"][-1]
    for gene in panel:
        others = [name for name in panel if name != gene]
        select_genes(pbmc, 5, include=others, key_added="without")
        lost = kept - pbmc.uns["without"]["preserved"][-1]
        assert pbmc.var.loc[gene, "glfs_loss"] == pytest.approx(lost, rel=1e-6)
    assert (pbmc.var.loc[~pbmc.var["glfs_selected"], "glfs_loss"] == 0).all()


def test_no_panel_is_better_than_the_bound(pbmc):
    """Every panel of 1, 2 and 3 of seven genes; the structure is that of all genes."""
    few = list(pbmc.var_names[:70:10])
    rest = [name for name in pbmc.var_names if name not in few]
    select_genes(pbmc, 3, exclude=rest)
    entry = pbmc.uns["glfs"]
    for size in (1, 2, 3):
        best = 0.0
        for panel in itertools.combinations(few, size):
            select_genes(pbmc, size, include=list(panel), exclude=rest, key_added="tried")
            best = max(best, pbmc.uns["tried"]["preserved"][-1])
        share = entry["preserved"][size - 1] / best
        assert entry["optimality"][size - 1] <= share + 1e-9
        assert share <= 1 + 1e-9


def test_the_best_possible_is_among_panels_with_the_included_genes(pbmc):
    select_genes(pbmc, 12, include=["CD79A", "CD3D"])
    share = pbmc.uns["glfs"]["optimality"]
    assert np.isnan(share[:2]).all()
    assert ((share[2:] > 0) & (share[2:] <= 1 + 1e-9)).all()
    select_genes(pbmc, 2, include=["CD79A", "CD3D"])
    assert np.isnan(pbmc.uns["glfs"]["optimality"]).all()


def test_included_genes_come_first_in_the_order_of_what_they_add(pbmc):
    include = ["FTL", "CD79A", "CD3D"]
    select_genes(pbmc, 10, include=include)
    assert set(best_first(pbmc)[:3]) == set(include)
    assert set(pbmc.var_names[pbmc.var["glfs_included"]]) == set(include)
    kept = {}
    for gene in include:
        select_genes(pbmc, 1, include=[gene], key_added="alone")
        kept[gene] = pbmc.uns["alone"]["preserved"][0]
    assert best_first(pbmc)[0] == max(kept, key=kept.get)
    assert pbmc.uns["glfs"]["preserved"][0] == pytest.approx(max(kept.values()))


def test_automatic_number(pbmc):
    """The fewest genes that keep 90 %; the curve goes on to larger panels."""
    select_genes(pbmc)
    entry = pbmc.uns["glfs"]
    curve, kept = entry["curve"], entry["preserved"]
    assert len(kept) == entry["n_genes"] == pbmc.var["glfs_selected"].sum()
    assert kept[-1] >= 0.9 > kept[-2]
    np.testing.assert_array_equal(curve["n_genes"], np.arange(1, 501))
    np.testing.assert_allclose(curve["preserved"][: len(kept)], kept)
    assert entry["optimality"].shape == kept.shape
    select_genes(pbmc, int(entry["n_genes"]), key_added="asked")
    assert best_first(pbmc, "asked") == best_first(pbmc)
    assert "curve" not in pbmc.uns["asked"]


def test_automatic_number_counts_the_included(pbmc):
    pbmc.var["wanted"] = np.arange(pbmc.n_vars) < 200
    select_genes(pbmc, include="wanted")
    assert pbmc.var.loc[pbmc.var["wanted"], "glfs_selected"].all()
    assert pbmc.uns["glfs"]["preserved"][-1] >= 0.9


def test_genes_that_cannot_keep_enough_are_all_taken_with_a_word(pbmc, caplog):
    few = list(pbmc.var_names[:10])
    with caplog.at_level(logging.WARNING):
        select_genes(pbmc, exclude=list(pbmc.var_names[10:]))
    assert set(best_first(pbmc)) == set(few)
    (said,) = caplog.messages
    assert "10 genes" in said


def test_number_at_a_given_lambda(pbmc):
    select_genes(pbmc, 20, objective="exact")
    lam = float(pbmc.uns["glfs"]["lam"])
    select_genes(pbmc, objective=Exact(lam=lam), key_added="there")
    assert "curve" not in pbmc.uns["there"]
    assert (pbmc.var.loc[pbmc.var["there_selected"], "there_weight"] > 0).all()


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


def test_order_of_the_components_does_not_matter(pbmc):
    sc.pp.pca(pbmc)
    sc.pp.neighbors(pbmc)
    select_genes(pbmc, 10, use_rep="X_pca")
    pbmc.obsm["X_turned"] = pbmc.obsm["X_pca"][:, ::-1].copy()
    select_genes(pbmc, 10, use_rep="X_turned", key_added="turned")
    np.testing.assert_array_equal(pbmc.var["glfs_selected"], pbmc.var["turned_selected"])


def test_components_that_are_named_are_kept(hidden_group):
    select_genes(hidden_group, 6, use_rep="X_pca")
    assert hidden_group.uns["glfs"]["structure"]["use_rep"] == "X_pca"
    assert selected_quiet(hidden_group) < 6


def test_components_that_miss_the_structure_are_not_looked_at(hidden_group):
    select_genes(hidden_group, 6, n_comps=2)
    assert selected_quiet(hidden_group) == 6
