"""Labels of other cells, by a classifier."""

from __future__ import annotations

import json

import anndata as ad
import numpy as np
import pytest
from refusals import refused

from glfs_bio.errors import Caution, InvalidValue, NotFound
from glfs_bio.io import read_classifier, write_classifier
from glfs_bio.tl import classify, predict


@pytest.fixture(scope="module", params=["two", "many"])
def known(request, _pbmc):
    adata = _pbmc[::2].copy()
    if request.param == "two":
        adata.obs["type"] = np.where(adata.obs["bulk_labels"] == "Dendritic", "DC", "other")
    else:
        adata.obs["type"] = adata.obs["louvain"].astype(str)
    adata.var["id"] = [f"ENSG{i:011d}" for i in range(adata.n_vars)]
    classify(adata, "type", n_genes=15, symbols="id", graph="neighbors")
    return adata


@pytest.fixture
def model(known):
    return known.uns["glfs_class"]


@pytest.fixture
def new(_pbmc):
    """Other cells, in a matrix that can be changed."""
    adata = _pbmc[1::2].copy()
    adata.X = adata.X.toarray()
    return adata


def decision_of(adata):
    decision = adata.obsm.get("glfs_class_decision")
    return adata.obs["glfs_class_decision"].to_numpy() if decision is None else decision


def predicted(adata, model, **options):
    predict(adata, model, **options)
    return decision_of(adata)


def test_it_says_of_the_same_cells_what_classify_says(known, model, tmp_path):
    """By the model in the object, or in a file, which comes back after a prediction."""
    path = tmp_path / "model.json"
    write_classifier(known, path)
    margin = known.obs["glfs_class_margin"]
    assert np.median(margin) == pytest.approx(1.0)
    again = known.copy()
    for source in (model, path, str(path), read_classifier(path)):
        decision = predicted(again, source)
        np.testing.assert_allclose(decision, decision_of(known), rtol=1e-5, atol=1e-6)
        assert (again.obs["glfs_class_predicted"] == known.obs["glfs_class_predicted"]).all()
        np.testing.assert_allclose(again.obs["glfs_class_margin"], margin)
    again.write_h5ad(tmp_path / "again.h5ad")
    write_classifier(ad.read_h5ad(tmp_path / "again.h5ad"), tmp_path / "again.json")
    first, second = (json.loads(file.read_text()) for file in (path, tmp_path / "again.json"))
    for part in ("genes", "classes", "coef", "intercept", "gene_means", "typical_margin"):
        assert first[part] == second[part]


def test_genes_in_any_order_beside_others(model, new):
    """By name, by symbol either way, or in a layer."""
    expected = predicted(new.copy(), model)
    again = [predicted(new[:, ::-1].copy(), model), predicted(new[:, model["genes"]].copy(), model)]
    by_id, by_symbol, by_layer = new.copy(), new.copy(), new.copy()
    by_id.var_names = [f"ENSG{i:011d}" for i in range(new.n_vars)]  # the model's symbols
    again.append(predicted(by_id, model))
    by_symbol.var["called"] = new.var_names.to_numpy()
    by_symbol.var_names = [f"g{i}" for i in range(new.n_vars)]
    again.append(predicted(by_symbol, model, symbols="called"))
    by_layer.layers["log"], by_layer.X = new.X, new.X + 5.0
    again.append(predicted(by_layer, model, layer="log"))
    for decision in again:
        np.testing.assert_allclose(decision, expected, rtol=1e-5, atol=1e-6)
    by_symbol.var["called"] = model["genes"][0]
    with refused(InvalidValue, "model"):
        predict(by_symbol, model, symbols="called")


def test_unsure_cells_have_no_label(model, new):
    every = new.copy()
    predict(every, model)
    predict(new, model, unsure=0.5)
    clear = every.obs["glfs_class_margin"] >= 0.5
    label = new.obs["glfs_class_predicted"]
    assert label.isna().any()
    np.testing.assert_array_equal(label.notna(), clear)
    assert (label[clear] == every.obs["glfs_class_predicted"][clear]).all()
    assert new.uns["glfs_class"]["prediction"]["n_unsure"] == (~clear).sum()


def test_absent_genes_are_taken_at_their_mean(model, new):
    gone, mean = model["genes"][[0, 4]], model["gene_means"][[0, 4]]
    fewer = new[:, ~new.var_names.isin(gone)].copy()
    with refused(NotFound, "model"):
        predict(fewer, model)
    with pytest.warns(Caution):
        predict(fewer, model, missing="warn")
    new.X[:, new.var_names.get_indexer(gone)] = mean
    np.testing.assert_allclose(decision_of(fewer), predicted(new, model), rtol=1e-4, atol=1e-5)
    assert set(fewer.uns["glfs_class"]["prediction"]["absent"]) == set(gone)


def test_counts_and_holes(model, new):
    counts = new.copy()
    counts.X = np.random.default_rng(0).poisson(1.0, size=new.shape).astype(float)
    with pytest.warns(Caution):
        predict(counts, model)
    new.X[3, new.var_names.get_loc(model["genes"][0])] = np.nan
    new.X = pytest.importorskip("dask.array").from_array(new.X)
    with refused(InvalidValue, "X"):
        predict(new, model)
    assert "glfs_class" not in new.uns
