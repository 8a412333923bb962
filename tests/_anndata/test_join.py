"""Several data sets, and batches of which the worst counts."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import refused
from scipy import sparse

from glfs_bio import Limits, pp, tl
from glfs_bio.errors import InvalidType, InvalidValue, NotFound


@pytest.fixture(scope="module")
def blood():
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obs["half"] = np.where(np.arange(adata.n_obs) < 350, "x", "y")
    adata.obs["type"] = adata.obs["bulk_labels"]
    return adata


@pytest.fixture
def halves(blood):
    """Two data sets that share 600 genes, the second in another order."""
    return blood[:350].copy(), blood[350:, ::-1][:, :600].copy()


@pytest.fixture
def shared(blood):
    """The same cells and genes as one object."""
    return blood[:, 165:].copy()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"across": "worst"},
        {"preserve": "type", "cell_weights": "type"},
        {"preserve": {"X_umap": 1, "structure": 1}, "include": ["CD79A"], "exclude": "ribosomal"},
        {"method": "variance"},
    ],
)
def test_data_sets_are_batches(halves, shared, options):
    pp.select_genes({"x": halves[0], "y": halves[1]}, 15, **options)
    pp.select_genes(shared, 15, batch_key="half", **options)
    for one in halves:
        ranks = one.var["glfs_rank"].dropna().sort_index()
        pd.testing.assert_series_equal(ranks, shared.var["glfs_rank"].dropna().sort_index())
        assert list(one.uns["glfs"]["data_sets"]) == ["x", "y"]
        np.testing.assert_allclose(
            one.uns["glfs"]["preserved_in_batches"], shared.uns["glfs"]["preserved_in_batches"]
        )
        assert one.var["glfs_selected"].dtype == bool
    outside = ~halves[0].var_names.isin(shared.var_names)
    assert halves[0].var.loc[outside, "glfs_rank"].isna().all()
    assert not halves[0].var.loc[outside, "glfs_selected"].any()


def test_batches_of_data_sets(halves):
    for one in halves:
        one.obs["lane"] = np.where(np.arange(one.n_obs) % 2, "odd", "even")
    pp.select_genes(halves, 10, batch_key="lane")
    names = ["0: even", "0: odd", "1: even", "1: odd"]
    assert list(halves[0].uns["glfs"]["batches"]) == names
    assert halves[0].uns["glfs"]["params"]["batch_key"] == "lane"
    assert len(tl.evaluate_panel(halves[0], n_random=0, inplace=False)["genes"]) == 10


def test_containers_and_layers(halves):
    for one in halves:
        one.layers["logs"] = sparse.csc_array(one.X) if one is halves[0] else one.X.toarray()
    pp.select_genes(halves, 10)
    pp.select_genes(halves, 10, layer="logs", key_added="layer")
    for one in halves:
        assert (one.var["glfs_selected"] == one.var["layer_selected"]).all()
    table = pp.select_genes(halves, 10, inplace=False, subset=True)
    assert sorted(table.index) == sorted(halves[0].var_names[halves[0].var["glfs_selected"]])
    pp.select_genes(halves, 10, subset=True)
    assert sorted(halves[0].var_names) == sorted(halves[1].var_names) == sorted(table.index)


@pytest.mark.parametrize(
    ("spoil", "options", "kind", "argument"),
    [
        (lambda x, y: [], {}, InvalidValue, "adata"),
        (lambda x, y: [x, "y"], {}, InvalidType, "adata"),
        (lambda x, y: [x, x], {}, InvalidValue, "adata"),
        (lambda x, y: "x.h5ad", {}, InvalidType, "adata"),
        (lambda x, y: [x, y[:, ["A1BG"][:0]]], {}, InvalidValue, "adata"),
        (lambda x, y: [x, y], {"layer": "nope"}, NotFound, "layer"),
        (lambda x, y: [x, y], {"batch_key": "nope"}, NotFound, "batch_key"),
        (lambda x, y: [x, y], {"use_rep": "X_pca"}, InvalidValue, "use_rep"),
        (lambda x, y: [x, y], {"preserve": "nope"}, NotFound, "preserve"),
        (lambda x, y: x, {"across": "worst"}, InvalidValue, "across"),
        (lambda x, y: [x, y], {"across": "best"}, InvalidValue, "across"),
    ],
)
def test_bad_data_sets(halves, spoil, options, kind, argument):
    before = [one.var.columns.tolist() for one in halves]
    with refused(kind, argument):
        pp.select_genes(spoil(*halves), 10, **options)
    assert [one.var.columns.tolist() for one in halves] == before


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"preserve": "type"}, "preserve"),
        ({"preserve": {"type": 1, "structure": 1}}, "preserve"),
        ({"preserve": "X_umap"}, "preserve"),
        ({"cell_weights": "type"}, "cell_weights"),
        ({"limits": Limits(per_type=1, groupby="type")}, "groupby"),
        ({"batch_key": "type"}, "batch_key"),
    ],
)
def test_what_one_dataset_lacks(halves, options, argument):
    lung, gut = halves
    gut.obs["cell_type"] = gut.obs.pop("type")
    del gut.obsm["X_umap"]
    with refused(NotFound, argument) as caught:
        pp.select_genes({"lung": lung, "gut": gut}, 10, **options)
    assert "'gut'" in str(caught.value)
    assert "glfs" not in lung.uns


def test_types_of_one_dataset_only_and_other_dtypes(halves):
    lung, gut = halves
    lung.obs["type"] = [f"lung {k % 2}" for k in range(350)]
    gut.obs["type"] = pd.Categorical([f"gut {k % 2}" for k in range(350)])
    pp.select_genes([lung, gut], 5, preserve="type")
    assert lung.var["glfs_selected"].sum() == 5
    lung.obs["type"], gut.obs["type"] = np.arange(350) % 3, (np.arange(350) % 3).astype(str)
    for options, argument in (
        ({"limits": Limits(per_type=1, groupby="type")}, "groupby"),
        ({"cell_weights": "type"}, "cell_weights"),
        ({"preserve": "type"}, "preserve"),
    ):
        with refused(InvalidValue, argument):
            pp.select_genes([lung, gut], 5, **options)
    for one in halves:
        one.obs["structure"] = "not meant"
    del gut.obs["structure"]
    pp.select_genes([lung, gut], 5)


def test_small_batches_are_named(shared, caplog):
    shared.obs["half"] = np.repeat(["x", "three", "one"], [shared.n_obs - 4, 3, 1])
    with caplog.at_level(logging.WARNING):
        pp.select_genes(shared, 5, batch_key="half")
    left_out, few = caplog.messages
    assert "one (1)" in left_out
    assert "three (3)" in few
    assert list(shared.uns["glfs"]["batches"]) == ["three", "x"]
    pp.structure(shared, batch_key="half")
    before = tl.evaluate_panel(shared, n_random=0, inplace=False)["preserved"]
    assert before == pytest.approx(shared.uns["glfs"]["preserved"][-1])


def test_stability_needs_all_cells_of_the_selection(halves, shared):
    pp.select_genes({"x": halves[0], "y": halves[1]}, 5)
    with refused(InvalidValue, "key"):
        tl.stability(halves[1])
    assert "glfs_stability" not in halves[1].uns
    pp.select_genes(shared, 5, batch_key="half")
    tl.stability(shared, n_resamples=2)
    assert shared.var["glfs_stability_consensus"].sum() == 5


def test_the_worst_batch_keeps_more(real):
    """Than by the panel that is best in the mean: cell lines, measured five times."""
    cells = real("sc_mixology_singlets1021")
    sc.pp.filter_genes(cells, min_cells=3)
    sc.pp.normalize_total(cells, target_sum=1e4)
    sc.pp.log1p(cells)
    least = {}
    for across in ("mean", "worst"):
        pp.select_genes(cells, 25, batch_key="batch", across=across)
        least[across] = cells.uns["glfs"]["preserved_in_batches"].min(axis=1)[[9, 24]]
    assert (least["worst"] > least["mean"] + 0.02).all()
