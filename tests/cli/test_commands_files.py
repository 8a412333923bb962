from __future__ import annotations

import io
import math
import re
import shutil
import subprocess
import sys

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import app
from glfs_bio.selection import METHODS

GMT = "MHC II\tx\tHLA-DRA\tHLA-DRB1\tHLA-DPA1\nT cells\tx\tCD3D\tCD3E\n"


@pytest.fixture(scope="module")
def panel(_pbmc) -> ad.AnnData:
    adata = _pbmc.copy()
    adata.var["id"] = "id " + adata.var_names
    glfs_bio.pp.select_genes(adata, n_genes=20)
    return adata


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, list(words))


@pytest.fixture
def cells(run, pbmc):
    pbmc.write_h5ad("cells.h5ad")
    return "cells.h5ad"


@pytest.fixture
def selected(run, panel):
    panel.write_h5ad("panel.h5ad")
    return "panel.h5ad"


def read_table(result) -> pd.DataFrame:
    assert result.exit_code == 0, result.output
    return pd.read_csv(io.StringIO(result.stdout), sep="\t")


def test_the_line_itself_is_checked_first(run):
    assert run("enrich").exit_code == 2
    assert run("nonsense").exit_code == 2


@pytest.mark.parametrize("method", METHODS)
def test_rank(run, cells, method):
    frame = read_table(run("rank", cells, "--method", method, "--n-genes", "10"))
    assert list(frame) == ["gene", "score", "rank", "weight", "loss"]
    assert list(frame["rank"]) == list(range(1, 766))
    assert frame["score"].is_monotonic_decreasing
    assert frame["score"].is_unique


def test_rank_into_a_file_with_symbols(run, pbmc):
    pbmc.var["id"] = "id " + pbmc.var_names
    pbmc.write_h5ad("cells.h5ad")
    words = ("--n-genes", "10", "--exclude", "/^HLA-/", "--symbols", "id", "--table", "r.csv")
    result = run("rank", "cells.h5ad", *words)
    assert (result.exit_code, result.stdout) == (0, "")
    genes = pd.read_csv("r.csv")["gene"]
    assert genes.str.startswith("id ").all()
    assert not genes.str.contains("HLA-").any()


def test_the_line_tells_what_the_panel_keeps(run, cells):
    told = run("select", cells, "--n-genes", "20", "-o", "panel.h5ad").stderr
    entry = ad.read_h5ad("panel.h5ad").uns["glfs"]
    assert (
        f"20 of 765 genes, {100 * entry['preserved'][-1]:.0f} % of the structure preserved" in told
    )
    assert f"optimality at least {math.floor(100 * entry['optimality'][-1])} %" in told
    assert "λ" not in told
    told = run("select", cells, "--n-genes", "1", "--include", "CD3D").stderr
    assert "of the structure preserved" in told
    assert "best possible" not in told


def test_the_papers_objective_tells_its_lambda(run, cells):
    result = run("select", cells, "--n-genes", "8", "--objective", "exact")
    assert result.exit_code == 0, result.output
    assert re.search(r"8 of 765 genes, .*λ = .*, converged", result.stderr)
    assert len(result.stdout.split()) == 8


def test_zarr_in_and_out(run, cells, tmp_path):
    for again in ([], ["--overwrite"]):
        result = run("select", cells, "--n-genes", "5", "-o", "panel.zarr", *again)
        assert result.exit_code == 0, result.output
    assert run("export", "panel.zarr", "genes.txt").exit_code == 0
    assert len((tmp_path / "genes.txt").read_text().split()) == 5
    assert {path.name for path in tmp_path.iterdir()} == {cells, "panel.zarr", "genes.txt"}


def test_several_files(run, pbmc):
    """The columns of the first are those of the same call in Python."""
    first, second = pbmc[:350].copy(), pbmc[350:, 100:].copy()
    first.write_h5ad("first.h5ad")
    second.write_h5ad("second.h5ad")
    words = ("--also", "second.h5ad", "--across", "worst", "--n-genes", "8", "-o", "out.h5ad")
    result = run("select", "first.h5ad", *words, "--efficiency", "second.h5ad")
    assert result.exit_code == 0, result.output
    platform = glfs_bio.Platform(efficiency=second)
    glfs_bio.pp.select_genes([first, second], 8, across="worst", platform=platform)
    written = ad.read_h5ad("out.h5ad")
    pd.testing.assert_series_equal(written.var["glfs_rank"], first.var["glfs_rank"])
    assert list(written.uns["glfs"]["data_sets"]) == ["first.h5ad", "second.h5ad"]


