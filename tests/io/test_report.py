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
from glfs_bio.pl._evaluation import readings_of
from matplotlib import pyplot as plt
from matplotlib.image import imread
from refusals import refused

import glfs_bio
from glfs_bio.errors import FileExists, InvalidValue, Refusal
from glfs_bio.io import write_report
from glfs_bio.measures.catalogue import measured

ODD = "<script>document.title='owned'</script>"
XHTML = "{http://www.w3.org/1999/xhtml}"
GIVEN = {"labels": "odd & label", "symbols": "symbol", "title": "Panel <1>"}


@pytest.fixture(scope="module", autouse=True)
def _quick_umaps(quick_umaps):
    with quick_umaps():
        yield


@pytest.fixture(scope="module")
def cells(_pbmc) -> ad.AnnData:
    """A selection with all that a report may show, and names that look like HTML or formulas."""
    adata = _pbmc.copy()
    adata.var["symbol"] = [f"<i>{name}</i>" for name in adata.var_names]
    adata.var.loc[["LYZ", "CD3D"], "symbol"] = [ODD, "$\\bad$"]
    adata.obs["odd & label"] = adata.obs["bulk_labels"]
    adata.layers["counts"] = np.rint(np.expm1(adata.X.toarray()))
    adata.obsm["spatial"] = adata.obsm["X_pca"][:, :2]
    limits = glfs_bio.Limits(expression={"mean": 2.5}, priority={"CD3D": 2.0})
    glfs_bio.pp.select_genes(adata, 20, include=["LYZ", "CD3D"], limits=limits)
    glfs_bio.tl.stability(adata, n_resamples=2)
    adata.obsm["X_umap_panel"] = adata.obsm["X_umap"][::-1]
    selected = adata.var["glfs_selected"]
    panel, others = adata.var_names[selected], adata.var_names[~selected]
    glfs_bio.tl.evaluate_panel(
        adata,
        "glfs",
        "bulk_labels",
        domains="bulk_labels",
        gene_sets={"T <cells>": list(panel), "none": list(others[:2])},
        counts_layer="counts",
        platform=glfs_bio.Platform("xenium_v1", efficiency=0.4, failure=0.1, spillover=0.3),
        measures="all",
    )
    glfs_bio.tl.explain_panel(adata, "glfs", "bulk_labels", n_substitutes=2)
    glfs_bio.tl.order_panel(adata, "glfs", "xenium_v1", refused="replace")
    sets = {"<b>T</b> cells": ["CD3D", "CD3E"], "MHC & II": ["HLA-DRA", "LYZ"], "B": ["CD79A"]}
    glfs_bio.tl.enrich(adata, sets)
    table = adata.uns["glfs_enrichment"]["table"]
    table["pvals_adj"] = np.where(table.index == "B", 0.3, 0.01)
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
    monkeypatch.setattr(glfs_bio.io._sections, "picture", lambda *_, **__: "data:,")

    def make(adata, name="x.html", **options):
        write_report(adata, tmp_path / name, **{"umaps": False, "overwrite": True, **options})
        return parsed(tmp_path / name)

    return make


@pytest.fixture
def bare(cells):
    return cells.copy()


def every(tree, tag):
    return list(tree.iter(XHTML + tag))


def text(element) -> str:
    return " ".join("".join(element.itertext()).split())


def texts(tree, tag):
    return [text(element) for element in every(tree, tag)]


def section(tree, name):
    return next((part for part in every(tree, "section") if part.get("id") == name), None)


def rows_of(tree, number=0):
    """Rows of a table, below its header."""
    return every(every(tree, "table")[number], "tr")[1:]


def values(rows, column):
    return [float(row[column].get("data-value")) for row in rows]


