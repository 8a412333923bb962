import json

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio.errors import Caution, InvalidValue, NotFound
from glfs_bio.io import read_classifier, write_classifier
from glfs_bio.tl import classify, predict


def lazy(values):
    return pytest.importorskip("dask.array").from_array(values)


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
def new(_pbmc):
    return _pbmc[1::2].copy()


def found(adata):
    obsm = adata.obsm.get("glfs_class_decision")
    return adata.obs["glfs_class_decision"].to_numpy() if obsm is None else obsm


def test_it_says_of_the_same_cells_what_classify_says(known):
    again = known.copy()
    predict(again, known.uns["glfs_class"])
    for column in ("predicted", "margin"):
        name = f"glfs_class_{column}"
        assert (again.obs[name] == known.obs[name]).all() or np.allclose(
            again.obs[name], known.obs[name]
        )
    np.testing.assert_allclose(found(again), found(known), rtol=1e-5, atol=1e-6)
    labelled = known.obs["glfs_class_margin"]
    assert np.median(labelled) == pytest.approx(1.0)


def test_genes_in_any_order_beside_others(known, new):
    plain, other = new.copy(), new[:, ::-1].copy()
    predict(plain, known.uns["glfs_class"])
    predict(other, known.uns["glfs_class"])
    np.testing.assert_allclose(found(plain), found(other), rtol=1e-5, atol=1e-6)
    few = new[:, known.uns["glfs_class"]["genes"]].copy()
    predict(few, known.uns["glfs_class"])
    np.testing.assert_allclose(found(plain), found(few), rtol=1e-5, atol=1e-6)


def test_genes_by_symbol_either_way(known, new):
    plain, ids, both = new.copy(), new.copy(), new.copy()
    predict(plain, known.uns["glfs_class"])
    ids.var_names = known.var["id"].to_numpy()  # the model knows them as symbols
    predict(ids, known.uns["glfs_class"])
    both.var["called"] = both.var_names.to_numpy()
    both.var_names = [f"g{i}" for i in range(both.n_vars)]
    predict(both, known.uns["glfs_class"], symbols="called")
    for one in (ids, both):
        np.testing.assert_array_equal(found(plain), found(one))
    both.var["called"] = known.uns["glfs_class"]["genes"][0]
    with refused(InvalidValue, "model"):
        predict(both, known.uns["glfs_class"], symbols="called")


@pytest.mark.parametrize("container", ["dense", "csc", "dask", "backed", "layer"])
def test_containers(known, new, tmp_path, container):
    plain = new.copy()
    predict(plain, known.uns["glfs_class"])
    layer = None
    dense = new.X.toarray() if sparse.issparse(new.X) else np.asarray(new.X)
    if container == "backed":
        new.write_h5ad(tmp_path / "new.h5ad")
        new = ad.read_h5ad(tmp_path / "new.h5ad", backed="r")
    elif container == "layer":
        new.layers["log"], new.X, layer = new.X.copy(), dense + 5.0, "log"
    else:
        make = {"dense": np.array, "csc": sparse.csc_matrix, "dask": lazy}
        new.X = make[container](dense)
    predict(new, known.uns["glfs_class"], layer=layer)
    np.testing.assert_allclose(found(plain), found(new), rtol=1e-5, atol=1e-6)


def test_unsure_cells_have_no_label(known, new):
    every = new.copy()
    predict(every, known.uns["glfs_class"])
    predict(new, known.uns["glfs_class"], unsure=0.5)
    clear = every.obs["glfs_class_margin"] >= 0.5
    label = new.obs["glfs_class_predicted"]
    assert label.isna().any()
    np.testing.assert_array_equal(label.notna(), clear)
    assert (label[clear] == every.obs["glfs_class_predicted"][clear]).all()
    assert new.uns["glfs_class"]["prediction"]["n_unsure"] == (~clear).sum()
    if known.obs["type"].nunique() > 2:
        right = every.obs["glfs_class_predicted"].astype(str) == every.obs["louvain"].astype(str)
        assert right[clear].mean() > right[~clear].mean() + 0.2


def test_absent_genes_are_taken_at_their_mean(known, new):
    model = known.uns["glfs_class"]
    gone, mean = model["genes"][[0, 4]], model["gene_means"][[0, 4]]
    fewer = new[:, ~new.var_names.isin(gone)].copy()
    with refused(NotFound, "model"):
        predict(fewer, model)
    with pytest.warns(Caution):
        predict(fewer, model, missing="warn")
    filled = new.copy()
    dense = np.array(new.X.toarray() if sparse.issparse(new.X) else new.X)
    dense[:, new.var_names.get_indexer(gone)] = mean
    filled.X = dense
    predict(filled, model)
    np.testing.assert_allclose(found(fewer), found(filled), rtol=1e-4, atol=1e-5)
    assert set(fewer.uns["glfs_class"]["prediction"]["absent"]) == set(gone)


def test_a_file_is_the_model(known, new, tmp_path):
    path = tmp_path / "model.json"
    write_classifier(known, path)
    other = new.copy()
    predict(new, known.uns["glfs_class"])
    for model in (path, str(path), read_classifier(path)):
        predict(other, model)
        np.testing.assert_array_equal(found(new), found(other))
    pd.testing.assert_series_equal(
        new.obs["glfs_class_predicted"], other.obs["glfs_class_predicted"]
    )
    other.write_h5ad(tmp_path / "other.h5ad")
    back = ad.read_h5ad(tmp_path / "other.h5ad")
    write_classifier(back, tmp_path / "again.json")
    told = [json.loads(file.read_text()) for file in (path, tmp_path / "again.json")]
    for part in ("genes", "classes", "coef", "intercept", "gene_means", "typical_margin"):
        assert told[0][part] == told[1][part]


def test_a_second_prediction_leaves_nothing_of_the_first(pbmc, new):
    for groups in (pbmc.obs["louvain"], np.where(pbmc.obs["louvain"] == "1", "a", "b")):
        known = pbmc.copy()
        known.obs["type"] = np.asarray(groups, dtype=object)
        classify(known, "type", n_genes=5)
        predict(new, known.uns["glfs_class"])
    assert "glfs_class_decision" in new.obs
    assert "glfs_class_decision" not in new.obsm


def test_counts_and_holes(known, new):
    counts = new.copy()
    counts.X = np.random.default_rng(0).poisson(1.0, size=new.shape).astype(float)
    with pytest.warns(Caution):
        predict(counts, known.uns["glfs_class"])
    dense = np.array(new.X.toarray() if sparse.issparse(new.X) else new.X)
    dense[3, new.var_names.get_loc(known.uns["glfs_class"]["genes"][0])] = np.nan
    new.X = lazy(dense)
    with refused(InvalidValue, "X"):
        predict(new, known.uns["glfs_class"])
    assert "glfs_class" not in new.uns
