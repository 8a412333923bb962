"""Files and streams, and what somebody meets who tries the commands for the first time."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

OUTPUTS = {
    "select": "-o",
    "rank": "--table",
    "evaluate": "glfs -o",
    "extend": "glfs --genes",
    "substitutes": "glfs --table",
    "replace": "glfs --failed g1 --genes",
    "explain": "glfs --table",
    "gene": "glfs --gene g1 --table",
    "compare": "a=glfs b=hvg --overlaps",
    "curve": "-o",
    "stability": "-o",
    "classify": "--labels x --model",
    "predict": "there.json -o",
    "enrich": "--gene-sets there.gmt -o",
    "export": "",
    "report": "-o",
}
HEAVY = {"anndata", "pandas", "scanpy", "scipy", "sklearn"}


@pytest.fixture
def cells(clusters) -> ad.AnnData:
    adata = ad.AnnData(clusters, obs={"group": np.repeat(["a", "b", "c"], 30)})
    adata.obs_names = [f"c{i}" for i in range(90)]
    adata.var_names = [f"g{i}" for i in range(40)]
    return adata


def test_files_are_looked_at_before_anything_is_loaded(tmp_path, monkeypatch):
    """One process for all commands: what they would load takes seconds to import."""
    monkeypatch.chdir(tmp_path)
    for name in ("there.h5ad", "there.json", "there.gmt", "out.h5ad", "out.csv", "out.html"):
        (tmp_path / name).touch()
    endings = {"report": "html", "rank": "csv", "substitutes": "csv", "explain": "csv"}
    lines = []
    for name, more in OUTPUTS.items():
        out = f"out.{endings.get(name, 'csv' if name in {'compare', 'export'} else 'h5ad')}"
        lines.append(f"{name} missing.h5ad {more} new{out[3:]}")
        lines.append(f"{name} there.h5ad {more} {out}")
    lines += ["predict there.h5ad missing.json", "enrich there.h5ad --gene-sets missing.gmt"]
    code = f"""
import sys
from glfs_bio.cli import app
for line in {lines!r}:
    try:
        app(line.split())
    except SystemExit as error:
        assert error.code == 1, line
