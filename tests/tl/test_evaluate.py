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
from glfs_bio.errors import Caution, InvalidValue

MARKERS = ["CD3D", "LYZ", "NKG7", "CD79A", "FCER1A"]
LABELS = "bulk_labels"


def evaluated(adata, panel=MARKERS, labels=None, **options):
    return tl.evaluate_panel(adata, panel, labels, inplace=False, **options)


@pytest.fixture(scope="module")
def labelled(_structured):
    """Cells, and the evaluation of a panel by their labels."""
    adata = _structured.copy()
    with threadpool_limits(2):
        return adata, evaluated(adata, labels=LABELS, n_random=0)


def test_a_panel_beside_random_ones_and_the_best(cells):
    with pytest.warns(Caution):
        entry = evaluated(cells, [*MARKERS, "CD3d"])
    assert list(entry["absent"]) == ["CD3d"]
    assert list(entry["genes"]) == MARKERS
    assert 0 < entry["random_preserved"].max() < entry["preserved"] < entry["best_preserved"]
    assert entry["best_preserved"] <= entry["most_preserved"] <= 1
    table = entry["table"].set_index("measure")["value"]
    assert table["preserved"] == entry["preserved"]
    assert entry["optimality"] == pytest.approx(entry["preserved"] / entry["most_preserved"])
    assert entry["random_preserved"].shape == (20,)


def test_all_genes_are_compared_with_nothing(cells):
    """They keep all, whatever it is; labels are predicted from them as from others."""
    with pytest.warns(Caution, match="all genes"):
        entry = evaluated(cells, cells.var_names, LABELS)
    shares = ["preserved", "optimality", "best_preserved", "most_preserved", "knn_preservation"]
    assert np.isnan([entry[name] for name in (*shares, "imputed")]).all()
    assert entry["random_preserved"].size == 0
    assert 0.5 < entry["accuracy"] < 1
    assert 0.5 < entry["accuracy_laprls"] < 1


def test_labels_are_read_twice(labelled):
    """By nearest cells, and by a classifier in cross-validation: each with all its measures."""
    cells, entry = labelled
    assert set(entry["readings"]) == {"knn", "laprls"}
    assert entry["n_labelled"] == 700
    assert entry["n_neighbors"] == entry["n_neighbors_of_labels"] == 15
    table = entry["per_label"]
    assert set(table.index) == set(cells.obs[LABELS].cat.categories)
    for end in ("", "_laprls"):
        counts = entry[f"confusion{end}"]
        assert counts.sum() == 700
        assert entry[f"accuracy{end}"] == pytest.approx(np.trace(counts) / 700)
        assert entry[f"macro_f1{end}"] == pytest.approx(table[f"f1{end}"].mean())
        recall = counts.diagonal() / counts.sum(axis=1)
        np.testing.assert_allclose(table[f"recall{end}"], recall)
        assert entry[f"accuracy{end}"] < entry[f"accuracy_all_genes{end}"] < 1.0
    other = evaluated(cells, labels=LABELS, n_random=0, random_state=1)
    assert (entry["confusion_laprls"] != other["confusion_laprls"]).any()


def test_labels_with_too_few_cells_are_named(cells, caplog):
    cells.obs["rare"] = np.where(np.arange(700) < 6, "rare", cells.obs[LABELS].astype(str))
    table = evaluated(cells, labels="rare", n_random=0)["per_label"]
    assert table.loc["rare", "too_few"]
    assert not table.loc["rare", "too_few_laprls"]
    (note,) = [text for text in caplog.messages if "too few cells" in text]
    assert "rare" in note


