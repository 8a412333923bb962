"""Names of genes out of files."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest
from refusals import refused

import glfs_bio
from glfs_bio.errors import FileMissing, InvalidType, InvalidValue, NotFound, PackageMissing
from glfs_bio.io import read_panel

GENES = ["CD3D", "MS4A1", "NA"]


@pytest.fixture
def write(tmp_path):
    def file(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return file


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.txt", "CD3D\nMS4A1\nNA\n"),
        ("comments.txt", "# T and B\nCD3D  # T\n\n  MS4A1\nCD3D\n\nNA"),
        ("header.txt", "Gene Symbol\nCD3D\nMS4A1\nNA\n"),
        ("windows.txt", "\ufeffCD3D\r\nMS4A1\r\nNA\r\n"),
        ("one.csv", "CD3D\nMS4A1\nNA\n"),
        ("one_headed.csv", "gene\nCD3D\nMS4A1\nNA\n"),
        ("two.csv", "type,Gene\nT,CD3D\nB,MS4A1\nT,CD3D\nx,NA\n"),
        ("names_first.csv", "Ensembl ID,gene_name\nENSG1,CD3D\nENSG2,MS4A1\nENSG3,NA\n"),
        ("semicolon.csv", "\ufeffSymbol;weight\nCD3D;0,5\nMS4A1;0,3\nNA;0\n"),
        ("quoted.csv", '"GENES","note"\n"CD3D","a, b"\n"MS4A1",""\n"NA",""\n'),
        ("comments.csv", "#file_format=1.0\ngene,n\nCD3D,1\nMS4A1,1\n,1\nNA,1\n"),
        ("row_names.csv", ",score\nCD3D,1\nMS4A1,2\nNA,3\n"),
        ("table.tsv", "target_gene\tn\nCD3D\t1\nMS4A1\t1\nNA\t1\n"),
        ("UPPER.TSV", "names\nCD3D\nMS4A1\nNA\n"),
        ("sets.gmt", "T\tx\tCD3D\tMS4A1\nB\tx\tMS4A1\tNA\n"),
    ],
)
def test_forms(write, name, text):
    path = write(name, text)
    assert read_panel(path) == GENES
    assert read_panel(str(path)) == GENES


def test_column_and_set_by_name(write):
    table = write("table.csv", "gene,ligand\nCD3D,IL6\nMS4A1,TNF\n")
    assert read_panel(table, column="ligand") == ["IL6", "TNF"]
    sets = write("sets.gmt", "T\tx\tCD3D\nB\tx\tMS4A1\n")
    assert read_panel(sets, set_name="B") == ["MS4A1"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "gmt"])
def test_what_this_package_writes(pbmc, tmp_path, ending):
    glfs_bio.pp.select_genes(pbmc, 5)
    best = pbmc.var[pbmc.var["glfs_selected"]].sort_values("glfs_rank").index
    path = tmp_path / f"panel.{ending}"
    if ending == "gmt":
        glfs_bio.io.write_gmt(pbmc, path)
    elif ending == "txt":
        path.write_text("\n".join(best))
    else:
        glfs_bio.io.write_gene_list(pbmc, path)
    assert read_panel(path)[:5] == list(best)


@pytest.mark.parametrize(
    ("name", "text", "options", "error", "argument"),
    [
        ("empty.txt", "", {}, InvalidValue, "path"),
        ("comments.txt", "# nothing\n\n", {}, InvalidValue, "path"),
        ("empty.csv", "", {}, InvalidValue, "path"),
        ("only_header.csv", "gene,n\n", {}, InvalidValue, "path"),
        ("empty.gmt", "", {}, InvalidValue, "path"),
        ("several.txt", "CD3D\nCD4, CD8A\n", {}, InvalidValue, "path"),
        ("table.txt", "gene\tn\nCD3D\t1\n", {}, InvalidValue, "path"),
        ("panel.doc", "CD3D", {}, InvalidValue, "path"),
        ("no_head.csv", "CD3D,T\nCD4,T\n", {}, InvalidValue, "path"),
        ("a.csv", "gene,n\nCD3D,1\n", {"column": "x"}, NotFound, "column"),
        ("a.csv", "gene\nCD3D\n", {"column": 1}, InvalidType, "column"),
        ("a.csv", "gene\nCD3D\n", {"sheet": "x"}, InvalidValue, "sheet"),
        ("a.txt", "CD3D\n", {"column": "x"}, InvalidValue, "column"),
        ("a.txt", "CD3D\n", {"set_name": "x"}, InvalidValue, "set_name"),
        ("a.gmt", "T\tx\tCD3D\n", {"set_name": "x"}, NotFound, "set_name"),
    ],
)
def test_bad_files(write, name, text, options, error, argument):
    with refused(error, argument):
        read_panel(write(name, text), **options)


def test_missing_and_binary_files(tmp_path):
    with refused(FileMissing, "path"):
        read_panel(tmp_path / "no.csv")
    path = tmp_path / "binary.txt"
    path.write_bytes(b"\xff\xfe\x00C")
    with refused(InvalidValue, "path"):
        read_panel(path)
    with refused(InvalidType, "path"):
        read_panel(5)


def test_excel_without_openpyxl(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with refused(PackageMissing, "openpyxl"):
        read_panel(write("a.xlsx", "x"))


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "panel.xlsx"
    dates = ["CD3D", datetime.datetime(2026, 9, 1)]
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"n": [1, 2, 3, 4], "Gene": [*GENES, None]}).to_excel(book, index=False)
        pd.DataFrame(["CD4", "CD8A"]).to_excel(book, sheet_name="T", index=False, header=False)
        pd.DataFrame({"gene": dates}).to_excel(book, sheet_name="dates", index=False)
    assert read_panel(path) == GENES
    assert read_panel(path, sheet="T") == ["CD4", "CD8A"]
    assert read_panel(path, column="n") == ["1", "2", "3", "4"]
    with refused(NotFound, "sheet"):
        read_panel(path, sheet="B")
    with refused(InvalidValue, "path"):
        read_panel(path, sheet="dates")
    (tmp_path / "text.xlsx").write_text("CD3D")
    with refused(InvalidValue, "path"):
        read_panel(tmp_path / "text.xlsx")
