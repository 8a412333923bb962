"""Names of genes out of files."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest

import glfs_bio
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
    ("name", "text", "options", "error", "words"),
    [
        ("empty.txt", "", {}, ValueError, "holds no names"),
        ("comments.txt", "# nothing\n\n", {}, ValueError, "holds no names"),
        ("empty.csv", "", {}, ValueError, "holds no names"),
        ("only_header.csv", "gene,n\n", {}, ValueError, "holds no names"),
        ("empty.gmt", "", {}, ValueError, "holds no gene set"),
        ("several.txt", "CD3D\nCD4, CD8A\n", {}, ValueError, "line 2 is 'CD4, CD8A'"),
        ("table.txt", "gene\tn\nCD3D\t1\n", {}, ValueError, "Save a table as .csv or .tsv"),
        ("panel.doc", "CD3D", {}, ValueError, "must be one of .txt, .csv"),
        ("no_head.csv", "CD3D,T\nCD4,T\n", {}, ValueError, "none is headed gene or symbol: CD3D"),
        ("a.csv", "gene,n\nCD3D,1\n", {"column": "x"}, KeyError, "column='x' is not in"),
        ("a.csv", "gene\nCD3D\n", {"column": 1}, TypeError, "column=1 must be a string"),
        ("a.csv", "gene\nCD3D\n", {"sheet": "x"}, ValueError, "sheet='x' is for .xlsx"),
        ("a.txt", "CD3D\n", {"column": "x"}, ValueError, "column='x' is for .csv and .tsv"),
        ("a.txt", "CD3D\n", {"set_name": "x"}, ValueError, "set_name='x' is for .gmt"),
        ("a.gmt", "T\tx\tCD3D\n", {"set_name": "x"}, KeyError, "set_name='x' is not in"),
        ("a.xlsx", "CD3D\n", {}, (ValueError, ImportError), ("a.xlsx",)),
    ],
)
def test_bad_files(write, name, text, options, error, words):
    path = write(name, text)
    with pytest.raises(error) as caught:
        read_panel(path, **options)
    told = str(caught.value.args[0])
    assert all(word in told for word in ([words] if isinstance(words, str) else words))


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_panel(tmp_path / "no.csv")
    path = tmp_path / "binary.txt"
    path.write_bytes(b"\xff\xfe\x00C")
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        read_panel(path)
    with pytest.raises(TypeError, match="path=5 must be a path"):
        read_panel(5)


def test_excel_without_openpyxl(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"openpyxl: pip install 'glfs-bio\[xlsx\]'"):
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
    with pytest.raises(KeyError, match="sheet='B' is not in"):
        read_panel(path, sheet="B")
    with pytest.raises(ValueError, match="has the date 2026-09-01 among the genes"):
        read_panel(path, sheet="dates")
