"""What goes wrong outside of the programme: no half file, a clear message, data as they were."""

from __future__ import annotations

import ast
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anndata as ad
import numpy as np
import pooch
import pytest
from refusals import refused

import glfs_bio
from glfs_bio import datasets, io
from glfs_bio.errors import InvalidValue, Unreachable

ROOT = Path(__file__).parents[1]
WHAT = ("gene list", "rnk", "gmt", "classifier", "report", "picture", "cells", "cells in zarr",
        "table", "genes of a command")  # fmt: skip
KILLED = ("killed after half", "killed before it takes its place", "killed when it has")
FULL = ("full after half", "disk full")
OF_HDF5 = ("killed at the first byte", "killed at the last byte", "full at the first byte",
           "full at the last byte")  # fmt: skip
WRITERS = {"write_text", "write_bytes", "to_csv", "savefig", "write_h5ad", "write_zarr", "open"}
NO_FILES = ("_stdout()", "buffer", "entry")


@pytest.fixture(scope="module")
def panel_file(tmp_path_factory, _pbmc, quick_umaps):
    adata = _pbmc[:, :120].copy()
    glfs_bio.pp.select_genes(adata, 12)
    glfs_bio.tl.classify(adata, "phase", n_genes=40)
    with quick_umaps():
        glfs_bio.tl.panel_umap(adata)  # or each of the programme's processes computes it
    path = tmp_path_factory.mktemp("panel") / "panel.h5ad"
    adata.write_h5ad(path)
    return path


@pytest.fixture
def folder(panel_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "panel.h5ad").symlink_to(panel_file)
    return tmp_path


def run(command, **options):
    options = {"capture_output": True, "text": True, "check": False, "timeout": 300} | options
    return subprocess.run(command, **options)


