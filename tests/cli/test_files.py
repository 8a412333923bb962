"""Files, and what somebody meets who tries the commands for the first time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from every_call import LINES
from scipy import sparse

import glfs_bio

HEAVY = {"anndata", "pandas", "scanpy", "scipy", "sklearn"}
#: Words of lines that write to a file.
OUTPUTS = {
    "select": "-o out.h5ad",
    "structure": "-o out.h5ad",
    "evaluate": "glfs -o out.h5ad",
    "extend": "glfs --genes out.csv",
    "explain": "glfs --table out.csv",
    "prove": "glfs -o out.h5ad",
    "stability": "-o out.h5ad",
    "classify": "--labels x --table out.csv",
    "enrich": "--gene-sets there.gmt -o out.h5ad",
    "export": "out.csv",
    "order": "glfs --order out.csv",
    "report": "-o out.html",
}


@pytest.fixture
def cells(clusters) -> ad.AnnData:
    adata = ad.AnnData(clusters, obs={"group": np.repeat(["a", "b", "c"], 30)})
    adata.obs_names = [f"c{i}" for i in range(90)]
    adata.var_names = [f"g{i}" for i in range(40)]
    return adata


def test_files_are_looked_at_before_anything_is_loaded(tmp_path, monkeypatch):
    """One process for all commands: what they would load takes seconds to import."""
    monkeypatch.chdir(tmp_path)
    for name in ("there.h5ad", "there.gmt", "out.h5ad", "out.csv", "out.html"):
        (tmp_path / name).touch()
    lines = [f"{name} there.h5ad {words}" for name, words in OUTPUTS.items()]
    lines += [
        f"{name} missing.h5ad {words.replace('out', 'new')}" for name, words in OUTPUTS.items()
    ]
    lines += ["enrich there.h5ad --gene-sets missing.gmt"]
    code = f"""
import sys
from glfs_bio.cli import app, call
for line in {lines!r}:
    try:
        app(line.split())
    except SystemExit as error:
        assert error.code == 1, line
print({HEAVY!r} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    messages = done.stderr.splitlines()
    for line, message in zip(lines, messages, strict=True):
        assert ("missing" if "missing" in line else "out.") in message, line


def test_streams_are_no_files(run, cells, tmp_path):
    cells.write_h5ad("cells.h5ad")
    for line, named in {
        "select -": "IN -",
        "select cells.h5ad -o -": "--output -",
        "select cells.h5ad --genes -": "--genes -",
        "export cells.h5ad -": "OUT -",
        "select cells.h5ad --backed --log1p": "--backed",
    }.items():
        result = run(line)
        assert (result.exit_code, result.stdout) == (1, "")
        assert named in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["cells.h5ad"]


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
        result = run("select cells.h5ad --n-genes 3 --n-comps 5 --log1p -o panel.h5ad --overwrite")
        assert len(result.stdout.split()) == 3, result.stderr
        assert np.array_equal(ad.read_h5ad("panel.h5ad").layers["counts"], counts)


def test_a_result_is_said_once_and_notes_as_warnings_are(run, cells):
    """By the shell, whatever a notebook would hear."""
    cells.X[30:] += 100.0  # two groups that no neighbours join
    cells.write_h5ad("cells.h5ad")
    before, sc.settings.verbosity = sc.settings.verbosity, 3
    lines = run("select cells.h5ad -n 3 --n-comps 5").stderr.splitlines()
    sc.settings.verbosity = before
    assert len([line for line in lines if "% of the structure" in line]) == 1
    (note,) = [line for line in lines if "connected components" in line]
    assert note.startswith("glfs-bio: Note: ")


READING = {
    "export": "IN.h5ad out.txt --overwrite",
    "reference": "IN.h5ad reference.zip --labels type --ids symbol --overwrite",
    "report": "IN.h5ad -o out.html --overwrite",
}
#: What they write that can be compared.
WRITTEN = ("out.txt", "out.html")


@pytest.mark.filterwarnings("default::UserWarning")
def test_commands_print_the_same_of_a_matrix_in_its_file(run, copied_inputs, quick_umaps):
    copied_inputs()
    lines = LINES | READING
    for name, line in lines.items():
        texts = []
        for words in ("", "--backed"):
            with quick_umaps():
                done = run(f"{name} {line} {words}")
            assert done.exit_code == 0, done.output
            files = [Path(file).read_text("utf-8") for file in WRITTEN if Path(file).exists()]
            texts.append("\t".join([done.stdout, *files]).split("\t"))
        for one, other in zip(*texts, strict=True):
            try:
                assert float(one) == pytest.approx(float(other), rel=1e-5, abs=1e-7)
            except ValueError:
                assert one == other


@pytest.mark.parametrize(
    ("container", "source", "target"),
    [(sparse.csr_matrix, "IN.h5ad", "out.zarr"), (np.array, "cells.zarr", "out.h5ad")],
)
def test_cells_are_written_from_their_file(run, copied_inputs, container, source, target):
    cells = copied_inputs()
    cells.X = container(cells.X.toarray())
    cells.raw = cells[:, :20].copy()
    (cells.write_zarr if source.endswith("zarr") else cells.write_h5ad)(source)
    line = f"select {source} --n-genes 4 --n-comps 5"
    expected = run(line).stdout
    assert run(f"{line} --backed -o {target}").stdout == expected
    written = glfs_bio.io.read_cells(target)
    assert sparse.issparse(written.X) == sparse.issparse(cells.X)
    for one, other in ((written.X, cells.X), (written.raw.X, cells.raw.X)):
        dense = [one.toarray() if sparse.issparse(one) else one for one in (one, other)]
        np.testing.assert_array_equal(*dense)
    for part in ("obs", "uns", "obsm", "varm", "layers"):
        assert set(getattr(written, part)) >= set(getattr(cells, part))


def test_tables_hold_no_formulas(tmp_path):
    from glfs_bio.cli import call

    table = pd.DataFrame({"=a": ["=cmd|x", "@b", "c"]})
    call._write_table(table, tmp_path / "t.csv", overwrite=False)
    assert (tmp_path / "t.csv").read_text() == "'=a\n'=cmd|x\n'@b\nc\n"
