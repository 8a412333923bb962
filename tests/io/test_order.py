"""Orders and references in files, and read back."""

from __future__ import annotations

import zipfile

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import accepted, refused
from scipy import sparse

import glfs_bio
from glfs_bio._anndata.results import request_of
from glfs_bio.errors import FileExists, FileMissing, InvalidValue, NotFound, Refusal
from glfs_bio.io import read_panel, write_order, write_reference
from glfs_bio.tl import order_panel
from glfs_bio.tl._order import ORDERS


@pytest.fixture(scope="module")
def _selected(_pbmc):
    adata = _pbmc.copy()
    adata.layers["counts"] = adata.X.ceil()
    glfs_bio.pp.select_genes(adata, 12)
    glfs_bio.tl.resolve_genes(adata)
    return adata


@pytest.fixture
def selected(_selected):
    return _selected.copy()


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


def test_what_is_written_is_read_back(selected, tmp_path):
    for platform, form in ORDERS.items():
        order_panel(selected, "glfs", platform)
        table = selected.uns["glfs_order"]["table"]
        for ending in form.endings:
            path = tmp_path / f"{platform}{ending}"
            write_order(selected, path)
            panel = read_panel(path)
            assert panel == list(table["gene"]), path.name
            assert list(panel.table["id"]) == list(table["id"]), path.name


def test_backups_are_written_and_not_read_into_the_panel(selected, tmp_path):
    order_panel(selected, "glfs", backups=2, labels="bulk_labels")
    table = selected.uns["glfs_order"]["table"]
    write_order(selected, tmp_path / "a.csv")
    panel = read_panel(tmp_path / "a.csv")
    assert panel == list(table["gene"][table["source"] != "backup"])
    assert list(panel.table["group"]) == list(table["group"][table["source"] != "backup"])
    assert set(panel.table["must_have"]) == {"FALSE"}
    write_order(selected, tmp_path / "b.csv", "xenium_v1")
    assert read_panel(tmp_path / "b.csv") == panel


def test_a_sheet_is_read_into_data_with_old_names(selected, tmp_path):
    panel = ["IGJ", "SEPT7", *best_first(selected)[:3]]
    order_panel(selected, panel, labels="bulk_labels", key_added="mine")
    table = selected.uns["mine"]["table"]
    assert (table["gene"] != table["name"]).any()
    path = tmp_path / "order.csv"
    write_order(selected, path, key="mine")
    read = read_panel(path)
    assert list(read) == list(table["gene"])
    entry = glfs_bio.tl.evaluate_panel(selected, path, measures="preserved", inplace=False)
    assert list(entry["genes"]["gene"]) == panel
    assert entry["genes"]["in_data"].all()
    glfs_bio.pp.select_genes(selected, len(panel), include=read, key_added="again")
    assert {*best_first(selected, "again")} == {*panel}
    lead = table["group"][table["gene"] != table["name"]].iloc[0]
    of_group = list(table["name"][table["group"] == lead])
    limits = glfs_bio.Limits(groups=path, per_group={lead: (len(of_group),) * 2})
    glfs_bio.pp.select_genes(selected, 30, limits=limits, key_added="grouped")
    assert {*of_group} <= {*best_first(selected, "grouped")}
    limits = request_of(selected, "grouped").limits
    assert list(limits.groups[lead]) == of_group
    orderable = glfs_bio.Platform(genes=str(path))
    glfs_bio.pp.select_genes(selected, len(panel), platform=orderable, key_added="can")
    assert {*best_first(selected, "can")} == {*panel}


def test_form_of_10x(selected, tmp_path):
    first, second = best_first(selected)[:2]
    order_panel(selected, "glfs", "xenium_v1")
    table = selected.uns["glfs_order"]["table"].set_index("name")
    table.loc[first, "n_probe_sets"] = 3
    table.loc[second, "forced"] = True
    selected.uns["glfs_order"]["table"] = table.reset_index()
    write_order(selected, tmp_path / "order.csv")
    table = pd.read_csv(tmp_path / "order.csv", dtype=str, keep_default_na=False)
    assert list(table) == ["Gene", "Ensembl ID", "Probe sets", "Force"]
    assert list(table["Probe sets"]) == ["3", *[""] * 11]
    assert list(table["Force"]) == ["", "forced", *[""] * 10]
    assert table["Ensembl ID"].str.fullmatch(r"ENSG\d{11}").all()
    assert "n_probe_sets" in read_panel(tmp_path / "order.csv").table
    selected.uns["glfs_order"]["table"]["n_probe_sets"] = 7
    with refused(InvalidValue, "platform"):
        write_order(selected, tmp_path / "more.csv", "xenium_prime")


def test_orders_of_one_call_from_files_and_outdated(selected, tmp_path):
    write_order(selected, tmp_path / "order.csv", "xenium_v1")
    today = glfs_bio.tl.resolve_genes(selected, inplace=False).set_index("name")["symbol"]
    assert read_panel(tmp_path / "order.csv") == list(today[best_first(selected)])
    assert "glfs_order" not in selected.uns
    order_panel(selected, "glfs", "xenium_v1")
    selected.write_h5ad(tmp_path / "a.h5ad")
    write_order(ad.read_h5ad(tmp_path / "a.h5ad"), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "order.csv").read_text()
    glfs_bio.pp.select_genes(selected, 3)
    with refused(InvalidValue, "key"):
        write_order(selected, tmp_path / "b.csv")
    assert not (tmp_path / "b.csv").exists()