@pytest.fixture(scope="module")
def ends(panel_file):
    """How every writer ended, and what was left, where disks can be mounted with full ones too."""
    apart = ["unshare", "-rm"] if shutil.which("unshare") else []
    if apart and subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        apart = []
    command = [*apart, sys.executable, ROOT / "tools" / "faults_of_writing.py", panel_file.name]
    done = run(command, cwd=panel_file.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("how", KILLED + FULL)
@pytest.mark.parametrize("what", WHAT)
def test_a_write_that_fails_leaves_the_old_file(ends, what, how):
    if how not in ends[what]:
        pytest.skip("no small disk can be mounted here")
    check(ends[what][how], how)


@pytest.mark.parametrize("how", OF_HDF5)
def test_a_write_of_hdf5_that_fails_at_either_end(ends, how):
    check(ends["cells"][how], how)


def check(end, how):
    """Either the old file is there, or the new one, whole; nothing half is left but by the dead."""
    code, left, beside = end
    assert left == ("new" if how == "killed when it has" else "old")
    if "killed" in how:
        assert code in (-signal.SIGKILL, -signal.SIGXFSZ)
        assert beside <= 1
    else:
        assert (code, beside) == (3, 0)


def writes_no_file(call):
    """Whether a call opens a file to read it, or returns a table as text."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "to_csv":
        return not call.args
    modes = [one.value for one in call.args if isinstance(one, ast.Constant)]
    return call.func.attr == "open" and not any(set(str(mode)) & set("wax+") for mode in modes)


def test_every_write_of_the_package_takes_the_place_of_the_old_file():
    """Whatever writes does so within `replacing`, or the faults above say nothing of it."""
    wrote = set()
    for path in (ROOT / "glfs_bio").rglob("*.py"):
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        safe = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.With) and "replacing(" in ast.unparse(node.items[0])
            for inner in ast.walk(node)
        }
        harmless = {
            node.func
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and writes_no_file(node)
        }
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.Name) and node.id == "open"), path
            if node in harmless:
                continue
            if isinstance(node, ast.Attribute) and node.attr in WRITERS and node not in safe:
                line = text.splitlines()[node.lineno - 1]
                assert any(f"{node.attr}({target}" in line for target in NO_FILES), (path, line)
            elif isinstance(node, ast.Attribute) and node.attr in WRITERS:
                wrote.add(path.name)
    lists = {"classifier_file.py", "_lists.py", "sheets.py", "orders.py"}
    assert wrote == lists | {"_report.py", "_figure.py", "files.py"}


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "cells.zarr"
    target.mkdir()
    (target / ".zgroup").write_text("{}")
    (target / "old").write_text("old")
    with io.replacing(target, overwrite=True) as name:
        name.mkdir()
        (name / "new").write_text("new")
        assert (target / "old").exists()
    assert [path.name for path in target.iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["cells.zarr"]


def test_a_folder_comes_back_where_the_new_one_is_missing(tmp_path):
    target = tmp_path / "cells.zarr"
    target.mkdir()
    (target / ".zgroup").write_text("{}")
    (target / "old").write_text("old")
    with pytest.raises(FileNotFoundError), io.replacing(target, overwrite=True):
        pass
    assert (target / "old").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["cells.zarr"]


def test_a_folder_that_cannot_be_written_to(folder):
    """As a user without rights, since root has them all."""
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    code = """
import os, sys, anndata
adata = anndata.read_h5ad("panel.h5ad")
from glfs_bio import io
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
try:
    io.write_gene_list(adata, "closed/genes.txt")
except PermissionError as error:
    print("refused:", error)
"""
    done = run([sys.executable, "-c", code])
    assert done.stdout.startswith("refused:"), done.stderr
    assert list(closed.iterdir()) == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_h5ad(folder, share):
    whole = (folder / "panel.h5ad").read_bytes()
    (folder / "cut.h5ad").write_bytes(whole[: int(share * len(whole))])
    with refused(InvalidValue, "path"):
        io.read_cells("cut.h5ad")


@pytest.mark.filterwarnings("ignore::anndata.OldFormatWarning")
def test_a_foreign_hdf5(folder):
    import h5py

    with h5py.File("other.h5ad", "w") as file:
        file["image"] = np.zeros((3, 3))
    with refused(InvalidValue, "path"):
        io.read_cells("other.h5ad")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"one word\n",
        b"name\tdescription\n",
        b"a\tb\tCD3D\n\nc\td\n",
        b"a\tb\tCD3D\na\tb\tCD3E\n",
        b"\xff\xfea\tb\n",
        b"\tb\tCD3D\n",
    ],
)
def test_a_malformed_gmt(tmp_path, text):
    path = tmp_path / "sets.gmt"
    path.write_bytes(text)
    with refused(InvalidValue, "path"):
        io.read_gmt(path)


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.delenv("GLFS_BIO_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda _: tmp_path / "cache")
    return tmp_path / "cache"


def test_a_download_with_a_wrong_checksum(no_data, monkeypatch):
    def fake(url, output, _pooch):
        Path(output).write_bytes(b"another file")

    monkeypatch.setattr(pooch.core, "choose_downloader", lambda *_, **__: fake)
    with refused(InvalidValue, "GLFS_BIO_DATA"):
        datasets.golub()
    assert not any(path.is_file() for path in no_data.rglob("*"))


def test_a_download_without_a_network(no_data, monkeypatch):
    import requests

    def fail(*_, **__):
        raise requests.ConnectionError("no route")

    monkeypatch.setattr(pooch.core, "choose_downloader", lambda *_, **__: fail)
    with refused(Unreachable, "GLFS_BIO_DATA"):
        datasets.golub()
    assert not any(path.is_file() for path in no_data.rglob("*"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Long calls that were interrupted, and a command with little memory."""
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, ROOT / "tools" / "faults_of_running.py"]
    done = run(command, cwd=tmp_path_factory.mktemp("runs"), env=os.environ | one_thread)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


MOMENTS = [
    *("path after 0.3 s", "path after 2.0 s", "cells after 0.1 s", "cells after 0.5 s"),
    "resamples after 0.5 s",
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c(runs, moment, record_property):
    _, of_processor, as_it_was = runs["interrupted"][moment]
    assert as_it_was
    record_property("stopped after processor seconds", of_processor)
    assert of_processor < 20.0  # a hundredth usually; make reliability prints it


@pytest.mark.parametrize("megabytes", [5, 20, 40, 70])
def test_too_little_memory(runs, megabytes):
    """The limit is set when all is loaded: what is short is the memory for the work itself."""
    code, told, files = runs["memory"][f"{megabytes} MB"]
    assert code == 1
    assert "memory" in told
    assert "Traceback" not in told
    assert files == []


def test_limits_of_this_process_are_as_they_were():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_cells_that_were_read_are_cells(folder):
    assert isinstance(io.read_cells("panel.h5ad"), ad.AnnData)
