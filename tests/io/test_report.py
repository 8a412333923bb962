from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess

import anndata as ad
import html5lib
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from matplotlib.image import imread

import glfs_bio
from glfs_bio.io import write_report

ODD = "<script>document.title='owned'</script>"
XHTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture(scope="module")
def panel() -> ad.AnnData:
    """A selection with stability and enrichment, and names that look like HTML or formulas."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.var["symbol"] = adata.var_names.to_series().replace({"LYZ": ODD, "CD3D": "$\\bad$"})
    adata.obs["odd & label"] = adata.obs["bulk_labels"]
    glfs_bio.pp.select_genes(adata, n_genes=20, include=["LYZ", "CD3D"])
    glfs_bio.tl.stability(adata, 20, n_resamples=2, show_progress=False)
    sets = {"<b>T</b> cells": ["CD3D", "CD3E"], "MHC & II": ["HLA-DRA", "LYZ"]}
    glfs_bio.tl.enrich(adata, sets)
    return adata


@pytest.fixture(scope="module")
def page(panel, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    open_before = plt.get_fignums()
    write_report(panel, path, groupby="odd & label", symbols="symbol", title="Panel <1>")
    assert plt.get_fignums() == open_before
    return path


@pytest.fixture(scope="module")
def tree(page):
    """The page, if it is valid: a strict parser refuses what is not."""
    return html5lib.HTMLParser(strict=True).parse(page.read_text(encoding="utf-8"))


def every(tree, tag):
    return list(tree.iter(XHTML + tag))


def text(element) -> str:
    return " ".join("".join(element.itertext()).split())


def test_it_tells_what_was_selected(tree, panel):
    assert text(every(tree, "title")[0]) == "Panel <1>"
    words = text(tree)
    assert "20 of 765 genes selected in 700 cells" in words
    assert "coloured by odd & label" in words
    entry = panel.uns["glfs"]
    assert f"They keep {100 * entry['kept'][-1]:.1f} % of the structure" in words
    assert f"at least {100 * entry['of_best_possible'][-1]:.1f} % of what the best" in words
    assert "representation: yes, graph: yes" in words
    assert "NOT converge" not in words
    for name, version in panel.uns["glfs"]["versions"].items():
        assert f"{name}{version}" in words.replace(" ", "")
    assert [section.get("id") for section in every(tree, "section")] == [
        *("cells", "genes", "how", "stability", "enrichment", "parameters")
    ]


def test_genes_are_in_order_with_links(tree, panel):
    rows = every(every(tree, "table")[0], "tr")[1:]
    ranked = panel.var[panel.var["glfs_selected"]].sort_values("glfs_rank")
    assert [text(row[1]) for row in rows] == list(ranked["symbol"])
    for place, name in ((2, "loss"), (3, "weight"), (4, "score")):
        found = [float(row[place].get("data-value")) for row in rows]
        assert found == list(ranked[f"glfs_{name}"])
    assert [text(row[5]) for row in rows] == ["yes"] * 2 + ["no"] * 18
    links = [every(row, "a")[0].get("href") for row in rows]
    assert all(link.startswith("https://www.ncbi.nlm.nih.gov/gene/?term=") for link in links)
    assert "<" not in "".join(links)


def test_names_are_text_and_nothing_else(page, tree):
    """A gene, a gene set, a column and a title that look like HTML."""
    source = page.read_text(encoding="utf-8")
    assert ODD not in source
    assert "&lt;script&gt;document.title" in source
    assert len(every(tree, "script")) == 1
    assert every(tree, "b") == []
    assert "<b>T</b> cells" in text(tree)


def test_nothing_is_loaded(page, tree):
    sources = [image.get("src") for image in every(tree, "img")]
    assert len(sources) == 5
    for source in sources:
        kind, data = source.split(",", 1)
        assert kind == "data:image/png;base64"
        assert imread(io.BytesIO(base64.b64decode(data))).shape[0] > 200
    assert all(image.get("alt") for image in every(tree, "img"))
    assert all(link.get("href") == "data:," for link in every(tree, "link"))
    assert not re.search(r"url\(|@import|src=.http", page.read_text(encoding="utf-8"))


def test_the_same_cells_give_the_same_file(page, panel, tmp_path):
    again = tmp_path / "again.html"
    write_report(panel, again, groupby="odd & label", symbols="symbol", title="Panel <1>")
    assert again.read_bytes() == page.read_bytes()


def test_stored_cells_without_stability_and_enrichment(pbmc, tmp_path):
    glfs_bio.pp.select_genes(pbmc, n_genes=None, key_added="auto")
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    write_report(
        ad.read_h5ad(tmp_path / "cells.h5ad"), tmp_path / "report.html", key="auto", link=None
    )
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "report.html").read_text("utf-8"))
    ids = [section.get("id") for section in every(tree, "section")]
    assert ids == ["cells", "genes", "how", "parameters"]
    assert all(link.get("href").startswith("#") for link in every(tree, "a"))
    words = text(tree)
    assert "share of the structure that so many genes keep" in words
    assert "along λ" not in words
    assert "included" not in [text(head) for head in every(tree, "th")]


@pytest.mark.parametrize("options", [{"objective": "exact"}, {"method": "variance"}])
def test_the_papers_objective_and_other_methods(pbmc, tmp_path, options):
    glfs_bio.pp.select_genes(pbmc, n_genes=15, **options)
    write_report(pbmc, tmp_path / "report.html")
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "report.html").read_text("utf-8"))
    assert len(every(tree, "img")) == 3
    words = text(tree)
    assert "of the structure that all genes keep." in words
    assert "best possible" not in words
    assert "Weights of the selected genes" in words
    assert ("the objective along λ" in words) == ("objective" in options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"path": "report.pdf"}, ValueError, "must end with .html"),
        ({"path": "no/report.html"}, FileNotFoundError, "folder"),
        ({"key": "nope"}, KeyError, "key='nope'"),
        ({"groupby": "nope"}, KeyError, "groupby='nope'"),
        ({"symbols": "nope"}, KeyError, "symbols='nope'"),
        ({"layer": "nope"}, KeyError, "layer='nope'"),
        ({"stability_key": "nope"}, KeyError, "run glfs_bio.tl.stability"),
        ({"enrichment_key": "nope"}, KeyError, "run glfs_bio.tl.enrich"),
        ({"link": "javascript:alert('{gene}')"}, ValueError, "web address"),
        ({"link": "https://example.org"}, ValueError, "with {gene} in it"),
    ],
)
def test_errors_leave_no_file(panel, tmp_path, monkeypatch, options, error, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=re.escape(message)):
        write_report(panel, **{"path": "report.html", **options})
    assert list(tmp_path.iterdir()) == []


def test_overwriting_must_be_asked_for(panel, tmp_path):
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(FileExistsError):
        write_report(panel, tmp_path / "report.html")
    write_report(panel, tmp_path / "report.html", overwrite=True)
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.fixture
def browse(tmp_path):
    """Headless Chromium on a page; skipped where there is none."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("there is no chromium")

    def run(path, *options):
        fixed = ("--headless", "--no-sandbox", "--disable-gpu", "--proxy-server=127.0.0.1:9")
        own = f"--user-data-dir={tmp_path / 'profile'}"
        command = [browser, *fixed, own, *options, path.as_uri()]
        return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.decode()

    return run


