"""How good a panel is."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from all_panels import measured
from refusals import refused
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from glfs_bio import Platform, Preserve, pp, tl
from glfs_bio._anndata.structure import ALL_GENES
from glfs_bio.errors import Caution, InvalidType, InvalidValue

MARKERS = ["CD3D", "LYZ", "NKG7", "CD79A", "FCER1A"]
LABELS = "bulk_labels"


def evaluated(adata, panel=MARKERS, labels=None, **options):
    return tl.evaluate_panel(adata, panel, labels, inplace=False, **options)


def values(entry):
    return measured(entry)["value"]


def labels_by(entry, reading="knn"):
    table = entry["per_label"]
    return table[table["reading"] == reading].set_index("label")


@pytest.fixture(scope="module")
def labelled(_structured):
    """Cells, and the evaluation of a panel by their labels."""
    adata = _structured.copy()
    with threadpool_limits(2):
        tl.evaluate_panel(adata, MARKERS, LABELS, measures="all", key_added="all")
    return adata, adata.uns.pop("all")


def test_a_panel_beside_random_ones_and_the_best(cells):
    with pytest.warns(Caution):
        entry = evaluated(cells, [*MARKERS, "CD3X"])
    assert list(entry["genes"]["gene"]) == [*MARKERS, "CD3X"]
    assert list(entry["genes"]["in_data"]) == [True] * 5 + [False]
    table = measured(entry)
    shares, row = table["value"], table.loc["preserved"]
    assert row["n_genes"] == 5
    assert 0 < row["random"] < row["random_best"] < row["value"] < shares["best_preserved"]
    assert shares["best_preserved"] <= row["bound"] <= row["all_genes"] == 1
    assert shares["optimality"] == row["value"] / row["bound"]
    assert (table["description"] != "").all()


def test_all_genes_are_compared_with_nothing(cells):
    """They keep all, whatever it is; labels are predicted from them as from others."""
    with pytest.warns(Caution, match="all genes"):
        entry = evaluated(cells, cells.var_names, LABELS, measures=["default", "laprls"])
    shares = values(entry)
    names = ["preserved", "optimality", "best_preserved", "knn_preservation", "imputed"]
    assert shares[names].isna().all()
    assert measured(entry).loc["preserved", ["random", "bound"]].isna().all()
    assert 0.5 < shares["accuracy"] < 1
    assert 0.5 < shares["accuracy_laprls"] < 1


def test_measures_by_names_and_groups(labelled):
    cells, every = labelled
    default = evaluated(cells, labels=LABELS)
    table = measured(default)
    costly = [name for name in measured(every).index if name not in table.index]
    assert {name.partition("_")[0] for name in costly} == {"cluster", "silhouette"} | {
        *("accuracy", "macro", "rare")
    }
    pd.testing.assert_frame_equal(table, measured(every).loc[table.index])
    some = evaluated(cells, labels=LABELS, measures=["silhouette", "macro_f1"])
    assert list(measured(some).index) == ["macro_f1", "silhouette"]
    for wrong, kind in ((["x"], InvalidValue), ([], InvalidValue), ("space", InvalidValue)):
        with refused(kind, "measures"):
            evaluated(cells, measures=wrong)


def test_labels_are_read_twice(labelled):
    """By nearest cells, and by a classifier in cross-validation: each with all its measures."""
    cells, entry = labelled
    table = measured(entry)
    for reading, end, text in (("knn", "", "15-NN"), ("laprls", "_laprls", "LapRLS")):
        scores, confusion = labels_by(entry, reading), entry["confusion"]
        assert set(scores.index) == set(cells.obs[LABELS].cat.categories)
        confusion = confusion[confusion["reading"] == reading]
        counts = confusion.pivot(index="label", columns="predicted", values="n_cells")
        assert counts.to_numpy().sum() == 700
        right = pd.Series(np.diag(counts), counts.index)
        accuracy = table.loc[f"accuracy{end}"]
        assert accuracy["reading"].startswith(text)
        assert accuracy["reading"].endswith("700 cells")
        assert accuracy["value"] == pytest.approx(right.sum() / 700)
        assert table.loc[f"macro_f1{end}", "value"] == pytest.approx(scores["f1"].mean())
        recall = (right / counts.sum(axis=1))[scores.index]
        np.testing.assert_allclose(scores["recall"], recall)
        assert accuracy["value"] < accuracy["all_genes"] < 1.0
    other = evaluated(cells.copy(), labels=LABELS, measures="laprls", random_state=1)
    assert set(other["per_label"]["reading"]) == {"laprls"}
    first = entry["confusion"][entry["confusion"]["reading"] == "laprls"]
    assert (first["n_cells"].to_numpy() != other["confusion"]["n_cells"].to_numpy()).any()


def test_labels_with_too_few_cells_are_named(cells, caplog):
    cells.obs["rare"] = np.where(np.arange(700) < 6, "rare", cells.obs[LABELS].astype(str))
    entry = evaluated(cells, labels="rare", measures=["labels", "laprls"])
    assert labels_by(entry).loc["rare", "too_few"]
    assert not labels_by(entry, "laprls").loc["rare", "too_few"]
    (note,) = [text for text in caplog.messages if "too few cells" in text]
    assert "rare" in note


def test_silhouette_and_stored_clusters(labelled):
    cells, entry = labelled
    table = measured(entry)
    expression = cells[:, MARKERS].X.toarray()
    expected = silhouette_score(expression, cells.obs[LABELS])
    assert table.loc["silhouette", "value"] == pytest.approx(expected, rel=1e-4)
    expected = silhouette_score(cells.obsm[ALL_GENES], cells.obs[LABELS])
    assert table.loc["silhouette", "all_genes"] == pytest.approx(expected)
    clusters = table.loc[["cluster_preservation_coarse", "cluster_preservation_fine"], "value"]
    assert clusters.between(0, 1, inclusive="neither").all()
    unclustered = cells.copy()
    del unclustered.uns[ALL_GENES]["clusters"]
    again = values(evaluated(unclustered, measures="clusters"))
    assert (again == clusters).all()


def test_the_view_of_all_genes_is_of_the_matrix_that_there_is(labelled):
    cells, first = labelled
    nearest = cells.uns[ALL_GENES]["nearest"]
    again = evaluated(cells, labels=LABELS, measures="accuracy")
    assert cells.uns[ALL_GENES]["nearest"] is nearest
    assert measured(again)["all_genes"].iloc[0] == measured(first).loc["accuracy", "all_genes"]
    some, fresh = cells[::2].copy(), cells[::2].copy()
    del fresh.uns[ALL_GENES], fresh.obsm[ALL_GENES]
    expected, shares = (values(evaluated(one, measures="neighbors")) for one in (fresh, some))
    assert shares["knn_preservation"] == expected["knn_preservation"]
    assert len(some.uns[ALL_GENES]["nearest"]) == cells.n_obs  # as it was


def test_gene_sets_are_covered_by_one_gene(cells):
    cells.var["symbol"] = [name.lower() for name in cells.var_names]
    sets = {"T": ["cd3d", "cd3e", "zz"], "NK": ["gnly", "prf1", "zz"], "nowhere": ["zz"]}
    entry = evaluated(cells, gene_sets=sets, measures="gene_sets", symbols="symbol")
    table = entry["gene_sets"]
    assert list(table["term"]) == ["T", "NK"]
    assert list(table["n_overlap"]) == [1, 0]
    assert list(table["n_set"]) == [2, 2]
    assert list(table["genes"]) == ["cd3d", ""]
    assert values(entry)["gene_set_coverage"] == 0.5


OF_PANELS = {
    "evaluate": tl.evaluate_panel,
    "explain": tl.explain_panel,
    "extend": lambda adata, panel: tl.extend_panel(adata, panel, 11),
    "compare": lambda adata, panel: tl.evaluate_panel(adata, {"a": "CD3D", "b": panel}),
}


@pytest.mark.parametrize("n_others", [0, 300])
def test_a_selection_is_not_evaluated_without_its_candidates(pbmc, unchanged, n_others):
    """In the genes of the panel alone, and in others that are left, such as variable genes."""
    pp.select_genes(pbmc, 10)
    left = pbmc.var["glfs_selected"] | (np.arange(pbmc.n_vars) < n_others)
    left["CD3D"] = True
    some = pbmc[:, left].copy()
    for call in OF_PANELS.values():
        with unchanged(some), refused(InvalidValue, "panel"):
            call(some, "glfs")


def test_a_subset_in_other_calls(pbmc):
    """An object that was cut to its panel."""
    pp.select_genes(pbmc, 10)
    subset = pbmc[:, pbmc.var["glfs_selected"]].copy()
    with refused(InvalidValue, "key"):
        tl.stability(subset)
    names = list(subset.var_names)
    with pytest.warns(Caution) as caught:
        entry = evaluated(subset, names, measures="preserved", sizes=range(1, 10))
    assert any("object with all genes" in str(caution.message) for caution in caught)
    table = entry["measures"]
    shares = table[table["measure"] == "preserved"].set_index("n_genes")["value"]
    assert shares[:9].between(0, 1).all()
    assert np.isnan(shares[10])
    with pytest.warns(Caution):
        explained = tl.explain_panel(subset, list(subset.var_names), inplace=False)
    assert np.isnan(explained["preserved"].iloc[-1])


def test_a_list_in_a_subset_says_of_what_its_shares_are(cells):
    some = cells[:, :300].copy()
    genes = list(some.var_names[:5])
    with pytest.warns(Caution, match="300 genes"):
        evaluated(some, genes)
    fresh = some.copy()
    fresh.uns.clear()
    evaluated(fresh, genes)


def tables(adata, **where):
    """What functions say of a list by a matrix."""
    options = {"inplace": False} | where
    panels = {"first": MARKERS, "second": MARKERS[:3]}
    return {
        "explain": tl.explain_panel(adata, MARKERS, **options),
        "extend": tl.extend_panel(adata, MARKERS, len(MARKERS) + 2, **options),
        "compare": evaluated(adata, panels, **where)["measures"],
        "evaluate": evaluated(adata, labels=LABELS, **where)["measures"],
    }


def test_logs_in_a_layer(pbmc):
    """A list is evaluated by a layer, or by .raw, as by a matrix of the same values."""
    expected = tables(pbmc.copy())
    pbmc.layers["logs"] = pbmc.X.copy()
    pbmc.raw = pbmc.copy()
    pbmc.X = np.round(np.expm1(pbmc.X.toarray()))
    for name, table in tables(pbmc, layer="logs").items():
        pd.testing.assert_frame_equal(table, expected[name], obj=name)
    entry = evaluated(pbmc, labels=LABELS, layer="raw")
    pd.testing.assert_frame_equal(entry["measures"], expected["evaluate"])


def test_a_layer_conflicts_with_a_named_structure(cells):
    cells.layers["logs"] = cells.X
    pp.structure(cells, n_comps=20, key_added="mine")
    with refused(InvalidValue, "layer"):
        evaluated(cells, layer="logs", preserve=Preserve(use_rep="mine"))
    pp.select_genes(cells, 5, use_rep="mine")
    with refused(InvalidValue, "layer"):
        evaluated(cells, "glfs", layer="logs")


def test_a_target_that_is_left_open_is_that_of_the_selection(cells):
    pp.select_genes(cells, 5, preserve=LABELS, cell_weights=LABELS)
    for target, weights in ((None, LABELS), (LABELS, LABELS)):
        preserve = Preserve(target, weights, use_rep="X_pca")
        tl.evaluate_panel(cells, preserve=preserve, measures="preserved", key_added=str(target))
    values = [cells.uns[key]["measures"]["value"].iloc[0] for key in ("None", LABELS)]
    assert values[0] == values[1]


def test_what_is_written(cells):
    cells.layers["counts"] = np.round(np.expm1(cells.X.toarray()))
    platform = Platform(failure=0.2)
    tl.evaluate_panel(cells, MARKERS, LABELS, counts_layer="counts", platform=platform)
    entry = cells.uns["glfs_evaluation"]
    assert len(entry) <= 12
    table = measured(entry)
    there = table.loc["preserved_on_platform"]
    assert there["low"] < there["value"] < table.loc["preserved", "value"]
    assert 0 < table.loc["counts_share", "value"] < 1
    assert (entry["per_label"]["counts_ratio"] > 0).all()
    r2 = cells.var["glfs_evaluation_r2"]
    assert r2[MARKERS].isna().all()
    assert r2.drop(MARKERS).between(-1e-9, 1).all()
    assert cells.obs["glfs_evaluation_unexplained"].between(0, 10).all()


def test_what_it_misses(cells):
    """Without a gene of B cells, the worst direction is theirs."""
    blind = ["CD3D", "LYZ", "NKG7", "FCER1A", "GNLY", "IL32", "S100A8", "FCGR3A"]
    worst = evaluated(cells, blind, LABELS)["unexplained"].iloc[0]
    assert "CD19+ B" in worst["labels"]
    assert {"CD79A", "MS4A1", "CD79B", "CD74"} & set(worst["genes_up"].split(", "))


def test_the_order_of_genes_and_the_container_change_nothing(labelled):
    """But for equally near cells, where rounding decides."""
    cells, entry = labelled
    by_genes = cells.copy()
    by_genes.X = cells.X.tocsc()
    before, after = (
        values(entry),
        values(evaluated(by_genes, MARKERS[::-1], LABELS, measures="all")),
    )
    pd.testing.assert_series_equal(after, before, rtol=0.01)
    assert after["preserved"] == pytest.approx(before["preserved"], rel=1e-9)


def test_batches_of_a_selection(pbmc):
    """What is preserved of each is what the selection has said, also where the worst chose."""
    pbmc.obs["batch"] = pd.Categorical(np.where(pbmc.obs["phase"] == "G1", "rest", "cycle"))
    pp.select_genes(pbmc, 8, batch_key="batch", across="worst")
    tl.evaluate_panel(pbmc, "glfs")
    entry, selection = pbmc.uns["glfs_evaluation"], pbmc.uns["glfs"]
    table = entry["measures"]
    batches = table[table["measure"] == "preserved_in_batch"]
    assert list(batches["reading"]) == list(selection["batches"]) == ["cycle", "rest"]
    shares = batches["value"]
    np.testing.assert_allclose(shares, selection["preserved_in_batches"][-1], rtol=1e-9)
    assert values(entry)["preserved"] == selection["preserved"][-1] == pytest.approx(shares.min())
    assert entry["unexplained"]["share"].between(0, 1).all()
    assert entry["unexplained"]["share"].sum() <= 1
    listed = evaluated(pbmc, list(pbmc.var_names[pbmc.var["glfs_selected"]]), measures="preserved")
    assert shares.min() < values(listed)["preserved"] < shares.max()  # lists count by the mean


def test_threads_change_nothing(labelled):
    cells, entry = labelled
    with threadpool_limits(1):
        again = evaluated(cells.copy(), labels=LABELS, measures="all")
    pd.testing.assert_frame_equal(again["measures"], entry["measures"], check_exact=True)


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
    tl.evaluate_panel(adata, "glfs", "group", measures=["default", "laprls"])
    entry = adata.uns["glfs_evaluation"]
    table = measured(entry)
    assert (table["value"][["accuracy", "macro_f1", "accuracy_laprls"]] == 1.0).all()
    near = table.loc["knn_preservation"]
    assert near["reading"] == f"{(sum(sizes) - 1) // 2} nearest cells"
    noise = values(evaluated(adata, ["g150", "g151"]))
    assert noise["knn_preservation"] < 0.8 < near["value"]
    small = max(sizes) < 9
    n_folds = min(5, max(sizes))
    assert f"{n_folds}-fold" in table.loc["accuracy_laprls", "reading"]
    few = np.array(sizes) < n_folds
    np.testing.assert_array_equal(labels_by(entry, "laprls")["too_few"], few)
    n_neighbors = min(sizes) - 1 if small else 15
    assert table.loc["accuracy", "reading"].startswith(f"{n_neighbors}-NN")
    assert not labels_by(entry)["too_few"].any()


def test_no_label_of_two_cells(caplog):
    adata = bulk([6, 6])
    adata.obs["group"] = [f"sample {k}" for k in range(12)]
    entry = evaluated(adata, ["g1", "g40"], "group", measures=["labels", "laprls"])
    assert measured(entry)[["value", "all_genes"]].isna().all(axis=None)
    assert entry["per_label"]["too_few"].all()
    assert any("none can be predicted" in text for text in caplog.messages)
    for labels in (["known", *[None] * 11], ["known"] * 12):
        adata.obs["group"] = labels
        with refused(InvalidValue, "labels"):
            evaluated(adata, ["g1", "g40"], "group")


def of_panel(entry, name):
    """The rows of a panel among several."""
    table = entry["measures"]
    return table[table["panel"] == name].drop(columns="panel").reset_index(drop=True)


def test_several_panels_are_evaluated_as_each_alone(cells):
    """And it is counted what they share; panels may be called anything."""
    panels = {"gene": MARKERS[:4], "panel": [*MARKERS[:2], "GNLY", "MS4A1"]}
    sets = {"T": ["CD3D", "CD3E"], "B": ["CD79A", "CD79B"], "nowhere": ["zz"]}
    tl.evaluate_panel(cells, panels, LABELS, gene_sets=sets, measures="all")
    entry = cells.uns["glfs_comparison"]
    for name, genes in panels.items():
        alone = evaluated(cells, genes, LABELS, gene_sets=sets, measures="all")
        expected = alone["measures"].drop(columns="panel")
        pd.testing.assert_frame_equal(of_panel(entry, name), expected, check_exact=True)
        labels = entry["per_label"][entry["per_label"]["panel"] == name].drop(columns="panel")
        pd.testing.assert_frame_equal(labels.reset_index(drop=True), alone["per_label"])
        members = entry["genes"]
        assert list(members["gene"][members["panel"] == name]) == genes
    (overlap,) = entry["overlap"].to_dict("records")
    assert (overlap["panel"], overlap["other"], overlap["shared"]) == ("gene", "panel", 2)
    assert overlap["jaccard"] == 2 / 6 < overlap["jaccard_with_substitutes"]
    for wrong in ({}, {"a/b": MARKERS}, {" ": MARKERS}, {1: MARKERS, "1": MARKERS}):
        with refused(InvalidValue, "panel"):
            evaluated(cells, wrong)


def test_the_first_genes_of_a_selection(cells):
    """Shares are those of the selection, and each size is evaluated as a panel of its own."""
    pp.select_genes(cells, 10)
    entry = evaluated(cells, "glfs", LABELS, sizes=[7, 5, 10])
    table = entry["measures"]
    preserved = table[table["measure"] == "preserved"]
    assert list(preserved["n_genes"]) == [5, 7, 10]
    expected = cells.uns["glfs"]["preserved"][[4, 6, 9]]
    np.testing.assert_array_equal(preserved["value"], expected)
    assert (preserved["value"] <= preserved["bound"]).all()
    assert (preserved["random"] < preserved["value"]).all()
    order = cells.var["glfs_rank"].sort_values().index
    first = measured(evaluated(cells, list(order[:5]), LABELS))
    nested = table[table["n_genes"] == 5].set_index("measure")
    columns = ["value", "all_genes", "random", "low"]
    rest = [name for name in first.index if name not in ("optimality", "best_preserved")]
    pd.testing.assert_frame_equal(nested.loc[rest, columns], first.loc[rest, columns])
    assert len(entry["genes"]) == 10
    for wrong, kind in ((0, InvalidValue), (11, InvalidValue), ("x", InvalidType)):
        with refused(kind, "sizes"):
            evaluated(cells, "glfs", sizes=[wrong])


@pytest.mark.parametrize("preserve", ["structure", "expression", "bulk_labels"])
def test_selections_of_different_structures(pbmc, preserve):
    """They are compared by a target with the structure of the matrix, as lists of their genes."""
    pbmc = pbmc[::2].copy()
    pbmc.obs["batch"] = np.tile(["a", "b"], 175)
    pp.select_genes(pbmc, 5)
    pp.select_genes(pbmc, 5, batch_key="batch", key_added="other")
    keys = {"first": "other", "second": "glfs"}
    with refused(InvalidValue, "panel"):
        tl.evaluate_panel(pbmc, keys)
    lists = {name: list(pbmc.var_names[pbmc.var[f"{key}_selected"]]) for name, key in keys.items()}
    shares = [
        evaluated(pbmc, panels, preserve=preserve, measures="preserved")["measures"]["value"]
        for panels in (keys, lists)
    ]
    np.testing.assert_allclose(*shares)


def test_selections_of_different_layers_need_one(cells):
    cells.layers["twice"] = 2.0 * cells.X
    pp.select_genes(cells, 5)
    pp.select_genes(cells, 5, layer="twice", key_added="other")
    panels = {"first": "glfs", "second": "other"}
    with refused(InvalidValue, "panel"):
        tl.evaluate_panel(cells, panels, preserve="structure")
    pp.structure(cells, n_comps=20, key_added="mine")
    for options, layer in (
        ({"preserve": "structure", "layer": "twice"}, "twice"),
        ({"preserve": Preserve(use_rep="mine")}, "None"),
    ):
        tl.evaluate_panel(cells, panels, measures="preserved", **options)
        assert cells.uns["glfs_comparison"]["made_of"]["layer"] == layer
