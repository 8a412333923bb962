from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess

import anndata as ad
import html5lib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.image import imread
from refusals import refused

import glfs_bio
from glfs_bio._anndata import results
from glfs_bio.errors import FileExists, Refusal
from glfs_bio.io import _report, write_report

ODD = "<script>document.title='owned'</script>"
XHTML = "{http://www.w3.org/1999/xhtml}"
GIVEN = {"labels": "odd & label", "symbols": "symbol", "title": "Panel <1>", "basis": "mine"}


@pytest.fixture(scope="module")
def cells(_pbmc) -> ad.AnnData:
    """A selection with all that a report may show, and names that look like HTML or formulas."""
    adata = _pbmc.copy()
    adata.var["symbol"] = [f"<i>{name}</i>" for name in adata.var_names]
    adata.var.loc[["LYZ", "CD3D"], "symbol"] = [ODD, "$\\bad$"]
    adata.obs["odd & label"] = adata.obs["bulk_labels"]
    adata.obsm["X_mine"] = adata.obsm["X_pca"][:, :2]
    limits = glfs_bio.Limits(priority={"CD3D": 2.0})
    glfs_bio.pp.select_genes(adata, 20, include=["LYZ", "CD3D"], limits=limits)
    glfs_bio.tl.stability(adata, n_resamples=2)
    glfs_bio.tl.evaluate_panel(adata, "glfs", "bulk_labels", sizes=[10])
    glfs_bio.tl.explain_panel(adata, "glfs", "bulk_labels")
    glfs_bio.tl.order_panel(adata, "glfs", "xenium_v1", refused="replace")
    sets = {"<b>T</b> cells": ["CD3D", "CD3E"], "MHC & II": ["HLA-DRA", "LYZ"], "B": ["CD79A"]}
    glfs_bio.tl.enrich(adata, sets)
    entry = adata.uns["glfs_enrichment"]
    entry["table"]["pvals_adj"] = np.where(entry["table"].index == "B", 0.3, 0.01)
    results.store(adata, "glfs_enrichment", entry)
    return adata


@pytest.fixture(scope="module")
def page(cells, tmp_path_factory):
    """Its report, after the cells were in a file."""
    folder = tmp_path_factory.mktemp("report")
    cells.write_h5ad(folder / "cells.h5ad")
    open_before = plt.get_fignums()
    write_report(ad.read_h5ad(folder / "cells.h5ad"), folder / "report.html", **GIVEN)
    assert plt.get_fignums() == open_before
    return folder / "report.html"


def parsed(path):
    """The page, if it is valid: a strict parser refuses what is not."""
    return html5lib.HTMLParser(strict=True).parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tree(page):
    return parsed(page)


@pytest.fixture
def page_of(tmp_path, monkeypatch):
    """Maker of pages whose pictures are not drawn."""
    monkeypatch.setattr(_report.Subject, "figure", lambda *_, **__: _PIXEL)

    def make(adata, **options):
        write_report(adata, tmp_path / "x.html", **{"basis": False, "overwrite": True, **options})
        return parsed(tmp_path / "x.html")

    return make


#: The least that has the width of an inline PNG.
_PIXEL = "data:image/png;base64," + base64.b64encode(bytes(40)).decode()


def every(tree, tag):
    return list(tree.iter(XHTML + tag))


def text(element) -> str:
    return " ".join("".join(element.itertext()).split())


def texts(tree, tag):
    return [text(element) for element in every(tree, tag)]


def section(tree, name):
    return next((part for part in every(tree, "section") if part.get("id") == name), None)


def table_of(tree, name, number=0):
    """Cells of a table of a section by the names of its columns."""
    table = every(section(tree, name), "table")[number]
    rows = [every(row, "td") for row in every(table, "tr")[1:]]
    return dict(zip(texts(table, "th"), zip(*rows, strict=True), strict=True))


def values(cells):
    return [float(cell.get("data-value")) for cell in cells]


