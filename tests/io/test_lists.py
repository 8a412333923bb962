from __future__ import annotations

import shutil
import subprocess

import gseapy
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio.errors import Caution, FileExists, FileMissing, InvalidValue, NotFound, Refusal
from glfs_bio.io import read_markers, read_panel, write_genes
from glfs_bio.pp import select_genes
from glfs_bio.tl import extend_panel

#: Of 765 genes, without one that is excluded and 12 that are clones.
N_RANKED = 752


@pytest.fixture(scope="module")
def _panel(_pbmc):
    adata = _pbmc.copy()
    select_genes(adata, 20, exclude=["HLA-DRA"], include=["CD3D"])
    select_genes(adata, 5, key_added="small")
    adata.var["id"] = [f"ENSG{i:05d}" for i in range(adata.n_vars)]
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


def test_tables(panel, tmp_path):
    ranked = panel.var.loc[best_first(panel)]
    for ending, separator in (("csv", ","), ("tsv", "\t")):
        path = tmp_path / f"genes.{ending}"
        write_genes(panel, path, symbols="id")
        table = pd.read_csv(path, sep=separator)
        columns = ["gene", "weight", "loss", "score", "rank", "selected", "included"]
        assert list(table) == columns
        assert list(table["gene"]) == list(ranked["id"])
        assert list(table["rank"]) == list(range(1, 21))
        for name in ("weight", "score", "loss"):
            np.testing.assert_allclose(table[name], ranked[f"glfs_{name}"])
        assert table["selected"].all()
        assert list(table["included"]) == list(ranked["glfs_included"])
    pytest.importorskip("openpyxl")
    write_genes(panel, tmp_path / "genes.xlsx", symbols="id")
    pd.testing.assert_frame_equal(pd.read_excel(tmp_path / "genes.xlsx"), table, rtol=1e-12)
    assert read_panel(tmp_path / "genes.xlsx") == list(table["gene"])
    write_genes(panel, tmp_path / "all.csv", columns=["id"], selected_only=False)
    table = pd.read_csv(tmp_path / "all.csv")
    assert len(table) == N_RANKED
    assert "HLA-DRA" not in set(table["gene"])
    assert list(table["id"]) == list(panel.var.loc[table["gene"], "id"])
    assert table["selected"].sum() == 20


def test_genes_of_a_catalogue_that_are_not_in_the_data(panel, tmp_path):
    with pytest.warns(Caution):
        extend_panel(panel, ["CD3D", "NotHere", "LYZ"], 5)
    write_genes(panel, tmp_path / "order.csv", key="glfs_extended")
    table = pd.read_csv(tmp_path / "order.csv")
    assert list(table["gene"])[-1] == "NotHere"
    assert len(table) == 5
    assert table["selected"].all()
    assert np.isnan(table["rank"].iloc[-1])


def test_names(panel, tmp_path):
    """Unnamed genes are called as they are; commas and quotes are no separators."""
    write_genes(panel, tmp_path / "plain.txt")
    assert (tmp_path / "plain.txt").read_text().splitlines() == best_first(panel)
    first, second = best_first(panel)[:2]
    panel.var.loc[first, "id"] = ""
    panel.var.loc[second, "id"] = 'odd, "gene"'
    for name in ("genes.txt", "genes.csv"):
        write_genes(panel, tmp_path / name, symbols="id")
    lines = (tmp_path / "genes.txt").read_text().splitlines()
    assert lines[:2] == [first, 'odd, "gene"']
    assert list(pd.read_csv(tmp_path / "genes.csv")["gene"]) == lines


def test_ranked_list(panel, tmp_path):
    write_genes(panel, tmp_path / "genes.rnk")
    table = read_rnk(tmp_path / "genes.rnk")
    assert len(table) == N_RANKED
    assert table.is_unique
    assert table.is_monotonic_decreasing
    np.testing.assert_array_equal(table, panel.var.loc[table.index, "glfs_score"])
    # of genes of one name the best is there, and those without a name are not
    first, second, third = best_first(panel)[:3]
    panel.var.loc[[first, second], "id"] = "twin"
    panel.var["id"] = panel.var["id"].mask(panel.var_names == third)
    write_genes(panel, tmp_path / "genes.rnk", symbols="id", overwrite=True)
    table = read_rnk(tmp_path / "genes.rnk")
    assert len(table) == N_RANKED - 2
    assert table["twin"] == panel.var.loc[first, "glfs_score"]
    panel.var["glfs_score"] = 1.0
    with refused(InvalidValue, "key"):
        write_genes(panel, tmp_path / "ties.rnk")


