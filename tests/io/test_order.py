"""Orders and references in files, and read back."""

from __future__ import annotations

import zipfile

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import refused
from scipy import sparse

import glfs_bio
from glfs_bio.errors import FileExists, FileMissing, InvalidValue, NotFound, Refusal
from glfs_bio.io import read_panel, write_order, write_reference
from glfs_bio.tl import order_panel
from glfs_bio.vendors.names import versionless

PLATFORMS = {
    "xenium_v1": "csv",
    "xenium_prime": "csv",
    "merscope": "csv",
    "cosmx": "xlsx",
    "sheet": "csv",
}


@pytest.fixture(scope="module")
def _selected(_pbmc):
    adata = _pbmc.copy()
    adata.layers["counts"] = adata.X.ceil()
    glfs_bio.pp.select_genes(adata, 12)
    return adata


@pytest.fixture
def selected(_selected):
    return _selected.copy()


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_is_written_is_read_back(selected, tmp_path, platform):
    endings = {PLATFORMS[platform]} | ({"tsv", "xlsx"} if platform == "sheet" else set())
    order_panel(selected, "glfs", platform)
    entry = selected.uns["glfs_order"]
    for ending in endings:
        path = tmp_path / f"order.{ending}"
        write_order(selected, path)
        panel = read_panel(path)
        assert panel == list(entry["table"]["gene"])
        assert list(panel.table["id"]) == list(entry["table"]["id"])
    assert {one.suffix for one in tmp_path.iterdir()} == {f".{ending}" for ending in endings}


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
def test_backups_are_written_and_not_read_into_the_panel(selected, tmp_path, ending):
    order_panel(selected, "glfs", backups=2, labels="bulk_labels")
    table = selected.uns["glfs_order"]["table"]
    write_order(selected, tmp_path / f"a.{ending}")
    panel = read_panel(tmp_path / f"a.{ending}")
    assert panel.form == "panel sheet"
    assert panel == list(table["gene"][~table["is_backup"]])
    assert panel.backups == list(table["gene"][table["is_backup"]])
    assert list(panel.table["group"]) == list(table["group"][~table["is_backup"]])
    assert set(panel.table["must_have"]) == {"FALSE"}
    write_order(selected, tmp_path / "b.csv", "xenium_v1")
    assert read_panel(tmp_path / "b.csv") == panel


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
def test_a_sheet_is_read_into_data_with_old_names(selected, tmp_path, ending):
    panel = ["IGJ", "SEPT7", *best_first(selected)[:3]]
    order_panel(selected, panel, labels="bulk_labels", key_added="mine")
    table = selected.uns["mine"]["table"]
    assert (table["gene"] != table["name"]).any()
    path = tmp_path / f"order.{ending}"
    write_order(selected, path, key="mine")
    read = read_panel(path)
    assert list(read) == list(table["gene"])
    for given in (path, str(path), read):
        found = glfs_bio.tl.evaluate_panel(selected, given, n_random=0, inplace=False)
        assert list(found["genes"]) == panel
        assert "absent" not in found
        glfs_bio.pp.select_genes(selected, len(panel), include=given, key_added="again")
        assert {*best_first(selected, "again")} == {*panel}
    lead = table["group"][table["gene"] != table["name"]].iloc[0]
    of_group = list(table["name"][table["group"] == lead])
    for given in (path, str(path)):
        limits = glfs_bio.Limits(groups=given, per_group={lead: len(of_group)})
        glfs_bio.pp.select_genes(selected, 30, limits=limits, key_added="grouped")
        assert {*of_group} <= {*best_first(selected, "grouped")}
        kept = glfs_bio.pp.recorded_parameters(selected, "grouped")["limits"]
        assert list(kept.groups[lead]) == of_group
    orderable = glfs_bio.Platform(genes=str(path))
    glfs_bio.pp.select_genes(selected, len(panel), platform=orderable, key_added="can")
    assert {*best_first(selected, "can")} == {*panel}


def test_form_of_10x(selected, tmp_path):
    first, second = best_first(selected)[:2]
    order_panel(selected, "glfs", "xenium_v1", probe_sets={first: 3}, force=second)
    write_order(selected, tmp_path / "order.csv")
    lines = (tmp_path / "order.csv").read_text().splitlines()
    assert lines[0] == "Gene,Ensembl ID,Probe sets,Force"
    table = pd.read_csv(tmp_path / "order.csv", dtype=str, keep_default_na=False)
    assert len(table) == 12
    assert list(table["Probe sets"]) == ["3", *[""] * 11]
    assert list(table["Force"]) == ["", "forced", *[""] * 10]
    assert table["Ensembl ID"].str.fullmatch(r"ENSG\d{11}").all()
    panel = read_panel(tmp_path / "order.csv")
    assert panel.form == "10x custom gene list"
    assert panel.table["n_probe_sets"].iloc[0] == 3


def test_one_call(selected, tmp_path):
    write_order(selected, tmp_path / "order.csv", "xenium_v1")
    today = glfs_bio.tl.resolve_genes(selected, inplace=False).set_index("name")["symbol"]
    assert read_panel(tmp_path / "order.csv") == list(today[best_first(selected)])
    assert "glfs_order" not in selected.uns