def test_sections_and_the_first_sentences(tree, cells):
    assert texts(tree, "title") == ["Panel <1>"]
    words, entry = text(tree), cells.uns["glfs"]
    assert f"20 of {entry['n_tested']} genes" in words
    assert f"{100 * entry['preserved'][-1]:.1f} %" in words
    assert f"{np.floor(1000 * entry['optimality'][-1]) / 10:.1f} %" in words
    assert [part.get("id") for part in every(tree, "section")] == [
        *("cells", "genes", "types", "evaluation", "unexplained", "explanation"),
        *("substitutes", "limits", "choice", "stability", "enrichment", "order", "parameters"),
    ]
    assert "CD3D: 2" in text(section(tree, "limits"))
    assert "<b>T</b> cells" in text(section(tree, "enrichment"))
    assert "CD79A" not in text(section(tree, "enrichment"))
    names = cells.uns["glfs_order"]["table"]["gene"]
    assert all(name in text(section(tree, "order")) for name in names)


def test_names_are_text_and_nothing_else(page, tree):
    """A gene, a gene set, a column and a title that look like HTML; nothing is loaded."""
    source = page.read_text(encoding="utf-8")
    assert ODD not in source
    assert "&lt;script&gt;document.title" in source
    assert len(every(tree, "script")) == 1
    assert every(tree, "b") == every(tree, "i") == []
    assert all(link.get("href") == "data:," for link in every(tree, "link"))
    assert not re.search(r"url\(|@import|src=.http", source)
    for image in every(tree, "img"):
        kind, data = image.get("src").split(",", 1)
        assert kind == "data:image/png;base64"
        assert min(imread(io.BytesIO(base64.b64decode(data))).shape[:2]) > 100
        assert image.get("alt")
    links = [link.get("href") for link in every(section(tree, "genes"), "a")]
    assert len(links) == 20
    assert not any("<" in link for link in links)


def test_genes_are_in_order_and_why(tree, cells):
    table = table_of(tree, "genes")
    ranked = cells.var[cells.var["glfs_selected"]].sort_values("glfs_rank")
    assert list(map(text, table["gene"])) == list(ranked["symbol"])
    assert values(table["loss"]) == list(ranked["glfs_loss"])
    assert list(map(text, table["must-have"])) == ["yes"] * 2 + [""] * 18
    why = cells.uns["glfs_explanation"]["table"].set_index("gene").loc[ranked.index]
    assert list(map(text, table["supports"])) == list(why["supports"])
    roles = table_of(tree, "explanation")
    assert list(map(text, roles["expressed in"])) == list(why["expressed_in"])
    # three digits to read, and all to sort
    assert all(len(text(cell).replace(".", "").lstrip("0")) == 3 for cell in table["loss"])


def test_measures_labels_and_axes(tree, cells):
    entry = cells.uns["glfs_evaluation"]
    table, measures = table_of(tree, "evaluation"), entry["measures"]
    of_panel = measures[measures["n_genes"] == 20]
    assert list(map(text, table["measure"])) == list(of_panel["measure"])
    assert values(table["value"]) == list(of_panel["value"])
    assert {"all genes", "random", "bound", "description"} <= set(table)
    assert values(table_of(tree, "evaluation", 1)["recall"]) == list(entry["per_label"]["recall"])
    axes = table_of(tree, "unexplained")
    assert values(axes["share"]) == list(entry["unexplained"]["share"])
    up = cells.var["symbol"][entry["unexplained"]["genes_up"][0].split(", ")]
    assert text(axes["genes up"][0]) == ", ".join(up)


def test_the_same_from_memory_and_in_any_look(page, cells, tmp_path):
    with plt.style.context("dark_background"):
        write_report(cells, tmp_path / "again.html", **GIVEN)
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