def test_sets_of_selections(panel, tmp_path):
    path = tmp_path / "panels.gmt"
    write_genes(panel, path, key=["glfs", "small"])
    sets = {key: best_first(panel, key) for key in ("glfs", "small")}
    assert read_markers(path) == gseapy.read_gmt(str(path)) == sets
    write_genes(panel, tmp_path / "x.gmt", key="small", symbols="id")
    assert read_markers(tmp_path / "x.gmt") == {"small": list(panel.var.loc[sets["small"], "id"])}


def test_gseapy_reads_the_files(panel, tmp_path):
    genes, sets, ranks = (str(tmp_path / name) for name in ("a.txt", "a.gmt", "a.rnk"))
    write_genes(panel, genes)
    write_genes(panel, sets)
    write_genes(panel, ranks)
    enriched = gseapy.enrich(genes, sets, background=list(panel.var_names), outdir=None).results
    assert enriched.set_index("Term").loc["glfs", "Overlap"] == "20/20"
    options = {"min_size": 2, "weight": 0, "permutation_num": 20, "threads": 1}
    ranked = gseapy.prerank(ranks, sets, outdir=None, **options)
    assert len(ranked.ranking) == N_RANKED
    assert ranked.res2d.set_index("Term").loc["glfs", "ES"] == pytest.approx(1.0)


@pytest.mark.parametrize("ending", ["txt", "csv", "gmt", "rnk"])
def test_files_are_not_replaced_unless_told(panel, tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    path.write_text("old")
    with refused(FileExists, "path"):
        write_genes(panel, path)
    assert path.read_text() == "old"
    for _ in range(2):  # as a cell of a notebook that runs again
        write_genes(panel, path, overwrite=True)
    assert path.read_text() != "old"
    assert list(tmp_path.iterdir()) == [path]
    with refused(FileMissing, "path"):
        write_genes(panel, tmp_path / "nowhere" / path.name)
    with refused(NotFound, "key"):
        write_genes(panel, tmp_path / f"other.{ending}", key="other")


BAD = [
    ("a.ods", {}, "path"),
    ("a.txt", {"columns": ["id"]}, "columns"),
    ("a.csv", {"columns": ["nope"]}, "columns"),
    ("a.csv", {"symbols": "nope"}, "symbols"),
    ("a.csv", {"key": ["glfs", "small"]}, "key"),
    ("a.gmt", {"key": ["glfs", "glfs"]}, "key"),
    ("a.gmt", {"key": []}, "key"),
]


def test_bad_input_writes_nothing(panel, tmp_path):
    for name, options, argument in BAD:
        with refused(Refusal, argument):
            write_genes(panel, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_base_r_reads_the_files(panel, tmp_path):
    write_genes(panel, tmp_path / "genes.txt")
    write_genes(panel, tmp_path / "genes.csv")
    write_genes(panel, tmp_path / "panels.gmt", key=["glfs", "small"])
    write_genes(panel, tmp_path / "genes.rnk")
    script = """
        genes <- readLines("genes.txt")
        table <- read.csv("genes.csv")
        rnk <- read.delim("genes.rnk", header = FALSE)
        sets <- strsplit(readLines("panels.gmt"), "\\t")
        names(sets) <- sapply(sets, `[`, 1)
        stopifnot(identical(table$gene, genes), length(genes) == 20, is.logical(table$selected))
        stopifnot(is.logical(table$included), sum(table$included) == 1, all(table$loss > 0))
        stopifnot(nrow(rnk) == 752, !anyDuplicated(rnk[[2]]), !is.unsorted(rev(rnk[[2]])))
        stopifnot(identical(rnk[[1]][1:20], genes), identical(sets$glfs[-(1:2)], genes))
        stopifnot(identical(table$score, rnk[[2]][1:20]), length(sets$small) == 7)
        cat("read")
    """
    command = ["Rscript", "--vanilla", "-e", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "read", done.stderr