print({HEAVY!r} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    told = done.stderr.splitlines()
    assert len(told) == len(lines)
    for line, words in zip(lines, told, strict=True):
        if "missing" in line:
            assert "missing" in words, line
        else:
            assert "out." in words, line


def test_one_command_after_another_without_files(run, cells, tmp_path, monkeypatch):
    """h5ad in and out, and a list of genes at the end; then a table, packed or not."""
    monkeypatch.setattr("glfs_bio._anndata.umap._umap", lambda where, _: where[:, :2])
    cells.write_h5ad("cells.h5ad")
    sent = Path("cells.h5ad").read_bytes()
    first = run("select - --n-genes 3 --n-comps 5 -o -", input=sent)
    assert first.exit_code == 0, first.stderr
    selected = first.stdout_bytes
    assert selected[:4] == b"\x89HDF"
    result = run("export - - --symbols nope", input=selected)
    assert "--symbols nope" in result.stderr
    genes = run("export - -", input=selected).stdout.split()
    assert len(genes) == 3
    page = run("report - -o - --basis none", input=selected)
    assert page.exit_code == 0, page.stderr
    assert page.stdout.startswith("<!DOCTYPE html>")
    table = cells.to_df().to_csv().encode()
    tabs = cells.to_df().to_csv(sep="\t").encode()
    for sent in (table, gzip.compress(tabs)):
        result = run("select - --n-genes 3 --n-comps 5 --genes -", input=sent)
        assert result.stdout.split() == genes, result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["cells.h5ad"]


def test_streams_that_cannot_be(run):
    for line, named in {
        "select - -o - --genes -": "--output and --genes",
        "select - --backed": "--backed",
        "select -": "stdin",
    }.items():
        result = run(line, input=b"\x00\x01")
        assert (result.exit_code, result.stdout) == (1, "")
        assert named in result.stderr


def test_a_table_with_genes_in_its_rows_is_asked_about(run):
    names = ["MT-CO1", "RPL3", "RPS6", "CD3D", "CD79A", "LYZ"]
    rng = np.random.default_rng(0)
    groups = np.repeat([[4.0, 0.0], [0.0, 4.0]], 15, axis=0)
    frame = pd.DataFrame(rng.normal(size=(30, 6)) + np.tile(groups, 3), columns=names)
    frame.index = ["".join(rng.choice([*"ACGT"], 16)) + "-1" for _ in frame.index]
    frame.T.to_csv("t.csv")
    line = "select t.csv --n-genes 2 --n-comps 3"
    result = run(line)
    assert result.exit_code == 1
    assert "MT-CO1, RPL3, RPS6" in result.stderr
    assert "--transpose" in result.stderr
    assert "--no-transpose" in result.stderr
    assert set(run(f"{line} --transpose").stdout.split()) < set(names)
    assert run(f"{line} --no-transpose").exit_code == 0


def test_a_table_without_known_names_is_asked_about(run, cells):
    table = cells.to_df()
    table.index = [f"x{i}" for i in range(len(table))]
    table.columns = [f"y{i}" for i in range(table.shape[1])]
    table.to_csv("t.csv")
    line = "select t.csv --n-genes 3 --n-comps 5"
    result = run(line)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--no-transpose" in result.stderr
    assert len(run(f"{line} --no-transpose").stdout.split()) == 3


def test_a_modality(run, cells):
    with h5py.File("cells.h5mu", "w") as file:
        for name in ("obs", "var", "mod"):
            file.create_group(name)
        for name in ("rna", "protein"):
            ad.io.write_elem(file["mod"], name, cells)
    line = "select cells.h5mu --n-genes 3 --n-comps 5"
    result = run(line)
    assert result.exit_code == 1
    assert "--modality" in result.stderr
    assert "rna" in result.stderr
    assert len(run(f"{line} --modality rna").stdout.split()) == 3


def test_ids_of_10x_genomics(run, cells):
    counts = sparse.csr_matrix(np.round(np.abs(cells.X) * 3))
    with h5py.File("cells.h5", "w") as file:
        group = file.create_group("matrix")
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(counts, name)
        group["shape"], group["barcodes"] = counts.T.shape, np.array([*cells.obs_names], dtype="S")
        features = group.create_group("features")
        features["id"] = np.array([f"id{i}" for i in range(cells.n_vars)], dtype="S")
        features["name"] = np.array([*cells.var_names], dtype="S")
        for name, text in (("feature_type", "Gene Expression"), ("genome", "hg38")):
            features[name] = np.array([text] * cells.n_vars, dtype="S")
    words = "--log1p --n-genes 3 --n-comps 5 --var-names gene_ids"
    result = run(f"select cells.h5 {words}")
    assert all(name.startswith("id") for name in result.stdout.split()), result.stderr
    sent = Path("cells.h5").read_bytes()
    assert run(f"select - {words} --genes -", input=sent).stdout == result.stdout


def test_logarithms_are_taken_once(run, cells):
    logarithms = cells.copy()
    logarithms.X = np.abs(cells.X)
    for adata in (cells, logarithms):
        adata.write_h5ad("cells.h5ad")
        result = run("select cells.h5ad --n-genes 3 --log1p")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "--log1p" in result.stderr
    for counts in (100.5 * np.abs(cells.X), np.round(np.abs(cells.X)), 1.0 * (cells.X > 2)):
        cells.X = counts  # as RSEM has them, small, and zero and one alone
        cells.write_h5ad("cells.h5ad")
        result = run("select cells.h5ad --n-genes 3 --n-comps 5 --log1p")
        assert len(result.stdout.split()) == 3, result.stderr
