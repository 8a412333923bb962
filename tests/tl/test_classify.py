from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio.errors import Caution, InvalidValue
from glfs_bio.tl import classify


@pytest.fixture
def adata():
    """90 cells of 3 types, 40 genes, one of which marks each type."""
    X = np.random.default_rng(0).normal(scale=0.5, size=(90, 40))
    for i, gene in enumerate((3, 17, 22)):
        X[30 * i : 30 * (i + 1), gene] += 4.0
    adata = ad.AnnData(X)
    adata.obs["label"] = pd.Categorical(np.repeat(["B", "NK", "T/4"], 30))
    adata.var_names = [f"g{i}" for i in range(40)]
    return adata


@pytest.fixture
def leukaemia(real):
    adata = real("golub72")
    adata.X = np.log10(np.clip(adata.X, 100.0, 16000.0))
    adata.obs["train"] = (adata.obs["split"] == "train").to_numpy()
    return adata


def test_missing_labels_are_filled_in(adata):
    truth = adata.obs["label"].copy()
    adata.obs.loc[adata.obs_names[np.arange(90) % 6 > 0], "label"] = np.nan
    classify(adata, "label", n_genes=3, graph="neighbors")
    assert (adata.obs["glfs_class_predicted"] == truth).mean() > 0.95
    assert adata.uns["glfs_class"]["n_labelled"] == 15
    assert adata.uns["glfs_class"]["n_unlabelled"] == 75
    selected = adata.var_names[adata.var["glfs_class_selected"]]
    assert list(selected) == ["g3", "g17", "g22"]


def test_five_labels_a_type_need_no_options(adata, caplog):
    truth = adata.obs["label"].copy()
    adata.obs["label"] = truth.where(np.arange(90) % 6 == 0)
    classify(adata, "label")
    assert (adata.obs["glfs_class_predicted"] == truth).mean() > 0.95
    assert adata.uns["glfs_class"]["n_folds"] == 5
    (note,) = [message for message in caplog.messages if "folds" in message]
    assert note.count("5 ") == 2  # cells, and folds


def test_several_classes(adata):
    classify(adata, "label", n_genes=[1, 3, 5], cv=3)
    decision, entry = adata.obsm["glfs_class_decision"], adata.uns["glfs_class"]
    assert decision.shape == (90, 3)
    highest = entry["classes"][decision.argmax(axis=1)]
    np.testing.assert_array_equal(highest, adata.obs["glfs_class_predicted"].astype(str))
    coef = adata.varm["glfs_class_coef"]
    assert coef.shape == (40, 3)
    assert not coef[~adata.var["glfs_class_selected"].to_numpy()].any()
    assert list(entry["tried"]) == [1, 3, 5]
    assert entry["cv_errors"][1] == 0
    assert entry["n_genes"] == 3


@pytest.mark.parametrize("n_genes", [2, [1, 2, 4]])
@pytest.mark.parametrize("graph", ["classes", "neighbors", "labels"])
def test_two_classes(adata, graph, n_genes):
    """One decision for a cell; λ is recorded where the graph has one."""
    two = adata[:60].copy()
    classify(two, "label", n_genes=n_genes, graph=graph, cv=3)
    decision, coef = two.obs["glfs_class_decision"], two.var["glfs_class_coef"]
    np.testing.assert_array_equal(decision > 0, two.obs["glfs_class_predicted"] == "NK")
    assert "glfs_class_decision" not in two.obsm
    assert (two.var["glfs_class_weight"] >= 0).all()
    assert ((coef != 0) == two.var["glfs_class_selected"]).all()
    assert np.corrcoef(two.X @ coef, decision)[0, 1] == pytest.approx(1.0)
    assert ("lam" in two.uns["glfs_class"]) == (graph == "classes")
    assert (two.obs["glfs_class_predicted"] == two.obs["label"]).mean() > 0.9


def test_a_second_run_leaves_nothing_of_the_first(adata):
    classify(adata, "label", n_genes=3)
    adata.obs["half"] = np.where(np.arange(90) < 45, "a", "b")
    classify(adata, "half", n_genes=2)
    assert "glfs_class_decision" in adata.obs
    assert "glfs_class_decision" not in adata.obsm
    assert "glfs_class_coef" not in adata.varm


def test_cells_outside_train_are_tested_and_not_learnt_from(adata):
    """The selection is the same when the matrix and the labels of the test cells are noise."""
    adata.obs["train"] = np.arange(90) % 3 > 0
    noisy = adata.copy()
    test = ~adata.obs["train"].to_numpy()
    rng = np.random.default_rng(1)
    noisy.X[test] = 1e3 * rng.normal(size=(test.sum(), 40))
    noisy.obs.loc[test, "label"] = rng.permutation(noisy.obs["label"][test].to_numpy())
    for cells in (adata, noisy):
        classify(cells, "label", train="train", n_genes=[2, 3], cv=3)
    for column in ("weight", "selected"):
        name = f"glfs_class_{column}"
        np.testing.assert_array_equal(adata.var[name], noisy.var[name])
    np.testing.assert_array_equal(adata.varm["glfs_class_coef"], noisy.varm["glfs_class_coef"])
    entry, of_noise = adata.uns["glfs_class"], noisy.uns["glfs_class"]
    np.testing.assert_array_equal(entry["cv_errors"], of_noise["cv_errors"])
    assert entry["n_test"] == 30
    assert entry["test_errors"] == 0
    assert of_noise["test_errors"] > 5


