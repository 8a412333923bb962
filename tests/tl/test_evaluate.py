"""How good a panel is."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from threadpoolctl import threadpool_limits

from glfs_bio import Platform, Preserve, pp, tl
from glfs_bio._anndata import all_genes
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound

MARKERS = ["CD3D", "LYZ", "NKG7", "CD79A", "FCER1A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


def found(adata, panel=MARKERS, labels=None, **options):
    return tl.evaluate_panel(adata, panel, labels, inplace=False, **options)


def test_a_panel_beside_random_ones_and_the_best(cells):
    entry = found(cells)
    assert 0 < entry["random_preserved"].max() < entry["preserved"] < entry["best_preserved"]
    assert entry["best_preserved"] <= entry["most_preserved"] <= 1
    table = entry["table"].set_index("measure")["value"]
    assert table["preserved"] == entry["preserved"]
    assert entry["optimality"] == pytest.approx(entry["preserved"] / entry["most_preserved"])
    assert entry["random_preserved"].shape == (20,)
    assert list(entry["genes"]) == MARKERS


def test_all_genes_keep_all(cells):
    entry = found(cells, cells.var_names, "bulk_labels", n_random=0)
    assert entry["preserved"] == pytest.approx(1.0)
    assert entry["knn_preservation"] > 0.95
    assert np.isnan(entry["imputed"])


def test_labels(cells):
    entry = found(cells, labels="bulk_labels", n_random=1)
    table = entry["per_label"]
    assert set(table.index) == set(cells.obs["bulk_labels"].cat.categories)
    assert entry["macro_f1"] == pytest.approx(table["f1"].mean())
    assert entry["confusion"].sum() == cells.n_obs
    assert entry["accuracy"] == pytest.approx(np.trace(entry["confusion"]) / cells.n_obs)
    assert entry["accuracy"] < entry["accuracy_all_genes"] < 1.0
    assert "labels" in entry["unexplained"]


def test_what_is_written(cells, tmp_path):
    before = set(cells.uns)
    cells.layers["counts"] = np.round(np.expm1(cells.X.toarray()))
    tl.evaluate_panel(
        cells, MARKERS, "bulk_labels", counts_layer="counts", platform=Platform(failure=0.2)
    )
    assert set(cells.uns) - before == {"glfs_evaluation", all_genes.KEY}
    entry = cells.uns["glfs_evaluation"]
    assert entry["preserved_on_platform"] < entry["preserved"]
    assert 0 < entry["counts_share"] < 1
    assert (entry["counts_per_label"]["ratio"] > 0).all()
    r2 = cells.var["glfs_evaluation_r2"]
    assert r2[MARKERS].isna().all()
    assert r2.drop(MARKERS).between(-1e-9, 1).all()
    assert cells.obs["glfs_evaluation_unexplained"].between(0, 10).all()
    cells.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad").uns["glfs_evaluation"]
    assert again["accuracy"] == entry["accuracy"]
    pd.testing.assert_frame_equal(again["unexplained"], entry["unexplained"], check_names=False)


def test_what_it_misses(cells):
    """Without a gene of B cells, the worst direction is theirs."""
    blind = ["CD3D", "LYZ", "NKG7", "FCER1A", "GNLY", "IL32", "S100A8", "FCGR3A"]
    worst = found(cells, blind, "bulk_labels")["unexplained"].iloc[0]
    assert "CD19+ B" in worst["labels"]
    assert {"CD79A", "MS4A1", "CD79B", "CD74"} & set(worst["genes_up"].split(", "))


def test_the_order_of_genes_and_the_container_change_nothing(cells):
    """But for equally near cells, where rounding decides."""
    one = found(cells, labels="bulk_labels")
    cells.X = cells.X.tocsc()
    other = found(cells, MARKERS[::-1], "bulk_labels")
    for name, value in one.items():
        if np.isscalar(value):
            assert other[name] == pytest.approx(value, rel=0.01), name
    assert other["preserved"] == pytest.approx(one["preserved"], rel=1e-9)


def test_absent_genes_are_listed(cells):
    with pytest.warns(Caution):
        entry = found(cells, [*MARKERS, "CD3d"])
    assert list(entry["absent"]) == ["CD3d"]
    assert entry["n_genes"] == len(MARKERS)


def test_batches(pbmc):
    pbmc.obs["batch"] = np.tile(["a", "b"], 350)
    pp.structure(pbmc, batch_key="batch", key_added="mine")
    tl.evaluate_panel(pbmc, MARKERS, preserve=Preserve(use_rep="mine"))
    assert pbmc.obs["glfs_evaluation_unexplained"].notna().all()
    assert 0 < pbmc.uns["glfs_evaluation"]["preserved"] < 1


def test_batches_of_a_selection(pbmc):
    """What is kept of each is what the selection has said, also where the worst of them chose."""
    pbmc.obs["batch"] = pd.Categorical(np.where(pbmc.obs["phase"] == "G1", "rest", "cycle"))
    pp.select_genes(pbmc, 8, batch_key="batch", across="worst")
    entry = found(pbmc, "glfs", n_random=0)
    assert list(entry["batches"]) == list(pbmc.uns["glfs"]["batches"]) == ["cycle", "rest"]
    np.testing.assert_allclose(
        entry["preserved_in_batches"], pbmc.uns["glfs"]["preserved_in_batches"][-1], rtol=1e-9
    )
    assert entry["preserved_in_batches"].min() == pytest.approx(pbmc.uns["glfs"]["preserved"][-1])
    assert (
        entry["preserved_in_batches"].min()
        < entry["preserved"]
        < entry["preserved_in_batches"].max()
    )
    assert "batches" not in found(pbmc, MARKERS, n_random=0)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"labels": "none"}, NotFound),
        ({"labels": "percent_mito"}, InvalidType),
        ({"counts_layer": "none"}, NotFound),
        ({"counts_layer": "X"}, InvalidValue),
        ({"n_random": -1}, InvalidValue),
        ({"n_axes": 0}, InvalidValue),
        ({"key_added": ""}, InvalidValue),
        ({"panel": []}, InvalidValue),
        ({"panel": "none"}, NotFound),
        ({"panel": 3}, InvalidType),
    ],
)
def test_bad_input_changes_nothing(cells, options, kind):
    cells.obs["n_genes"] = cells.obs["n_genes"].astype(float)
    before = set(cells.uns), set(cells.obs), set(cells.var)
    with refused(kind, [*options][-1]):
        tl.evaluate_panel(cells, **{"panel": MARKERS, **options})
    assert (set(cells.uns), set(cells.obs), set(cells.var)) == before


def test_the_view_of_all_genes_is_of_the_matrix_that_there_is(cells):
    first = found(cells, labels="bulk_labels", n_random=0)
    kept = cells.uns[all_genes.KEY]["nearest"]
    again = found(cells, labels="bulk_labels", n_random=0)
    assert cells.uns[all_genes.KEY]["nearest"] is kept
    assert again["accuracy_all_genes"] == first["accuracy_all_genes"]
    some = cells[::2].copy()
    fresh = cells[::2].copy()
    del fresh.uns[all_genes.KEY], fresh.obsm[all_genes.KEY]
    for entry in (found(one, n_random=0) for one in (some, fresh)):
        assert entry["knn_preservation"] == found(fresh, n_random=0)["knn_preservation"]
    assert len(some.uns[all_genes.KEY]["nearest"]) == some.n_obs


def test_threads_change_nothing(cells):
    with threadpool_limits(1):
        one = found(cells.copy(), labels="bulk_labels")
    with threadpool_limits(2):
        two = found(cells.copy(), labels="bulk_labels")
    pd.testing.assert_frame_equal(one["table"], two["table"], check_exact=True)


def bulk(sizes):
    """Samples of groups that thirty genes each separate."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(5.0, 1.0, (len(group), 200)).astype(np.float32)
    for k in range(len(sizes)):
        values[group == k, 30 * k : 30 * k + 30] += 5.0
    adata = ad.AnnData(values, obs={"group": [f"A{k}" for k in group]})
    adata.var_names = [f"g{gene}" for gene in range(200)]
    return adata


