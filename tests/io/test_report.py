from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess
from dataclasses import fields

import anndata as ad
import html5lib
import numpy as np
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from matplotlib.image import imread
from refusals import refused

import glfs_bio
from glfs_bio.errors import FileExists, InvalidValue
from glfs_bio.io import write_report
from glfs_bio.pl._tables import measure_names

ODD = "<script>document.title='owned'</script>"
XHTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture(scope="module", autouse=True)
def _quick_umaps(quick_umaps):
    with quick_umaps():
        yield


@pytest.fixture(scope="module")
def panel() -> ad.AnnData:
    """A selection with all that a report may show, and names that look like HTML or formulas."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.var["symbol"] = adata.var_names.to_series().replace({"LYZ": ODD, "CD3D": "$\\bad$"})
    adata.obs["odd & label"] = adata.obs["bulk_labels"]
    glfs_bio.pp.select_genes(adata, n_genes=20, include=["LYZ", "CD3D"])
    glfs_bio.tl.stability(adata, n_resamples=2)
    glfs_bio.tl.panel_umap(adata)
    sets = {
        "<b>T</b> cells": ["CD3D", "CD3E"],
        "MHC & II": ["HLA-DRA", "LYZ"],
        "B cells": ["CD79A"],
    }
    glfs_bio.tl.enrich(adata, sets)
    table = adata.uns["glfs_enrichment"]["table"]
    table["pvals_adj"] = np.where(table.index == "B cells", 0.3, 0.01)
    return adata


@pytest.fixture(scope="module")
def page(panel, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    open_before = plt.get_fignums()
    write_report(panel, path, labels="odd & label", symbols="symbol", title="Panel <1>")
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


def section(tree, name):
    return next((one for one in every(tree, "section") if one.get("id") == name), None)


def test_it_tells_what_was_selected(tree, panel):
    assert text(every(tree, "title")[0]) == "Panel <1>"
    words = text(tree)
    assert "20 of 765 genes selected in 700 cells" in words
    assert "coloured by odd & label" in words
    entry = panel.uns["glfs"]
    assert f"They preserve {100 * entry['preserved'][-1]:.1f} % of the structure" in words
    share = np.floor(1000 * entry["optimality"][-1]) / 10
    assert f"at least {share:.1f} % of what the best" in words
    assert "NOT converge" not in words
    for name, version in panel.uns["glfs"]["versions"].items():
        assert f"{name}{version}" in words.replace(" ", "")
    assert [section.get("id") for section in every(tree, "section")] == [
        *("cells", "genes", "types", "markers", "choice", "stability", "enrichment", "parameters")
    ]


def test_stability_tells_of_the_consensus_panel(tree, panel):
    words = text(next(one for one in every(tree, "section") if one.get("id") == "stability"))
    index = panel.uns["glfs_stability"]["mean_jaccard"]
    assert f"a mean Jaccard index of {index:#.3g}" in words
    agreed = panel.var["glfs_stability_consensus"]
    n_shared = (agreed & panel.var["glfs_selected"]).sum()
    assert n_shared < 20
    assert f"{n_shared} genes of the panel are among the 20 that are selected most often" in words
    for gene in panel.var["symbol"][agreed & ~panel.var["glfs_selected"]]:
        assert gene in words.split("consensus panel has")[1].split("lacks")[0]


def test_frequencies_of_another_selection_are_never_shown(panel, tmp_path):
    """Not those that were there before the genes were selected again, and not those named."""
    cells = panel.copy()
    glfs_bio.pp.select_genes(cells, n_genes=15)
    with refused(InvalidValue, "results"):
        write_report(cells, tmp_path / "x.html", results={"stability": "glfs_stability"})
    assert list(tmp_path.iterdir()) == []
    write_report(cells, tmp_path / "x.html")
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "x.html").read_text("utf-8"))
    section = next(one for one in every(tree, "section") if one.get("id") == "stability")
    assert "not shown with this selection: n_genes=20 and not 15" in text(section)
    assert every(section, "img") == []
    assert "frequency" not in [text(head) for head in every(tree, "th")]
    assert "stability: parameters" not in text(tree)


def test_frequencies_of_an_earlier_version_are_not_shown(panel, tmp_path):
    cells = panel.copy()
    entry = cells.uns["glfs_stability"]
    cells.uns["glfs_stability"] = {name: entry[name] for name in entry if name != "made_of"}
    write_report(cells, tmp_path / "x.html")
    assert "its input is not recorded" in (tmp_path / "x.html").read_text("utf-8")


def test_one_map_of_cells_that_have_only_the_panel(panel, tmp_path):
    write_report(panel[:, panel.var["glfs_selected"]].copy(), tmp_path / "x.html")
    assert (
        "UMAP by the selected genes, which are all genes here." in (tmp_path / "x.html").read_text()
    )


def test_umaps_are_drawn_where_they_are_kept_or_asked_for(panel, tmp_path, monkeypatch, caplog):
    def maps(adata, name, **options):
        write_report(adata, tmp_path / name, **options)
        tree = html5lib.HTMLParser(strict=True).parse((tmp_path / name).read_text("utf-8"))
        return len(every(section(tree, "cells"), "img"))

    bare = panel.copy()
    del bare.obsm["X_umap_glfs"]
    assert maps(panel, "kept.html", umaps=False) == 2
    assert maps(bare, "none.html", umaps=False) == 0
    assert "tl.panel_umap" in caplog.text
    assert "umaps=True" not in caplog.text  # who asked for none is not told to ask for them
    monkeypatch.setattr("glfs_bio.io._sections.MOST_EXACT", bare.n_obs - 1)
    assert maps(bare, "many.html") == 0
    assert "umaps=True" in caplog.text
    assert maps(bare, "asked.html", umaps=True) == 2
    assert "X_umap_glfs" not in bare.obsm


def test_progress_is_shown_on_a_terminal(panel, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    write_report(panel, tmp_path / "with.html")
    out, err = capsys.readouterr()
    assert out == ""
    assert "report: " in err
    monkeypatch.delenv("FORCE_COLOR")
    write_report(panel, tmp_path / "without.html")
    assert capsys.readouterr() == ("", "")


def test_genes_are_in_order_with_links(tree, panel):
    rows = every(every(tree, "table")[0], "tr")[1:]
    ranked = panel.var[panel.var["glfs_selected"]].sort_values("glfs_rank")
    assert [text(row[1]) for row in rows] == list(ranked["symbol"])
    assert [float(row[2].get("data-value")) for row in rows] == list(ranked["glfs_loss"])
    assert [text(row[3]) for row in rows] == ["yes"] * 2 + ["no"] * 18
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


def test_only_significant_gene_sets(tree, panel, tmp_path):
    words = text(section(tree, "enrichment"))
    assert "2 of 3 gene sets are enriched" in words
    assert "B cells" not in words
    cells = panel.copy()
    cells.uns["glfs_enrichment"]["table"]["pvals_adj"] = 0.3
    write_report(cells, tmp_path / "x.html")
    none = html5lib.HTMLParser(strict=True).parse((tmp_path / "x.html").read_text("utf-8"))
    assert "none of 3 gene sets" in text(section(none, "enrichment"))
    assert every(section(none, "enrichment"), "img") == []


def test_the_legend_of_the_cells_is_text(tree, panel):
    labels = panel.obs["odd & label"].cat.categories
    assert [text(item) for item in every(section(tree, "cells"), "li")] == list(labels)


def test_numbers_have_three_digits_to_read_and_all_to_sort(tree):
    """Zeros at the end count: 1.00."""
    cells = [cell for cell in every(tree, "td") if cell.get("data-value")]
    read = [text(cell) for cell in cells if "." in cell.get("data-value")]
    assert read
    assert all(len(one.split("e")[0].replace(".", "").lstrip("0")) <= 3 for one in read)
    assert any(len(cell.get("data-value")) > 10 for cell in cells)


def test_genes_by_type_and_markers(tree, panel):
    """Computed for the page, as nobody has asked for them before."""
    assert "markers" not in panel.uns
    found = section(tree, "markers")
    genes = list(panel.var_names[panel.var["glfs_selected"]])
    table = glfs_bio.tl.markers(panel, genes, "bulk_labels", inplace=False).set_index("label")
    for row in every(every(found, "tbody")[0], "tr"):
        known = table.loc[text(row[0])]
        named = panel.var["symbol"].get(known["markers"].split(", ")).dropna()
        assert text(row[2]) == (", ".join(named) or "none")
        assert float(row[3].get("data-value")) == pytest.approx(known["f_beta"])
    for name in ("types", "markers"):
        assert len(every(section(tree, name), "img")) == 1


def test_markers_that_are_there_are_shown(panel, tmp_path):
    cells = panel.copy()
    glfs_bio.tl.markers(cells, "glfs", "phase", n_markers=1)
    write_report(cells, tmp_path / "x.html", labels="bulk_labels", umaps=False)
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "x.html").read_text("utf-8"))
    rows = every(every(section(tree, "markers"), "tbody")[0], "tr")
    assert [text(row[0]) for row in rows] == list(cells.uns["glfs_markers"]["table"]["label"])
    glfs_bio.tl.markers(cells, ["LYZ", "CD3D"], "phase")
    write_report(cells, tmp_path / "y.html", umaps=False)
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "y.html").read_text("utf-8"))
    assert "not shown with this selection" in text(section(tree, "markers"))
    assert section(tree, "types") is None


def test_numbers_are_no_types(panel, tmp_path):
    write_report(panel, tmp_path / "x.html", labels="percent_mito", umaps=False)
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "x.html").read_text("utf-8"))
    assert section(tree, "types") is None
    assert section(tree, "markers") is None


def test_the_page_is_the_same_whatever_the_look_of_pictures(panel, tmp_path):
    pages = []
    for style in ("default", "dark_background"):
        with plt.style.context(style):
            write_report(panel, tmp_path / f"{style}.html", umaps=False)
        pages.append((tmp_path / f"{style}.html").read_bytes())
    assert pages[0] == pages[1]


def test_dark_and_print_have_colours_of_their_own(page):
    source = page.read_text(encoding="utf-8")
    dark = source.split("@media screen and (prefers-color-scheme: dark)")[1].split("\n}")[0]
    for name in re.findall(r"(--\w+):", source.split(":root {")[1].split("}")[0]):
        assert name in dark
    assert "@media print" in source
    assert not re.findall(r"#[0-9a-f]{3,6}", source.split("</style>")[0].split("* { box")[1])


def test_nothing_is_loaded(page, tree):
    sources = [image.get("src") for image in every(tree, "img")]
    assert len(sources) == 8
    for source in sources:
        kind, data = source.split(",", 1)
        assert kind == "data:image/png;base64"
        assert min(imread(io.BytesIO(base64.b64decode(data))).shape[:2]) > 100
    assert all(image.get("alt") for image in every(tree, "img"))
    assert all(link.get("href") == "data:," for link in every(tree, "link"))
    assert not re.search(r"url\(|@import|src=.http", page.read_text(encoding="utf-8"))


def test_the_same_cells_give_the_same_file(page, panel, tmp_path):
    again = tmp_path / "again.html"
    write_report(panel, again, labels="odd & label", symbols="symbol", title="Panel <1>")
    assert again.read_bytes() == page.read_bytes()


def test_stored_cells_without_stability_and_enrichment(pbmc, tmp_path):
    glfs_bio.pp.select_genes(pbmc, n_genes=None, key_added="auto")
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    write_report(
        ad.read_h5ad(tmp_path / "cells.h5ad"), tmp_path / "report.html", key="auto", link=None
    )
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "report.html").read_text("utf-8"))
    ids = [section.get("id") for section in every(tree, "section")]
    assert ids == ["cells", "genes", "choice", "parameters"]
    assert all(link.get("href").startswith("#") for link in every(tree, "a"))
    words = text(tree)
    assert "share of the structure that is preserved by the first genes" in words
    assert "along λ" not in words
    assert "included" not in [text(head) for head in every(tree, "th")]


@pytest.mark.parametrize("options", [{"objective": "exact"}, {"method": "variance"}])
def test_the_papers_objective_and_other_methods(pbmc, tmp_path, options):
    glfs_bio.pp.select_genes(pbmc, n_genes=15, **options)
    write_report(pbmc, tmp_path / "report.html")
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "report.html").read_text("utf-8"))
    assert len(every(tree, "img")) == 4
    words = text(tree)
    assert "of the structure" in words
    assert "best panel" not in words
    assert "Contributions of the selected genes" in words
    assert ("the objective along λ" in words) == ("objective" in options)


@pytest.mark.parametrize(
    ("options", "error", "argument"),
    [
        ({"path": "report.pdf"}, ValueError, "path"),
        ({"path": "no/report.html"}, FileNotFoundError, "path"),
        ({"key": "nope"}, KeyError, "key"),
        ({"labels": "nope"}, KeyError, "labels"),
        ({"symbols": "nope"}, KeyError, "symbols"),
        ({"results": {"stability": "nope"}}, KeyError, "results"),
        ({"results": {"enrichment": "nope"}}, KeyError, "results"),
        ({"results": {"markers": "nope"}}, KeyError, "results"),
        ({"results": {"nothing": "nope"}}, ValueError, "results"),
        ({"results": "glfs_stability"}, TypeError, "results"),
        ({"link": "javascript:alert('{gene}')"}, ValueError, "link"),
        ({"link": "https://example.org"}, ValueError, "link"),
    ],
)
def test_errors_leave_no_file(panel, tmp_path, monkeypatch, options, error, argument):
    monkeypatch.chdir(tmp_path)
    with refused(error, argument):
        write_report(panel, **{"path": "report.html", **options})
    assert list(tmp_path.iterdir()) == []


def test_overwriting_must_be_asked_for(panel, tmp_path):
    (tmp_path / "report.html").write_text("mine")
    with refused(FileExists, "path"):
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
      const loss = document.querySelectorAll("thead button")[2];
      loss.click(); loss.click();
      document.body.dataset.shown = [...document.images].every((i) => i.naturalWidth > 0);
      document.body.dataset.wide = document.documentElement.scrollWidth;
      document.body.style.width = "400px";
      document.body.dataset.broken = [...document.querySelectorAll("td.gene, span.gene")]
        .filter((gene) => {
          const range = document.createRange();
          range.selectNodeContents(gene);
          return new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
        }).length;
    </script></body>"""
    clicked = tmp_path / "clicked.html"
    clicked.write_text(page.read_text("utf-8").replace("</body>", clicks), encoding="utf-8")
    tree = html5lib.parse(browse(clicked, "--window-size=1280,4000", "--dump-dom"))
    body = every(tree, "body")[0]
    assert body.get("data-shown") == "true"
    assert int(body.get("data-wide")) <= 1280
    assert body.get("data-broken") == "0"  # no gene symbol is on two lines of a narrow page
    assert text(every(tree, "title")[0]) == "Panel <1>"
    rows = every(every(tree, "table")[0], "tr")[1:]
    losses = [float(row[2].get("data-value")) for row in rows]
    assert losses == sorted(losses, reverse=True)
    assert every(tree, "th")[2].get("aria-sort") == "descending"