def test_leukaemia(leukaemia):
    classify(leukaemia, "label", train="train", n_genes=[8, 14], cv=3)
    assert leukaemia.uns["glfs_class"]["test_errors"] <= 5
    assert leukaemia.uns["glfs_class"]["cv_errors"].min() <= 2


def test_leukaemia_with_permuted_labels_is_chance(leukaemia):
    rng = np.random.default_rng(0)
    truth = leukaemia.obs["label"].astype(str).to_numpy()
    train = leukaemia.obs["train"].to_numpy()
    errors = []
    for _ in range(3):
        # As many of each class in both parts, so that chance is the same in all.
        for part in (train, ~train):
            leukaemia.obs.loc[part, "label"] = rng.permutation(truth[part])
        classify(leukaemia, "label", train="train", n_genes=8)
        errors.append(leukaemia.uns["glfs_class"]["test_errors"] / 34)
    assert 0.3 < np.mean(errors) < 0.7


@pytest.mark.filterwarnings("ignore:.*no structure above the noise")
@pytest.mark.parametrize("graph", ["classes", "neighbors"])
def test_folds_repeat_no_note(adata, caplog, graph):
    """The graph of the classes is in parts on purpose, that of the cells is said to be once."""
    adata.X[:, 5:] *= 0.01
    classify(adata, "label", n_genes=[3, 4], cv=3, graph=graph, n_comps=10)
    assert caplog.text.count("connected components") == (graph == "neighbors")


def test_classes_with_few_cells_are_named(adata, caplog):
    label = adata.obs["label"].astype(object)
    label.iloc[:3] = "pair", "pair", "single"
    adata.obs["label"] = label
    classify(adata, "label", n_genes=[3, 5], cv=5)
    entry = adata.uns["glfs_class"]
    assert set(entry["classes"]) == {"B", "NK", "T/4", "pair", "single"}
    assert (entry["n_folds"], entry["n_tested"], entry["n_labelled"]) == (5, 89, 90)
    of_single, of_pair = (message for message in caplog.messages if "'" in message)
    assert "'single'" in of_single
    assert "'pair'" in of_pair


def test_values_that_may_mean_no_label_are_named(adata, caplog):
    caplog.set_level("INFO")
    adata.obs["label"] = np.where(np.arange(90) % 9 == 0, "Unknown", adata.obs["label"].astype(str))
    classify(adata, "label", n_genes=3)
    assert "'Unknown'" in caplog.text


@pytest.mark.parametrize("graph", ["classes", "neighbors", "labels"])
def test_include_exclude_and_batches(adata, graph):
    adata.obs["donor"] = np.where(np.arange(90) % 2, "x", "y")
    adata.X[1::2, 30:34] += 30.0
    adata.var["symbol"] = "s" + adata.var_names
    chosen = {"include": ["sg8"], "exclude": "g3", "symbols": "symbol", "batch_key": "donor"}
    classify(adata, "label", n_genes=3, graph=graph, **chosen)
    entry = adata.uns["glfs_class"]
    assert entry["genes"][0] == "g8"
    assert entry["symbols"][0] == "sg8"
    assert not {"g3", "g30", "g31", "g32", "g33"} & set(entry["genes"])


def test_unseen_categories_are_named(adata):
    train = (adata.obs["label"] != "NK").to_numpy()
    with pytest.warns(Caution):
        classify(adata, "label", train=train, n_genes=2)
    assert adata.uns["glfs_class"]["test_errors"] == 30
    assert set(adata.obs["glfs_class_predicted"]) == {"B", "T/4"}


def test_columns_that_do_not_do_are_refused(adata, unchanged):
    adata.obs["constant"] = "x"
    adata.obs["holes"] = adata.obs["label"].where(np.arange(90) > 3)
    adata.obs["none"] = pd.Categorical([None] * 90, categories=["a", "b"])
    adata.obs["rare"] = np.where(np.arange(90) < 89, "x", "y")
    for argument, options in (
        ("labels", {"labels": "constant"}),
        ("labels", {"labels": "none"}),
        ("labels", {"labels": "rare", "n_genes": 3, "graph": "classes"}),
        ("batch_key", {"labels": "label", "batch_key": "holes"}),
        ("train", {"labels": "label", "train": np.zeros(90, dtype=bool)}),
    ):
        with unchanged(adata), refused(InvalidValue, argument):
            classify(adata, **options)


def test_many_cells_are_tried_in_part_and_learnt_from_all(pbmc, outside, monkeypatch, caplog):
    """It is said once, and rare labels keep their cells; the same cells in a file."""
    monkeypatch.setattr("glfs_bio.estimators._glfs_laprls._MOST_TRIED", 200)
    held = outside(pbmc)
    with caplog.at_level("WARNING", "glfs_bio"):
        for adata in (pbmc, held):
            classify(adata, "bulk_labels", n_genes=[2, 4], cv=2)
    entry = pbmc.uns["glfs_class"]
    assert entry["n_cross_validated"] < pbmc.n_obs
    assert entry["n_tested"] == entry["n_cross_validated"]
    assert entry["n_labelled"] == pbmc.n_obs
    assert len(entry["classes"]) == pbmc.obs["bulk_labels"].nunique()
    np.testing.assert_array_equal(held.uns["glfs_class"]["cv_errors"], entry["cv_errors"])
    assert sum("cross-validation of" in message for message in caplog.messages) == 2
