"""Results are drawn and reported beside the selection and the matrix that they are of."""

from __future__ import annotations

from contextlib import suppress

import anndata as ad
import numpy as np
import pytest
import zarr
from anndata.io import sparse_dataset
from matplotlib import pyplot as plt
from refusals import accepted, refused
from scipy import sparse

from glfs_bio import Limits, pl, pp, tl
from glfs_bio._anndata import read, results, structure
from glfs_bio.errors import InvalidValue, Refusal

PICTURES = (pl.labels, pl.confusion)


@pytest.fixture
def done(analysed):
    return analysed.copy()


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_what_raw_holds_is_looked_at(pbmc):
    pbmc.raw = pbmc.copy()
    pp.select_genes(pbmc, 5, layer="raw")
    tl.evaluate_panel(pbmc, "glfs")
    pl.comparison(pbmc, show=False)
    pbmc.raw = ad.AnnData(pbmc.X * 2.0, obs=pbmc.obs, var=pbmc.var)
    with refused(InvalidValue, "key"):
        pl.comparison(pbmc, show=False)


def test_an_argument_of_another_version_is_refused(done):
    request = done.uns["glfs"]["request"].replace('"search":', '"no_more": 1, "search":')
    done.uns["glfs"]["request"] = request
    with refused(InvalidValue, "key"):
        tl.explain_panel(done, "glfs")
    smaller(done)
    tl.explain_panel(done, "glfs")


def smaller(adata):
    pp.select_genes(adata, 8)


def for_labels(adata):
    """The same genes, which were to preserve something else."""
    genes = list(adata.var_names[adata.var["glfs_selected"]])
    pp.select_genes(adata, 10, preserve="bulk_labels", include=genes)


def scaled(adata):
    adata.X = sparse.csr_matrix(adata.X.multiply(np.linspace(0.5, 2, adata.n_vars)))


def test_what_holds_is_drawn(done, tmp_path):
    tl.explain_panel(done, "glfs")
    done.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    again.X = sparse.csc_matrix(again.X)  # another container of the same values
    for draw in PICTURES:
        draw(again, show=False)
    pl.curve(again, key="glfs_curve", show=False)
    smaller(done)
    with refused(InvalidValue, "key"):
        pl.curve(done, key="glfs_curve", show=False)


@pytest.mark.parametrize("change", [smaller, for_labels, scaled])
def test_what_is_outdated_is_not_drawn(done, change):
    tl.explain_panel(done, "glfs")
    change(done)
    assert accepted(lambda draw: draw(done, show=False), PICTURES, "key") == []


def test_stability_under_limits_on_expression(done):
    """Parts of the cells admit other genes: it is the same procedure."""
    mean = np.asarray(done.X.mean(axis=0)).ravel()
    limits = Limits(expression={"mean": (float(np.quantile(mean, 0.6)), None)})
    pp.select_genes(done, 8, limits=limits)
    tl.stability(done, n_resamples=3)
    assert done.uns["glfs_stability"]["n_tested"] != done.uns["glfs"]["n_tested"]
    assert results.difference(done, "glfs", done.uns["glfs_stability"]) is None


def test_order_shape_and_places_count():
    values = np.arange(12.0).reshape(4, 3)
    assert results.checksum(values) == results.checksum(np.asfortranarray(values))
    for other in (values[::-1], values.reshape(6, 2), values[:-1], values + 1e-12):
        assert results.checksum(values) != results.checksum(other)
    graph = sparse.csr_array(np.diag([1.0, 1.0, 0.0]))
    moved = sparse.csr_array(np.diag([1.0, 0.0, 1.0]))
    assert results.checksum(graph) == results.checksum(graph.copy())
    assert results.checksum(graph) != results.checksum(moved)


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_a_matrix_that_is_read_as_it_goes(pbmc, tmp_path):
    """Two stores of the same form are two matrices."""
    checksums = set()
    for factor in (1.0, 2.0):
        cells = ad.AnnData(factor * pbmc.X)
        cells.write_zarr(tmp_path / f"{factor}.zarr")
        cells.X = sparse_dataset(zarr.open(tmp_path / f"{factor}.zarr", mode="r")["X"])
        checksums.add(structure.checksum_of_matrix(cells, read.row_matrix(cells), None))
    assert len(checksums) == 2


