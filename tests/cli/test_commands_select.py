from __future__ import annotations

import anndata as ad
import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch, pbmc):
    monkeypatch.chdir(tmp_path)
    pbmc.write_h5ad("cells.h5ad")
    return lambda *words: CliRunner().invoke(app, list(words))


def test_select_writes_both_files(run, tmp_path):
    result = run("select", "cells.h5ad", "--n-genes", "12", "-o", "panel.h5ad", "--genes", "g.txt")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "12 of 765 genes" in result.stderr
    genes = (tmp_path / "g.txt").read_text().split()
    panel = ad.read_h5ad(tmp_path / "panel.h5ad")
    ranked = panel.var[panel.var["glfs_selected"]].sort_values("glfs_rank").index
    assert genes == list(ranked)
    assert {path.name for path in tmp_path.iterdir()} == {"cells.h5ad", "panel.h5ad", "g.txt"}


def test_genes_go_to_stdout_without_a_file(run):
    result = run("select", "cells.h5ad", "--n-genes", "5", "--exclude", "/^HLA-/")
    assert len(result.stdout.split()) == 5
    assert "HLA-" not in result.stdout


def test_the_best_panel_is_searched_for(run, pbmc, tmp_path):
    result = run("select", "cells.h5ad", "-n", "5", "--search", "best", "--time-limit", "20")
    assert "proven to be the best" in result.stderr
    glfs_bio.pp.select_genes(pbmc, 5, search="best", time_limit=20.0)
    assert set(result.stdout.split()) == set(pbmc.var_names[pbmc.var["glfs_selected"]])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["missing.h5ad"], "missing.h5ad"),
        (["cells.h5ad", "--n-genes", "0"], "--n-genes 0"),
        (["cells.h5ad", "--lam", "abc"], "--lam abc"),
        (["cells.h5ad", "--layer", "nope"], "--layer nope"),
        (["cells.h5ad", "-o", "cells.h5ad"], "cells.h5ad"),
        (["cells.h5ad", "-o", "no/where.h5ad"], "no"),
    ],
)
def test_errors_are_one_line_and_an_exit_code(run, words, named):
    result = run("select", *words)
    assert result.exit_code == 1
    assert named in result.stderr
    assert result.stderr.strip().count("\n") == 0
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_debug_shows_the_error(run):
    result = run("select", "cells.h5ad", "--n-genes", "0", "--debug")
    assert isinstance(result.exception, ValueError)


def test_overwriting_must_be_asked_for(run):
    result = run("select", "cells.h5ad", "--n-genes", "5", "-o", "cells.h5ad", "--overwrite")
    assert result.exit_code == 0, result.output


def test_version(run):
    assert run("--version").stdout.strip() == glfs_bio.__version__


def test_what_no_selection_can_be_asked_for_is_refused_before_cells_are_read(run, tmp_path):
    path = tmp_path / "never_read.h5ad"
    path.write_text("no cells")
    assert "n-genes" in run("rank", str(path), "--method", "variance").stderr