def test_in_a_browser(page, browse, tmp_path):
    """Without network: pictures are there, a click sorts, a name is no program."""
    screenshot = tmp_path / "report.png"
    browse(page, "--window-size=1280,4000", "--hide-scrollbars", f"--screenshot={screenshot}")
    picture = imread(screenshot)[..., :3]
    assert picture.shape[:2] == (4000, 1280)
    assert (picture.min(axis=2) < 0.9).mean() > 0.02

    clicks = """<script>
      const weight = document.querySelectorAll("thead button")[3];
      weight.click(); weight.click();
      document.body.dataset.shown = [...document.images].every((i) => i.naturalWidth > 0);
      document.body.dataset.wide = document.documentElement.scrollWidth;
    </script></body>"""
    clicked = tmp_path / "clicked.html"
    clicked.write_text(page.read_text("utf-8").replace("</body>", clicks), encoding="utf-8")
    tree = html5lib.parse(browse(clicked, "--window-size=1280,4000", "--dump-dom"))
    body = every(tree, "body")[0]
    assert body.get("data-shown") == "true"
    assert int(body.get("data-wide")) <= 1280
    assert text(every(tree, "title")[0]) == "Panel <1>"
    rows = every(every(tree, "table")[0], "tr")[1:]
    weights = [float(row[3].get("data-value")) for row in rows]
    assert weights == sorted(weights, reverse=True)
    assert every(tree, "th")[3].get("aria-sort") == "descending"
