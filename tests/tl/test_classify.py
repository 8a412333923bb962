import os
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound
from glfs_bio.tl import classify


@pytest.fixture
def adata():
    """90 cells of 3 types, 40 genes, one of which marks each type."""
    rng = np.random.default_rng(0)
    label = np.repeat(["B", "NK", "T/4"], 30)
    X = rng.normal(scale=0.5, size=(90, 40))
    for i, gene in enumerate((3, 17, 22)):
        X[30 * i : 30 * (i + 1), gene] += 4.0
    return ad.AnnData(
        X,
        obs=pd.DataFrame({"label": pd.Categorical(label)}, index=[f"c{i}" for i in range(90)]),
        var=pd.DataFrame(index=[f"g{i}" for i in range(40)]),
    )


@pytest.fixture
def two(adata):
    return adata[:60].copy()


def golub_or_skip():
    file = Path(os.environ.get("GLFS_BIO_DATA", "")) / "golub72.h5ad"
    if "GLFS_BIO_DATA" not in os.environ or not file.exists():
        if os.environ.get("GLFS_BIO_REQUIRE_DATA"):
            pytest.fail("golub72.h5ad is not in GLFS_BIO_DATA")
        pytest.skip("golub72.h5ad is not in GLFS_BIO_DATA")
    from glfs_bio.datasets import golub

    adata = golub()
    adata.X = np.log10(np.clip(adata.X, 100.0, 16000.0))
    adata.obs["train"] = (adata.obs["split"] == "train").to_numpy()
    return adata


def test_missing_labels_are_filled_in(adata):
    truth = adata.obs["label"].copy()
    adata.obs.loc[adata.obs_names[np.arange(90) % 6 > 0], "label"] = np.nan
    before = adata.X.copy()
    classify(adata, "label", n_genes=3, graph="neighbors")
    assert (adata.obs["glfs_class_predicted"] == truth).mean() > 0.95
    assert adata.uns["glfs_class"]["n_labelled"] == 15
    assert adata.uns["glfs_class"]["n_unlabelled"] == 75
    assert "lam" not in adata.uns["glfs_class"]
    np.testing.assert_array_equal(adata.X, before)
    np.testing.assert_array_equal(
        adata.var_names[adata.var["glfs_class_selected"]], ["g3", "g17", "g22"]
    )


def test_several_classes(adata):
    classify(adata, "label", n_genes=[1, 3, 5], cv=3)
    decision = adata.obsm["glfs_class_decision"]
    assert decision.shape == (90, 3)
    classes = adata.uns["glfs_class"]["classes"]
    np.testing.assert_array_equal(
        classes[decision.argmax(axis=1)], adata.obs["glfs_class_predicted"].astype(str)
    )
    coef = adata.varm["glfs_class_coef"]
    selected = adata.var["glfs_class_selected"].to_numpy()
    assert coef.shape == (40, 3)
    assert not coef[~selected].any()
    assert list(adata.uns["glfs_class"]["tried"]) == [1, 3, 5]
    assert adata.uns["glfs_class"]["cv_errors"][1] == 0
    assert adata.uns["glfs_class"]["n_genes"] == 3


