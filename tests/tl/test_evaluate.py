"""How good a panel is."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from sklearn.metrics import silhouette_score
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


def test_all_genes_are_compared_with_nothing(cells):
    """They keep all, whatever it is; labels are predicted from them as from others."""
    with pytest.warns(Caution, match="all genes"):
        entry = found(cells, cells.var_names, "bulk_labels")
    shares = ["preserved", "optimality", "best_preserved", "most_preserved", "knn_preservation"]
    assert np.isnan([entry[name] for name in (*shares, "imputed")]).all()
    assert entry["random_preserved"].size == 0
    assert 0.5 < entry["accuracy"] < 1
    assert 0.5 < entry["accuracy_laprls"] < 1


def test_labels(cells):
    entry = found(cells, labels="bulk_labels", n_random=1)
    table = entry["per_label"]
    assert set(table.index) == set(cells.obs["bulk_labels"].cat.categories)
    assert entry["macro_f1"] == pytest.approx(table["f1"].mean())
    assert entry["confusion"].sum() == cells.n_obs
    assert entry["accuracy"] == pytest.approx(np.trace(entry["confusion"]) / cells.n_obs)
    assert entry["accuracy"] < entry["accuracy_all_genes"] < 1.0
    assert "labels" in entry["unexplained"]


def test_silhouette_and_clusters_in_splits(cells):
    entry = found(cells, labels="bulk_labels", n_random=0)
    values = cells[:, MARKERS].X.toarray()
    expected = silhouette_score(values, cells.obs["bulk_labels"])
    assert entry["silhouette"] == pytest.approx(expected, rel=1e-4)
    where = cells.obsm[all_genes.KEY]
    expected = silhouette_score(where, cells.obs["bulk_labels"])
    assert entry["silhouette_all_genes"] == pytest.approx(expected)
    each = entry["cluster_ari_in_splits"]
    assert each.shape == (5,)
    assert entry["cluster_ari"] == pytest.approx(np.mean(each))
    assert entry["cluster_ari_sd"] == pytest.approx(np.std(each, ddof=1))
    del cells.uns[all_genes.KEY]["by_split"]  # as a version before left it
    again = found(cells, labels="bulk_labels", n_random=0)
    np.testing.assert_array_equal(again["cluster_ari_in_splits"], each)


def test_gene_sets_are_covered_by_one_gene(cells):
    cells.var["symbol"] = [name.lower() for name in cells.var_names]
    sets = {"T": ["CD3D", "CD3E", "zz"], "NK": ["GNLY", "KLRG1"], "nowhere": ["zz"]}
    entry = found(cells, gene_sets=sets, n_random=0)
    table = entry["gene_sets"]
    assert list(table.index) == ["T", "NK"]
    assert list(table["n_overlap"]) == [1, 0]
    assert list(table["n_set"]) == [2, sum(name in cells.var_names for name in sets["NK"])]
    assert list(table["genes"]) == ["CD3D", ""]
    assert entry["gene_set_coverage"] == 0.5
    lower = {name: [gene.lower() for gene in genes] for name, genes in sets.items()}
    again = found(cells, gene_sets=lower, n_random=0, symbols="symbol")
    assert again["gene_set_coverage"] == 0.5
    assert "gene_sets" not in found(cells, n_random=0)


def test_labels_are_read_twice(cells):
    """By nearest cells, and by a classifier in cross-validation: each with all its measures."""
    entry = found(cells, labels="bulk_labels", n_random=0)
    assert entry["readings"] == {
        "knn": "15-NN, leave-one-out",
        "laprls": "LapRLS, 5-fold cross-validation",
    }
    assert entry["n_labelled"] == 700
    table = entry["per_label"]
    for end in ("", "_laprls"):
        counts = entry[f"confusion{end}"]
        assert entry[f"accuracy{end}"] == pytest.approx(np.trace(counts) / 700)
        assert entry[f"macro_f1{end}"] == pytest.approx(table[f"f1{end}"].mean())
        recall = counts.diagonal() / counts.sum(axis=1)
        np.testing.assert_allclose(table[f"recall{end}"], recall)
        assert entry[f"accuracy_all_genes{end}"] > entry[f"accuracy{end}"]
    again = found(cells, labels="bulk_labels", n_random=0)
    np.testing.assert_array_equal(entry["confusion_laprls"], again["confusion_laprls"])
    other = found(cells, labels="bulk_labels", n_random=0, random_state=1)
    assert (entry["confusion_laprls"] != other["confusion_laprls"]).any()


@pytest.mark.parametrize("reading", ["knn", "laprls"])
def test_one_reading(cells, reading):
    both = found(cells, labels="bulk_labels", n_random=0)
    one = found(cells, labels="bulk_labels", n_random=0, readings=[reading])
    assert set(one["readings"]) == {reading}
    end = "" if reading == "knn" else "_laprls"
    assert one[f"accuracy{end}"] == both[f"accuracy{end}"]
    other = "_laprls" if reading == "knn" else ""
    assert not {f"accuracy{other}", f"confusion{other}"} & one.keys()
    assert f"recall{other}" not in one["per_label"]
    assert {"n_cells", "rare", f"too_few{end}"} <= set(one["per_label"])
    named = found(cells, labels="bulk_labels", n_random=0, readings=reading)
    assert set(named["readings"]) == {reading}


@pytest.fixture
def subset(pbmc):
    """An object that was cut to its panel."""
    pp.select_genes(pbmc, 10)
    return pbmc[:, pbmc.var["glfs_selected"]].copy()


OF_PANELS = {
    "evaluate": lambda adata, panel: tl.evaluate_panel(adata, panel),
    "explain": lambda adata, panel: tl.explain_panel(adata, panel),
    "substitutes": lambda adata, panel: tl.substitutes(adata, panel),
    "extend": lambda adata, panel: tl.extend_panel(adata, panel, 1),
}


@pytest.mark.parametrize("call", OF_PANELS.values(), ids=list(OF_PANELS))
@pytest.mark.parametrize("n_others", [0, 300])
def test_a_selection_is_not_evaluated_without_its_candidates(pbmc, call, n_others):
    """In the genes of the panel alone, and in others that are left, such as variable genes."""
    pp.select_genes(pbmc, 10)
    kept = pbmc.var["glfs_selected"] | (np.arange(pbmc.n_vars) < n_others)
    some = pbmc[:, kept].copy()
    before = set(some.uns), set(some.var)
    with refused(InvalidValue, "panel"):
        call(some, "glfs")
    assert (set(some.uns), set(some.var)) == before


def test_a_subset_in_other_calls(subset):
    with refused(InvalidValue, "panels"):
        tl.compare_panels(subset, {"one": [subset.var_names[0]], "two": "glfs"})
    with refused(InvalidValue, "key"):
        tl.stability(subset)
    with pytest.warns(Caution) as caught:
        table = tl.curve(subset, 10, inplace=False)
    assert {"object with all genes" in str(one.message) for one in caught} >= {True}
    assert table["preserved"].iloc[:9].between(0, 1).all()
    assert np.isnan(table["preserved"].iloc[9])
    with pytest.warns(Caution):
        entry = found(subset, list(subset.var_names))
    assert np.isnan(entry["preserved"])
    with pytest.warns(Caution):
        explained = tl.explain_panel(subset, list(subset.var_names), inplace=False)
    assert np.isnan(explained["preserved"].iloc[-1])


def test_a_list_in_a_subset_says_of_what_its_shares_are(cells):
    some = cells[:, :300].copy()
    genes = list(some.var_names[:5])
    with pytest.warns(Caution, match="300 genes"):
        found(some, genes, n_random=0)
    fresh = some.copy()
    fresh.uns.clear()
    found(fresh, genes, n_random=0)


def test_logs_in_a_layer(pbmc):
    """A list is evaluated by a layer, or by .raw, as by a matrix of the same values."""
    expected = found(pbmc.copy(), labels="bulk_labels", n_random=2)
    pbmc.layers["logs"] = pbmc.X.copy()
    pbmc.raw = pbmc.copy()
    pbmc.X = np.round(np.expm1(pbmc.X.toarray()))
    for where in ({"layer": "logs"}, {"use_raw": True}):
        entry = found(pbmc, labels="bulk_labels", n_random=2, **where)
        pd.testing.assert_frame_equal(entry["table"], expected["table"])
    tables = {
        name: call(pbmc, MARKERS, layer="logs", inplace=False)
        for name, call in {"explain": tl.explain_panel, "substitutes": tl.substitutes}.items()
    }
    tables["extend"] = tl.extend_panel(pbmc, MARKERS, 2, layer="logs", inplace=False)
    tables["curve"] = tl.curve(pbmc, 5, layer="logs", inplace=False)
    panels = {"one": MARKERS, "two": MARKERS[:3]}
    tables["compare"] = tl.compare_panels(pbmc, panels, layer="logs", inplace=False)["table"]
    pbmc.X = pbmc.layers["logs"]
    others = {
        "explain": tl.explain_panel(pbmc, MARKERS, inplace=False),
        "substitutes": tl.substitutes(pbmc, MARKERS, inplace=False),
        "extend": tl.extend_panel(pbmc, MARKERS, 2, inplace=False),
        "curve": tl.curve(pbmc, 5, inplace=False),
        "compare": tl.compare_panels(pbmc, panels, inplace=False)["table"],
    }
    for name, table in tables.items():
        pd.testing.assert_frame_equal(table, others[name], obj=name)


def test_a_layer_conflicts_with_a_named_structure(cells):
    cells.layers["logs"] = cells.X
    pp.structure(cells, n_comps=20, key_added="mine")
    with refused(InvalidValue, "layer"):
        found(cells, layer="logs", preserve=Preserve(use_rep="mine"))
    pp.select_genes(cells, 5, use_rep="mine")
    with refused(InvalidValue, "layer"):
        found(cells, "glfs", layer="logs")


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
    read, written = again["unexplained"], entry["unexplained"]
    pd.testing.assert_frame_equal(
        read, written, check_names=False, check_column_type=False, check_dtype=False
    )


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
        if np.isscalar(value) and name != "kind":
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
    listed = found(pbmc, list(pbmc.var_names[pbmc.var["glfs_selected"]]), n_random=0)
    assert listed["preserved"] == pytest.approx(entry["preserved"], rel=1e-9)
    assert list(listed["batches"]) == list(entry["batches"])


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
        ({"readings": ["svm"]}, InvalidValue),
        ({"readings": None}, InvalidValue),
        ({"readings": []}, InvalidValue),
        ({"layer": "none"}, NotFound),
        ({"use_raw": True}, InvalidValue),
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
    assert entry["accuracy_laprls"] == 1.0
    n_folds = min(5, max(sizes))
    assert f"{n_folds}-fold" in entry["readings"]["laprls"]
    few = np.array(sizes) < n_folds
    np.testing.assert_array_equal(entry["per_label"]["too_few_laprls"], few)
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
    assert np.isnan([entry["accuracy_laprls"], entry["accuracy_all_genes_laprls"]]).all()
    assert entry["per_label"]["too_few_laprls"].all()
    assert any("none can be predicted" in text for text in caplog.messages)
    for labels in (["one", *[None] * 11], ["one"] * 12):
        adata.obs["group"] = labels
        with refused(InvalidValue, "labels"):
            found(adata, ["g1", "g40"], "group")
        with refused(InvalidValue, "labels"):
            tl.compare_panels(adata, {"a": ["g1"], "b": ["g2"]}, "group")
        with refused(InvalidValue, "labels"):
            tl.curve(adata, 2, "group")


def test_ordinary_cells_have_fifteen_neighbors(cells, caplog):
    cells.obs["rare"] = np.where(np.arange(700) < 6, "rare", cells.obs["bulk_labels"].astype(str))
    entry = found(cells, labels="rare", n_random=0)
    assert entry["n_neighbors"] == entry["n_neighbors_of_labels"] == 15
    assert entry["per_label"].loc["rare", "too_few"]
    assert not entry["per_label"].loc["rare", "too_few_laprls"]
    told = [text for text in caplog.messages if "too few cells" in text]
    assert len(told) == 1
    assert "rare" in told[0]
