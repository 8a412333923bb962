from __future__ import annotations

import shutil
import subprocess

import gseapy
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio.errors import Caution, FileExists, FileMissing, InvalidValue
from glfs_bio.io import read_gmt, read_panel, write_gene_list, write_gmt, write_rnk
from glfs_bio.pp import select_genes
from glfs_bio.tl import explain_panel, extend_panel


@pytest.fixture(scope="module")
def _panel(_pbmc):
    adata = _pbmc.copy()
    select_genes(adata, 20, exclude=["HLA-DRA"], include=["CD3D"])
    select_genes(adata, 5, key_added="small")
    adata.var["id"] = [f"ENSG{i:05d}" for i in range(adata.n_vars)]
    frequency = np.where(adata.var["glfs_selected"], 0.9, 0.1)
    adata.var["glfs_stability_frequency"] = np.where(adata.var["small_selected"], 1.0, frequency)
    return adata


@pytest.fixture
def panel(_panel):
    return _panel.copy()


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


def read_rnk(path):
    """Python's own conversion, which loses no digit."""
    return pd.read_csv(path, sep="\t", header=None, index_col=0, dtype=str)[1].astype(float)


def test_plain_list(panel, tmp_path):
    write_gene_list(panel, tmp_path / "genes.txt")
    assert (tmp_path / "genes.txt").read_text().splitlines() == best_first(panel)


@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("tsv", "\t")])
def test_table(panel, tmp_path, ending, separator):
    path = tmp_path / f"genes.{ending}"
    write_gene_list(panel, path, symbols="id")
    table = pd.read_csv(path, sep=separator)
    ranked = panel.var.loc[best_first(panel)]
    assert list(table["gene"]) == list(ranked["id"])
    assert list(table["rank"]) == list(range(1, 21))
    np.testing.assert_allclose(table["weight"], ranked["glfs_weight"])
    np.testing.assert_allclose(table["score"], ranked["glfs_score"])
    np.testing.assert_allclose(table["loss"], ranked["glfs_loss"])
    assert (table["loss"] > 0).all()
    assert table["selected"].all()
    assert list(table["included"]) == list(ranked["glfs_included"])
    assert table["included"].sum() == 1
    columns = ["gene", "weight", "loss", "score", "rank", "selected", "included"]
    assert list(table) == columns


def test_table_of_every_tested_gene(panel, tmp_path):
    write_gene_list(panel, tmp_path / "all.csv", columns=["id"], selected_only=False)
    table = pd.read_csv(tmp_path / "all.csv")
    assert len(table) == panel.n_vars - 1
    assert "HLA-DRA" not in set(table["gene"])
    assert list(table["id"]) == list(panel.var.loc[table["gene"], "id"])
    assert table["selected"].sum() == 20


def test_workbook(panel, tmp_path):
    pytest.importorskip("openpyxl")
    write_gene_list(panel, tmp_path / "genes.xlsx", symbols="id")
    write_gene_list(panel, tmp_path / "genes.csv", symbols="id")
    table = pd.read_excel(tmp_path / "genes.xlsx")
    expected = pd.read_csv(tmp_path / "genes.csv")
    pd.testing.assert_frame_equal(table, expected, rtol=1e-12)
    assert read_panel(tmp_path / "genes.xlsx") == list(expected["gene"])


def test_explanations_stand_beside_the_genes(panel, tmp_path):
    explain_panel(panel, "glfs", "bulk_labels")
    write_gene_list(panel, tmp_path / "why.csv", explanation_key="glfs_explanation")
    table = pd.read_csv(tmp_path / "why.csv").set_index("gene")
    told = panel.uns["glfs_explanation"]["table"].set_index("gene")
    assert list(table.index) == best_first(panel)
    offered = told["substitute"].loc[table.index].replace("", "none")
    assert list(table["substitute"].fillna("none")) == list(offered)
    assert table.loc["CD79A", "supports"].startswith("CD19+ B")
    with refused(InvalidValue, "explanation_key"):
        write_gene_list(panel, tmp_path / "b.csv", key="small", explanation_key="glfs_explanation")
    with refused(InvalidValue, "explanation_key"):
        write_gene_list(panel, tmp_path / "b.txt", explanation_key="glfs_explanation")
    with pytest.raises(KeyError):
        write_gene_list(panel, tmp_path / "b.csv", explanation_key="none")
    assert not list(tmp_path.glob("b.*"))