def test_the_story_in_its_order(tree, cells):
    assert texts(tree, "title") == ["Panel <1>"]
    words, entry = text(tree), cells.uns["glfs"]
    assert f"20 of {entry['n_tested']} genes selected in 700 cells" in words
    assert "coloured by odd & label" in words
    assert f"{100 * entry['preserved'][-1]:.1f} % of the structure" in words
    share = np.floor(1000 * entry["optimality"][-1]) / 10
    assert f"at least {share:.1f} % of what the best" in words
    assert [part.get("id") for part in every(tree, "section")] == [
        *("cells", "genes", "types", "quality", "unexplained", "explanation"),
        *("substitutes", "limits", "choice", "stability", "enrichment", "order", "parameters"),
    ]
    # one optimality is said: that of the selection, within the constraints that it had
    assert words.count("of what the best panel of 20 genes preserves within its constraints") == 1
    assert "optimality" not in text(section(tree, "quality"))
    labels = cells.obs["odd & label"].cat.categories
    assert texts(section(tree, "cells"), "li") == list(labels)


def test_names_are_text_and_nothing_else(page, tree):
    """A gene, a gene set, a column and a title that look like HTML."""
    source = page.read_text(encoding="utf-8")
    assert ODD not in source
    assert "&lt;script&gt;document.title" in source
    assert len(every(tree, "script")) == 1
    assert every(tree, "b") == every(tree, "i") == []
    assert "<b>T</b> cells" in text(tree)


def test_genes_are_in_order_with_links_and_why(tree, cells):
    genes = section(tree, "genes")
    assert texts(genes, "th") == [
        *("rank", "gene", "loss", "included", "supports", "substitute", "frequency")
    ]
    rows = rows_of(genes)
    ranked = cells.var[cells.var["glfs_selected"]].sort_values("glfs_rank")
    assert [text(row[1]) for row in rows] == list(ranked["symbol"])
    assert values(rows, 2) == list(ranked["glfs_loss"])
    assert [text(row[3]) for row in rows] == ["yes"] * 2 + ["no"] * 18
    links = [every(row, "a")[0].get("href") for row in rows]
    assert all(link.startswith("https://www.ncbi.nlm.nih.gov/gene/?term=") for link in links)
    assert "<" not in "".join(links)
    table = cells.uns["glfs_explanation"]["table"].set_index("gene")
    for row, gene in zip(rows, ranked.index, strict=True):
        best = table.loc[gene]
        assert text(row[4]) == best["supports"]
        if best["substitute"]:
            assert text(row[5]).startswith(cells.var.loc[best["substitute"], "symbol"])
            assert f"{best['substitution_score']:.2f}" in text(row[5])
            assert ("weak" in text(row[5])) != best["acceptable"]
        else:
            assert text(row[5]) == "none"
    rows = rows_of(section(tree, "explanation"))
    assert [text(row[1]) for row in rows] == list(table["role"])
    assert [text(row[2]) for row in rows] == list(table["expressed_in"])
    assert values(rows, 4) == list(table["loss"])


def test_numbers_have_three_digits_to_read_and_all_to_sort(tree):
    """Zeros at the end count: 1.00."""
    numbers = [cell for cell in every(tree, "td") if cell.get("data-value")]
    read = [text(cell) for cell in numbers if "." in cell.get("data-value")]
    assert read
    assert all(len(number.split("e")[0].replace(".", "").lstrip("0")) <= 3 for number in read)
    assert any(len(cell.get("data-value")) > 10 for cell in numbers)