def test_two_classes(two):
    classify(two, "label", n_genes=2)
    positive = two.obs["glfs_class_decision"] > 0
    np.testing.assert_array_equal(positive, two.obs["glfs_class_predicted"] == "NK")
    assert "glfs_class_decision" not in two.obsm
    weight, coef = two.var["glfs_class_weight"], two.var["glfs_class_coef"]
    assert (weight >= 0).all()
    assert ((coef != 0) == two.var["glfs_class_selected"]).all()
    assert np.corrcoef(two.X @ coef, two.obs["glfs_class_decision"])[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("n_genes", [2, [1, 2, 4]])
@pytest.mark.parametrize(
    ("graph", "told"), [("classes", True), ("neighbors", False), ("labels", False)]
)
def test_lambda_is_told_where_there_is_one(two, graph, told, n_genes):
    classify(two, "label", n_genes=n_genes, graph=graph, cv=3)
    assert ("lam" in two.uns["glfs_class"]) == told
    assert ((two.var["glfs_class_coef"] != 0) == two.var["glfs_class_selected"]).all()
    assert (two.obs["glfs_class_predicted"] == two.obs["label"]).mean() > 0.9


def test_a_second_run_leaves_nothing_of_the_first(adata):
    classify(adata, "label", n_genes=3)
    adata.obs["half"] = np.where(np.arange(90) < 45, "a", "b")
    classify(adata, "half", n_genes=2)
    assert "glfs_class_decision" in adata.obs
    assert "glfs_class_decision" not in adata.obsm
    assert "glfs_class_coef" not in adata.varm


@pytest.mark.parametrize("n_genes", [3, [1, 3], None])
def test_it_survives_a_file(adata, tmp_path, n_genes):
    adata = adata[:, :20].copy()
    adata.obs["train"] = np.arange(90) % 2 == 0
    classify(adata, "label", train="train", n_genes=n_genes, cv=3, exclude="g19")
    adata.write_h5ad(tmp_path / "a.h5ad")
    back = ad.read_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_frame_equal(back.obs, adata.obs, check_categorical=False)
    pd.testing.assert_frame_equal(back.var, adata.var)
    np.testing.assert_array_equal(
        back.obsm["glfs_class_decision"], adata.obsm["glfs_class_decision"]
    )
    found, expected = back.uns["glfs_class"], adata.uns["glfs_class"]
    assert found.keys() == expected.keys()
    for key in ("genes", "classes"):
        np.testing.assert_array_equal(found[key], expected[key])
    assert found["params"]["train"] == "train"


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse_matrices(adata, container):
    adata.X = np.where(adata.X > 0.5, adata.X, 0.0)
    other = adata.copy()
    other.X = container(adata.X)
    classify(adata, "label", n_genes=3)
    classify(other, "label", n_genes=3)
    np.testing.assert_allclose(
        other.obsm["glfs_class_decision"], adata.obsm["glfs_class_decision"], atol=1e-6
    )


def test_cells_outside_train_are_tested_and_not_learnt_from(adata):
    """The selection is the same when the matrix and the labels of the test cells are noise."""
    adata.obs["train"] = np.arange(90) % 3 > 0
    noisy = adata.copy()
    test = ~adata.obs["train"].to_numpy()
    rng = np.random.default_rng(1)
    noisy.X[test] = 1e3 * rng.normal(size=(test.sum(), 40))
    noisy.obs.loc[test, "label"] = rng.permutation(noisy.obs["label"][test].to_numpy())
    for one in (adata, noisy):
        classify(one, "label", train="train", n_genes=[2, 3], cv=3)
    for column in ("weight", "selected"):
        np.testing.assert_array_equal(
            adata.var[f"glfs_class_{column}"], noisy.var[f"glfs_class_{column}"]
        )
    np.testing.assert_array_equal(adata.varm["glfs_class_coef"], noisy.varm["glfs_class_coef"])
    assert adata.uns["glfs_class"]["n_test"] == 30
    assert adata.uns["glfs_class"]["test_errors"] == 0
    assert noisy.uns["glfs_class"]["test_errors"] > 5


def test_leukaemia_without_leakage():
    adata = golub_or_skip()
    noisy = adata.copy()
    test = ~adata.obs["train"].to_numpy()
    rng = np.random.default_rng(0)
    noisy.X[test] = rng.normal(size=(test.sum(), adata.n_vars))
    noisy.obs.loc[test, "label"] = rng.permutation(noisy.obs["label"][test].to_numpy())
    options = {"train": "train", "n_genes": [8, 14], "cv": 3}
    for one in (adata, noisy):
        classify(one, "label", **options)
    np.testing.assert_array_equal(adata.var["glfs_class_coef"], noisy.var["glfs_class_coef"])
    np.testing.assert_array_equal(
        adata.uns["glfs_class"]["cv_errors"], noisy.uns["glfs_class"]["cv_errors"]
    )
    assert adata.uns["glfs_class"]["test_errors"] <= 5
    assert adata.uns["glfs_class"]["cv_errors"].min() <= 2


def test_leukaemia_with_permuted_labels_is_chance():
    adata = golub_or_skip()
    rng = np.random.default_rng(0)
    truth = adata.obs["label"].astype(str).to_numpy()
    errors = []
    for _ in range(4):
        # As many of each class in both parts, so that chance is the same in all.
        adata.obs["label"] = truth
        train = adata.obs["train"].to_numpy()
        for part in (train, ~train):
            adata.obs.loc[part, "label"] = rng.permutation(truth[part])
        classify(adata, "label", train="train", n_genes=8)
        errors.append(adata.uns["glfs_class"]["test_errors"] / 34)
    assert 0.3 < np.mean(errors) < 0.7


def test_five_labels_a_type_need_no_options(adata, caplog):
    truth = adata.obs["label"].copy()
    adata.obs["label"] = truth.where(np.arange(90) % 6 == 0)
    classify(adata, "label")
    assert (adata.obs["glfs_class_predicted"] == truth).mean() > 0.95
    assert adata.uns["glfs_class"]["n_folds"] == 5
    (said,) = [one for one in caplog.messages if "folds" in one]
    assert said.count("5 ") == 2  # cells, and folds


@pytest.mark.filterwarnings("ignore:.*no structure above the noise")
@pytest.mark.parametrize("graph", ["classes", "neighbors"])
def test_folds_repeat_no_note(adata, caplog, graph):
    """The graph of the classes is in parts on purpose, that of the cells is said to be once."""
    adata.X[:, 5:] *= 0.01
    classify(adata, "label", n_genes=[3, 4], cv=3, graph=graph, n_comps=10)
    assert caplog.text.count("connected components") == (graph == "neighbors")


def test_classes_with_few_cells_are_named(adata, caplog):
    label = adata.obs["label"].astype(object)
    label.iloc[:3] = "pair", "pair", "one"
    adata.obs["label"] = label
    classify(adata, "label", n_genes=[3, 5], cv=5)
    entry = adata.uns["glfs_class"]
    assert set(entry["classes"]) == {"B", "NK", "T/4", "one", "pair"}
    assert (entry["n_folds"], entry["n_tested"], entry["n_labelled"]) == (5, 89, 90)
    one, pair = (said for said in caplog.messages if "'" in said)
    assert "'one'" in one
    assert "'pair'" in pair
    assert "5" in pair


def test_values_that_may_mean_no_label_are_named(adata, caplog):
    caplog.set_level("INFO")
    adata.obs["label"] = np.where(np.arange(90) % 9 == 0, "Unknown", adata.obs["label"].astype(str))
    classify(adata, "label", n_genes=3)
    assert "B (26), NK (27), T/4 (27), Unknown (10)" in caplog.text
    assert "'Unknown'" in caplog.text
    adata.obs["label"] = adata.obs["label"].where(adata.obs["label"] != "Unknown")
    caplog.clear()
    classify(adata, "label", n_genes=3)
    assert "Unknown" not in caplog.text
    assert adata.uns["glfs_class"]["n_unlabelled"] == 10


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


@pytest.mark.parametrize(
    ("options", "kind", "argument"),
    [
        ({"labels": "type"}, NotFound, "labels"),
        ({"labels": "score"}, InvalidType, "labels"),
        ({"labels": "one"}, InvalidValue, "labels"),
        ({"labels": "none"}, InvalidValue, "labels"),
        (
            {"labels": "rare", "n_genes": 3, "graph": "classes"},
            InvalidValue,
            "labels",
        ),
        ({"labels": "label", "include": ["g3", "g4"], "n_genes": 1}, InvalidValue, "include"),
        ({"labels": "label", "batch_key": "holes"}, InvalidValue, "batch_key"),
        ({"labels": "label", "train": "split"}, NotFound, "train"),
        (
            {"labels": "label", "train": np.ones(3, dtype=bool)},
            InvalidValue,
            "train",
        ),
        ({"labels": "label", "train": np.zeros(90, dtype=bool)}, InvalidValue, "train"),
        ({"labels": "label", "graph": "knn"}, InvalidValue, "graph"),
        ({"labels": "label", "layer": "log"}, NotFound, "layer"),
        ({"labels": "label", "n_genes": 0}, InvalidValue, "n_genes"),
        ({"labels": "label", "n_genes": 41}, InvalidValue, "n_genes"),
        ({"labels": "label", "n_genes": 3, "lambda2": -1.0}, InvalidValue, "lambda2"),
        ({"labels": "label", "n_comps": "all"}, InvalidValue, "n_comps"),
    ],
)
def test_bad_input_leaves_the_object_alone(adata, options, kind, argument):
    adata.obs["score"] = np.arange(90.0) + 0.5
    adata.obs["one"] = "x"
    adata.obs["holes"] = adata.obs["label"].where(np.arange(90) > 3)
    adata.obs["none"] = pd.Categorical([None] * 90, categories=["a", "b"])
    adata.obs["rare"] = np.where(np.arange(90) < 89, "x", "y")
    obs, var, uns = adata.obs.copy(), adata.var.copy(), dict(adata.uns)
    with refused(kind, argument):
        classify(adata, **options)
    pd.testing.assert_frame_equal(adata.obs, obs)
    pd.testing.assert_frame_equal(adata.var, var)
    assert dict(adata.uns) == uns


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
@pytest.mark.parametrize("options", [{"n_genes": 8}, {"n_genes": [3, 6], "cv": 2}])
def test_from_a_file_it_is_that_of_memory(pbmc, outside, options):
    pbmc.obs["known"] = np.arange(pbmc.n_obs) % 3 > 0
    held = outside(pbmc)
    for adata in (pbmc, held):
        classify(adata, "bulk_labels", train="known", **options)
    np.testing.assert_array_equal(held.uns["glfs_class"]["genes"], pbmc.uns["glfs_class"]["genes"])
    for name in ("coef", "intercept", "gene_means", "typical_margin"):
        found, expected = held.uns["glfs_class"][name], pbmc.uns["glfs_class"][name]
        np.testing.assert_allclose(found, expected, rtol=1e-8)
    assert (held.obs["glfs_class_predicted"] == pbmc.obs["glfs_class_predicted"]).all()
    np.testing.assert_allclose(held.obs["glfs_class_margin"], pbmc.obs["glfs_class_margin"])


@pytest.mark.parametrize("outside", ["csr", "dask"], indirect=True)
def test_many_cells_are_tried_in_part_and_learnt_from_all(pbmc, outside, monkeypatch, caplog):
    """It is said once, and rare labels keep their cells; the same cells in a file."""
    monkeypatch.setattr("glfs_bio.estimators._glfs_laprls._MOST_TRIED", 200)
    sizes = pbmc.obs["bulk_labels"].value_counts()
    held = outside(pbmc)
    with caplog.at_level("WARNING", "glfs_bio"):
        for adata in (pbmc, held):
            classify(adata, "bulk_labels", n_genes=[2, 4], cv=2)
    entry = pbmc.uns["glfs_class"]
    assert entry["n_cross_validated"] < pbmc.n_obs
    assert entry["n_tested"] == entry["n_cross_validated"]
    assert entry["n_labelled"] == pbmc.n_obs
    assert len(entry["classes"]) == len(sizes)
    np.testing.assert_array_equal(held.uns["glfs_class"]["cv_errors"], entry["cv_errors"])
    assert sum("cross-validation of" in one.getMessage() for one in caplog.records) == 2


@pytest.mark.parametrize("outside", ["csc"], indirect=True)
def test_an_interruption_leaves_the_object_as_it_was(pbmc, outside, monkeypatch):
    held = outside(pbmc)
    before = [*held.obs], [*held.var], [*held.uns]

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("glfs_bio.tl._classify._tested", stop)
    with pytest.raises(KeyboardInterrupt):
        classify(held, "bulk_labels", n_genes=3)
    assert ([*held.obs], [*held.var], [*held.uns]) == before