def test_genes_of_a_catalogue_that_are_not_in_the_data(panel, tmp_path):
    with pytest.warns(Caution):
        extend_panel(panel, ["CD3D", "NotHere", "LYZ"], 2)
    write_gene_list(panel, tmp_path / "order.txt", key="glfs_extended")
    names = (tmp_path / "order.txt").read_text().split()
    assert len(names) == 5
    assert names[-1] == "NotHere"
    write_gene_list(panel, tmp_path / "order.csv", key="glfs_extended")
    table = pd.read_csv(tmp_path / "order.csv").set_index("gene")
    assert table["selected"].all()
    assert np.isnan(table.loc["NotHere", "rank"])


def test_names_with_commas_and_quotes(panel, tmp_path):
    name = 'odd, "gene"'
    panel.var["id"] = name + panel.var["id"].astype(str)
    write_gene_list(panel, tmp_path / "odd.csv", symbols="id")
    assert pd.read_csv(tmp_path / "odd.csv")["gene"].str.startswith(name).all()


def test_unnamed_genes_keep_their_own_name(panel, tmp_path):
    first = best_first(panel)[0]
    panel.var.loc[first, "id"] = ""
    write_gene_list(panel, tmp_path / "genes.txt", symbols="id")
    assert (tmp_path / "genes.txt").read_text().splitlines()[0] == first


def test_ranked_list_orders_every_tested_gene(panel, tmp_path):
    write_rnk(panel, tmp_path / "genes.rnk")
    table = read_rnk(tmp_path / "genes.rnk")
    assert len(table) == panel.n_vars - 1
    assert table.is_unique
    assert table.is_monotonic_decreasing
    np.testing.assert_array_equal(table, panel.var.loc[table.index, "glfs_score"])


def test_ranked_list_keeps_the_best_of_one_name(panel, tmp_path):
    first, second = best_first(panel)[:2]
    panel.var.loc[[first, second], "id"] = "twin"
    panel.var["id"] = panel.var["id"].mask(panel.var_names == best_first(panel)[2])
    write_rnk(panel, tmp_path / "genes.rnk", symbols="id")
    table = read_rnk(tmp_path / "genes.rnk")
    assert len(table) == panel.n_vars - 3
    assert table["twin"] == panel.var.loc[first, "glfs_score"]


def test_ties_are_refused(panel, tmp_path):
    panel.var["glfs_score"] = 1.0
    with refused(InvalidValue, "key"):
        write_rnk(panel, tmp_path / "genes.rnk")


def test_sets_of_selections_groups_and_thresholds(panel, tmp_path):
    path = tmp_path / "panels.gmt"
    groups = {"T cells": ["CD3D", "CD3E"], "B cells": ("CD79A",)}
    write_gmt(panel, path, key=["glfs", "small"], groups=groups, thresholds=[0.5, 1.0])
    sets = read_gmt(path)
    assert list(sets) == [
        *("glfs", "small", "T cells", "B cells"),
        *("glfs_stability_0.5", "glfs_stability_1"),
    ]
    assert sets["glfs"] == best_first(panel)
    assert sets["T cells"] == ["CD3D", "CD3E"]
    assert set(sets["glfs_stability_1"]) == set(best_first(panel, "small"))
    assert set(sets["glfs_stability_0.5"]) == set(sets["glfs"]) | set(sets["small"])
    assert gseapy.read_gmt(str(path)) == sets


def test_only_groups_by_another_name(panel, tmp_path):
    write_gmt(panel, tmp_path / "x.gmt", key=None, groups={"T": ["CD3D"]}, symbols="id")
    assert read_gmt(tmp_path / "x.gmt") == {"T": [panel.var.loc["CD3D", "id"]]}