def test_an_outdated_order_is_refused(selected, tmp_path):
    order_panel(selected, "glfs", "xenium_v1")
    glfs_bio.pp.select_genes(selected, 3)
    with refused(InvalidValue, "key"):
        write_order(selected, tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


def test_in_files(selected, tmp_path):
    order_panel(selected, "glfs", "xenium_v1")
    selected.write_h5ad(tmp_path / "a.h5ad")
    again = ad.read_h5ad(tmp_path / "a.h5ad")
    write_order(again, tmp_path / "a.csv")
    write_order(selected, tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_bad_files(selected, tmp_path):
    order_panel(selected, "glfs", "xenium_v1")
    (tmp_path / "there.csv").write_text("old")
    for path, options, error, argument in (
        (tmp_path / "a.xlsx", {}, InvalidValue, "path"),
        (tmp_path / "a.csv", {"platform": "cosmx"}, InvalidValue, "path"),
        (tmp_path / "a.csv", {"platform": "visium"}, InvalidValue, "platform"),
        (tmp_path / "no" / "a.csv", {}, FileMissing, "path"),
        (tmp_path / "there.csv", {}, FileExists, "path"),
        (tmp_path / "a.csv", {"key": "nope"}, NotFound, "key"),
    ):
        with refused(error, argument):
            write_order(selected, path, **options)
    assert [one.name for one in tmp_path.iterdir()] == ["there.csv"]
    assert (tmp_path / "there.csv").read_text() == "old"


@pytest.mark.parametrize("name", ["=cmd()", "a\tb", "# c"])
def test_names_that_files_cannot_hold(pbmc, tmp_path, name):
    pbmc.var_names = [name, *pbmc.var_names[1:]]
    order_panel(pbmc, [name, "CD3D"], "merscope")
    with refused(InvalidValue, "path"):
        write_order(pbmc, tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_nothing(selected, tmp_path, monkeypatch):
    order_panel(selected, "glfs", "xenium_v1")

    def fail(table, target, **options):
        target.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(KeyboardInterrupt):
        write_order(selected, tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def reference(selected):
    glfs_bio.tl.resolve_genes(selected)
    return selected


def test_reference(reference, tmp_path):
    reference.layers["counts"] = sparse.csr_matrix(reference.layers["counts"])
    write_reference(reference, tmp_path / "a.zip", "bulk_labels")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "a")
    again = sc.read_10x_mtx(tmp_path / "a", var_names="gene_ids")
    genes = reference.var_names[reference.var["glfs_names_id"] != ""]
    assert list(again.var_names) == list(reference.var.loc[genes, "glfs_names_id"])
    assert list(again.var["gene_symbols"]) == list(genes)
    np.testing.assert_array_equal(again.X.toarray(), reference[:, genes].layers["counts"].toarray())
    types = pd.read_csv(tmp_path / "a" / "celltypes.csv")
    assert list(types) == ["barcode", "annotation"]
    assert list(types["barcode"]) == list(again.obs_names) == list(reference.obs_names)
    assert list(types["annotation"]) == list(reference.obs["bulk_labels"])
    write_reference(reference, tmp_path / "b.zip", "bulk_labels")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_large_reference_is_sampled_by_type(reference, tmp_path, caplog):
    write_reference(reference, tmp_path / "all.zip", "bulk_labels")
    room = (tmp_path / "all.zip").stat().st_size // 2
    write_reference(reference, tmp_path / "some.zip", "bulk_labels", max_bytes=room)
    assert (tmp_path / "some.zip").stat().st_size <= room
    with zipfile.ZipFile(tmp_path / "some.zip") as archive:
        types = pd.read_csv(archive.open("celltypes.csv"))["annotation"].value_counts()
    every = reference.obs["bulk_labels"].value_counts()
    assert 0.3 * len(reference) < types.sum() < 0.6 * len(reference)
    assert set(types.index) == set(every.index)
    # rare types are whole, and the others have as many cells as each other
    cut = types[types < every[types.index]]
    assert cut.max() - cut.min() <= 1
    assert types.max() == cut.max()
    assert "were drawn" in caplog.text
    with refused(InvalidValue, "max_bytes"):
        write_reference(reference, tmp_path / "none.zip", "bulk_labels", max_bytes=100)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["all.zip", "some.zip"]


def test_bad_references(reference, tmp_path):
    reference.obs["none"] = pd.Categorical([np.nan] * reference.n_obs, categories=["a"])
    reference.var["twice"] = "ENSG00000167286"
    reference.var["no_ids"] = ""
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
            write_reference(reference, tmp_path / name, labels, **options)
    reference.obs_names = [*reference.obs_names[1:2], *reference.obs_names[1:]]
    with refused(InvalidValue, "adata"):
        write_reference(reference, tmp_path / "a.zip", "bulk_labels")
    assert not list(tmp_path.iterdir())


def test_from_raw_counts_to_an_order(real, data_folder, tmp_path):
    """100 add-ons from Kang's counts, against the list of a vendor where there is one."""
    path = data_folder.parent / "formats" / "xenium_v1_genes.csv.gz"
    if not path.exists():
        pytest.skip(f"{path} is missing")
    adata = real("kang_ifnb13999")[::4].copy()
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    glfs_bio.pp.select_genes(adata, 100)
    order_panel(adata, "glfs", "xenium_v1", genes=path, refused="replace")
    write_order(adata, tmp_path / "order.csv")
    panel = read_panel(tmp_path / "order.csv")
    vendor = glfs_bio.io.read_genes(path, species="human")
    known = set(zip(vendor["symbol"], vendor["id"], strict=True))
    assert len(panel) == 100
    assert set(zip(panel, panel.table["id"], strict=True)) <= known
    assert versionless(panel.table["id"][0]) == panel.table["id"][0]
