from __future__ import annotations

import io
import re

import anndata as ad
import pandas as pd
import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import app

FEW = ("--n-resamples", "2")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["stability", *words])


@pytest.fixture(scope="module")
def panel(_pbmc):
    adata = _pbmc[::2, :200].copy()
    excluded = adata.var_names[:3].tolist()
    glfs_bio.pp.select_genes(adata, n_genes=8, exclude=excluded, key_added="mine")
    return adata


@pytest.fixture
def selected(run, panel):
    panel.write_h5ad("panel.h5ad")
    return "panel.h5ad"


def test_table_on_stdout(run, selected, panel):
    result = run(selected, "--key", "mine", *FEW)
    assert result.exit_code == 0, result.output
    frame = pd.read_csv(io.StringIO(result.stdout), sep="\t")
    assert list(frame) == ["gene", "frequency", "consensus", "selected"]
    assert len(frame) == 197
    assert frame["frequency"].is_monotonic_decreasing
    assert frame["consensus"].sum() == frame["selected"].sum() == 8
    expected = panel.copy()
    glfs_bio.tl.stability(expected, key="mine", n_resamples=2)
    frequency = expected.var["mine_stability_frequency"]
    assert list(frame["frequency"]) == list(frequency[frame["gene"]])
    jaccard = expected.uns["mine_stability"]["mean_jaccard"]
    told = f"2 selections on 175 of 350 cells, mean Jaccard index {jaccard:.2f}, "
    assert told in result.stderr
    assert re.search("of 8 genes in the consensus panel", result.stderr)


def test_files(run, selected, tmp_path):
    words = (selected, "--key", "mine", *FEW, "--fraction", "0.8", "--seed", "3", "--n-jobs", "1")
    result = run(*words, "-o", "out.h5ad", "--table", "t.csv", "--key-added", "parts")
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    out = ad.read_h5ad("out.h5ad")
    params = out.uns["parts"]["params"]
    assert (params["fraction"], params["random_state"], params["n_genes"]) == (0.8, 3, 8)
    frame = pd.read_csv("t.csv", index_col="gene")
    assert frame["frequency"].equals(out.var["parts_frequency"][frame.index].rename("frequency"))
    assert run(*words, "--table", "t.csv").exit_code == 1
    assert run(*words, "--table", "t.csv", "--overwrite").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"out.h5ad", "panel.h5ad", "t.csv"}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "glfs-bio select"),
        (("--key", "mine", "--n-resamples", "1"), "--n-resamples 1"),
        (("--key", "mine", "--fraction", "1"), "--fraction 1.0"),
        (("--key", "mine", "--n-jobs", "0"), "--n-jobs 0"),
        (("--key", "mine", "--seed", "-1"), "--seed -1"),
        (("--key", "mine", "--table", "t.xls"), "--table t.xls"),
        (("--key", "mine", "-o", "t.csv"), "--output t.csv"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(run, selected, tmp_path, words, named):
    result = run(selected, *words)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert named in result.stderr
    assert result.stderr.strip().count("\n") == 0
    assert [path.name for path in tmp_path.iterdir()] == [selected]
