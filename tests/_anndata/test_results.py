"""Results are drawn and reported beside the selection and the matrix that they are of."""

from __future__ import annotations

from contextlib import suppress

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import zarr
from anndata.io import sparse_dataset
from matplotlib import pyplot as plt
from refusals import accepted, refused
from scipy import sparse

from glfs_bio import Limits, io, pl, pp, tl
from glfs_bio._anndata import read, results, structure
from glfs_bio.errors import InvalidValue, NotFound, Refusal

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


FORMS = {
    "texts": lambda flags: flags.map({True: "TRUE", False: "FALSE"}),
    "categories": lambda flags: flags.map({True: "True", False: "False"}).astype("category"),
    "numbers": lambda flags: flags.astype(int),
    "joined": lambda flags: flags.astype(float).where(flags),
    "nullable": lambda flags: flags.astype("boolean").where(flags),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_columns_of_other_programs_are_read(done, form, tmp_path):
    """Of R, of files of texts, and of joined tables, where what is missing is no flag."""
    expected, consensus = results.ranked(done, "glfs"), done.var["glfs_stability_consensus"]
    for name in done.var.filter(regex="^glfs"):
        is_flag = done.var[name].dtype == bool
        done.var[name] = form(done.var[name]) if is_flag else done.var[name].map(str)
    pd.testing.assert_frame_equal(results.ranked(done, "glfs"), expected)
    read_again = results.read_column(done, "glfs_stability", "consensus")
    assert list(read_again) == list(consensus)
    assert len(tl.order_panel(done, "glfs", "sheet", inplace=False)) == len(expected)
    io.write_genes(done, tmp_path / "genes.txt")
    assert (tmp_path / "genes.txt").read_text().split() == list(expected.index)
    tl.explain_panel(done, "glfs", genes=["CD3D"])
    io.write_report(done, tmp_path / "report.html", basis=False)


def explain(adata):
    tl.explain_panel(adata, "glfs", inplace=False)


def draw_stability(adata):
    pl.stability(adata, show=False)


DAMAGED = {
    "numbers of HDBSCAN": ("selected", lambda column: column.map({True: 1, False: -1}), explain),
    "missing in R": ("included", lambda column: column.astype(int) - 2**31, explain),
    "other words": ("selected", lambda column: column.map({True: "yes", False: "no"}), explain),
    "ties": ("rank", lambda column: column.replace(3, 2), explain),
    "halves": ("rank", lambda column: column / 2, explain),
    "beyond numbers": ("rank", lambda column: column.replace(3, 1e300), explain),
    "no number": ("loss", lambda column: column.map("no {}".format), explain),
    "infinite": ("weight", lambda column: column + np.inf, explain),
    "no certificate": ("certificate", lambda column: column.astype(str) + "?", explain),
    "no share": ("stability_frequency", lambda column: column.map("no {}".format), draw_stability),
}


@pytest.mark.parametrize(("name", "change", "call"), DAMAGED.values(), ids=DAMAGED)
def test_columns_that_cannot_be_read_are_refused(done, name, change, call):
    done.var[f"glfs_{name}"] = change(done.var[f"glfs_{name}"])
    with refused(InvalidValue, "key"):
        call(done)


@pytest.mark.parametrize("name", ["rank", "certificate", "stability_frequency"])
def test_columns_that_are_missing_or_stand_twice_are_refused(done, name):
    call = draw_stability if name == "stability_frequency" else explain
    whole, column = done.var, f"glfs_{name}"
    done.var = pd.concat([whole, whole[[column]]], axis=1)
    with refused(InvalidValue, "key"):
        call(done)
    done.var = whole.drop(columns=column)
    with refused(NotFound, "key"):
        call(done)


def test_a_panel_of_which_genes_have_left_is_refused(done, tmp_path):
    panel = list(results.ranked(done, "glfs").index)
    of_panel, others = done[:, panel].copy(), done[:, done.var_names != panel[3]].copy()
    for path in (tmp_path / "genes.txt", tmp_path / "genes.gmt"):
        with refused(InvalidValue, "key"):
            io.write_genes(others, path)
        io.write_genes(of_panel, path)
    with refused(InvalidValue, "key"):
        tl.order_panel(others, "glfs", "sheet")
    assert len(tl.order_panel(of_panel, "glfs", "sheet", inplace=False)) == len(panel)


def test_results_of_a_later_version_are_refused(done, tmp_path):
    """Whatever their seal says."""
    entry = done.uns["glfs"] | {"format": 3}
    entry["made_of"] = entry["made_of"] | {"numbers": results.seal({**entry, ".varm": None})}
    done.uns["glfs"] = entry
    for call in (tl.evaluate_panel, tl.order_panel, explain):
        with refused(InvalidValue, "key"):
            call(done)
    with refused(InvalidValue, "key"):
        io.write_genes(done, tmp_path / "genes.txt")
