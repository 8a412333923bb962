from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio.errors import Caution, FileExists, FileMissing, NotFound, Refusal
from glfs_bio.io import read_panel, write_genes
from glfs_bio.pp import select_genes
from glfs_bio.tl import extend_panel

#: Of 765 genes, without one that is excluded and 12 that are clones.
N_RANKED = 752


@pytest.fixture(scope="module")
def _panel(_pbmc):
    adata = _pbmc.copy()
    select_genes(adata, 20, exclude=["HLA-DRA"], include=["CD3D"])
    adata.var["id"] = [f"ENSG{i:05d}" for i in range(adata.n_vars)]
    return adata


@pytest.fixture
def panel(_panel):
    return _panel.copy()


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


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
    write_genes(panel, tmp_path / "all.csv", symbols="id", selected_only=False)
    table = pd.read_csv(tmp_path / "all.csv")
    assert len(table) == N_RANKED
    assert panel.var.loc["HLA-DRA", "id"] not in set(table["gene"])
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


@pytest.mark.parametrize("ending", ["txt", "csv"])
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
    ("a.rnk", {}, "path"),
    ("a.csv", {"symbols": "nope"}, "symbols"),
    ("a.csv", {"key": "nope"}, "key"),
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
    script = """
        genes <- readLines("genes.txt")
        table <- read.csv("genes.csv")
        stopifnot(identical(table$gene, genes), length(genes) == 20, is.logical(table$selected))
        stopifnot(is.logical(table$included), sum(table$included) == 1, all(table$loss > 0))
        cat("read")
    """
    command = ["Rscript", "--vanilla", "-e", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "read", done.stderr
