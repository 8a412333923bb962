"""Every command with the matrix left in its file: it prints and writes what it does otherwise."""

from __future__ import annotations

import logging

import anndata as ad
import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import COMMANDS, app, with_options
from glfs_bio.io import _on_disk

#: What comes after the file of the cells, and whether cells are written with ``-o``.
LINES = {
    "rank": "--method glfs",
    "evaluate": "glfs --labels group --n-random 2 -o {out}",
    "extend": "glfs --n-extra 2 -o {out}",
    "substitutes": "glfs -o {out}",
    "replace": "glfs --failed {gene} -o {out}",
    "explain": "glfs --labels group -o {out}",
    "gene": "glfs --gene g7 -o {out}",
    "prove": "glfs --time-limit 5 -o {out}",
    "markers": "glfs --labels group -o {out}",
    "compare": "a=glfs b=g1,g2 -o {out}",
    "curve": "--max-genes 4 -o {out}",
    "stability": "--n-resamples 2 -o {out}",
    "classify": "--labels group --n-genes 3 -o {out}",
    "predict": "model.json -o {out}",
    "enrich": "--gene-sets sets.gmt -o {out}",
    "export": "-",
    "order": "glfs -o {out}",
    "report": "-o - --no-umaps --labels group",
    "efficiency": "cells.{kind} --labels group --counts-layer counts --spatial-layer counts",
}
WRITTEN = {
    "h5ad of csr": ("h5ad", sparse.csr_matrix),
    "h5ad of csc": ("h5ad", sparse.csc_matrix),
    "dense h5ad": ("h5ad", np.asarray),
    "zarr": ("zarr", sparse.csr_matrix),
    "dense zarr": ("zarr", np.asarray),
}


def test_every_command_that_reads_cells_has_a_line():
    options = {name: {one.name for one in with_options(name).params} for name in COMMANDS}
    backed = {name for name, own in options.items() if "backed" in own}
    assert backed == set(COMMANDS) - {"demo"}
    assert backed == {"select", *LINES}


@pytest.fixture(scope="module")
def _cells():
    rng = np.random.default_rng(0)
    means = np.kron(np.eye(3), np.full((1, 4), 4.0))
    counts = rng.poisson(np.repeat(np.hstack([means, np.full((3, 28), 0.5)]), 30, axis=0) + 0.1)
    cells = ad.AnnData(np.log1p(counts).astype(np.float32))
    cells.layers["counts"] = counts.astype(np.float32)
    cells.obs["group"] = np.repeat(["a", "b", "c"], 30)
    cells.obs_names = [f"c{i}" for i in range(90)]
    cells.var_names = [f"g{i}" for i in range(40)]
    glfs_bio.pp.select_genes(cells, 4, n_comps=5)
    cells.raw = cells[:, :20].copy()
    return cells


@pytest.fixture(scope="module")
def _trained(_cells):
    trained = _cells.copy()
    glfs_bio.tl.classify(trained, "group", n_genes=3)
    return trained


@pytest.fixture
def write(_cells, _trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sets.gmt").write_text("one\tx\tg0\tg1\tg2\n")
    glfs_bio.io.write_classifier(_trained, "model.json")

    def written(kind, container):
        cells = _cells.copy()
        cells.X, cells.layers["counts"] = container(cells.X), container(cells.layers["counts"])
        (cells.write_zarr if kind == "zarr" else cells.write_h5ad)(f"cells.{kind}")
        return cells

    return written


def run(line):
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 0, (line, result.stderr)
    return result.stdout


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("name", LINES)
def test_a_command_says_and_writes_the_same(write, name):
    kind, container = WRITTEN["h5ad of csc"]
    cells = write(kind, container)
    gene = cells.var["glfs_rank"].idxmin()
    said = []
    for i, backed in enumerate(("", "--backed")):
        more = LINES[name].format(out=f"out{i}.{kind}", gene=gene, kind=kind)
        said.append(run(f"{name} cells.{kind} {more} {backed}"))
    for here, there in zip(*(text.split("\t") for text in said), strict=True):
        try:
            assert float(here) == pytest.approx(float(there), rel=1e-5, abs=1e-7)
        except ValueError:
            assert here == there
    if "{out}" in LINES[name]:
        read = ad.read_zarr if kind == "zarr" else ad.read_h5ad
        here, there = (read(f"out{i}.{kind}") for i in range(2))
        for part in ("obs", "var", "uns", "obsm", "varm", "layers"):
            assert set(getattr(here, part)) == set(getattr(there, part))
        np.testing.assert_array_equal(dense(there.X), dense(cells.X))
        np.testing.assert_array_equal(dense(there.raw.X), dense(cells.raw.X))
        np.testing.assert_array_equal(dense(there.layers["counts"]), dense(cells.layers["counts"]))


@pytest.mark.parametrize(
    ("stored", "ending"),
    [
        *(("h5ad of csr", "zarr"), ("h5ad of csc", "h5ad"), ("dense h5ad", "h5ad")),
        *(("zarr", "zarr"), ("zarr", "h5ad"), ("dense zarr", "zarr")),
    ],
)
def test_cells_are_written_part_by_part(write, stored, ending, monkeypatch):
    """Selected from a file, and evaluated from what that wrote; nothing is read as a whole."""
    kind, container = WRITTEN[stored]
    cells = write(kind, container)
    expected = run(f"select cells.{kind} --n-genes 4 --n-comps 5 --genes -")
    for name in ("_PART", "DENSE_BLOCK"):  # of 3,600 values
        monkeypatch.setattr(_on_disk, name, 900)
    line = f"select cells.{kind} --backed --n-genes 4 --n-comps 5 --genes - -o out.{ending}"
    assert run(line) == expected
    found = glfs_bio.io.read_cells(f"out.{ending}")
    assert isinstance(found.X, type(container(cells.X))) or not sparse.issparse(cells.X)
    for name, matrix in (("X", found.X), ("counts", found.layers["counts"])):
        own = cells.X if name == "X" else cells.layers[name]
        assert sparse.issparse(matrix) == sparse.issparse(own)
        np.testing.assert_array_equal(dense(matrix), dense(own))
    np.testing.assert_array_equal(dense(found.raw.X), dense(cells.raw.X))
    assert list(found.raw.var_names) == list(cells.raw.var_names)
    assert found.obs["group"].tolist() == cells.obs["group"].tolist()
    again = run(f"markers out.{ending} glfs --labels group --backed")
    assert again == run(f"markers out.{ending} glfs --labels group")


def test_stdin_is_no_file_to_leave_a_matrix_in(write):
    write(*WRITTEN["zarr"])
    for name in LINES:
        if name != "efficiency":
            more = LINES[name].format(out="out.h5ad", gene="g0", kind="h5ad")
            result = CliRunner().invoke(app, f"{name} - {more} --backed".split(), input=b"")
            assert (result.exit_code, result.stdout) == (1, "")
            assert "--backed" in result.stderr


def test_an_interrupted_file_is_not_left(write, tmp_path, monkeypatch, caplog):
    write(*WRITTEN["zarr"])
    monkeypatch.setattr(_on_disk, "_PART", 100)
    caplog.set_level(logging.INFO)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_on_disk.log, "info", interrupt)
    before = sorted(path.name for path in tmp_path.iterdir())
    line = "markers cells.zarr glfs --labels group --backed -o out.h5ad"
    assert CliRunner().invoke(app, line.split()).exit_code != 0
    assert sorted(path.name for path in tmp_path.iterdir()) == before