def test_a_reading_alone(labelled):
    cells, both = labelled
    alone = evaluated(cells, labels=LABELS, n_random=0, readings=["laprls"])
    assert set(alone["readings"]) == {"laprls"}
    assert alone["accuracy_laprls"] == both["accuracy_laprls"]
    assert not {"accuracy", "confusion"} & alone.keys()
    assert "recall" not in alone["per_label"]
    assert {"n_cells", "rare", "too_few_laprls"} <= set(alone["per_label"])
    named = evaluated(cells, labels=LABELS, n_random=0, readings="knn")
    assert set(named["readings"]) == {"knn"}
    assert named["accuracy"] == both["accuracy"]
    assert "accuracy_laprls" not in named


def test_silhouette_and_clusters_in_splits(labelled):
    cells, entry = labelled
    values = cells[:, MARKERS].X.toarray()
    expected = silhouette_score(values, cells.obs[LABELS])
    assert entry["silhouette"] == pytest.approx(expected, rel=1e-4)
    expected = silhouette_score(cells.obsm[all_genes.KEY], cells.obs[LABELS])
    assert entry["silhouette_all_genes"] == pytest.approx(expected)
    each = entry["cluster_ari_in_splits"]
    assert each.shape == (5,)
    assert entry["cluster_ari"] == pytest.approx(np.mean(each))
    assert entry["cluster_ari_sd"] == pytest.approx(np.std(each, ddof=1))
    old = cells.copy()
    del old.uns[all_genes.KEY]["by_split"]  # as a version before left it
    again = evaluated(old, labels=LABELS, n_random=0)
    np.testing.assert_array_equal(again["cluster_ari_in_splits"], each)


def test_the_view_of_all_genes_is_of_the_matrix_that_there_is(labelled):
    cells, first = labelled
    nearest = cells.uns[all_genes.KEY]["nearest"]
    again = evaluated(cells, labels=LABELS, n_random=0)
    assert cells.uns[all_genes.KEY]["nearest"] is nearest
    assert again["accuracy_all_genes"] == first["accuracy_all_genes"]
    some, fresh = cells[::2].copy(), cells[::2].copy()
    del fresh.uns[all_genes.KEY], fresh.obsm[all_genes.KEY]
    expected = evaluated(fresh, n_random=0)["knn_preservation"]
    assert evaluated(some, n_random=0)["knn_preservation"] == expected
    assert len(some.uns[all_genes.KEY]["nearest"]) == some.n_obs


def test_gene_sets_are_covered_by_one_gene(cells):
    cells.var["symbol"] = [name.lower() for name in cells.var_names]
    sets = {"T": ["cd3d", "cd3e", "zz"], "NK": ["gnly", "prf1", "zz"], "nowhere": ["zz"]}
    entry = evaluated(cells, gene_sets=sets, n_random=0, symbols="symbol")
    table = entry["gene_sets"]
    assert list(table.index) == ["T", "NK"]
    assert list(table["n_overlap"]) == [1, 0]
    assert list(table["n_set"]) == [2, 2]
    assert list(table["genes"]) == ["cd3d", ""]
    assert entry["gene_set_coverage"] == 0.5


OF_PANELS = {
    "evaluate": tl.evaluate_panel,
    "explain": tl.explain_panel,
    "substitutes": tl.substitutes,
    "extend": lambda adata, panel: tl.extend_panel(adata, panel, 1),
    "compare": lambda adata, panel: tl.compare_panels(adata, {"a": "CD3D", "b": panel}),
}


@pytest.mark.parametrize("n_others", [0, 300])
def test_a_selection_is_not_evaluated_without_its_candidates(pbmc, unchanged, n_others):
    """In the genes of the panel alone, and in others that are left, such as variable genes."""
    pp.select_genes(pbmc, 10)
    left = pbmc.var["glfs_selected"] | (np.arange(pbmc.n_vars) < n_others)
    left["CD3D"] = True
    some = pbmc[:, left].copy()
    for name, call in OF_PANELS.items():
        with unchanged(some), refused(InvalidValue, "panels" if name == "compare" else "panel"):
            call(some, "glfs")


