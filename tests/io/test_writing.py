"""One way to a file for all that write, and one check of names."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from refusals import refused

from glfs_bio import io, pp
from glfs_bio.errors import FileExists, InvalidValue

posix = pytest.mark.skipif(os.name != "posix", reason="this system has no such thing")


@pytest.fixture
def panel(pbmc):
    pp.select_genes(pbmc, 5)
    return pbmc


def test_a_folder_is_never_replaced_by_a_file(panel, tmp_path):
    folder = tmp_path / "panel.csv"
    folder.mkdir()
    (folder / "work.txt").write_text("years")
    with refused(FileExists, "path"):
        io.write_gene_list(panel, folder, overwrite=True)
    store = tmp_path / "results.zarr"
    store.mkdir()
    (store / "work.txt").write_text("years")
    with refused(FileExists, "path"), io.replacing(store, overwrite=True):
        pass
    assert (folder / "work.txt").read_text() == (store / "work.txt").read_text() == "years"


def test_one_of_many_creates_a_file(panel, tmp_path):
    def write(number):
        try:
            with io.replacing(tmp_path / "panel.txt") as name:
                name.write_text(str(number))
        except FileExists:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        wrote = [number for number in pool.map(write, range(16)) if number is not None]
    assert [(tmp_path / "panel.txt").read_text()] == [str(number) for number in wrote]
    assert [path.name for path in tmp_path.iterdir()] == ["panel.txt"]


def test_a_file_that_comes_meanwhile_stays(tmp_path):
    path = tmp_path / "panel.txt"
    with refused(FileExists, "path"), io.replacing(path) as name:
        name.write_text("late")
        path.write_text("early")
    assert path.read_text() == "early"


@posix
def test_permissions_stay(panel, tmp_path):
    path = tmp_path / "panel.txt"
    path.write_text("secret")
    path.chmod(0o600)
    io.write_gene_list(panel, path, overwrite=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_links_stay_and_are_followed(panel, tmp_path):
    (tmp_path / "data").mkdir()
    file, link = tmp_path / "data" / "panel.txt", tmp_path / "link.txt"
    file.write_text("old")
    link.symlink_to(file)
    io.write_gene_list(panel, link, overwrite=True)
    assert link.is_symlink()
    assert len(file.read_text().split()) == 5
    dangling = tmp_path / "dangling.txt"
    dangling.symlink_to(tmp_path / "data" / "nothing.txt")
    with refused(FileExists, "path"):
        io.write_gene_list(panel, dangling)
    io.write_gene_list(panel, dangling, overwrite=True)
    assert (tmp_path / "data" / "nothing.txt").is_file()


@posix
def test_what_the_dead_left_behind_is_removed(tmp_path):
    code = f"""
import os, signal
from glfs_bio import io
with io.replacing({str(tmp_path / "a.txt")!r}) as name:
    name.write_text("half")
    os.kill(os.getpid(), signal.SIGTERM)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    left = list(tmp_path.glob(".glfs-*"))
    assert len(left) == 1
    here = left[0].name.removeprefix(".glfs-").rsplit("-", 2)[0]
    (tmp_path / f".glfs-{here}-{os.getpid()}-living").mkdir()
    (tmp_path / ".glfs-elsewhere-1-other").mkdir()
    with io.replacing(tmp_path / "a.txt") as name:
        name.write_text("whole")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a.txt", f".glfs-{here}-{os.getpid()}-living", ".glfs-elsewhere-1-other"}
    assert platform.node()[:1] == here[:1]


NAMES = ["a\nb", "a\rb", "a\tb", "a\x0bb", "a\x1cb", "a\x85b", "a\u2028b", " a", "a ", "", "#a"]
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)"]


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "xlsx", "rnk", "gmt"])
@pytest.mark.parametrize("name", [*NAMES, *FORMULAS, "gene", "symbol"])
def test_a_name_comes_back_or_is_refused(panel, tmp_path, name, ending):
    best = panel.var["glfs_rank"].idxmin()
    panel.var["symbol"] = [name if gene == best else gene for gene in panel.var_names]
    panel.var_names = [name if gene == best else gene for gene in panel.var_names]
    path = tmp_path / f"panel.{ending}"
    write = {"rnk": io.write_rnk, "gmt": io.write_gmt}.get(ending, io.write_gene_list)
    try:
        write(panel, path)
    except InvalidValue:
        assert list(tmp_path.iterdir()) == []
        assert name not in {"gene", "symbol"} or ending == "txt"
        return
    if ending == "rnk":
        assert path.read_text("utf-8").split("\n")[0].split("\t")[0] == name
    else:
        assert io.read_panel(path)[0] == name
    assert name not in FORMULAS or ending not in {"csv", "tsv", "xlsx"}


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_no_column_holds_a_formula(panel, tmp_path, ending):
    panel.var["note"] = "=HYPERLINK(1)"
    panel.var["sign"] = "-"
    panel.var["less"] = -1.5
    path = tmp_path / f"panel.{ending}"
    io.write_gene_list(panel, path, columns=["note", "sign", "less"])
    table = pd.read_csv(path) if ending == "csv" else pd.read_excel(path)
    assert set(table["note"]) == {"'=HYPERLINK(1)"}
    assert set(table["sign"]) == {"-"}
    assert set(table["less"]) == {-1.5}


@pytest.mark.parametrize("cell", ["=A2", "=UPPER(A2)", "#REF!"])
def test_formulas_of_other_people_are_not_left_out(tmp_path, cell):
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["gene", "price"], ["CD3D", "=1+1"], [cell, 3], ["LYZ", 4]):
        book.active.append(row)
    book.save(tmp_path / "panel.xlsx")
    with refused(InvalidValue, "path"):
        io.read_panel(tmp_path / "panel.xlsx")
    book.active.delete_rows(3)
    book.save(tmp_path / "panel.xlsx")
    assert io.read_panel(tmp_path / "panel.xlsx") == ["CD3D", "LYZ"]  # prices may be computed
