"""Results are drawn and reported beside the selection and the matrix that they are of."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
import zarr
from anndata.io import sparse_dataset
from matplotlib import pyplot as plt
from refusals import refused
from scipy import sparse

from glfs_bio import Limits, io, pl, pp, tl
from glfs_bio._anndata import read, stale
from glfs_bio.errors import InvalidValue

SETS = {"T cells": ["CD3D", "CD3E"], "MHC II": ["HLA-DRA", "HLA-DRB1", "HLA-DPA1"]}
PICTURES = {
    pl.preserved: "glfs_evaluation",
    pl.labels: "glfs_evaluation",
    pl.confusion: "glfs_evaluation",
    pl.unexplained: "glfs_evaluation",
    pl.imputation: "glfs_evaluation",
    pl.enrichment: "glfs_enrichment",
    pl.comparison: "glfs_comparison",
    pl.upset: "glfs_comparison",
}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def _done(_pbmc):
    adata = _pbmc.copy()
    pp.select_genes(adata, 20)
    tl.evaluate_panel(adata, "glfs", "bulk_labels", n_random=2)
    tl.explain_panel(adata, "glfs")
    tl.enrich(adata, SETS)
    tl.compare_panels(adata, {"ours": "glfs", "theirs": ["CD3D", "LYZ", "NKG7"]})
    tl.curve(adata, max_genes=5)
    return adata


@pytest.fixture
def done(_done):
    return _done.copy()


def test_what_raw_holds_is_looked_at(pbmc):
    pbmc.raw = pbmc.copy()
    pp.select_genes(pbmc, 5, layer="raw")
    tl.evaluate_panel(pbmc, "glfs", n_random=2)
    pl.preserved(pbmc, show=False)
    pbmc.raw = ad.AnnData(pbmc.X * 2.0, obs=pbmc.obs, var=pbmc.var)
    with refused(InvalidValue, "key"):
        pl.preserved(pbmc, show=False)


def test_what_holds_is_drawn(done, tmp_path):
    done.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    again.X = sparse.csc_matrix(again.X)  # another container of the same values
    for adata in (done, again):
        for draw in PICTURES:
            draw(adata, show=False)
        pl.curve(adata, show=False)
        io.write_gene_list(
            adata, tmp_path / "why.csv", explanation_key="glfs_explanation", overwrite=True
        )


def smaller(adata):
    pp.select_genes(adata, 15)


def for_labels(adata):
    """The same genes, which were to preserve something else."""
    genes = list(adata.var_names[adata.var["glfs_selected"]])
    pp.select_genes(adata, 20, preserve="bulk_labels", include=genes)


def scaled(adata):
    adata.X = sparse.csr_matrix(adata.X.multiply(np.linspace(0.5, 2, adata.n_vars)))


@pytest.mark.parametrize("change", [smaller, for_labels, scaled])
@pytest.mark.parametrize("draw", PICTURES)
def test_what_is_outdated_is_refused(done, change, draw):
    change(done)
    with refused(InvalidValue, "key"):
        draw(done, show=False)


@pytest.mark.parametrize("change", [smaller, for_labels, scaled])
def test_no_explanation_of_another_panel_in_an_order(done, change, tmp_path):
    change(done)
    with refused(InvalidValue, "explanation_key"):
        io.write_gene_list(done, tmp_path / "why.csv", explanation_key="glfs_explanation")


def test_curves_are_of_the_matrix_alone(done):
    smaller(done)
    pl.curve(done, show=False)
    scaled(done)
    with refused(InvalidValue, "key"):
        pl.curve(done, show=False)


def test_a_report_has_nothing_of_an_earlier_selection(done, tmp_path, monkeypatch):
    monkeypatch.setattr(io._sections, "picture", lambda *_, **__: "data:,")
    smaller(done)
    io.write_report(done, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "20 selected genes" not in text
    assert text.count("not shown with this selection") >= 2


def test_stability_under_limits_on_expression(done):
    """Parts of the cells admit other genes: it is the same procedure."""
    mean = np.asarray(done.X.mean(axis=0)).ravel()
    limits = Limits(min_mean=float(np.quantile(mean, 0.6)))
    pp.select_genes(done, 8, limits=limits)
    tl.stability(done, n_resamples=3)
    assert done.uns["glfs_stability"]["n_tested"] != done.uns["glfs"]["n_tested"]
    assert stale.difference(done, "glfs", done.uns["glfs_stability"]) is None


def told(adata, layer=None):
    return stale.checksum_of_matrix(adata, read.row_matrix(adata, layer), layer)


def test_one_value_changes_it(pbmc):
    before = told(pbmc)
    assert told(pbmc.copy()) == before
    pbmc.X.data[1000] = np.nextafter(pbmc.X.data[1000], 9)
    assert told(pbmc) != before


@pytest.mark.parametrize(
    "other",
    [lambda x: x[::-1], lambda x: x.reshape(6, 2), lambda x: x[:-1], lambda x: x + 1e-12],
)
def test_order_and_shape_count(other):
    values = np.arange(12.0).reshape(4, 3)
    assert stale.checksum_of(values) == stale.checksum_of(np.asfortranarray(values))
    assert stale.checksum_of(values) != stale.checksum_of(other(values))


def test_places_of_a_sparse_matrix_count():
    graph = sparse.csr_array(np.diag([1.0, 1.0, 0.0]))
    moved = sparse.csr_array(np.diag([1.0, 0.0, 1.0]))
    assert stale.checksum_of(graph) == stale.checksum_of(graph.copy())
    assert stale.checksum_of(graph) != stale.checksum_of(moved)
    assert stale.checksum_of(None) == "None"


def test_layers_differ(pbmc):
    pbmc.layers["same"] = pbmc.X.copy()
    assert told(pbmc) != told(pbmc, "same")


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_a_matrix_that_is_read_as_it_goes(pbmc, tmp_path):
    """Two stores of the same form are two matrices."""
    found = []
    for factor in (1.0, 2.0):
        some = ad.AnnData(factor * pbmc.X)
        some.write_zarr(tmp_path / f"{factor}.zarr")
        some.X = sparse_dataset(zarr.open(tmp_path / f"{factor}.zarr", mode="r")["X"])
        found.append(told(some))
    assert found[0] != found[1]