def test_results_of_a_panel_are_under_its_key_and_the_last_is_known(pbmc, tmp_path):
    pbmc = pbmc[::2, ::4].copy()
    pp.select_genes(pbmc, 5)
    pp.select_genes(pbmc, 8, key_added="mine")
    for key in ("glfs", "mine"):
        tl.evaluate_panel(pbmc, key, "bulk_labels")
        tl.explain_panel(pbmc, key)
        tl.order_panel(pbmc, key)
        tl.extend_panel(pbmc, key, pbmc.uns[key]["n_genes"] + 1)
    for key, size in (("glfs", 5), ("mine", 8)):
        assert len(pbmc.uns[f"{key}_evaluation"]["genes"]) == size
        assert pbmc.uns[f"{key}_extended"]["n_genes"] == size + 1
    for kind in ("explanation", "order"):
        assert {f"glfs_{kind}", f"mine_{kind}"} <= set(pbmc.uns)
    assert results.last(pbmc, "evaluation") == "mine_evaluation"
    tl.evaluate_panel(pbmc, "glfs")
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    for adata in (pbmc, ad.read_h5ad(tmp_path / "cells.h5ad")):
        assert results.last(adata, "evaluation") == "glfs_evaluation"
        assert results.last(adata, "evaluation", holds="per_label") == "mine_evaluation"


def test_keys_of_other_results_are_refused(pbmc, unchanged):
    pp.select_genes(pbmc, 5)
    tl.evaluate_panel(pbmc, key_added="zeta")
    with unchanged(pbmc):
        for key in ("glfs_structure", "glfs_evaluation", "zeta", "a/b", "..", "a\0b", 300 * "k"):
            with refused(InvalidValue, "key_added"):
                pp.select_genes(pbmc, 5, key_added=key)
        with refused(InvalidValue, "key_added"):
            tl.evaluate_panel(pbmc, "glfs", key_added="glfs")


@pytest.mark.parametrize("value", [5, "x", None, np.zeros(3), {}])
def test_what_is_no_record_is_none(pbmc, value):
    """Whoever wrote something else there: a refusal, or a panel without a record."""
    cells = pbmc[::4, ::8].copy()
    pp.select_genes(cells, 5)
    tl.stability(cells, n_resamples=2)
    cells.uns["glfs"] = value
    for call in (tl.evaluate_panel, tl.explain_panel, tl.prove_panel, tl.order_panel):
        with suppress(Refusal):
            call(cells, "glfs")
    with suppress(Refusal):
        pl.stability(cells, show=False)
    assert results.difference(cells, "glfs", cells.uns["glfs_stability"]) is not None


CHANGES = {
    "labels": lambda cells: setattr(cells, "obs", cells.obs[::-1].set_axis(cells.obs_names)),
    "a cell": lambda cells: cells.X.__setitem__(1, 5 * cells.X[1]),
    "two genes": lambda cells: cells.X.__setitem__((slice(None), [3, 9]), cells.X[:, [9, 3]]),
    "cells": lambda cells: cells.X.__setitem__(slice(None), cells.X[::-1].copy()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_result_is_of_its_labels_and_of_all_cells_and_genes(pbmc, change):
    pbmc.X = pbmc.X.toarray()
    tl.explain_panel(pbmc, list(pbmc.var_names[:4]), "bulk_labels", key_added="why")
    assert results.why_outdated(pbmc, pbmc.uns["why"]) is None
    change(pbmc)
    assert results.why_outdated(pbmc, pbmc.uns["why"]) is not None