@pytest.fixture
def shown(page, tmp_path):
    """Return the page as a browser without network shows it after a script, by its width."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("there is no chromium")

    def show(script, width, media="print"):
        text = page.read_text("utf-8").replace("@media print", f"@media {media}")
        path = tmp_path / "page.html"
        path.write_text(text.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
        command = [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu"),
            *("--proxy-server=127.0.0.1:9", f"--user-data-dir={tmp_path / 'profile'}"),
            *(f"--window-size={width},4000", "--dump-dom", path.as_uri()),
        ]
        done = subprocess.run(command, capture_output=True, check=True, timeout=3600)
        return html5lib.parse(done.stdout.decode())

    return show


def test_no_table_is_wider_than_a_sheet_of_paper(shown):
    """A4 within its margins, 182 mm, where the style for print holds."""
    script = """const right = [...document.querySelectorAll("table")].map(
        (table) => table.getBoundingClientRect().right);
      const sheet = document.body.getBoundingClientRect();
      document.body.dataset.shown = Math.max(...right) < sheet.right + 1;"""
    tree = shown(f"document.body.style.width = '182mm'; {script}", 1280, media="all")
    assert every(tree, "body")[0].get("data-shown") == "true"


def test_in_a_browser(shown):
    """Without network: pictures are there, a click sorts, a name is no program."""
    clicks = """const loss = document.querySelectorAll("thead span")[2];
      loss.click(); loss.click();
      document.body.dataset.shown = [...document.images].every((i) => i.naturalWidth > 0);"""
    tree = shown(clicks, 1280)
    assert every(tree, "body")[0].get("data-shown") == "true"
    assert texts(tree, "title") == ["Panel <1>"]
    table = every(section(tree, "genes"), "table")[0]
    losses = [float(every(row, "td")[2].get("data-value")) for row in every(table, "tr")[1:]]
    assert losses == sorted(losses, reverse=True)


def test_results_of_another_selection_are_not_shown(cells, page_of):
    adata = cells.copy()
    glfs_bio.pp.select_genes(adata, n_genes=15)
    tree = page_of(adata)
    assert "n_genes" in text(section(tree, "stability"))
    for name in ("stability", "evaluation", "explanation", "order"):
        assert every(section(tree, name), "table") == every(section(tree, name), "img") == []
    assert section(tree, "unexplained") is None
    assert set(table_of(tree, "genes")) == {"rank", "gene", "loss"}


def test_an_extended_panel_shows_what_was_added(cells, page_of):
    adata = cells.copy()
    glfs_bio.tl.extend_panel(adata, ["CD3D", "LYZ"], 6, key_added="more")
    tree, table = page_of(adata, key="more"), adata.uns["more"]["table"]
    assert list(map(text, table_of(tree, "added")["gene"])) == list(table["gene"])
    genes = table_of(tree, "genes")
    origin = dict(zip(map(text, genes["gene"]), map(text, genes["origin"]), strict=True))
    assert origin == {"CD3D": "given", "LYZ": "given", **dict.fromkeys(table["gene"], "added")}


def test_a_selection_alone(pbmc, page_of):
    for options in ({"n_genes": None}, {"n_genes": 15, "method": "variance"}):
        glfs_bio.pp.select_genes(pbmc, **options)
        tree = page_of(pbmc, labels="percent_mito")  # numbers are no types
        ids = [part.get("id") for part in every(tree, "section")]
        assert ids == ["cells", "genes", "choice", "parameters"]
        assert ("weight" in table_of(tree, "genes")) == ("method" in options)
        assert ("best panel" in text(tree)) != ("method" in options)


def test_umaps_are_computed_of_few_cells_unless_one_is_named(pbmc, page_of, monkeypatch):
    glfs_bio.pp.select_genes(pbmc, 5)
    for options, n_maps in (({"basis": None}, 1), ({"basis": False}, 0), ({"basis": "pca"}, 1)):
        assert len(every(section(page_of(pbmc, **options), "cells"), "img")) == n_maps
    monkeypatch.setattr("glfs_bio.io._report.MOST_EXACT", pbmc.n_obs - 1)
    assert every(section(page_of(pbmc, basis=None), "cells"), "img") == []


def test_errors_leave_files_as_they_were(cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.html").write_text("mine")
    with refused(FileExists, "path"):
        write_report(cells, "there.html")
    for argument, value in (
        *(("path", "report.pdf"), ("path", "no/report.html"), ("key", "nope")),
        *(("labels", "nope"), ("symbols", "nope"), ("basis", True), ("basis", "nope")),
    ):
        with refused(Refusal, argument):
            write_report(cells, **{"path": "report.html", argument: value})
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
