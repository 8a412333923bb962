"""Several data sets, and batches of which the worst counts."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from refusals import not_refused, refused
from scipy import sparse

from glfs_bio import Limits, pp, tl
from glfs_bio.errors import InvalidType, InvalidValue, NotFound


@pytest.fixture
def blood(pbmc):
    pbmc.obs["half"] = np.where(np.arange(pbmc.n_obs) < 350, "x", "y")
    pbmc.obs["type"] = pbmc.obs["bulk_labels"]
    return pbmc


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
    for half in halves:
        ranks = half.var["glfs_rank"].dropna().sort_index()
        pd.testing.assert_series_equal(ranks, shared.var["glfs_rank"].dropna().sort_index())
        assert list(half.uns["glfs"]["data_sets"]) == ["x", "y"]
        shares = [adata.uns["glfs"]["preserved_in_batches"] for adata in (half, shared)]
        np.testing.assert_allclose(*shares)
    outside = ~halves[0].var_names.isin(shared.var_names)
    assert halves[0].var.loc[outside, "glfs_rank"].isna().all()
    with refused(InvalidValue, "key"):  # it needs all cells of the selection
        tl.stability(halves[1])


def test_batches_containers_and_layers_of_data_sets(halves):
    for half, container in zip(halves, (sparse.csc_array, np.asarray), strict=True):
        half.obs["lane"] = np.where(np.arange(half.n_obs) % 2, "odd", "even")
        half.layers["logs"] = container(half.X.toarray())
    options = {"batch_key": "lane", "preserve": np.array(["CD3D", "LYZ", "CD79A", "NKG7"])}
    pp.select_genes(halves, 10, **options)
    pp.select_genes(halves, 10, **options, layer="logs", key_added="layer")
    for half in halves:
        assert (half.var["glfs_selected"] == half.var["layer_selected"]).all()
        assert list(half.uns["glfs"]["batches"]) == ["0: even", "0: odd", "1: even", "1: odd"]
    table = pp.select_genes(halves, 10, **options, inplace=False, subset=True)
    assert sorted(table.index) == sorted(halves[0].var_names[halves[0].var["glfs_selected"]])
    pp.select_genes(halves, 10, **options, subset=True)
    assert sorted(halves[0].var_names) == sorted(halves[1].var_names) == sorted(table.index)


def test_bad_data_sets(halves, unchanged):
    x, y = halves
    cases = [
        ({"adata": []}, InvalidValue, "adata"),
        ({"adata": [x, "y"]}, InvalidType, "adata"),
        ({"adata": [x, x]}, InvalidValue, "adata"),
        ({"adata": "x.h5ad"}, InvalidType, "adata"),
        ({"adata": [x, y[:, :0]]}, InvalidValue, "adata"),
        ({"adata": x, "across": "worst"}, InvalidValue, "across"),
        ({"across": "best"}, InvalidValue, "across"),
        ({"layer": "nope"}, NotFound, "layer"),
        ({"batch_key": "nope"}, NotFound, "batch_key"),
        ({"use_rep": "X_pca"}, InvalidValue, "use_rep"),
        ({"preserve": "nope"}, NotFound, "preserve"),
    ]
    with unchanged(x), unchanged(y):
        assert not_refused(partial(pp.select_genes, adata=halves, n_genes=10), cases) == []


def test_what_one_dataset_lacks(halves):
    lung, gut = halves
    gut.obs["cell_type"] = gut.obs.pop("type")
    del gut.obsm["X_umap"]
    for options, argument in (
        ({"preserve": "type"}, "preserve"),
        ({"preserve": {"type": 1, "structure": 1}}, "preserve"),
        ({"preserve": "X_umap"}, "preserve"),
        ({"cell_weights": "type"}, "cell_weights"),
        ({"limits": Limits(per_type=1, groupby="type")}, "groupby"),
        ({"batch_key": "type"}, "batch_key"),
    ):
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
    lung.obs["structure"] = "not meant"
    pp.select_genes([lung, gut], 5)


def test_small_batches_are_named(shared, caplog):
    shared.obs["half"] = np.repeat(["x", "three", "one"], [shared.n_obs - 4, 3, 1])
    pp.select_genes(shared, 5, batch_key="half")
    assert "one (1)" in caplog.messages[0]
    assert "three (3)" in caplog.messages[1]
    assert list(shared.uns["glfs"]["batches"]) == ["three", "x"]
    pp.structure(shared, batch_key="half")
    share = tl.evaluate_panel(shared, measures="preserved", inplace=False)["measures"]["value"][0]
    assert share == pytest.approx(shared.uns["glfs"]["preserved"][-1])
    tl.stability(shared, n_resamples=2)
    assert shared.var["glfs_stability_consensus"].sum() == 5
