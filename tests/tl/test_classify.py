from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.tl import classify


@pytest.fixture
def adata():
    """90 cells of 3 types, 24 genes, one of which marks each type."""
    X = np.random.default_rng(0).normal(scale=0.5, size=(90, 24))
    for i, gene in enumerate((3, 17, 22)):
        X[30 * i : 30 * (i + 1), gene] += 4.0
    adata = ad.AnnData(X)
    adata.obs["label"] = pd.Categorical(np.repeat(["B", "NK", "T/4"], 30))
    adata.var_names = [f"g{i}" for i in range(24)]
    return adata


def test_missing_labels_are_filled_in(adata, caplog):
    truth = adata.obs["label"].copy()
    adata.obs["label"] = truth.where(np.arange(90) % 6 == 0)
    classify(adata, "label", n_genes=[1, 3])
    assert (adata.obs["glfs_class_predicted"] == truth).mean() > 0.95
    entry = adata.uns["glfs_class"]
    assert (entry["n_labelled"], entry["n_folds"]) == (15, 5)
    (note,) = [message for message in caplog.messages if "folds" in message]
    assert note.count("5 ") == 2  # cells, and folds


@pytest.mark.parametrize("classes", [["B", "NK", "T/4"], ["B", "NK"]])
def test_what_is_written(adata, classes):
    adata = adata[adata.obs["label"].isin(classes)].copy()
    classify(adata, "label", n_genes=[1, 3])
    entry, decision = adata.uns["glfs_class"], adata.obsm["glfs_class_decision"]
    assert list(entry["classes"]) == classes
    assert decision.shape == (adata.n_obs, len(classes))
    predicted = adata.obs["glfs_class_predicted"].astype(str)
    np.testing.assert_array_equal(entry["classes"][decision.argmax(axis=1)], predicted)
    assert (predicted == adata.obs["label"]).mean() > 0.9
    assert set(adata.var_names[adata.var["glfs_class_selected"]]) == set(entry["genes"])
    assert (adata.var["glfs_class_weight"] >= 0).all()
    linear = adata[:, entry["genes"]].X @ entry["coef"] + entry["intercept"]
    np.testing.assert_allclose(linear, decision[:, -linear.shape[1] :], atol=1e-6)
    assert np.median(adata.obs["glfs_class_margin"]) == pytest.approx(1.0)
    assert list(entry["tried"]) == [1, 3]
    assert entry["cv_errors"][list(entry["tried"]).index(entry["n_genes"])] == 0


def test_a_second_run_leaves_nothing_of_the_first(adata):
    classify(adata, "label", n_genes=3)
    adata.obs["half"] = np.where(np.arange(90) < 45, "a", "b")
    classify(adata, "half", n_genes=2)
    assert adata.obsm["glfs_class_decision"].shape == (90, 2)


def test_new_cells_are_predicted_and_not_learnt_from(adata, outside):
    """By genes of the same names, in another order, in a file; without labels."""
    known, new = adata[::2].copy(), adata[1::2].copy()
    alone = known.copy()
    truth = new.obs.pop("label")
    classify(alone, "label", n_genes=3)
    classify(known, "label", n_genes=3, new=new)
    pd.testing.assert_frame_equal(known.obs, alone.obs)
    assert (new.obs["glfs_class_predicted"].astype(str) == truth.astype(str)).all()
    assert list(new.uns["glfs_class"]["genes"]) == list(known.uns["glfs_class"]["genes"])
    assert list(new.var) == []
    again = outside(new[:, ::-1].copy())
    classify(known, "label", n_genes=3, new=again)
    pd.testing.assert_frame_equal(again.obs, new.obs)
    itself = alone.copy()
    classify(alone, "label", n_genes=3, new=itself)
    pd.testing.assert_frame_equal(itself.obs, alone.obs)