def test_how_good_the_panel_is(tree, cells):
    entry, quality = cells.uns["glfs_evaluation"], section(tree, "quality")
    words, table = text(quality).replace("NN ", "NN"), measured(entry)
    for share in table.loc["preserved", ["value", "random", "random_best", "bound"]]:
        assert f"{100 * share:.1f} %" in words
    for name in (
        *("accuracy", "accuracy_laprls", "cluster_ari", "silhouette", "gene_set_coverage"),
        *("domain_accuracy", "domain_accuracy_laprls", "morans_i_kept", "morans_i"),
    ):
        assert f"{name.replace('_', ' ')}{table.loc[name, 'value']:#.3g}" in words
        assert table.loc[name, "description"] in words
    assert f"{table.loc['domain_accuracy', 'random']:#.3g}" in words
    assert "1 of 2 gene sets" in words
    assert "(rare)" in words
    columns = [values(rows_of(quality, place), 2) for place in range(1, 5)]
    recalls = entry["per_label"].groupby(["kind", "reading"], sort=False)["recall"].apply(list)
    assert columns == list(recalls)
    captions = " ".join(texts(quality, "figcaption"))
    assert all(reading in captions for reading in readings_of(entry).values())
    rows, table = rows_of(section(tree, "unexplained")), entry["unexplained"]
    assert values(rows, 0) == list(table["share"])
    up = cells.var["symbol"][table["genes_up"][0].split(", ")]
    assert text(rows[0][1]) == ", ".join(up)


def test_substitutes_and_limits(tree, cells):
    entry, symbols = cells.uns["glfs_explanation"], cells.var["symbol"]
    table, part = entry["substitutes"], section(tree, "substitutes")
    rows, best = rows_of(part), table[table["rank"] == 1]
    assert [text(row[2]) for row in rows] == [
        f"{symbols[row.substitute]}{'' if row.acceptable else ', weak'}"
        for row in best.itertuples()
    ]
    assert values(rows, 3) == list(best["substitution_score"])
    second = table[table["rank"] == 2].set_index("gene")["substitute"]
    for row, gene in zip(rows, best["gene"], strict=True):
        assert text(row[5]).startswith(symbols[second[gene]] if gene in second else "")
        assert bool(text(row[5])) == (gene in second)
    without = entry["table"]["gene"][~entry["table"]["acceptable"]]
    assert len(without)
    assert all(symbols[name] in text(part) for name in without)
    words = text(section(tree, "limits"))
    assert cells.uns["glfs"]["ruled_out"]["gene"][0] in words
    assert "mean: at most 2.5" in words
    assert "CD3D: 2" in words
    assert "budget" not in words


def test_stability_and_gene_sets(tree, cells):
    words = text(section(tree, "stability"))
    assert f"{cells.uns['glfs_stability']['mean_jaccard']:#.3g}" in words
    agreed, selected = cells.var["glfs_stability_consensus"], cells.var["glfs_selected"]
    assert (agreed & selected).sum() < 20
    assert f"{(agreed & selected).sum()} genes of the panel" in words
    missing = words.split("consensus panel has")[1].split("lacks")[0]
    assert all(name in missing for name in cells.var["symbol"][agreed & ~selected])
    words = text(section(tree, "enrichment"))
    assert "2 of 3 gene sets" in words
    assert "CD79A" not in words


def test_order(tree, cells):
    words, entry = text(section(tree, "order")), cells.uns["glfs_evaluation"]
    assert "without spillover" in words
    forecast = entry["forecast"]
    leaks, markers = forecast["leaks"].head(3), forecast["exclusive_markers"].head(3)
    for names in (
        *(cells.uns["glfs_order"]["table"]["gene"], forecast["per_label"]["label"]),
        *(leaks["label"], leaks["predicted"], markers["gene"]),
    ):
        assert all(name in words for name in names)


def test_nothing_is_loaded(page, tree):
    images = every(tree, "img")
    assert len(images) == 13
    for image in images:
        kind, data = image.get("src").split(",", 1)
        assert kind == "data:image/png;base64"
        assert min(imread(io.BytesIO(base64.b64decode(data))).shape[:2]) > 100
        assert image.get("alt")
    assert all(link.get("href") == "data:," for link in every(tree, "link"))
    source = page.read_text(encoding="utf-8")
    assert not re.search(r"url\(|@import|src=.http", source)