@pytest.mark.parametrize("sizes", [[6, 6], [5, 7], [4, 4, 4], [10, 10]])
def test_groups_smaller_than_the_neighborhood(sizes, caplog):
    adata = bulk(sizes)
    pp.select_genes(adata, 10)
    tl.evaluate_panel(adata, "glfs", "group", n_random=0)
    entry = adata.uns["glfs_evaluation"]
    assert entry["accuracy"] == entry["macro_f1"] == 1.0
    assert entry["n_neighbors"] == (sum(sizes) - 1) // 2
    noise = found(adata, ["g150", "g151"], n_random=0)
    assert noise["knn_preservation"] < 0.8 < entry["knn_preservation"]
    small = max(sizes) < 9
    assert entry["n_neighbors_of_labels"] == (min(sizes) - 1 if small else 15)
    assert not entry["per_label"]["too_few"].any()
    assert any("small groups" in text for text in caplog.messages) == small
    assert any("are compared" in text for text in caplog.messages)
    assert (tl.curve(adata, 10, "group", sizes=[10], inplace=False)["accuracy"].iloc[-1]) == 1.0
    compared = tl.compare_panels(adata, {"a": "glfs", "b": ["g1"]}, "group", inplace=False)
    assert compared["table"].loc["a", "accuracy"] == 1.0


def test_no_label_of_two_cells(caplog):
    adata = bulk([6, 6])
    adata.obs["group"] = [f"sample {k}" for k in range(12)]
    entry = found(adata, ["g1", "g40"], "group", n_random=0)
    assert np.isnan([entry["accuracy"], entry["accuracy_all_genes"], entry["macro_f1"]]).all()
    assert entry["n_neighbors_of_labels"] == 0
    assert entry["per_label"]["too_few"].all()
    assert any("none can be predicted" in text for text in caplog.messages)
    adata.obs["group"] = ["one", *[None] * 11]
    with refused(InvalidValue, "labels"):
        found(adata, ["g1", "g40"], "group")


def test_ordinary_cells_have_fifteen_neighbors(cells):
    cells.obs["rare"] = np.where(np.arange(700) < 6, "rare", cells.obs["bulk_labels"].astype(str))
    entry = found(cells, labels="rare", n_random=0)
    assert entry["n_neighbors"] == entry["n_neighbors_of_labels"] == 15
    assert entry["per_label"].loc["rare", "too_few"]