def test_genes_that_new_cells_lack_are_not_selected(adata, unchanged):
    new = adata[:, adata.var_names != "g3"].copy()
    classify(adata, "label", n_genes=3, new=new)
    assert "g3" not in set(adata.uns["glfs_class"]["genes"])
    with refused(InvalidValue, "new"):
        classify(adata, "label", n_genes=3, new=new, include=["g3"])
    new.X[2, new.var_names.get_loc("g17")] = np.nan
    with unchanged(adata), refused(InvalidValue, "new"):
        classify(adata, "label", n_genes=3, new=new)


def test_leukaemia(real):
    adata = real("golub72")
    adata.X = np.log10(np.clip(adata.X, 100.0, 16000.0))
    train, test = (adata[adata.obs["split"] == part].copy() for part in ("train", "test"))
    classify(train, "label", n_genes=8, new=test)
    assert (test.obs["glfs_class_predicted"] != test.obs["label"]).sum() <= 5
    truth, errors = train.obs["label"].to_numpy(), []
    for seed in range(2):
        train.obs["label"] = np.random.default_rng(seed).permutation(truth)
        classify(train, "label", n_genes=8, new=test)
        errors.append((test.obs["glfs_class_predicted"].astype(str) != test.obs["label"]).mean())
    assert 0.3 < np.mean(errors) < 0.7  # chance


def test_classes_with_few_cells_are_named(adata, caplog):
    label = adata.obs["label"].astype(object)
    label.iloc[:3] = "pair", "pair", "single"
    adata.obs["label"] = label
    classify(adata, "label", n_genes=[3, 5])
    entry = adata.uns["glfs_class"]
    assert set(entry["classes"]) == {"B", "NK", "T/4", "pair", "single"}
    assert (entry["n_folds"], entry["n_tested"], entry["n_labelled"]) == (10, 89, 90)
    (message,) = [message for message in caplog.messages if "'" in message]
    assert "'single'" in message
    assert "'pair'" in message


def test_include_exclude_and_batches(adata):
    adata.obs["donor"] = np.where(np.arange(90) % 2, "x", "y")
    adata.X[1::2, 18:22] += 30.0
    classify(adata, "label", n_genes=3, include=["g8"], exclude="g3", batch_key="donor")
    genes = adata.uns["glfs_class"]["genes"]
    assert genes[0] == "g8"
    assert not {"g3", "g18", "g19", "g20", "g21"} & set(genes)


def test_two_cells_are_too_few(adata, unchanged):
    few = adata[:2].copy()
    few.obs["side"] = ["left", "right"]
    with unchanged(few), refused(InvalidValue, "X"):
        classify(few, "side", n_genes=2)


def test_columns_that_do_not_do_are_refused(adata, unchanged):
    adata.obs["constant"] = "x"
    adata.obs["holes"] = adata.obs["label"].where(np.arange(90) > 3)
    adata.obs["none"] = pd.Categorical([None] * 90, categories=["a", "b"])
    for argument, options in (
        ("labels", {"labels": "constant"}),
        ("labels", {"labels": "none"}),
        ("batch_key", {"labels": "label", "batch_key": "holes"}),
    ):
        with unchanged(adata), refused(InvalidValue, argument):
            classify(adata, **options)


def test_many_cells_are_tried_in_part_and_learnt_from_all(pbmc, outside, monkeypatch, caplog):
    """It is said once, and rare labels keep their cells; the same cells in a file."""
    monkeypatch.setattr("glfs_bio.estimators._glfs_laprls._MOST_TRIED", 200)
    held = outside(pbmc)
    with caplog.at_level("WARNING", "glfs_bio"):
        for adata in (pbmc, held):
            classify(adata, "bulk_labels", n_genes=[2, 4])
    entry = pbmc.uns["glfs_class"]
    assert entry["n_tested"] < pbmc.n_obs
    assert entry["n_labelled"] == pbmc.n_obs
    assert len(entry["classes"]) == pbmc.obs["bulk_labels"].nunique()
    np.testing.assert_array_equal(held.uns["glfs_class"]["cv_errors"], entry["cv_errors"])
    assert sum("cross-validation of" in message for message in caplog.messages) == 2