@pytest.fixture(scope="module")
def workbench() -> ad.AnnData:
    """A selection within limits that was judged and explained, under names that need care."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.var["symbol"] = [f"<i>{name}</i>" for name in adata.var_names]
    limits = glfs_bio.Limits(max_mean=2.5, priority={"CD3D": 2.0})
    glfs_bio.pp.select_genes(adata, n_genes=8, limits=limits, key_added="mine")
    sets = {"T <cells>": list(adata.var_names[adata.var["mine_selected"]]), "none": ["GP9", "MZB1"]}
    glfs_bio.tl.evaluate_panel(
        *(adata, "mine", "bulk_labels"), gene_sets=sets, key_added="mine_evaluation"
    )
    glfs_bio.tl.explain_panel(adata, "mine", "bulk_labels", key_added="mine_explanation")
    glfs_bio.tl.substitutes(adata, "mine", n=2, min_score=0.6)
    glfs_bio.tl.panel_umap(adata, "mine")
    return adata


def written(adata, path, **options):
    write_report(adata, path, key="mine", **options)
    return html5lib.HTMLParser(strict=True).parse(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def story(workbench, tmp_path_factory):
    """Its report, after the cells were in a file."""
    folder = tmp_path_factory.mktemp("workbench")
    workbench.write_h5ad(folder / "cells.h5ad")
    return written(ad.read_h5ad(folder / "cells.h5ad"), folder / "report.html", symbols="symbol")


def test_the_story_in_its_order(story):
    assert [one.get("id") for one in every(story, "section")] == [
        *("cells", "genes", "quality", "unexplained", "explanation", "substitutes", "limits"),
        *("choice", "parameters"),
    ]
    assert every(story, "i") == []
    assert all(
        image.get("src").startswith("data:image/png;base64,") for image in every(story, "img")
    )


def test_cells_in_space(workbench, tmp_path):
    cells = workbench.copy()
    cells.obsm["spatial"] = cells.obsm["X_pca"][:, :2]
    glfs_bio.tl.evaluate_panel(cells, "mine", domains="bulk_labels", key_added="mine_evaluation")
    entry = cells.uns["mine_evaluation"]
    quality = section(written(cells, tmp_path / "report.html", umaps=False), "quality")
    words = text(quality).replace("NN ", "NN")
    for name in ("domain_accuracy", "domain_accuracy_laprls", "morans_i_kept", "morans_i"):
        assert f"{measure_names(entry)[name]}{entry[name]:#.3g}" in words
    assert f"{entry['random_domain_accuracy'].mean():#.3g}" in words
    rows = every(every(quality, "table")[1], "tr")[1:]
    recall = [float(row[2].get("data-value")) for row in rows]
    assert recall == list(entry["per_domain"]["recall"])


def test_how_good_the_panel_is(story, workbench):
    entry = workbench.uns["mine_evaluation"]
    quality = section(story, "quality")
    words = text(quality)
    assert f"The panel preserves {100 * entry['preserved']:.1f} % of the structure" in words
    low, high = 100 * entry["random_preserved"].min(), 100 * entry["random_preserved"].max()
    assert f"20 random panels of this size preserve {low:.1f} % to {high:.1f} %" in words
    assert f"no panel of 8 genes preserves more than {100 * entry['most_preserved']:.1f} %" in words
    for name in ("accuracy", "accuracy_laprls", "cluster_ari", "silhouette", "gene_set_coverage"):
        assert f"{measure_names(entry)[name]}{entry[name]:#.3g}" in words.replace("NN ", "NN")
    assert re.search(r"\b1 of 2 gene sets.* 1 have none: none\.", words)
    assert len(every(quality, "img")) == 5
    rows = every(every(quality, "table")[1], "tr")[1:]
    for column, name in ((2, "recall"), (6, "recall_laprls")):
        recall = [float(row[column].get("data-value")) for row in rows]
        assert recall == list(entry["per_label"][name])
    assert "(rare)" in words
    captions = " ".join(text(one) for one in every(quality, "figcaption"))
    for said in entry["readings"].values():
        assert said in captions
    assert f"{entry['n_labelled']} cells" in words


def test_one_optimality_is_said_and_of_what(story):
    """That of the selection, within the constraints that it had."""
    (_, after) = text(story).split("of what the best panel of 8 genes preserves")
    assert after.split()[:3] == ["within", "its", "constraints."]
    assert "optimality" not in text(section(story, "quality"))


def test_unexplained_variation(story, workbench):
    misses, table = section(story, "unexplained"), workbench.uns["mine_evaluation"]["unexplained"]
    rows = every(misses, "tr")[1:]
    assert [float(row[0].get("data-value")) for row in rows] == list(table["share"])
    genes = ", ".join(f"<i>{name}</i>" for name in table["genes_up"][0].split(", "))
    assert text(rows[0][1]) == genes
    assert len(every(misses, "img")) == 1


def test_gene_by_gene(story, workbench):
    table = workbench.uns["mine_explanation"]["table"].set_index("gene")
    ranked = workbench.var[workbench.var["mine_selected"]].sort_values("mine_rank")
    heads = [text(head) for head in every(section(story, "genes"), "th")]
    assert heads == ["rank", "gene", "loss", "supports", "substitute"]
    rows = every(section(story, "genes"), "tr")[1:]
    for row, gene in zip(rows, ranked.index, strict=True):
        assert text(row[3]) == table.loc[gene, "supports"]
        best = table.loc[gene]
        weak = "" if best["acceptable"] else ", weak"
        offered = f"<i>{best['substitute']}</i> ({best['substitution_score']:.2f}{weak})"
        assert text(row[4]) == (offered if best["substitute"] else "none")
    why = every(section(story, "explanation"), "tr")[1:]
    assert [text(row[1]) for row in why] == list(table["role"])
    assert [text(row[2]) for row in why] == list(table["expressed_in"])
    assert [float(row[4].get("data-value")) for row in why] == list(table["loss"])
    assert [text(row[7]) for row in why] == list(table["supports"])


@pytest.mark.parametrize("n_genes", [3, 40])
@pytest.mark.parametrize("within", [None, "open", "every", "one"])
def test_what_is_indispensable_and_what_is_free(pbmc, tmp_path, n_genes, within):
    """In numbers that are those of the table, whether none, one or all are."""
    glfs_bio.pp.select_genes(pbmc, n_genes, key_added="mine")
    selected = pbmc.var["mine_selected"]
    if within is None:
        del pbmc.uns["mine"]["tolerance"]
    else:
        pbmc.var["mine_certificate_within"] = np.where(selected, within, "none")
        first = pbmc.var["mine_rank"] == 1
        one = np.where(first, "every", "open")
        if within == "one":
            pbmc.var["mine_certificate_within"] = np.where(selected, one, "none")
    glfs_bio.tl.explain_panel(pbmc, "mine", tolerance=0.005 if n_genes > 3 else 0.0)
    table = pbmc.uns["mine_explanation"]["table"]
    n_free = int((table["alternatives"] != "").sum())
    tree = section(written(pbmc, tmp_path / "report.html", umaps=False), "explanation")
    said = [text(one) for one in every(tree, "p")][1:]
    assert len(said) == (1 if within is None else 2)
    if within is not None:
        start = {"open": "None of the", "every": "All", "one": "1 of"}[within]
        assert said[0].startswith(f"{start} {n_genes} genes ")
        assert "0.5" in said[0]
    if n_free:
        assert said[-1].startswith(f"{n_free} of {n_genes} places")
    else:
        assert said[-1].startswith("No place")
    assert bool(n_free) == (n_genes > 3)
    assert ("alternatives" in [text(head) for head in every(tree, "th")]) == bool(n_free)


def test_a_panel_without_free_places_says_nothing_of_them(pbmc, tmp_path):
    failing = glfs_bio.Platform(failure=0.1)
    glfs_bio.pp.select_genes(pbmc, 5, key_added="mine", platform=failing)
    glfs_bio.tl.explain_panel(pbmc, "mine")
    tree = section(written(pbmc, tmp_path / "report.html", umaps=False), "explanation")
    assert not any("place" in text(one) for one in every(tree, "p"))


def test_substitutes_and_limits(story, workbench):
    table = workbench.uns["mine_substitutes"]["table"]
    rows = every(section(story, "substitutes"), "tr")[1:]
    best = table[table["place"] == 1]
    assert [text(row[2]) for row in rows] == [
        f"<i>{one.substitute}</i>{'' if one.acceptable else ', weak'}" for one in best.itertuples()
    ]
    assert [float(row[3].get("data-value")) for row in rows] == list(best["substitution_score"])
    second = table[table["place"] == 2].set_index("gene")
    for row, gene in zip(rows, best["gene"], strict=True):
        further = second.loc[gene] if gene in second.index else None
        told = (
            ""
            if further is None
            else f"<i>{further.substitute}</i> ({further.substitution_score:.2f}"
            f"{'' if further.acceptable else ', weak'})"
        )
        assert text(row[5]) == told
    alone = workbench.uns["mine_substitutes"]["irreplaceable"]
    assert len(alone)
    assert all(f"<i>{name}</i>" in text(section(story, "substitutes")) for name in alone)
    words = text(section(story, "limits"))
    strongest = workbench.uns["mine"]["ruled_out"]["gene"][0]
    assert strongest in words
    assert "max_mean2.5maximum mean expression of a gene" in words
    assert "CD3D: 2" in words
    assert "budget" not in words


#: Of each limit a value, and what it needs.
TYPES, COUNTS = {"groupby": "bulk_labels"}, {"max_total_per_cell": 9.5, "counts_layer": "X"}
GROUPS = {
    "groups": {"T": ["LYZ", "CD3D"], "B": ["CD79A"]},
    "per_group": {"T": (1, 9), "B": (1, None)},
}
LIMITS = {
    **{name: {name: 0.125} for name in ("min_mean", "max_mean", "min_cells", "max_cells")},
    **{
        name: {name: 0.125, **TYPES}
        for name in ("min_mean_in_type", "max_mean_in_type", "min_cells_in_type")
    },
    "max_cells_in_type": {"max_cells_in_type": 0.125, **TYPES},
    **{name: {name: 0.125, "counts_layer": "X"} for name in ("min_counts", "max_counts")},
    **{
        name: {name: 0.125, "counts_layer": "X", **TYPES}
        for name in ("min_counts_in_type", "max_counts_in_type")
    },
    "max_total_per_cell": COUNTS,
    "max_total_per_type": {"max_total_per_type": {"B": 9.5}, "counts_layer": "X", **TYPES},
    "max_total_per_bit": {"max_total_per_bit": 9.5, "counts_layer": "X"},
    "expected_counts": {"expected_counts": {"LYZ": 3.0}, **COUNTS},
    "families": {"families": {"one": ["LYZ", "CD3D"]}, "per_family": 1},
    "per_family": {"families": "family", "per_family": 1},
    "groups": GROUPS,
    "per_group": GROUPS,
    "nearly_identical": {"nearly_identical": True},
    "per_type": {"per_type": 2, **TYPES},
    "markers": {"markers": {"B": ["CD79A"]}, "per_type": 1},
    "together": {"together": [["LYZ", "CD3D"], ["CD79A", "CD74", "CD3E"]]},
    "priority": {"priority": {"LYZ": 2.0}},
    "groupby": {"per_type": 2, **TYPES},
    "counts_layer": COUNTS,
    "cost": {"cost": {"LYZ": 2.0}, "budget": 30},
    "budget": {"cost": 1.0, "budget": 30},
}


@pytest.mark.parametrize("name", [field.name for field in fields(glfs_bio.Limits)])
def test_every_limit_that_is_met_is_told(panel, tmp_path, monkeypatch, name):
    monkeypatch.setattr(glfs_bio.io._sections, "picture", lambda *_, **__: "data:,")
    cells = panel.copy()
    given = glfs_bio.Limits(**LIMITS[name])
    cells.uns["glfs"]["params"]["limits"] = given.record()
    del cells.obsm["X_umap_glfs"]  # pictures take most of the time
    write_report(cells, tmp_path / "limits.html", umaps=False)
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "limits.html").read_text("utf-8"))
    told = {
        text(row[0]): (text(row[1]), text(row[2])) for row in every(section(tree, "limits"), "tr")
    }
    assert told.keys() == given.record().keys()
    value, meaning = told[name]
    assert meaning
    assert all(gene in value for genes in given.together or () for gene in genes)


def test_results_of_another_panel_are_never_shown(workbench, tmp_path):
    cells = workbench.copy()
    genes = list(cells.var_names[cells.var["mine_selected"]])
    glfs_bio.tl.evaluate_panel(cells, [*genes[:5], "LYZ"], key_added="other", n_random=0)
    glfs_bio.tl.explain_panel(cells, genes[:5], key_added="mine_explanation")
    for name, kind in (("other", ValueError), ("none", KeyError)):
        with refused(kind, "results"):
            written(cells, tmp_path / "x.html", results={"evaluation": name})
    assert list(tmp_path.iterdir()) == []
    cells.uns["mine_evaluation"] = cells.uns["other"]
    tree = written(cells, tmp_path / "x.html")
    assert section(tree, "unexplained") is None
    for name in ("quality", "explanation"):
        assert "not shown with this selection: their panel is another" in text(section(tree, name))
        assert every(section(tree, name), "table") == every(section(tree, name), "img") == []
    assert "supports" not in [text(head) for head in every(tree, "th")]
    best = cells.uns["mine_substitutes"]["table"].query("place <= 1")
    rows = every(section(tree, "genes"), "tr")[1:]
    told = [
        f"{one.substitute} ({one.substitution_score:.2f}{'' if one.acceptable else ', weak'})"
        for one in best.itertuples()
    ]
    assert {text(row[3]) for row in rows} == {*told}


def test_judged_without_labels_or_embedding(workbench, tmp_path):
    cells = workbench.copy()
    del cells.uns["mine_explanation"], cells.uns["mine_substitutes"]
    glfs_bio.tl.evaluate_panel(cells, "mine", n_random=0, key_added="plain")
    cells.obs = cells.obs.drop(columns="plain_unexplained")
    tree = written(cells, tmp_path / "x.html", results={"evaluation": "plain"})
    assert len(every(section(tree, "quality"), "img")) == 2
    assert "random" not in text(every(section(tree, "quality"), "p")[0])
    assert every(section(tree, "unexplained"), "img") == []
    assert section(tree, "explanation") is None


def test_the_order_ends_the_page(tmp_path, panel):
    adata = panel.copy()
    adata.layers["counts"] = np.rint(np.expm1(adata.X.toarray()))
    platform = glfs_bio.Platform("xenium_v1", efficiency=0.4, failure=0.1, spillover=0.3)
    glfs_bio.tl.evaluate_panel(
        adata, "glfs", "bulk_labels", counts_layer="counts", platform=platform
    )
    glfs_bio.tl.order_panel(adata, "glfs", "xenium_v1", refused="replace")
    write_report(adata, tmp_path / "order.html")
    tree = html5lib.HTMLParser(strict=True).parse((tmp_path / "order.html").read_text("utf-8"))
    sections = list(tree.iter(f"{XHTML}section"))
    order = next(one for one in sections if one.get("id") == "order")
    assert sections.index(order) == len(sections) - 2  # then the parameters
    text = "".join(order.itertext())
    for gene in adata.uns["glfs_order"]["table"]["gene"]:
        assert gene in text
    for label in adata.uns["glfs_evaluation"]["forecast"].index:
        assert label in text
    assert "without spillover" in text
    for pair in adata.uns["glfs_evaluation"]["leaks"].head(3).itertuples():
        assert pair.label in text
        assert pair.predicted in text
    for gene in adata.uns["glfs_evaluation"]["exclusive_markers"]["gene"].head(3):
        assert gene in text
    glfs_bio.pp.select_genes(adata, n_genes=10)
    write_report(adata, tmp_path / "another.html")
    assert "The order under" in (tmp_path / "another.html").read_text("utf-8")


@pytest.mark.parametrize("explain", ["explain_panel", "substitutes"])
def test_genes_that_add_nothing_have_no_substitute(pbmc, tmp_path, explain):
    glfs_bio.pp.select_genes(pbmc, 10, include=["CD4"], ignore=["CD4"])
    getattr(glfs_bio.tl, explain)(pbmc)
    write_report(pbmc, tmp_path / "report.html")
    assert (tmp_path / "report.html").exists()
