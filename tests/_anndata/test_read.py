"""Matrices that are not what is expected: recognised, and said what to do."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from joblib import parallel_config
from refusals import refused
from scipy import sparse

from glfs_bio import Limits, io, pp, tl
from glfs_bio._anndata import read
from glfs_bio._anndata.results import request_of
from glfs_bio.data.matrix import RowMatrix, check_unit
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound


def cautions(adata, **options):
    with pytest.warns(Caution) as caught:
        pp.select_genes(adata, 5, **options)
    return [str(warning.message) for warning in caught]


def test_one_gene_in_another_unit(pbmc):
    few = pbmc[:, :60].copy()
    pp.select_genes(few, 5)
    few.X = sparse.csr_matrix(few.X.multiply(np.where(np.arange(60) == 7, 10.0, 1.0)))
    (message,) = cautions(few)
    assert few.var_names[7] in message


def test_raw_is_a_layer_of_the_genes_that_are_there(pbmc):
    other = pbmc[:, 100:400].copy()
    other.X = other.X[::-1]
    other.raw = pbmc
    same = pbmc[:, 100:400].copy()
    for adata, from_raw in ((other, {"layer": "raw"}), (same, {})):
        pp.select_genes(adata, 5, **from_raw)
        pp.structure(adata, **from_raw, key_added="own")
        tl.evaluate_panel(adata, "glfs")
        tl.stability(adata, n_resamples=2)
        tl.classify(adata, "bulk_labels", n_genes=5, **from_raw)
    assert request_of(other, "glfs").structure.layer == "raw"
    for column in ("glfs_selected", "glfs_stability_consensus"):
        assert (other.var[column] == same.var[column]).all()
    for key in ("own", "glfs_class_decision"):
        np.testing.assert_array_equal(other.obsm[key], same.obsm[key])
    joined = pp.select_genes([other, other.copy()], 5, layer="raw", inplace=False)
    pd.testing.assert_frame_equal(joined, pp.select_genes([same, same.copy()], 5, inplace=False))


@pytest.mark.skipif(not hasattr(ad.experimental, "read_lazy"), reason="older than lazy objects")
def test_names_of_a_lazy_object_stay(pbmc, tmp_path):
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    lazy = ad.experimental.read_lazy(tmp_path / "cells.h5ad")
    frame = pp.select_genes(lazy, 5, inplace=False)
    assert list(frame.index) == list(pbmc.var_names)
    assert lazy.obs["bulk_labels"].equals(pbmc.obs["bulk_labels"])


def test_a_layer_called_raw_is_that_layer_and_raw_may_be_missing(pbmc):
    absent = pbmc.copy()
    other = pbmc[:, :100].copy()
    other.raw = pbmc
    other.var_names = [f"{name}!" for name in other.var_names]
    pbmc.raw = pbmc.copy()
    pbmc.layers["raw"] = pbmc.X[::-1]
    pbmc.layers["other"] = pbmc.layers["raw"]
    first, second = (
        pp.select_genes(pbmc, 5, layer=layer, inplace=False) for layer in ("raw", "other")
    )
    pd.testing.assert_frame_equal(first, second)
    for adata in (absent, other):
        with refused(NotFound, "layer"):
            pp.select_genes(adata, 5, layer="raw")


def test_genes_that_only_raw_has_are_told(pbmc):
    few = pbmc[:, :100].copy()
    few.raw = pbmc
    with refused(NotFound, "include") as caught:
        pp.select_genes(few, 5, include=["LYZ", "CD79A"])
    assert "LYZ is in `adata.raw`" in str(caught.value)


def counted(target):
    rng = np.random.default_rng(0)
    means = rng.gamma(0.3, 2.0, size=(5, 80))[rng.integers(5, size=200)]
    counts = sparse.csr_matrix(rng.poisson(means).astype(np.float32))
    adata = ad.AnnData(counts)
    sc.pp.normalize_total(adata, target_sum=target)
    sc.pp.log1p(adata)
    return adata


def test_logarithms_are_taken_once(pbmc, real):
    once = [counted(target) for target in (100, 1e4, 1e6, None)]
    for adata in once:
        assert read.state(adata.X[:20]) is None
        twice = np.log1p(adata.X[:20])
        assert read.state(twice) == read.state(twice.toarray()) == "twice"
    for values in (
        pbmc.X,
        real("pbmc3k_2638").X,
        np.random.default_rng(0).normal(size=(30, 30)),
        sparse.csr_matrix((30, 30)),
    ):
        assert read.state(values[:20]) != "twice"
    values = once[0].X[:20].toarray() if sparse.issparse(once[0].X) else once[0].X[:20]
    nearly_zero = np.where(values == 0, 5e-324, values)
    assert read.state(nearly_zero) is None  # nor does anything overflow


def per_million(x):
    x = x.expm1() * 1e3
    x.data *= np.random.default_rng(0).uniform(0.5, 2.0, x.nnz)
    return x


@pytest.mark.parametrize(
    ("word", "change"),
    [
        ("normalised", lambda x: x.expm1()),
        ("normalised", per_million),
        ("counts", lambda x: x.expm1().rint()),
        ("twice", lambda x: x.log1p()),
        ("scaled", lambda x: sc.pp.scale(x.toarray())),
    ],
)
def test_the_state_of_the_matrix_is_called_by_its_name(pbmc, word, change):
    few = pbmc[:, ::4].copy()
    few.raw = few.copy()
    few.layers["changed"] = change(few.X)
    values = few.layers["changed"]
    values = values.toarray() if sparse.issparse(values) else values
    messages = cautions(few, layer="changed")
    for container in (np.asarray, sparse.csr_matrix, sparse.csc_matrix):
        few.X = container(values)
        messages += cautions(few)
    assert len(messages) == 4
    for message in messages:
        assert word in message
        assert "microarray" not in message
        assert word != "scaled" or "layer='raw'" in message
    pp.select_genes(few, 5, layer="raw")  # warnings are errors
    before = few.raw.to_adata()
    pp.select_genes(before, 5)
    assert (few.var["glfs_selected"] == before.var["glfs_selected"]).all()


def test_values_that_hardly_differ(pbmc):
    """Differences of large sums are lost in CSR, and not in dense matrices."""
    dense = ad.AnnData(pbmc.X.toarray().astype(float) + 1e4, var=pbmc.var[[]])
    full = ad.AnnData(sparse.csr_matrix(dense.X), var=pbmc.var[[]])
    for adata in (dense, full):
        cautions(adata)
    assert (dense.var["glfs_selected"] == full.var["glfs_selected"]).all()
    full.X.data += 1e6
    with refused(InvalidValue, "X"):
        cautions(full)


def test_a_unit_in_which_squares_vanish_or_are_infinite(pbmc, tmp_path):
    values = sparse.csr_matrix(pbmc.X.astype(float))
    pbmc.X = values * 1e-100
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    for adata in (pbmc, io.read_cells(tmp_path / "cells.h5ad", backed=True)):
        with refused(InvalidValue, "X"):
            pp.select_genes(adata, 5)
    with refused(InvalidValue, "X"):
        check_unit(RowMatrix(values * 1e20))


def test_weights_of_any_size(pbmc):
    pp.select_genes(pbmc, 8, preserve={"structure": 1, "bulk_labels": 2})
    for unit in (1e307, 1e-300):
        preserve = {"structure": unit, "bulk_labels": 2 * unit}
        pp.select_genes(pbmc, 8, preserve=preserve, key_added="other")
        assert (pbmc.var["other_selected"] == pbmc.var["glfs_selected"]).all()


def test_an_iterator_is_recorded(pbmc):
    pp.select_genes(pbmc, 5, include=(name for name in ["CD3D", "CD79A"]))
    assert request_of(pbmc, "glfs").include == ["CD3D", "CD79A"]
    pp.select_genes(pbmc, 5, preserve=iter(["CD3D", "LYZ"]))
    assert request_of(pbmc, "glfs").preserve == ["CD3D", "LYZ"]


def test_more_processes_than_parts(pbmc):
    few = pbmc[::4, ::4].copy()
    pp.select_genes(few, 3)
    with parallel_config("threading"):  # processes take seconds to start
        tl.stability(few, n_resamples=2, n_jobs=10**6)
    assert few.var["glfs_stability_frequency"].max() > 0


def test_a_part_of_a_backed_object_is_refused(pbmc, tmp_path):
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    part = io.read_cells(tmp_path / "cells.h5ad", backed=True)[:300]
    calls = (
        pp.structure,
        lambda adata: pp.select_genes(adata, 5, inplace=False),
        lambda adata: tl.explain_panel(adata, ["CD3D"]),
        lambda adata: tl.evaluate_panel(adata, ["CD3D"], inplace=False),
        lambda adata: tl.classify(adata, "bulk_labels"),
        tl.resolve_genes,
    )
    for call in calls:
        with refused(InvalidValue, "adata"):
            call(part)


def test_names_that_are_no_texts(pbmc):
    """By every function, before any work."""
    pp.select_genes(pbmc, 5)
    good = pbmc.copy()
    calls = (
        lambda adata: pp.select_genes(adata, 5),
        pp.structure,
        lambda adata: tl.evaluate_panel(adata, "glfs"),
        tl.explain_panel,
        lambda adata: tl.classify(adata, "bulk_labels"),
        lambda adata: pp.select_genes({"a": adata, "b": good}, 5),
    )
    for names in (pd.CategoricalIndex(good.var_names), good.var_names.astype("string")):
        pbmc.var.index = names
        read.check(pbmc)  # texts
    for names in (range(765), [np.nan, *map(str, range(764))], [0.5] * 765):
        pbmc.var.index = pd.Index(list(names), dtype=object)
        for call in calls:
            with refused(InvalidType, "adata"):
                call(pbmc)
    assert pbmc.var.columns.equals(good.var.columns)


def test_another_byte_order(pbmc, tmp_path):
    dask_array = pytest.importorskip("dask.array")
    few = pbmc[:, :60].copy()
    few.X = few.X.toarray()
    few.layers["same"] = few.X.astype(">f8")
    pp.select_genes(few, 5, key_added="native")
    other, entries, lazy = few.copy(), few.copy(), few.copy()
    other.X = few.X.astype(">f4")
    other.write_h5ad(tmp_path / "other.h5ad")
    entries.X = sparse.csr_matrix(few.X)
    entries.X.data = entries.X.data.astype(">f4")
    lazy.X = dask_array.from_array(other.X, chunks=(200, 60))
    backed = ad.read_h5ad(tmp_path / "other.h5ad", backed="r")
    assert backed.X.dtype.byteorder == ">"
    for adata in (other, entries, lazy, backed):
        table = pp.select_genes(adata, 5, inplace=False)
        assert (table["glfs_selected"] == few.var["native_selected"]).all()
    table = pp.select_genes(few, 5, layer="same", inplace=False)
    assert (table["glfs_selected"] == few.var["native_selected"]).all()
    entry = tl.evaluate_panel(other, "native", inplace=False)
    assert entry["measures"]["value"].notna().all()
    few.obsm["space"] = few.obsm["X_pca"].astype(">f8")
    few.obs["batch"] = (np.arange(700) % 2).astype(">i4")
    assert pp.select_genes(few, 5, use_rep="space", inplace=False)["glfs_selected"].sum() == 5
    pp.select_genes(few, 5, batch_key="batch")
    assert list(few.uns["glfs"]["batches"]) == ["0", "1"]


def test_a_column_that_stands_twice_is_refused_by_its_argument(pbmc):
    pbmc.obs = pd.concat([pbmc.obs, pbmc.obs[["phase"]]], axis=1)
    pbmc.var = pd.DataFrame({"a": 1.0, "b": 1.0}, pbmc.var_names).set_axis(["cost", "cost"], axis=1)
    for options in ({"preserve": "phase"}, {"cell_weights": "phase"}, {"batch_key": "phase"}):
        with refused(InvalidValue, *options):
            pp.select_genes(pbmc, 5, **options)
    with refused(InvalidValue, "cost"):
        pp.select_genes(pbmc, 5, limits=Limits(cost="cost", budget=9.0))


def test_labels_go_by_the_place_of_a_cell_whose_name_is_a_number(pbmc):
    pbmc.obs.index = pd.RangeIndex(5, 705)
    pp.select_genes(pbmc, 5, preserve="phase", cell_weights="phase")
    tl.stability(pbmc, n_resamples=2)
    assert pbmc.uns["glfs_stability"]["n_tested"] == pbmc.uns["glfs"]["n_tested"]


def test_genes_in_rows_are_refused(pbmc, refuses):
    """By names of cells in columns, or genes of all tissues in rows alone."""
    turned, named = pbmc.T.copy(), pbmc.T.copy()
    named.var_names = [f"Sample {i}" for i in range(named.n_vars)]
    bulk = named.copy()
    bulk.var_names = [f"P{i}" for i in range(named.n_vars)]
    bulk.obs_names = ["ENSG00000075624", *bulk.obs_names[1:]]
    for adata in (turned, named, bulk):
        refuses(lambda cells=adata: pp.select_genes(cells, 5), adata, InvalidValue, "adata")
        refuses(lambda cells=adata: pp.structure(cells), adata, InvalidValue, "adata")


def test_the_state_of_the_matrix_is_said_by_a_classifier_too(pbmc):
    pbmc.X = np.round(np.expm1(pbmc.X.toarray()))
    with pytest.warns(Caution, match="raw counts"):
        tl.classify(pbmc, "phase", n_genes=2)


def test_a_batch_without_structure_does_not_decide_which_is_the_worst(pbmc, caplog):
    pbmc.obs["batch"] = np.where(np.arange(700) < 9, "noise", "cells")
    pbmc.X = pbmc.X.toarray()
    noise = pbmc.X[:9].ravel()
    pbmc.X[:9] = np.random.default_rng(0).permutation(noise).reshape(9, -1)
    pp.select_genes(pbmc, 10, batch_key="batch", across="worst")
    entry = pbmc.uns["glfs"]
    assert list(entry["n_axes"] > 0) == [True, False]
    assert entry["preserved"][-1] == pytest.approx(entry["preserved_in_batches"][-1, 0])
    assert "noise" in caplog.text