def test_the_same_cells_give_the_same_file(page, tmp_path):
    """Whatever the look of pictures."""
    cells = ad.read_h5ad(page.with_name("cells.h5ad"))
    with plt.style.context("dark_background"):
        write_report(cells, tmp_path / "again.html", **GIVEN)
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_in_a_browser(page, tmp_path):
    """Without network: pictures are there, a click sorts, a name is no program."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("there is no chromium")
    clicks = """<script>
      const loss = document.querySelectorAll("thead button")[2];
      loss.click(); loss.click();
      document.body.dataset.shown = [...document.images].every((i) => i.naturalWidth > 0);
    </script></body>"""
    clicked = tmp_path / "clicked.html"
    clicked.write_text(page.read_text("utf-8").replace("</body>", clicks), encoding="utf-8")
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--proxy-server=127.0.0.1:9"),
        *(f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1280,4000", "--dump-dom"),
        clicked.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, check=True, timeout=600)
    tree = html5lib.parse(done.stdout.decode())
    body = every(tree, "body")[0]
    assert body.get("data-shown") == "true"
    assert texts(tree, "title") == ["Panel <1>"]
    losses = values(rows_of(tree), 2)
    assert losses == sorted(losses, reverse=True)
    assert every(tree, "th")[2].get("aria-sort") == "descending"


def test_results_of_another_selection_are_never_shown(bare, page_of, tmp_path):
    """Not those that were there before the genes were selected again, and not those named."""
    glfs_bio.pp.select_genes(bare, n_genes=15)
    for name in ("stability", "evaluation", "order"):
        with refused(InvalidValue, "results"):
            page_of(bare, results={name: f"glfs_{name}"})
    assert list(tmp_path.iterdir()) == []
    tree = page_of(bare)
    assert "n_genes=20 and not 15" in text(section(tree, "stability"))
    for name in ("stability", "quality", "explanation", "substitutes", "order"):
        assert "not shown with this selection" in text(section(tree, name))
        assert every(section(tree, name), "table") == every(section(tree, name), "img") == []
    assert section(tree, "unexplained") is None
    assert texts(section(tree, "genes"), "th") == ["rank", "gene", "loss"]
    # an entry of an earlier version does not say what it is of
    del bare.uns["glfs_stability"]["made_of"]
    assert "its input is not recorded" in text(section(page_of(bare), "stability"))


def test_parts_of_the_results(bare, page_of):
    """No explanation, an evaluation without labels, no significant gene set."""
    del bare.uns["glfs_explanation"]
    bare.uns["glfs_enrichment"]["table"]["pvals_adj"] = 0.3
    glfs_bio.tl.evaluate_panel(bare, "glfs", measures=["preserved", "genes"], key_added="plain")
    bare.obs = bare.obs.drop(columns="plain_unexplained")
    tree = page_of(bare, results={"evaluation": "plain"})
    assert len(every(section(tree, "quality"), "img")) == 2
    assert every(section(tree, "unexplained"), "img") == []
    assert section(tree, "explanation") is None
    assert section(tree, "substitutes") is None
    assert "none of 3 gene sets" in text(section(tree, "enrichment"))
    assert every(section(tree, "enrichment"), "img") == []


def test_numbers_are_no_types(bare, page_of):
    assert section(page_of(bare, labels="percent_mito"), "types") is None


def test_umaps_that_are_stored_or_asked_for(cells, page_of, monkeypatch, caplog):
    def maps(adata, **options):
        return len(every(section(page_of(adata, **options), "cells"), "img"))

    assert maps(cells, basis="umap_panel") == 2
    assert maps(cells) == 0
    assert not caplog.text  # who asked for none is not told to ask for them
    monkeypatch.setattr("glfs_bio.io._sections.MOST_EXACT", cells.n_obs - 1)
    assert maps(cells, umaps=None) == 0
    assert "umaps=True" in caplog.text
    assert maps(cells, umaps=True) == 2
    assert maps(cells[:, cells.var["glfs_selected"]].copy(), umaps=True) == 1  # of all genes there


def test_a_selection_alone(pbmc, page_of):
    glfs_bio.pp.select_genes(pbmc, n_genes=None, key_added="auto")
    tree = page_of(pbmc, key="auto", link=None)
    ids = [part.get("id") for part in every(tree, "section")]
    assert ids == ["cells", "genes", "choice", "parameters"]
    assert all(link.get("href").startswith("#") for link in every(tree, "a"))
    assert "along λ" not in text(tree)
    assert "included" not in texts(tree, "th")
    for options in ({"objective": "exact"}, {"method": "variance"}):
        glfs_bio.pp.select_genes(pbmc, n_genes=15, **options)
        words = text(page_of(pbmc))
        assert "of the structure" in words
        assert "best panel" not in words
        assert ("the objective along λ" in words) == ("objective" in options)


@pytest.mark.parametrize(
    ("n_genes", "within", "start"),
    [(40, None, ""), (40, "open", "None of the"), (3, "every", "All"), (40, "one", "1 of")],
)
def test_what_is_indispensable(pbmc, page_of, n_genes, within, start):
    """In numbers that are those of the table, whether none, one or all are."""
    glfs_bio.pp.select_genes(pbmc, n_genes)
    if within is None:
        del pbmc.uns["glfs"]["tolerance"]
    else:
        rank = pbmc.var["glfs_rank"]
        each = np.where(rank == 1, "every", "open") if within == "one" else within
        pbmc.var["glfs_certificate_within"] = np.where(rank > 0, each, "none")
    glfs_bio.tl.explain_panel(pbmc)
    _, *within_tolerance = texts(section(page_of(pbmc), "explanation"), "p")
    assert len(within_tolerance) == (within is not None)
    assert all(text.startswith(f"{start} {n_genes} genes ") for text in within_tolerance)


def test_a_gene_that_adds_nothing_has_no_substitute(pbmc, page_of):
    glfs_bio.pp.select_genes(pbmc, 10, include=["CD4"], ignore=["CD4"])
    glfs_bio.tl.explain_panel(pbmc)
    rows = {text(row[1]): text(row[-1]) for row in rows_of(section(page_of(pbmc), "genes"))}
    assert rows["CD4"] == "none"


def test_every_limit_that_is_met_is_told(bare, page_of):
    names = list(glfs_bio.Limits.__dataclass_fields__)
    lists = {"a": ["LYZ", "CD3D"], "b": ["CD79A", "CD74", "CD3E"]}
    limits = glfs_bio.Limits(expression={"mean": 0.5}, groups=lists, per_group=(1, 2)).record()
    bare.uns["glfs"]["params"]["limits"] = {**dict.fromkeys(names, 0.125), **limits}
    rows = every(every(section(page_of(bare), "limits"), "table")[0], "tr")
    assert {text(row[0]) for row in rows} == set(names)
    assert all(text(row[2]) for row in rows)
    values = {text(row[0]): text(row[1]) for row in rows}
    assert all(gene in values["groups"] for gene in ("LYZ", "CD3D", "CD79A", "CD74", "CD3E"))
    assert (values["expression"], values["per_group"]) == ("mean: at most 0.5", "1 to 2")


def test_errors_leave_files_as_they_were(cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.html").write_text("mine")
    with refused(FileExists, "path"):
        write_report(cells, "there.html")
    for argument, value in (
        *(("path", "report.pdf"), ("path", "no/report.html"), ("key", "nope")),
        *(("labels", "nope"), ("symbols", "nope"), ("results", "glfs_stability")),
        *(("results", {"stability": "nope"}), ("results", {"nothing": "nope"})),
        *(("link", "javascript:alert('{gene}')"), ("link", "https://example.org")),
    ):
        with refused(Refusal, argument):
            write_report(cells, **{"path": "report.html", argument: value})
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
