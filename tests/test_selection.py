"""Panels of every size: nested, what they preserve, and how near they are to the best possible."""

from __future__ import annotations

import itertools
import os
from types import SimpleNamespace

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from sklearn.decomposition import PCA

import glfs_bio
from glfs_bio._anndata.results import request_of
from glfs_bio.cells.graph import knn_graph
from glfs_bio.errors import InvalidValue
from glfs_bio.pp import select_genes
from glfs_bio.selection import check_memory
from glfs_bio.solvers.panel import by_value, in_order, without_ties


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


def test_panels_are_nested(pbmc):
    """After the included genes, with which the best possible is compared."""
    options = {"batch_key": "phase", "include": ["CD79A", "CD3D"]}
    select_genes(pbmc, 60, **options)
    large = pbmc.uns["glfs"]
    assert np.isnan(large["optimality"][:2]).all()
    assert ((large["optimality"][2:] > 0) & (large["optimality"][2:] <= 1 + 1e-9)).all()
    for n_genes in (2, 25):
        select_genes(pbmc, n_genes, **options, key_added="small")
        assert best_first(pbmc, "small") == best_first(pbmc)[:n_genes]
        small = pbmc.uns["small"]
        np.testing.assert_allclose(small["preserved"], large["preserved"][:n_genes])
        np.testing.assert_array_equal(np.isnan(small["optimality"]), np.arange(n_genes) < 2)


def test_loss_is_what_the_panel_preserves_less_without_the_gene(pbmc):
    select_genes(pbmc, 6)
    panel, preserved = best_first(pbmc), pbmc.uns["glfs"]["preserved"][-1]
    for gene in panel:
        others = [name for name in panel if name != gene]
        select_genes(pbmc, 5, include=others, key_added="without")
        loss = preserved - pbmc.uns["without"]["preserved"][-1]
        assert pbmc.var.loc[gene, "glfs_loss"] == pytest.approx(loss, rel=1e-6)
    assert (pbmc.var.loc[~pbmc.var["glfs_selected"], "glfs_loss"] == 0).all()


def test_automatic_number(pbmc):
    """The fewest genes that keep 90 %; the curve goes on to larger panels."""
    select_genes(pbmc)
    entry = pbmc.uns["glfs"]
    curve, preserved = entry["curve"], entry["preserved"]
    assert len(preserved) == entry["n_genes"] == pbmc.var["glfs_selected"].sum()
    assert preserved[-1] >= 0.9 > preserved[-2]
    np.testing.assert_array_equal(curve["n_genes"], np.arange(1, 501))
    np.testing.assert_allclose(curve["preserved"][: len(preserved)], preserved)
    assert entry["optimality"].shape == preserved.shape
    select_genes(pbmc, int(entry["n_genes"]), key_added="asked")
    assert best_first(pbmc, "asked") == best_first(pbmc)
    assert "curve" not in pbmc.uns["asked"]
    pbmc.var["wanted"] = np.arange(pbmc.n_vars) < 200
    select_genes(pbmc, include="wanted")
    assert pbmc.var.loc[pbmc.var["wanted"], "glfs_selected"].all()
    assert pbmc.uns["glfs"]["preserved"][-1] >= 0.9


def test_order_of_the_components_does_not_matter(pbmc):
    select_genes(pbmc, 10, use_rep="X_pca")
    pbmc.obsm["X_turned"] = pbmc.obsm["X_pca"][:, ::-1].copy()
    select_genes(pbmc, 10, use_rep="X_turned", key_added="turned")
    np.testing.assert_array_equal(pbmc.var["glfs_selected"], pbmc.var["turned_selected"])


