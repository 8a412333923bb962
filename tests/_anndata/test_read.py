"""Matrices that are not what is expected: recognised, and said what to do."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import anndata as ad
import dask.array
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import refused
from scipy import sparse

from glfs_bio import Limits, Platform, io, pp, tl
from glfs_bio._anndata import read
from glfs_bio._anndata.read import logged_twice
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound


def cautions(adata, **options):
    with pytest.warns(Caution) as caught:
        pp.select_genes(adata, 5, **options)
    return [str(one.message) for one in caught]


def test_one_gene_in_another_unit(pbmc):
    few = pbmc[:, :60].copy()
    pp.select_genes(few, 5)
    few.X = sparse.csr_matrix(few.X.multiply(np.where(np.arange(60) == 7, 10.0, 1.0)))
    told = cautions(few)
    assert len(told) == 1
    assert few.var_names[7] in told[0]


def test_scaled_genes(pbmc):
    pbmc.raw = pbmc.copy()
    pbmc.X = pbmc.X.toarray()
    sc.pp.scale(pbmc, max_value=10)
    told = cautions(pbmc)
    assert any("layer='raw'" in one for one in told)
    before = ad.AnnData(pbmc.raw.X, obs=pbmc.obs[[]], var=pbmc.var[[]])
    pp.select_genes(before, 5)
    pp.select_genes(pbmc, 5, layer="raw", key_added="of_raw")
    assert (pbmc.var["of_raw_selected"] == before.var["glfs_selected"]).all()


def test_raw_is_a_layer_of_the_genes_that_are_there(pbmc):
    pbmc.raw = pbmc.copy()
    few = pbmc[:, 100:400].copy()
    few.X = few.X * 0.0
    pp.select_genes(few, 5, layer="raw")
    tl.evaluate_panel(few, "glfs", n_random=1)
    same = pbmc[:, 100:400].copy()
    same.raw = None
    pp.select_genes(same, 5)
    assert (few.var["glfs_selected"] == same.var["glfs_selected"]).all()
    with refused(NotFound, "layer"):
        pp.select_genes(same, 5, layer="raw")
    few.var_names = [f"{name}!" for name in few.var_names]
    with refused(NotFound, "layer"):
        pp.select_genes(few, 5, layer="raw")


def test_use_raw_is_raw_of_the_genes_that_are_there(pbmc):
    other = pbmc[:, 100:400].copy()
    other.X = other.X[::-1]
    other.raw = pbmc
    same = pbmc[:, 100:400].copy()
    for adata, from_raw in ((other, {"use_raw": True}), (same, {})):
        pp.select_genes(adata, 5, **from_raw)
        pp.structure(adata, **from_raw, key_added="own")
        tl.evaluate_panel(adata, "glfs", n_random=1)
        tl.stability(adata, n_resamples=2)
        tl.markers(adata, "glfs", "bulk_labels", **from_raw)
        tl.classify(adata, "bulk_labels", n_genes=5, **from_raw)
        tl.predict(adata, adata.uns["glfs_class"], key_added="again", **from_raw)
        tl.panel_umap(adata, **from_raw)
    assert pp.recorded_parameters(other)["layer"] == "raw"
    for column in ("glfs_selected", "glfs_stability_consensus"):
        assert (other.var[column] == same.var[column]).all()
    for key in ("own", "X_umap_glfs", "glfs_class_decision", "again_decision"):
        np.testing.assert_array_equal(other.obsm[key], same.obsm[key])
    markers = [adata.uns["glfs_markers"]["table"] for adata in (other, same)]
    pd.testing.assert_frame_equal(*markers)
    joined = pp.select_genes([other, other.copy()], 5, use_raw=True, inplace=False)
    pd.testing.assert_frame_equal(joined, pp.select_genes([same, same.copy()], 5, inplace=False))


def test_use_raw_is_not_hidden(pbmc):
    pbmc.raw = pbmc.copy()
    pbmc.layers["other"] = pbmc.X
    with refused(InvalidValue, "use_raw"):
        pp.select_genes(pbmc, 5, use_raw=True, layer="other")
    pbmc.layers["raw"] = pbmc.X * 0.0
    with refused(InvalidValue, "use_raw"):
        pp.select_genes(pbmc, 5, use_raw=True)


def test_genes_that_only_raw_has_are_told(pbmc):
    pbmc.raw = pbmc.copy()
    few = pbmc[:, :100].copy()
    with refused(NotFound, "include") as caught:
        pp.select_genes(few, 5, include=["LYZ", "CD79A"])
    assert "adata.raw" in str(caught.value)
    assert "LYZ" in str(caught.value).partition("adata.raw")[2]


def counted(target):
    rng = np.random.default_rng(0)
    means = rng.gamma(0.3, 2.0, size=(5, 80))[rng.integers(5, size=200)]
    counts = sparse.csr_matrix(rng.poisson(means).astype(np.float32))
    adata = ad.AnnData(counts)
    sc.pp.normalize_total(adata, target_sum=target)
    sc.pp.log1p(adata)
    return adata


@pytest.mark.parametrize("target", [100, 1e4, 1e6, None])
def test_logarithms_are_taken_once(target):
    once = counted(target)
    assert not logged_twice(once.X)
    twice = once.copy()
    twice.X = np.log1p(twice.X)
    assert logged_twice(twice.X)
    assert logged_twice(twice.X.toarray())
    assert len(cautions(twice)) == 1


def as_normalised(adata):
    adata.X = adata.X.expm1()


def as_counts(adata):
    adata.X = adata.X.expm1().rint()


def as_twice(adata):
    adata.X = adata.X.log1p()


def as_scaled(adata):
    adata.X = adata.X.toarray()
    sc.pp.scale(adata)


def as_transcripts_per_million(adata):
    adata.X = adata.X.expm1() * 1e3
    adata.X.data *= np.random.default_rng(0).uniform(0.5, 2.0, adata.X.nnz)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize(
    ("change", "word"),
    [
        (as_normalised, "normalised"),
        (as_counts, "counts"),
        (as_twice, "twice"),
        (as_scaled, "scaled"),
        (as_transcripts_per_million, "normalised"),
    ],
)
def test_the_state_of_the_matrix_is_called_by_its_name(pbmc, container, change, word):
    pbmc.raw = pbmc.copy()
    change(pbmc)
    values = pbmc.X.toarray() if sparse.issparse(pbmc.X) else pbmc.X
    pbmc.X = container(values)
    pbmc.layers["changed"] = pbmc.X
    for options in ({}, {"layer": "changed"}):
        (said,) = cautions(pbmc, **options)
        assert word in said
        assert "microarray" not in said
    pp.select_genes(pbmc, 5, layer="raw")  # warnings are errors


def test_no_message_for_what_is_right(pbmc, real):
    assert not logged_twice(pbmc.X)
    pp.select_genes(pbmc, 5)  # warnings are errors
    assert not logged_twice(real("pbmc3k_2638").X)
    assert not logged_twice(np.random.default_rng(0).normal(size=(30, 30)))
    assert not logged_twice(sparse.csr_matrix((30, 30)))


def test_values_that_hardly_differ(pbmc):
    """Differences of large sums lost them in CSR, and not in dense matrices."""
    dense = ad.AnnData(pbmc.X.toarray().astype(float) + 1e6, var=pbmc.var[[]])
    full = ad.AnnData(sparse.csr_matrix(dense.X), var=pbmc.var[[]])
    for adata in (dense, full):
        cautions(adata)
    assert (dense.var["glfs_selected"] == full.var["glfs_selected"]).all()


def test_a_unit_in_which_squares_vanish(pbmc, tmp_path):
    pbmc.X = sparse.csr_matrix(pbmc.X.astype(float) * 1e-100)
    pp.structure(pbmc, key_added="own")
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    backed = io.read_cells(tmp_path / "cells.h5ad", backed=True)
    with refused(InvalidValue, "X"):
        pp.select_genes(backed, 5)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
def test_other_precisions(pbmc, dtype):
    pbmc.X = pbmc.X.toarray().astype(dtype)
    with refused(InvalidType, "X"):
        pp.select_genes(pbmc, 5)


@pytest.mark.parametrize(
    "values",
    [
        pd.date_range("2020", periods=700),
        pd.to_timedelta(np.arange(700), unit="s"),
        np.arange(700) * 1j,
        pd.period_range("2020", periods=700, freq="D"),
    ],
)
def test_times_are_no_labels(pbmc, values):
    pbmc.obs["when"] = values
    with refused(InvalidType, "preserve"):
        pp.select_genes(pbmc, 5, preserve="when")


def test_weights_of_any_size(pbmc):
    pp.select_genes(pbmc, 8, preserve={"structure": 1, "bulk_labels": 2})
    for unit in (1e307, 1e-300):
        pp.select_genes(
            pbmc, 8, preserve={"structure": unit, "bulk_labels": 2 * unit}, key_added="other"
        )
        assert (pbmc.var["other_selected"] == pbmc.var["glfs_selected"]).all()


@pytest.mark.parametrize(
    ("given", "value"), [("efficiency", 0.0), ("efficiency", 1e-200), ("failure", 1.0)]
)
def test_a_platform_that_leaves_nothing(pbmc, given, value):
    pbmc.var["of_gene"] = value
    for one in (value, "of_gene"):
        with refused(InvalidValue, "platform"):
            pp.select_genes(pbmc, 5, platform=Platform(**{given: one}))


def test_numbers_that_have_lost_digits(pbmc):
    for budget in (1e-310, 5e-324):
        with refused(InvalidValue, "budget"):
            pp.select_genes(pbmc, limits=Limits(cost=1.0, budget=budget))


def test_names_of_a_dict_that_no_gene_has(pbmc):
    cost = dict.fromkeys(pbmc.var_names, 1.0)
    with refused(NotFound, "cost"):
        pp.select_genes(pbmc, limits=Limits(cost=cost | {"NoGene": 2.0}, budget=5))
    with refused(NotFound, "efficiency"):
        pp.select_genes(pbmc, 5, platform=Platform(efficiency=dict(cost, NoGene=0.5)))


def test_an_iterator_is_recorded(pbmc):
    pp.select_genes(pbmc, 5, include=(name for name in ["CD3D", "CD79A"]))
    assert pp.recorded_parameters(pbmc)["include"] == ["CD3D", "CD79A"]
    pp.select_genes(pbmc, 5, preserve=iter(["CD3D", "LYZ"]))
    assert pp.recorded_parameters(pbmc)["preserve"] == ["CD3D", "LYZ"]


def test_a_family_without_genes_is_a_message(pbmc, caplog):
    pbmc = pbmc[:, ~pbmc.var_names.str.startswith("MT-")].copy()
    pp.select_genes(pbmc, 5)
    with caplog.at_level(logging.WARNING):
        pp.select_genes(pbmc, 5, exclude=["mitochondrial", "ribosomal"], key_added="other")
    assert "mitochondrial" in caplog.text
    assert "ribosomal" not in caplog.text
    with refused(NotFound, "exclude"):
        pp.select_genes(pbmc, 5, exclude=["mitochondrial", "ribosmal"])


def test_noise_has_no_automatic_size():
    noise = ad.AnnData(np.random.default_rng(0).normal(size=(300, 200)))
    with refused(InvalidValue, "n_genes"):
        pp.select_genes(noise)
    assert "glfs" not in noise.uns
    with pytest.warns(Caution):
        found = tl.evaluate_panel(noise, ["1", "2", "3"], n_random=2, inplace=False)
    assert np.isnan(found["optimality"])
    with pytest.warns(Caution):
        table = tl.curve(noise, max_genes=4, inplace=False)
    assert table["optimality"].isna().all()


def test_many_absent_names_take_no_time(pbmc):
    names = [f"no{i}" for i in range(100_000)]
    with refused(NotFound, "include"):
        pp.select_genes(pbmc, 5, include=names)


def test_more_processes_than_parts(pbmc):
    pp.select_genes(pbmc, 3)
    tl.stability(pbmc, n_resamples=2, n_jobs=10**6)


def test_nothing_is_written_to_a_part_of_a_backed_object(pbmc, tmp_path):
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    part = io.read_cells(tmp_path / "cells.h5ad", backed=True)[:300]
    assert len(pp.select_genes(part, 5, inplace=False)) == pbmc.n_vars
    for call in (pp.structure, pp.select_genes, lambda adata: tl.explain_panel(adata, ["CD3D"])):
        with refused(InvalidValue, "adata"):
            call(part)


def test_an_array_of_no_dimension_names_nothing(pbmc):
    for argument in ("include", "exclude", "preserve"):
        with refused(InvalidType, argument):
            pp.select_genes(pbmc, 5, **{argument: np.array("CD3D")})
    with refused(InvalidType, "panel"):
        tl.explain_panel(pbmc, np.array("CD3D"))


def test_a_typo_among_panels_is_found_before_work(pbmc, monkeypatch):
    monkeypatch.setattr(tl._compare, "evaluated", lambda *_: pytest.fail("worked"))
    monkeypatch.setattr(tl._compare, "_basis", lambda *_: pytest.fail("worked"))
    panels = {"a": ["CD3D", "LYZ"], "b": ["NKG7", "CD79A"], "c": "typo"}
    with refused(NotFound, "panels"):
        tl.compare_panels(pbmc, panels)


@pytest.mark.parametrize(
    ("kind", "held", "told"),
    [("MuData", "mod", "mdata['rna']"), ("SpatialData", "tables", "sdata.tables['rna']")],
)
def test_objects_that_hold_several(kind, held, told):
    several = type(kind, (), {held: {"rna": 1, "atac": 2}})()
    with refused(InvalidType, "adata") as caught:
        pp.select_genes(several, 5)
    assert told in str(caught.value)


@pytest.mark.parametrize("names", [range(765), [np.nan, *map(str, range(764))], [0.5] * 765])
def test_names_that_are_no_texts(pbmc, names):
    """By every function, before any work."""
    pp.select_genes(pbmc, 5)
    kept = pbmc.copy()
    pbmc.var.index = pd.Index(list(names), dtype=object)
    for call in (
        lambda adata: pp.select_genes(adata, 5),
        pp.structure,
        lambda adata: tl.evaluate_panel(adata, "glfs"),
        tl.explain_panel,
        lambda adata: tl.stability(adata, n_resamples=2),
        lambda adata: tl.markers(adata, "glfs", "bulk_labels"),
        lambda adata: tl.classify(adata, "bulk_labels"),
        lambda adata: pp.select_genes({"a": adata, "b": kept}, 5),
    ):
        with refused(InvalidType, "adata"):
            call(pbmc)
    assert pbmc.var.columns.equals(kept.var.columns)


def test_names_of_categories_and_of_the_new_strings_are_texts(pbmc):
    for names in (pd.CategoricalIndex(pbmc.var_names), pbmc.var_names.astype("string")):
        pbmc.var.index = names
        read.check(pbmc)


def test_another_byte_order(pbmc, tmp_path):
    few = pbmc[:, :60].copy()
    few.X = few.X.toarray()
    few.layers["same"] = few.X.astype(">f8")
    pp.select_genes(few, 5, key_added="native")
    other = few.copy()
    other.X = few.X.astype(">f4")
    other.write_h5ad(tmp_path / "other.h5ad")
    sparse_one = few.copy()
    sparse_one.X = sparse.csr_matrix(few.X)
    sparse_one.X.data = sparse_one.X.data.astype(">f4")
    lazy = few.copy()
    lazy.X = dask.array.from_array(other.X, chunks=(200, 60))
    backed = ad.read_h5ad(tmp_path / "other.h5ad", backed="r")
    assert backed.X.dtype.byteorder == ">"
    for adata, layer in (
        (other, None),
        (few, "same"),
        (sparse_one, None),
        (lazy, None),
        (backed, None),
    ):
        frame = pp.select_genes(adata, 5, layer=layer, inplace=False)
        assert (frame["glfs_selected"] == few.var["native_selected"]).all()
    assert np.isfinite(tl.evaluate_panel(other, "native", inplace=False)["preserved"])
    few.obsm["space"] = few.obsm["X_pca"].astype(">f8")
    few.obs["batch"] = (np.arange(700) % 2).astype(">i4")
    assert pp.select_genes(few, 5, use_rep="space", inplace=False)["glfs_selected"].sum() == 5
    pp.select_genes(few, 5, batch_key="batch")
    assert list(few.uns["glfs"]["batches"]) == ["0", "1"]


def test_columns_of_lazy_objects():
    """Those of ``anndata.experimental.read_lazy`` hold arrays, and are none of pandas."""
    lazy = SimpleNamespace(obs_names=pd.Index(["a", "b", "c"]))
    for values in (pd.Categorical(["x", None, "y"]), np.arange(3), pd.array([1, None, 2])):
        lazy.obs = {"column": SimpleNamespace(data=values)}
        found = read.find(lazy, "obs", "column", "labels")
        pd.testing.assert_series_equal(found, pd.Series(values, index=lazy.obs_names))


def test_lazy_objects(pbmc, tmp_path):
    pytest.importorskip("xarray")
    pbmc.obs["score"] = np.linspace(0.1, 0.9, 700)
    pbmc[:, :60].write_h5ad(tmp_path / "lazy.h5ad")
    lazy = ad.experimental.read_lazy(tmp_path / "lazy.h5ad")
    for options in (
        {"preserve": "bulk_labels", "cell_weights": "bulk_labels"},
        {"preserve": "score"},
        {"batch_key": "phase"},
        {"limits": Limits(max_mean_in_type=9, groupby="bulk_labels")},
    ):
        assert pp.select_genes(lazy, 5, **options, inplace=False)["glfs_selected"].sum() == 5


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("row", [3, 600])
def test_values_that_are_not_finite_have_one_name(pbmc, bad, row):
    few = pbmc[:, :60].copy()
    few.X = few.X.toarray()
    few.X[row, 3] = bad
    with refused(InvalidValue, "X") as in_memory:
        pp.select_genes(few, 5)
    few.X = dask.array.from_array(few.X, chunks=(200, 60))
    with refused(InvalidValue, "X") as lazily:
        pp.select_genes(few, 5)
    assert str(in_memory.value) == str(lazily.value)