def test_gseapy_reads_the_files(panel, tmp_path):
    write_gene_list(panel, tmp_path / "genes.txt")
    write_gmt(panel, tmp_path / "panels.gmt", groups={"T": ["CD3D", "CD3E"]})
    write_rnk(panel, tmp_path / "genes.rnk")
    found = gseapy.enrich(
        str(tmp_path / "genes.txt"),
        str(tmp_path / "panels.gmt"),
        background=list(panel.var_names),
        outdir=None,
    ).results.set_index("Term")
    assert found.loc["glfs", "Overlap"] == "20/20"
    ranked = gseapy.prerank(
        str(tmp_path / "genes.rnk"),
        str(tmp_path / "panels.gmt"),
        min_size=2,
        weight=0,
        permutation_num=20,
        threads=1,
        outdir=None,
    )
    assert len(ranked.ranking) == panel.n_vars - 1
    assert ranked.res2d.set_index("Term").loc["glfs", "ES"] == pytest.approx(1.0)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_base_r_reads_the_files(panel, tmp_path):
    write_gene_list(panel, tmp_path / "genes.txt")
    write_gene_list(panel, tmp_path / "genes.csv")
    write_gmt(panel, tmp_path / "panels.gmt", key=["glfs", "small"])
    write_rnk(panel, tmp_path / "genes.rnk")
    script = """
        genes <- readLines("genes.txt")
        table <- read.csv("genes.csv")
        rnk <- read.delim("genes.rnk", header = FALSE)
        sets <- strsplit(readLines("panels.gmt"), "\\t")
        names(sets) <- sapply(sets, `[`, 1)
        stopifnot(identical(table$gene, genes), length(genes) == 20, is.logical(table$selected))
        stopifnot(is.logical(table$included), sum(table$included) == 1, all(table$loss > 0))
        stopifnot(nrow(rnk) == 764, !anyDuplicated(rnk[[2]]), !is.unsorted(rev(rnk[[2]])))
        stopifnot(identical(rnk[[1]][1:20], genes), identical(sets$glfs[-(1:2)], genes))
        stopifnot(identical(table$score, rnk[[2]][1:20]), length(sets$small) == 7)
        cat("read")
    """
    command = ["Rscript", "--vanilla", "-e", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "read", done.stderr


@pytest.mark.parametrize("write", [write_gene_list, write_gmt, write_rnk])
def test_files_are_not_replaced_unless_told(panel, tmp_path, write):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with refused(FileExists, "path"):
        write(panel, path)
    assert path.read_text() == "old"
    write(panel, path, overwrite=True)
    assert path.read_text() != "old"
    assert [file.name for file in tmp_path.iterdir()] == ["out.txt"]
    with refused(FileMissing, "path"):
        write(panel, tmp_path / "nowhere" / "out.txt")


@pytest.mark.parametrize(
    ("write", "name", "options", "error", "argument"),
    [
        (write_gene_list, "a.txt", {"key": "other"}, KeyError, "key"),
        (write_gene_list, "a.ods", {}, ValueError, "path"),
        (write_gene_list, "a.txt", {"columns": ["id"]}, ValueError, "columns"),
        (write_gene_list, "a.csv", {"columns": ["nope"]}, KeyError, "columns"),
        (write_gene_list, "a.csv", {"symbols": "nope"}, KeyError, "symbols"),
        (write_rnk, "a.rnk", {"key": "other"}, KeyError, "key"),
        (write_gmt, "a.gmt", {"key": "other"}, KeyError, "key"),
        (write_gmt, "a.gmt", {"key": ["glfs", "glfs"]}, ValueError, "key"),
        (write_gmt, "a.gmt", {"key": None}, ValueError, "key"),
        (write_gmt, "a.gmt", {"groups": {"T": ["nope"]}}, KeyError, "groups"),
        (write_gmt, "a.gmt", {"groups": {"T": []}}, ValueError, "groups"),
        (write_gmt, "a.gmt", {"groups": {"T\tx": ["CD3D"]}}, ValueError, "groups"),
        (write_gmt, "a.gmt", {"thresholds": 1.5}, ValueError, "thresholds"),
        (write_gmt, "a.gmt", {"thresholds": 0.0}, ValueError, "thresholds"),
        (write_gmt, "a.gmt", {"thresholds": 0.5, "stability_key": "no"}, KeyError, "key"),
    ],
)
def test_bad_input_writes_nothing(panel, tmp_path, write, name, options, error, argument):
    with refused(error, argument):
        write(panel, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_threshold_that_leaves_nothing(panel, tmp_path):
    panel.var["glfs_stability_frequency"] = 0.25
    with refused(InvalidValue, "thresholds"):
        write_gmt(panel, tmp_path / "a.gmt", thresholds=0.5)