def test_a_subset_in_other_calls(pbmc):
    """An object that was cut to its panel."""
    pp.select_genes(pbmc, 10)
    subset = pbmc[:, pbmc.var["glfs_selected"]].copy()
    with refused(InvalidValue, "key"):
        tl.stability(subset)
    with pytest.warns(Caution) as caught:
        table = tl.curve(subset, 10, inplace=False)
    assert any("object with all genes" in str(caution.message) for caution in caught)
    assert table["preserved"].iloc[:9].between(0, 1).all()
    assert np.isnan(table["preserved"].iloc[9])
    with pytest.warns(Caution):
        entry = evaluated(subset, list(subset.var_names))
    assert np.isnan(entry["preserved"])
    with pytest.warns(Caution):
        explained = tl.explain_panel(subset, list(subset.var_names), inplace=False)
    assert np.isnan(explained["preserved"].iloc[-1])


def test_a_list_in_a_subset_says_of_what_its_shares_are(cells):
    some = cells[:, :300].copy()
    genes = list(some.var_names[:5])
    with pytest.warns(Caution, match="300 genes"):
        evaluated(some, genes, n_random=0)
    fresh = some.copy()
    fresh.uns.clear()
    evaluated(fresh, genes, n_random=0)


def tables(adata, **where):
    """What functions say of a list by a matrix."""
    options = {"inplace": False} | where
    panels = {"first": MARKERS, "second": MARKERS[:3]}
    return {
        "explain": tl.explain_panel(adata, MARKERS, **options),
        "substitutes": tl.substitutes(adata, MARKERS, **options),
        "extend": tl.extend_panel(adata, MARKERS, 2, **options),
        "curve": tl.curve(adata, 5, **options),
        "compare": tl.compare_panels(adata, panels, **options)["table"],
        "evaluate": evaluated(adata, labels=LABELS, n_random=0, **where)["table"],
    }


def test_logs_in_a_layer(pbmc):
    """A list is evaluated by a layer, or by .raw, as by a matrix of the same values."""
    expected = tables(pbmc.copy())
    pbmc.layers["logs"] = pbmc.X.copy()
    pbmc.raw = pbmc.copy()
    pbmc.X = np.round(np.expm1(pbmc.X.toarray()))
    for name, table in tables(pbmc, layer="logs").items():
        pd.testing.assert_frame_equal(table, expected[name], obj=name)
    entry = evaluated(pbmc, labels=LABELS, n_random=0, layer="raw")
    pd.testing.assert_frame_equal(entry["table"], expected["evaluate"])


def test_a_layer_conflicts_with_a_named_structure(cells):
    cells.layers["logs"] = cells.X
    pp.structure(cells, n_comps=20, key_added="mine")
    with refused(InvalidValue, "layer"):
        evaluated(cells, layer="logs", preserve=Preserve(use_rep="mine"))
    pp.select_genes(cells, 5, use_rep="mine")
    with refused(InvalidValue, "layer"):
        evaluated(cells, "glfs", layer="logs")


def test_what_is_written(cells):
    cells.layers["counts"] = np.round(np.expm1(cells.X.toarray()))
    platform = Platform(failure=0.2)
    tl.evaluate_panel(cells, MARKERS, LABELS, counts_layer="counts", platform=platform)
    entry = cells.uns["glfs_evaluation"]
    assert entry["preserved_on_platform"] < entry["preserved"]
    assert 0 < entry["counts_share"] < 1
    assert (entry["counts_per_label"]["ratio"] > 0).all()
    r2 = cells.var["glfs_evaluation_r2"]
    assert r2[MARKERS].isna().all()
    assert r2.drop(MARKERS).between(-1e-9, 1).all()
    assert cells.obs["glfs_evaluation_unexplained"].between(0, 10).all()


