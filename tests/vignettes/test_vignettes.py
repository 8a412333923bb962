"""Vignettes and pages of the documentation run without a warning, and show what they say."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from pathlib import Path

import anndata as ad
import jupytext
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from typer.testing import CliRunner

from glfs_bio import datasets
from glfs_bio._anndata.names import is_member
from glfs_bio.cli import app
from glfs_bio.estimators import _glfs_laprls
from glfs_bio.io import _report

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "vignettes"
DOCS = ROOT / "docs"
#: Genes of the cells that a page names otherwise.
RENAMED = ("PDCD1", "MS4A1", "IL3RA", "IL8")


def vignettes() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def pages() -> list[str]:
    """Pages of the documentation with cells; a source distribution has none."""
    return sorted(
        path.relative_to(DOCS).with_suffix("").as_posix()
        for folder in ("concepts", "howto", "reference")
        for path in (DOCS / folder).glob("*.md")
        if "{code-cell}" in path.read_text("utf-8")
    )


def shell_lines(name: str) -> list[str]:
    """Commands of the blocks for the shell of a page."""
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return "".join(blocks).replace("\\\n", " ").splitlines()


@pytest.fixture
def run(data_folder, quick_umaps, monkeypatch):
    """Run a page in this process, and return what it defined; `make docs` draws the UMAPs.

    Of the data it reads one in so many cells and genes, and the genes that the page names.
    """

    def run(name: str, folder: Path = FOLDER, *, cells: int = 1, genes: int = 1) -> dict:
        words = re.findall(r"[\w-]+", (folder / f"{name}.md").read_text("utf-8"))

        def read(path, **options):
            adata = read_h5ad(path, **options)
            if not Path(path).is_relative_to(data_folder):
                return adata
            named = adata.var_names.isin([*words, *RENAMED])
            return adata[::cells, named | (np.arange(adata.n_vars) % genes == 0)].copy()

        notebook = jupytext.read(folder / f"{name}.md")
        for file in notebook.metadata.get("data", []):
            if not (data_folder / file).exists():
                absent = pytest.fail if os.environ.get("GLFS_BIO_REQUIRE_DATA") else pytest.skip
                absent(f"{data_folder / file} is missing")
        monkeypatch.setenv("GLFS_BIO_DATA", str(data_folder))
        monkeypatch.chdir((folder / name).parent)
        defined: dict = {}
        with monkeypatch.context() as patch:
            for module in (ad, datasets):
                patch.setattr(module, "read_h5ad", read)
            for cell in notebook.cells:
                if cell.cell_type == "code":
                    exec(compile(cell.source, f"{name}.md", "exec"), defined)
        return defined

    read_h5ad, shows = ad.read_h5ad, sc.settings.autoshow
    sc.settings.autoshow = False
    monkeypatch.setattr(_report, "picture", lambda *_, **__: "data:,")  # others test reports
    with quick_umaps():
        yield run
    sc.settings.autoshow = shows
    plt.close("all")


def test_all_are_listed_and_checked():
    listed = (DOCS / "index.md").read_text(encoding="utf-8")
    for name in vignettes():
        assert f"vignettes/{name}\n" in listed
        assert f"test_{name}" in globals()
        page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        assert "\n## What this cannot show\n" in page, name


@pytest.mark.parametrize("name", pages())
def test_page(run, name):
    run(name, DOCS, cells=2, genes=3)


def test_first_panel(run):
    defined = run("first_panel")
    assert len(defined["panel"]) == 25
    of_types = {"NKG7", "CD3D", "CD79A", "FCGR3A", "CST3", "S100A8", "PF4", "RPS12"}
    assert of_types <= set(defined["panel"])
    assert "LYZ" not in defined["panel"]
    scores = defined["scores"]
    assert scores["25 genes of glfs_bio"] > 0.9
    assert scores["25 genes of glfs_bio"] > scores["25 by Pearson residuals"] - 0.02
    assert set(defined["edited"][:2]) == {"CD4", "CD8A"}
    assert not defined["edited"].str.startswith(("RPS", "RPL", "MT-", "HLA-")).any()
    chosen = defined["cells"].uns["auto"]
    assert 25 < chosen["n_genes"] < 100


def test_assays(run, monkeypatch):
    """With five folds in the place of ten; with three the result depends on the kernels of BLAS."""
    monkeypatch.setattr(_glfs_laprls, "n_folds", lambda *_: 5)
    defined = run("howto/assays", DOCS)
    assert defined["wrong"] <= 2
    assert {"M27891_at", "Y00787_s_at"} <= set(defined["classifier"]["genes"])


def test_batches(run):
    defined = run("howto/batches", DOCS)
    free, shared = (filter(defined["interferon"].match, one) for one in defined["panels"].values())
    assert len(list(free)) > 2
    assert not list(shared)
    free, shared = defined["found"].values()
    assert shared["stim"] < free["stim"] - 0.05
    assert shared["label"] > free["label"] - 0.02


def test_reference_to_order(run):
    defined = run("reference_to_order", cells=2, genes=4)
    cells, counts = defined["cells"], defined["counts"]
    must_have, failed = set(defined["must_have"]), defined["failed"]
    panel, final = defined["panel"], defined["final"]
    repaired = set(cells.var_names[cells.var["repaired_selected"]])
    assert must_have <= set(panel)
    assert repaired == set(panel) - set(failed) | set(defined["replaced"]["gene"])
    for genes, n, most in ((panel, 100, 100), (list(repaired), 100, 100), (final, 120, 115)):
        assert len(genes) == n
        assert counts[genes].sum() <= most
        assert counts[genes].max() <= 8
        assert cells.var.loc[genes, "glfs_names_orderable"].all()
        assert 4 <= len(set(genes) & set(defined["megakaryocytes"])) <= 8
        for unwanted in ("ribosomal", "mitochondrial", "housekeeping"):
            assert not [gene for gene in genes if is_member(gene, unwanted)]
    vendor = pd.read_csv(defined["probes"], dtype=str)
    known = set(zip(vendor["Gene symbol"], vendor["Ensembl ID"], strict=True))
    again = defined["again"]
    assert set(zip(again, again.table["id"], strict=True)) <= known
    assert set(final) == set(cells.var_names[cells.var["final_selected"]])
    assert len(again) == 120
    assert defined["of_types"].loc[("Mk", "laprls"), "recall"] > 0.7
    assert defined["of_types"].loc[("Mk", "knn"), "recall"] < 0.5
    # The lines of the shell, of some of the cells.
    there = defined["there"]
    for name in ("order.csv", "sheet.xlsx", "report.html"):
        (there / name).unlink()
    defined["start"][::6].copy().write_h5ad(there / "cells.h5ad")
    of_cells = vendor["Ensembl ID"].isin(cells.var["glfs_names_id"])
    vendor[of_cells].to_csv(there / "xenium_v1_genes.csv.gz", index=False)
    with contextlib.chdir(there):
        for line in shell_lines("reference_to_order"):
            done = CliRunner().invoke(app, shlex.split(line)[1:])
            assert done.exit_code == 0, done.output
    assert len((there / "order.csv").read_text().splitlines()) == 121
    assert (there / "report.html").exists()
    defined["folder"].cleanup()


def test_types(run):
    defined = run("types", genes=3)
    compared = defined["compared"]
    assert compared.loc["types", "accuracy"] > compared.loc["structure", "accuracy"] - 0.02
    assert compared.loc["types", "rare_f1"] > compared.loc["structure", "rare_f1"] + 0.02
    quality = defined["quality"]
    assert quality["both"]["accuracy"] > quality["control cells"]["accuracy"]
    coarse, fine = (defined["levels"][one]["accuracy_laprls"] for one in ("coarse", "fine"))
    assert fine["both"] > fine["coarse"]
    assert coarse["both"] > coarse.max() - 0.05
    found = defined["found"]["both"]["accuracy"]
    assert found["types × condition"] > found["types"] + 0.1