def test_counts_in_a_table_with_genes_in_rows(run):
    rng = np.random.default_rng(0)
    rates = np.repeat([[1.0] * 20, [1.0] * 17 + [9.0] * 3], 20, axis=0)
    names = [f"gene{i}" for i in range(20)]
    frame = pd.DataFrame(rng.poisson(rates), columns=names)
    frame.T.to_csv("counts.tsv", sep="\t")
    words = ("--transpose", "--log1p", "--n-genes", "3", "--n-comps", "5")
    result = run("select", "counts.tsv", *words)
    assert result.exit_code == 0, result.output
    assert len(result.stdout.split()) == 3
    assert set(result.stdout.split()) & {"gene17", "gene18", "gene19"}
    assert "UserWarning" not in result.stderr


def test_classify(run, cells):
    words = ("--labels", "bulk_labels", "--n-genes", "10", "-o", "out.h5ad")
    frame = read_table(run("classify", cells, *words))
    assert list(frame) == ["cell", "label", "predicted"]
    assert (frame["label"] == frame["predicted"]).mean() > 0.6
    out = ad.read_h5ad("out.h5ad")
    assert list(out.obs["glfs_class_predicted"]) == list(frame["predicted"])


def test_classify_by_cross_validation(run, clusters):
    adata = ad.AnnData(clusters, obs={"group": np.repeat(["a", "b", "c"], 30)})
    adata.obs["train"] = np.arange(90) % 3 > 0
    adata.write_h5ad("clusters.h5ad")
    sizes = ("--n-genes", "3", "--n-genes", "6", "--cv", "3", "--train", "train")
    result = run("classify", "clusters.h5ad", "--labels", "group", *sizes, "--table", "p.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "0/60 errors in cross-validation; 0/30 errors outside --train" in result.stderr
    assert len(pd.read_csv("p.csv")) == 90


def test_a_classifier_of_some_cells_for_others(run, pbmc):
    pbmc[::2].write_h5ad("known.h5ad")
    pbmc[1::2, ::-1].write_h5ad("new.h5ad")
    words = (
        "--labels",
        "louvain",
        "--n-genes",
        "20",
        "--exclude",
        "ribosomal",
        "--table",
        "t.csv",
    )
    result = run("classify", "known.h5ad", *words, "--model", "blood.json")
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    frame = read_table(run("predict", "new.h5ad", "blood.json", "-o", "out.h5ad"))
    assert list(frame) == ["cell", "predicted", "margin"]
    assert (
        frame["predicted"].astype(str).to_numpy() == pbmc.obs["louvain"].astype(str)[1::2]
    ).mean() > 0.6
    again = run("predict", "new.h5ad", "blood.json", "--unsure", "0.2", "--backed")
    unsure = (frame["margin"] < 0.2).sum()
    assert f"20 of 20 genes, {350 - unsure} of 350 cells labelled" in again.stderr
    assert read_table(again)["predicted"].isna().sum() == unsure > 0
    assert run("classify", "known.h5ad", *words, "--model", "blood.json").exit_code == 1


@pytest.mark.filterwarnings("default::UserWarning")
def test_enrich(run, selected, panel, tmp_path):
    (tmp_path / "sets.gmt").write_text(GMT)
    frame = read_table(run("enrich", selected, "--gene-sets", "sets.gmt", "-o", "out.h5ad"))
    assert set(frame["term"]) == {"MHC II", "T cells"}
    results = ad.read_h5ad("out.h5ad").uns["glfs_enrichment"]["table"]
    assert list(results.index) == list(frame["term"])
    genes = panel.var_names[panel.var["glfs_rank"] > 1]
    (tmp_path / "genes.txt").write_text("\n".join(genes))
    words = ("--background", "genes.txt", "--table", "terms.csv")
    result = run("enrich", selected, "--gene-sets", "sets.gmt", *words)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert "1 of 20 selected genes" in result.stderr
    assert "19 of 764 genes selected" in result.stderr


def test_export_in_every_format(run, selected, panel, tmp_path):
    files = ["genes.txt", "genes.csv", "genes.tsv", "genes.gmt", "genes.rnk"]
    result = run("export", selected, *files, "--column", "id")
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    genes = (tmp_path / "genes.txt").read_text().split()
    assert len(genes) == 20
    assert list(pd.read_csv("genes.csv")["gene"]) == genes
    assert "id" in pd.read_csv("genes.tsv", sep="\t")
    assert glfs_bio.io.read_gmt("genes.gmt") == {"glfs": genes}
    assert len((tmp_path / "genes.rnk").read_text().splitlines()) == panel.n_vars
    assert run("export", selected, "genes.txt", "--all", "--overwrite").exit_code == 0
    assert len((tmp_path / "genes.txt").read_text().split()) == panel.n_vars


def test_report(run, selected, tmp_path, quick_umaps):
    with quick_umaps():
        words = ["report", selected, "-o", "r.html", "--labels", "bulk_labels", "--link", "none"]
        result = run(*words)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert "20 of 765 genes" in (tmp_path / "r.html").read_text("utf-8")


def test_demo(run, tmp_path):
    result = run("demo", "-o", "out")
    assert result.exit_code == 0, result.output
    assert "25 genes selected by glfs_bio" in result.stdout
    assert len((tmp_path / "out" / "genes.txt").read_text().split()) == 25
    assert ad.read_h5ad(tmp_path / "out" / "pbmc68k_panel.h5ad").shape == (700, 25)
    assert (tmp_path / "out" / "panel.png").stat().st_size > 10_000
    assert run("demo", "-o", "out").exit_code == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["rank", "panel.h5ad", "--method", "nope"], "--method nope"),
        (["rank", "panel.h5ad", "--table", "t.xls"], "--table t.xls"),
        (["select", "panel.h5ad", "-o", "out.csv"], "--output out.csv"),
        (["select", "panel.h5ad", "--transpose"], "--transpose"),
        (["classify", "panel.h5ad", "--labels", "nope"], "--labels nope"),
        (["classify", "panel.h5ad", "--labels", "x", "--n-comps", "many"], "--n-comps many"),
        (["enrich", "panel.h5ad", "--gene-sets", "no.gmt"], "--gene-sets no.gmt"),
        (["export", "panel.h5ad", "genes.doc"], "genes.doc"),
        (["export", "panel.h5ad", "a.csv", "--key", "a", "--key", "b"], "--key a,b"),
        (["export", "panel.h5ad", "a.txt", "--column", "x"], "--column x"),
        (["export", "panel.h5ad", "a.txt", "--threshold", "0.5"], "--threshold"),
        (["export", "panel.h5ad", "a.gmt", "--threshold", "0.5"], "glfs-bio stability"),
        (["export", "panel.h5ad", "a.txt", "no/a.csv"], "no"),
        (["report", "panel.h5ad", "-o", "report.pdf"], "--output report.pdf"),
        (["report", "panel.h5ad", "-o", "r.html", "--key", "nope"], "--key nope"),
        (["demo", "-o", "no/where"], "no/where"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(run, selected, tmp_path, words, named):
    result = run(*words)
    assert result.exit_code == 1, result.output
    assert named in result.stderr
    assert result.stderr.strip().count("\n") == 0
    assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == [selected]


def test_files_are_written_though_nobody_reads_stdout(cells, tmp_path):
    """As in ``glfs-bio rank … | head -1``; one real process, as a workflow starts it."""
    program = shutil.which("glfs-bio") or f"{sys.prefix}/bin/glfs-bio"
    command = [program, "select", cells, "--n-genes", "5", "-o", "out.h5ad"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        told = process.stderr.read().decode()
    assert re.search("5 of 765 genes", told)
    assert "Traceback" not in told
    assert (tmp_path / "out.h5ad").exists()