def test_names_that_files_cannot_hold(pbmc, tmp_path):
    genes = pbmc.var_names

    def write(name):
        pbmc.var_names = [name, *genes[1:]]
        order_panel(pbmc, [name, "CD3D"], "merscope")
        write_order(pbmc, tmp_path / "a.csv")

    assert not accepted(write, ["=cmd()", "a\tb", "# c"])
    assert not list(tmp_path.iterdir())


def test_bad_files(selected, tmp_path):
    order_panel(selected, "glfs", "xenium_v1")
    (tmp_path / "there.csv").write_text("old")
    for name, options, error, argument in (
        ("a.xlsx", {}, InvalidValue, "path"),
        ("a.csv", {"platform": "cosmx"}, InvalidValue, "path"),
        ("a.csv", {"platform": "visium"}, InvalidValue, "platform"),
        ("no/a.csv", {}, FileMissing, "path"),
        ("there.csv", {}, FileExists, "path"),
        ("a.csv", {"key": "nope"}, NotFound, "key"),
    ):
        with refused(error, argument):
            write_order(selected, tmp_path / name, **options)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_reference(selected, tmp_path):
    selected.layers["counts"] = sparse.csr_matrix(selected.layers["counts"])
    write_reference(selected, tmp_path / "a.zip", "bulk_labels")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "a")
    again = sc.read_10x_mtx(tmp_path / "a", var_names="gene_ids")
    genes = selected.var_names[selected.var["glfs_names_id"] != ""]
    assert list(again.var_names) == list(selected.var.loc[genes, "glfs_names_id"])
    assert list(again.var["gene_symbols"]) == list(genes)
    np.testing.assert_array_equal(again.X.toarray(), selected[:, genes].layers["counts"].toarray())
    types = pd.read_csv(tmp_path / "a" / "celltypes.csv")
    assert list(types) == ["barcode", "annotation"]
    assert list(types["barcode"]) == list(again.obs_names) == list(selected.obs_names)
    assert list(types["annotation"]) == list(selected.obs["bulk_labels"])
    write_reference(selected, tmp_path / "b.zip", "bulk_labels")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    labels = selected.obs["bulk_labels"].astype(str)
    selected.obs["formulas"] = labels.mask(labels == labels.iloc[0], "=1+1")
    write_reference(selected, tmp_path / "c.zip", "formulas")
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        assert pd.read_csv(archive.open("celltypes.csv"))["annotation"].iloc[0] == "'=1+1"


def test_a_large_reference_is_sampled_by_type(selected, tmp_path, caplog):
    write_reference(selected, tmp_path / "all.zip", "bulk_labels")
    room = (tmp_path / "all.zip").stat().st_size // 2
    write_reference(selected, tmp_path / "some.zip", "bulk_labels", max_bytes=room)
    assert (tmp_path / "some.zip").stat().st_size <= room
    with zipfile.ZipFile(tmp_path / "some.zip") as archive:
        types = pd.read_csv(archive.open("celltypes.csv"))["annotation"].value_counts()
    every = selected.obs["bulk_labels"].value_counts()
    assert 0.3 * len(selected) < types.sum() < 0.6 * len(selected)
    assert set(types.index) == set(every.index)
    # rare types are whole, and the others have as many cells as each other
    cut = types[types < every[types.index]]
    assert cut.max() - cut.min() <= 1
    assert types.max() == cut.max()
    assert caplog.text
    with refused(InvalidValue, "max_bytes"):
        write_reference(selected, tmp_path / "none.zip", "bulk_labels", max_bytes=100)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.zip", "some.zip"]


def test_bad_references(selected, tmp_path):
    selected.obs["none"] = pd.Categorical([np.nan] * selected.n_obs, categories=["a"])
    selected.var["twice"] = "ENSG00000167286"
    selected.var["no_ids"] = ""
    for name, labels, options, argument in (
        ("a.csv", "bulk_labels", {}, "path"),
        ("a.zip", "nope", {}, "labels"),
        ("a.zip", "none", {}, "labels"),
        ("a.zip", "bulk_labels", {"counts_layer": "X"}, "counts_layer"),
        ("a.zip", "bulk_labels", {"counts_layer": "nope"}, "counts_layer"),
        ("a.zip", "bulk_labels", {"ids": "twice"}, "ids"),
        ("a.zip", "bulk_labels", {"ids": "no_ids"}, "ids"),
        ("a.zip", "bulk_labels", {"max_bytes": 0}, "max_bytes"),
    ):
        with refused(Refusal, argument):
            write_reference(selected, tmp_path / name, labels, **options)
    fractions = sparse.csr_matrix(selected.layers["counts"], dtype=float, copy=True)
    fractions.data[-1] = 0.4
    selected.layers["fractions"] = fractions
    with refused(InvalidValue, "counts_layer"):
        write_reference(selected, tmp_path / "a.zip", "bulk_labels", counts_layer="fractions")
    selected.obs_names = [*selected.obs_names[1:2], *selected.obs_names[1:]]
    with refused(InvalidValue, "adata"):
        write_reference(selected, tmp_path / "a.zip", "bulk_labels")
    assert not list(tmp_path.iterdir())