def test_what_it_misses(cells):
    """Without a gene of B cells, the worst direction is theirs."""
    blind = ["CD3D", "LYZ", "NKG7", "FCER1A", "GNLY", "IL32", "S100A8", "FCGR3A"]
    worst = evaluated(cells, blind, LABELS, n_random=0)["unexplained"].iloc[0]
    assert "CD19+ B" in worst["labels"]
    assert {"CD79A", "MS4A1", "CD79B", "CD74"} & set(worst["genes_up"].split(", "))


def test_the_order_of_genes_and_the_container_change_nothing(labelled):
    """But for equally near cells, where rounding decides."""
    cells, entry = labelled
    by_genes = cells.copy()
    by_genes.X = cells.X.tocsc()
    other = evaluated(by_genes, MARKERS[::-1], LABELS, n_random=0)
    for name, value in entry.items():
        if np.isscalar(value) and name != "kind":
            assert other[name] == pytest.approx(value, rel=0.01, nan_ok=True), name
    assert other["preserved"] == pytest.approx(entry["preserved"], rel=1e-9)


def test_batches_of_a_selection(pbmc):
    """What is preserved of each is what the selection has said, also where the worst chose."""
    pbmc.obs["batch"] = pd.Categorical(np.where(pbmc.obs["phase"] == "G1", "rest", "cycle"))
    pp.select_genes(pbmc, 8, batch_key="batch", across="worst")
    tl.evaluate_panel(pbmc, "glfs", n_random=0)
    entry, selection = pbmc.uns["glfs_evaluation"], pbmc.uns["glfs"]
    assert list(entry["batches"]) == list(selection["batches"]) == ["cycle", "rest"]
    shares = entry["preserved_in_batches"]
    np.testing.assert_allclose(shares, selection["preserved_in_batches"][-1], rtol=1e-9)
    assert shares.min() == pytest.approx(selection["preserved"][-1])
    assert shares.min() < entry["preserved"] < shares.max()
    listed = evaluated(pbmc, list(pbmc.var_names[pbmc.var["glfs_selected"]]), n_random=0)
    assert listed["preserved"] == pytest.approx(entry["preserved"], rel=1e-9)


def test_threads_change_nothing(labelled):
    cells, entry = labelled
    with threadpool_limits(1):
        again = evaluated(cells.copy(), labels=LABELS, n_random=0)
    pd.testing.assert_frame_equal(again["table"], entry["table"], check_exact=True)


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
    assert entry["accuracy"] == entry["macro_f1"] == entry["accuracy_laprls"] == 1.0
    assert entry["n_neighbors"] == (sum(sizes) - 1) // 2
    noise = evaluated(adata, ["g150", "g151"], n_random=0)
    assert noise["knn_preservation"] < 0.8 < entry["knn_preservation"]
    small = max(sizes) < 9
    n_folds = min(5, max(sizes))
    assert f"{n_folds}-fold" in entry["readings"]["laprls"]
    few = np.array(sizes) < n_folds
    np.testing.assert_array_equal(entry["per_label"]["too_few_laprls"], few)
    assert entry["n_neighbors_of_labels"] == (min(sizes) - 1 if small else 15)
    assert not entry["per_label"]["too_few"].any()
    assert any("small groups" in text for text in caplog.messages) == small


def test_no_label_of_two_cells(caplog):
    adata = bulk([6, 6])
    adata.obs["group"] = [f"sample {k}" for k in range(12)]
    entry = evaluated(adata, ["g1", "g40"], "group", n_random=0)
    assert entry["n_neighbors_of_labels"] == 0
    assert np.isnan(entry["macro_f1"])
    for end in ("", "_laprls"):
        assert np.isnan([entry[f"accuracy{end}"], entry[f"accuracy_all_genes{end}"]]).all()
        assert entry["per_label"][f"too_few{end}"].all()
    assert any("none can be predicted" in text for text in caplog.messages)
    for labels in (["known", *[None] * 11], ["known"] * 12):
        adata.obs["group"] = labels
        with refused(InvalidValue, "labels"):
            evaluated(adata, ["g1", "g40"], "group")
