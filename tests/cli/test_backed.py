"""Every command with the matrix left in its file: it prints what it does otherwise."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from every_call import LINES
from scipy import sparse

import glfs_bio
from glfs_bio.cli import COMMANDS, with_options
from glfs_bio.io import _on_disk

#: Lines of those that write no cells.
READING = {
    "rank": "IN.h5ad --n-genes 5",
    "export": "IN.h5ad -",
    "report": "IN.h5ad -o - --basis none --labels type",
    "efficiency": "IN.h5ad IN.h5ad --labels type --counts-layer counts --spatial-layer counts",
}
EVERY = LINES | READING
WRITTEN = {
    "h5ad of csr": ("h5ad", sparse.csr_matrix),
    "h5ad of csc": ("h5ad", sparse.csc_matrix),
    "zarr": ("zarr", sparse.csr_matrix),
    "dense zarr": ("zarr", np.asarray),
}


def test_every_command_that_reads_cells_has_a_line():
    options = {name: {one.name for one in with_options(name).params} for name in COMMANDS}
    backed = {name for name in COMMANDS if "backed" in options[name]}
    assert backed == set(COMMANDS) - {"demo"} == set(EVERY)


@pytest.fixture
def write(run, copied_inputs):
    """Write the cells in a form, with ``.raw``; they are ``IN.h5ad`` or ``cells.zarr``."""
    cells = copied_inputs()
    cells.raw = cells[:, :20].copy()

    def written(kind, container):
        cells.X = container(cells.X.toarray())
        cells.layers["counts"] = container(cells.layers["counts"].toarray())
        path = "IN.h5ad" if kind == "h5ad" else "cells.zarr"
        (cells.write_zarr if kind == "zarr" else cells.write_h5ad)(path)
        return cells, path

    return written


@pytest.fixture
def told(run):
    def told(line):
        result = run(line)
        assert result.exit_code == 0, (line, result.stderr)
        return result.stdout

    return told


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("name", EVERY)
def test_a_command_says_the_same(copied_inputs, told, name):
    copied_inputs()
    here, there = (told(f"{name} {EVERY[name]} {backed}") for backed in ("", "--backed"))
    for one, other in zip(here.split("\t"), there.split("\t"), strict=True):
        try:
            assert float(one) == pytest.approx(float(other), rel=1e-5, abs=1e-7)
        except ValueError:
            assert one == other


@pytest.mark.parametrize(
    ("stored", "ending"),
    [
        ("h5ad of csr", "zarr"),
        ("h5ad of csc", "h5ad"),
        ("zarr", "h5ad"),
        ("dense zarr", "h5ad"),
    ],
)
def test_cells_are_written_part_by_part(write, told, stored, ending, monkeypatch):
    """Selected from a file, and evaluated from what that wrote; nothing is read as a whole."""
    kind, container = WRITTEN[stored]
    cells, path = write(kind, container)
    line = f"select {path} --n-genes 4 --n-comps 5 --genes -"
    expected = told(line)
    for name in ("_PART", "DENSE_BLOCK"):  # of 12,000 values
        monkeypatch.setattr(_on_disk, name, 4000)
    assert told(f"{line} --backed -o out.{ending}") == expected
    found = glfs_bio.io.read_cells(f"out.{ending}")
    assert isinstance(found.X, type(container(dense(cells.X)))) or not sparse.issparse(cells.X)
    assert sparse.issparse(found.layers["counts"]) == sparse.issparse(cells.layers["counts"])
    for one, other in ((found.X, cells.X), (found.raw.X, cells.raw.X)):
        np.testing.assert_array_equal(dense(one), dense(other))
    np.testing.assert_array_equal(dense(found.layers["counts"]), dense(cells.layers["counts"]))
    assert list(found.raw.var_names) == list(cells.raw.var_names)
    assert found.obs["batch"].tolist() == cells.obs["batch"].tolist()
    for part in ("obs", "uns", "obsm", "varm"):
        assert set(getattr(found, part)) >= set(getattr(cells, part))
    line = f"markers out.{ending} glfs --labels type"
    assert told(f"{line} --backed") == told(line)


def test_stdin_is_no_file_to_leave_a_matrix_in(run, copied_inputs):
    copied_inputs()
    for name in EVERY.keys() - {"efficiency"}:
        result = run(f"{name} {EVERY[name].replace('IN.h5ad', '-')} --backed", input=b"")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "--backed" in result.stderr


def test_an_interrupted_file_is_not_left(write, run, monkeypatch, caplog):
    _, path = write(*WRITTEN["zarr"])
    monkeypatch.setattr(_on_disk, "_PART", 100)
    caplog.set_level(logging.INFO)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_on_disk.log, "info", interrupt)
    before = sorted(path.name for path in Path.cwd().iterdir())
    assert run(f"markers {path} glfs --labels type --backed -o out.h5ad").exit_code != 0
    assert sorted(path.name for path in Path.cwd().iterdir()) == before