def test_components_are_looked_at_where_they_are_named():
    """Fifteen quiet genes tell three groups apart, forty loud ones are noise, which they show."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 60)
    quiet = 0.3 * (groups[:, None] == np.arange(3)).repeat(5, axis=1)
    data = np.hstack([quiet + rng.normal(scale=0.05, size=(180, 15)), rng.normal(size=(180, 40))])
    adata = ad.AnnData(data + 5.0)
    adata.obsm["X_pca"] = PCA(5, random_state=0).fit_transform(data)
    adata.obsp["connectivities"] = knn_graph(adata.obsm["X_pca"])
    adata.uns["neighbors"] = {"connectivities_key": "connectivities"}
    select_genes(adata, 6, use_rep="X_pca")
    assert adata.uns["glfs"]["structure"]["use_rep"] == "X_pca"
    assert adata.var["glfs_selected"].iloc[:15].sum() < 6
    select_genes(adata, 6, n_comps=2)
    assert adata.var["glfs_selected"].iloc[:15].sum() == 6


SCORES = st.lists(st.sampled_from([0.0, 1.0, 1e-300, -2.5, 1e300, 3.0]), min_size=1, max_size=30)


@given(SCORES)
def test_ties_are_spread_in_the_order_of_the_genes(scores):
    values = np.array(scores)
    spread = without_ties(values)
    assert len(np.unique(spread)) == len(spread)
    order = np.argsort(-spread, kind="stable")
    np.testing.assert_array_equal(order, np.argsort(-values, kind="stable"))
    assert (spread <= values).all()


def test_picked_genes_come_before_those_that_wait():
    scores = in_order([3, 0], np.array([9.0, 0.2, 0.1, 9.0, 0.3]))
    np.testing.assert_array_equal(np.argsort(-scores), [3, 0, 4, 1, 2])
    assert scores[4] == 1.0


def test_included_genes_are_lifted_above_all_others():
    problem = SimpleNamespace(n_genes=3, fixed=np.array([0, 3]))
    panel = by_value(np.array([1.0, 5.0, 2.0, 0.0]), problem)
    np.testing.assert_array_equal(panel.order, [0, 3, 1, 2])
    np.testing.assert_array_equal(panel.ranks, [1, 3, 4, 2])


def test_numbers_of_numpy(pbmc):
    cells = pbmc[:, :150].copy()
    plain = glfs_bio.pp.select_genes(cells, 5, n_comps=30, inplace=False)
    glfs_bio.pp.select_genes(cells, np.int64(5), n_comps=np.int32(30))
    pd.testing.assert_frame_equal(cells.var[plain.columns], plain)
    recorded = request_of(cells, "glfs").arguments()
    assert (recorded["n_genes"], recorded["n_comps"]) == (5, 30)
    assert not any(isinstance(value, np.generic) for value in recorded.values())


@pytest.mark.parametrize("n_genes", [1, 50, 753])
def test_every_size_can_be_had(pbmc, n_genes):
    """To all that have a name; 12 are clones."""
    select_genes(pbmc, n_genes)
    assert len(best_first(pbmc)) == n_genes
    preserved = pbmc.uns["glfs"]["preserved"]
    assert preserved[0] > 0
    assert (np.diff(preserved) >= -1e-12).all()
    assert (preserved[-1] > 0.99) == (n_genes == 753)


def test_included_genes_come_first_in_the_order_of_what_they_add(pbmc):
    include = ["FTL", "CD79A", "CD3D"]
    select_genes(pbmc, 10, include=include)
    assert set(best_first(pbmc)[:3]) == set(include)
    assert set(pbmc.var_names[pbmc.var["glfs_included"]]) == set(include)
    alone = {}
    for gene in include:
        select_genes(pbmc, 1, include=[gene], key_added="alone")
        alone[gene] = pbmc.uns["alone"]["preserved"][0]
    assert best_first(pbmc)[0] == max(alone, key=alone.get)
    assert pbmc.uns["glfs"]["preserved"][0] == pytest.approx(max(alone.values()))


def test_genes_that_cannot_preserve_enough_are_all_taken_and_it_is_said(pbmc, caplog):
    select_genes(pbmc, exclude=list(pbmc.var_names[10:]))
    assert set(best_first(pbmc)) == set(pbmc.var_names[:10])
    assert "10 genes" in caplog.messages[0]


def test_no_panel_is_better_than_the_bound(pbmc):
    """Every panel of 1, 2 and 3 of seven genes; the structure is that of all genes."""
    candidates = list(pbmc.var_names[:70:10])
    rest = [name for name in pbmc.var_names if name not in candidates]
    select_genes(pbmc, 3, exclude=rest)
    for size in (1, 2, 3):
        best = 0.0
        for panel in itertools.combinations(candidates, size):
            select_genes(pbmc, size, include=list(panel), exclude=rest, key_added="tried")
            best = max(best, pbmc.uns["tried"]["preserved"][-1])
        share = pbmc.uns["glfs"]["preserved"][size - 1] / best
        assert pbmc.uns["glfs"]["optimality"][size - 1] <= share + 1e-9
        assert share <= 1 + 1e-9


def test_a_system_that_does_not_say_its_memory(monkeypatch):
    def unknown(_):
        raise OSError

    with refused(InvalidValue, "n_comps"):
        check_memory(10**7, 10**6)
    monkeypatch.setattr(os, "sysconf", unknown)
    check_memory(10**7, 10**6)
