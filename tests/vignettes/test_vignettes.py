"""Vignettes and pages of the documentation run without a warning, and show what they say."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from pathlib import Path

import jupytext
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from typer.testing import CliRunner

import glfs_bio
from glfs_bio._anndata.names import family
from glfs_bio.cli import app

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "vignettes"
DOCS = ROOT / "docs"
MARKERS = {"NKG7", "GZMB", "CCL5", "CST7", "CD3D", "CD79A", "FCGR3A"}
MONOCYTES = {"CST3", "S100A8", "S100A9", "LGALS2"}
MEGAKARYOCYTES = {"GNG11", "PPBP", "PF4"}
RIBOSOMAL = {"RPS12", "RPS6", "RPL13"}
UNWANTED = ("ribosomal", "mitochondrial", "housekeeping")


def vignettes() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")


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
def run(data_folder, quick_umaps, monkeypatch, capsys):
    """Run a page in this process: what it defined, and what it printed.

    `make docs` draws the UMAPs.
    """

    def run(name: str, folder: Path = FOLDER) -> tuple[dict, str]:
        notebook = jupytext.read(folder / f"{name}.md")
        for file in notebook.metadata.get("data", []):
            if not (data_folder / file).exists():
                absent = pytest.fail if os.environ.get("GLFS_BIO_REQUIRE_DATA") else pytest.skip
                absent(f"{data_folder / file} is missing")
        monkeypatch.setenv("GLFS_BIO_DATA", str(data_folder))
        monkeypatch.chdir((folder / name).parent)
        defined: dict = {}
        for cell in notebook.cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{name}.md", "exec"), defined)
        return defined, capsys.readouterr().out

    shows = sc.settings.autoshow
    sc.settings.autoshow = False
    with quick_umaps():
        yield run
    sc.settings.autoshow = shows
    plt.close("all")


def test_all_are_listed_and_checked():
    listed = (FOLDER / "index.md").read_text(encoding="utf-8")
    for name in vignettes():
        assert f"{{doc}}`{name}`" in listed
        assert f"test_{name}" in globals()


@pytest.mark.parametrize("name", vignettes())
def test_each_says_what_it_cannot_show(name):
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert "\n## What this cannot show\n" in text


@pytest.mark.parametrize("name", pages())
def test_page(run, name):
    run(name, DOCS)


def test_xenium_order(run):
    defined, _ = run("xenium_order")
    assert defined["again"] == list(defined["order"]["table"]["gene"])
    assert len(defined["again"]) == 100


def test_first_panel(run):
    defined, _ = run("first_panel")
    assert len(defined["panel"]) == 25
    assert set(defined["panel"]) >= MARKERS | MONOCYTES | MEGAKARYOCYTES | RIBOSOMAL
    assert "LYZ" not in defined["panel"]
    weights = defined["cells"].var["glfs_weight"]
    assert weights.between(0, 1).all()
    assert defined["optimality"] > 0.95
    scores = defined["scores"]
    assert scores["25 genes of glfs_bio"] > 0.9
    assert scores["25 genes of glfs_bio"] > scores["25 highly variable genes"] + 0.3
    assert set(defined["edited"][:2]) == {"CD4", "CD8A"}
    assert not defined["edited"].str.startswith(("RPS", "RPL", "MT-", "HLA-")).any()
    chosen = defined["cells"].uns["auto"]
    assert 25 < chosen["n_genes"] < 100
    assert chosen["preserved"][-1] >= 0.9 > chosen["preserved"][-2]
    assert len(chosen["curve"]["preserved"]) > chosen["n_genes"]


def test_leukaemia(run):
    defined, printed = run("leukaemia")
    found, before = defined["found"], defined["model"]
    assert (found["n_genes"], min(found["cv_errors"]), found["test_errors"]) == (6, 0, 0)
    assert set(found["genes"]) >= {"M27891_at", "M19507_at", "Y00787_s_at", "M58459_at"}
    assert before.n_genes_ > 6
    assert defined["errors"] <= 2
    assert "M58459_at" in set(defined["patients"].var_names[before.genes_])
    assert "6 genes" in printed


def test_glioblastoma(run):
    defined, _ = run("glioblastoma")
    found, random = defined["found"], defined["random"]
    assert found["50 genes of glfs_bio"] > found["50 of largest variance"] + 0.1
    assert found["50 genes of glfs_bio"] > 0.5
    assert max(random) > found["50 genes of glfs_bio"] > found["50 at random"]
    assert found["all 1,740 genes"] > max(random)


def test_enrichment(run):
    defined, printed = run("enrichment")
    results = defined["results"]
    signals = {"Translocation of ZAP-70 to Immunological synapse", "PD-1 signaling"}
    assert {"Immune System", *signals} <= set(results.index[:5])
    assert results["pvals_adj"].iloc[0] < 1e-8
    assert not any(term.startswith("Eukaryotic Translation") for term in results.index[:10])
    assert "{'glfs': 50}" in printed
    assert "['gene,weight,loss,score,rank,selected,included'," in printed
    genes = defined["cells"].var
    between = genes["glfs_weight"].between(0, 1, inclusive="neither")
    assert (between & ~genes["glfs_selected"]).any()
    assert (genes["glfs_weight"] > 0).mean() < 0.01


def test_constraints(run):
    defined, printed = run("constraints")
    assert defined["edited"][:2] in (["CD3D", "MS4A1"], ["MS4A1", "CD3D"])
    assert not [gene for gene in defined["edited"] if gene.startswith(("RPS", "RPL", "FT", "MT-"))]
    gone = set(defined["free"]) - set(defined["edited"])
    assert not [gene for gene in gone if not gene.startswith(("RPS", "RPL", "FT", "MT-"))]
    of_interferon = {
        name: {gene for gene in defined[name] if defined["interferon"].match(gene)}
        for name in ("free", "shared")
    }
    assert len(of_interferon["free"]) > 2
    assert not of_interferon["shared"]
    assert "with batch_key   none\n" in printed
    free, shared = defined["found"].values()
    assert shared["stim"] < free["stim"] - 0.05
    assert shared["label"] > free["label"] - 0.02


def test_order_form(run):
    defined, printed = run("order_form")
    cells, curve, panel = defined["cells"], defined["curve"], defined["panel"]
    assert curve.loc[300, "accuracy"] < curve.loc[50, "accuracy"] + 0.02
    assert curve.loc[300, "preserved"] > curve.loc[50, "preserved"] + 0.05
    assert len(panel) == 100
    assert panel["price"].sum() <= 180
    assert defined["counts"] <= 150
    assert defined["highest"] <= 3
    assert not [gene for gene in panel.index if gene.startswith(("RPS", "RPL", "MT-"))]
    preserved, found = defined["preserved"], defined["found"]
    assert preserved["free"] > preserved["glfs"] > preserved["free"] - 0.05
    assert defined["optimality"] > 0.98
    assert "per_type=3" in defined["refused"]
    assert "24 genes" in defined["refused"]
    assert found["random_preserved"].max() < found["preserved"] / 2
    assert found["preserved"] < found["best_preserved"] <= found["most_preserved"]
    assert (
        "RPS" in found["unexplained"].loc[0, "genes_up"] + found["unexplained"].loc[0, "genes_down"]
    )
    assert found["counts_per_label"]["ratio"].max() > 2 * found["counts_per_label"]["ratio"].min()
    assert "CD8a, ADGRE1" in defined["unknown"]
    assert "CD8A" in defined["unknown"]
    assert list(cells.uns["extended"]["absent"]) == ["CD8a", "ADGRE1"]
    measures = defined["compared"]["table"].astype(float)
    catalogue, extended = measures.loc["catalogue"], measures.loc["catalogue, extended"]
    assert abs(catalogue["accuracy"] - extended["accuracy"]) < 0.02
    for measure in (
        "preserved",
        "knn_preservation",
        "cluster_preservation_coarse",
        "cluster_preservation_fine",
    ):
        assert catalogue[measure] < extended[measure] - 0.03
    overlaps = (
        defined["compared"][name].loc[defined["large"]]
        for name in ("jaccard", "jaccard_with_substitutes")
    )
    assert next(overlaps) < next(overlaps) - 0.2
    assert 0 < defined["replaceable"].sum() < 50
    assert defined["tolerant"]["preserved"][-1] < defined["plain"]["preserved"]
    assert (
        defined["tolerant"]["preserved_on_platform"][-1] > defined["plain"]["preserved_on_platform"]
    )
    assert 0.6 < defined["agreement"] < 1
    assert list(defined["form"]["gene"]) == list(panel.index)
    assert (defined["form"]["substitutes"] != "").sum() == defined["replaceable"].sum()
    assert "100 genes, " in printed


def test_panel_for_a_pi(run):
    defined, printed = run("panel_for_a_pi")
    cells, counts = defined["cells"], defined["counts"]
    must_have, failed = set(defined["must_have"]), defined["failed"]
    assert must_have >= {"MS4A1", "PDCD1", "IGJ", "IL8", "IL3RA", "GNLY", "FCGR3A"}
    assert "ISG15" in defined["refused"]
    assert "max_counts=8" in defined["refused"]
    panel, final = defined["panel"], defined["final"]
    repaired = set(cells.var_names[cells.var["repaired_selected"]])
    assert must_have <= set(panel)
    assert list(defined["replaced"]["gene"]) == failed
    assert repaired == set(panel) - set(failed) | set(defined["replaced"]["replaced_by"])
    assert set(final) == repaired | set(defined["added"]["gene"])
    for genes, n, most in ((panel, 100, 100), (list(repaired), 100, 100), (final, 120, 115)):
        assert len(genes) == n
        assert counts[genes].sum() <= most
        assert counts[genes].max() <= 8
        assert cells.var.loc[genes, "glfs_names_orderable"].all()
        assert 4 <= len(set(genes) & set(defined["megakaryocytes"])) <= 8
        assert not any(gene in family(name) for gene in genes for name in UNWANTED)
    assert {"FOXP3", "PDCD1", "CD4"} <= set(defined["idle"])
    assert "IL7R is in the panel" in printed
    assert "max_counts=8" in defined["asked"].set_index("gene").loc["TIMP1", "why_not"]
    assert defined["of_types"].loc["Mk", "recall_laprls"] > 0.7
    assert defined["of_types"].loc["Mk", "recall"] < 0.5
    checks = defined["checks"].set_index("check")
    assert list(checks.index[~checks["checked"].astype(bool)]) == ["catalogue"]
    assert checks.loc[["refused", "doubtful", "limits"], "n"].eq(0).all()
    sheet = defined["sheet"]
    assert set(sheet["name"][sheet["must_have"]]) == must_have - set(failed)
    assert sheet["is_backup"].sum() > 50
    there, probes = defined["there"], defined["probes"]
    assert len((there / "order.csv").read_text().splitlines()) == 121
    for name in ("order.csv", "sheet.xlsx", "report.html"):
        (there / name).unlink()
    # Each line of the shell, and what Python says, of a quarter of the cells.
    start = defined["start"][::4].copy()
    start.write_h5ad(there / "cells.h5ad")
    shutil.copy(probes, there)
    with contextlib.chdir(there):
        for line in shell_lines("panel_for_a_pi"):
            done = CliRunner().invoke(app, shlex.split(line)[1:])
            assert done.exit_code == 0, done.output
    request = {**defined["request"], "include": defined["must_have"]}
    glfs_bio.pp.select_genes(start, 100, **request)
    glfs_bio.tl.replace_genes(start, failed, "panel", key_added="repaired")
    more = {"labels": "label", "limits": defined["wider"], "key_added": "final"}
    glfs_bio.tl.extend_panel(start, "repaired", 20, **more)
    glfs_bio.tl.order_panel(start, "final", genes=probes, labels="label", counts_layer="counts")
    glfs_bio.io.write_order(start, there / "python.csv")
    assert (there / "order.csv").read_text() == (there / "python.csv").read_text()
    assert (there / "report.html").exists()
    defined["folder"].cleanup()


def test_reproduction(run):
    defined, _ = run("reproduction")
    assert defined["scores"]["glfs"] == 1.0
    assert defined["scores"]["glfs"] >= defined["scores"].max()
    table = defined["table"]
    assert table.loc["glfs_bio (default)", "NMI"] > table.loc["LapAOFS", "NMI"] + 0.05
    assert table.loc["glfs_bio (default)", "nearest neighbour"] >= 0.95
    assert table.loc["GLFS (2014)", "NMI"] > table.loc["LapAOFS", "NMI"] - 0.05


def test_types(run):
    shown, printed = run("types")
    assert (
        shown["compared"].loc["types", "accuracy"] >= shown["compared"].loc["structure", "accuracy"]
    )
    assert (
        shown["compared"].loc["types", "rare_f1"]
        > shown["compared"].loc["structure", "rare_f1"] + 0.05
    )
    best = shown["markers"].set_index("label")["markers"]
    assert "CD79A" in best["B"]
    assert "NKG7" in best["NK"]
    assert "of 25 genes are also in the panel without weights" in printed
    assert shown["r2"]["both"] > shown["r2"]["types"] + 0.2
    quality = shown["quality"]
    assert quality["both"]["accuracy"] > quality["control cells"]["accuracy"]
    preserved = shown["entry"]["preserved_in_batches"][-1]
    assert abs(preserved[0] - preserved[1]) < 0.03
    assert shown["control"].var["there_efficiency"].between(0, 1).all()
