"""What goes wrong outside of the programme: no half file, a clear message, data as they were."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import anndata as ad
import numpy as np
import pooch
import pytest

import glfs_bio
from glfs_bio import datasets, io

#: Writes a file with one of the writers, kills itself with -9 in the middle, or is out of space.
WRITER = """
import json, os, resource, shutil, signal, sys, types
import anndata
from pathlib import Path
from glfs_bio import io, pl
from glfs_bio.cli import _common

io._report._picture = lambda *_, **__: "data:,"  # drawing takes long, and is not what is tested
adata = anndata.read_h5ad("panel.h5ad")
writers = {
    "gene_list": lambda target: io.write_gene_list(adata, target, overwrite=True),
    "rnk": lambda target: io.write_rnk(adata, target, overwrite=True),
    "gmt": lambda target: io.write_gmt(adata, target, overwrite=True),
    "report": lambda target: io.write_report(adata, target, overwrite=True),
    "picture": lambda target: pl.weights(adata, show=False, save=target),
    "cells": lambda target: _common.put_cells(adata, target, overwrite=True),
    "table": lambda target: _common.put_table(adata.var, target, overwrite=True),
}


def kill():  # when the new file was written, before it takes the place of the old one
    Path.replace = Path.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)


def fill():  # no file may grow beyond 100 bytes, as if the disk were full
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    shutil.disk_usage = lambda _: types.SimpleNamespace(free=100)


ends = {}
for how, fault in {"kill": kill, "full": fill}.items():
    for what, ending in json.loads(sys.argv[1]).items():
        folder = Path(f"{what}-{how}")
        folder.mkdir()
        target = folder / f"old.{ending}"
        target.write_bytes(b"old")
        child = os.fork()
        if child == 0:
            fault()
            try:
                writers[what](target)
            except OSError:
                os._exit(3)
            os._exit(4)
        ends[folder.name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(ends))
"""
ENDINGS = {
    "gene_list": "csv",
    "rnk": "rnk",
    "gmt": "gmt",
    "report": "html",
    "picture": "png",
    "cells": "h5ad",
    "table": "csv",
}


@pytest.fixture(scope="module")
def panel_file(tmp_path_factory, _pbmc):
    adata = _pbmc[:, :120].copy()
    glfs_bio.pp.select_genes(adata, 12)
    path = tmp_path_factory.mktemp("panel") / "panel.h5ad"
    adata.write_h5ad(path)
    return path


@pytest.fixture
def folder(panel_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "panel.h5ad").symlink_to(panel_file)
    return tmp_path


def python(code, *arguments, **options):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    options = {"capture_output": True, "text": True, "check": False, "timeout": 300} | options
    return subprocess.run(command, **options)


@pytest.fixture(scope="module")
def ends(panel_file):
    """How every writer ended, in a child of one process, since starting takes seconds."""
    done = python(WRITER, json.dumps(ENDINGS), cwd=panel_file.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize("what", ENDINGS)
def test_a_write_that_fails_leaves_the_old_file(ends, panel_file, what, how):
    folder = panel_file.parent / f"{what}-{how}"
    assert ends[folder.name] == (-signal.SIGKILL if how == "kill" else 3)
    assert (folder / f"old.{ENDINGS[what]}").read_bytes() == b"old"
    if how == "full":
        assert len(list(folder.iterdir())) == 1


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "cells.zarr"
    target.mkdir()
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
    done = python(code)
    assert done.stdout.startswith("refused:"), done.stderr
    assert list(closed.iterdir()) == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_h5ad(folder, share):
    whole = (folder / "panel.h5ad").read_bytes()
    (folder / "cut.h5ad").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"cut\.h5ad cannot be read as \.h5ad"):
        io.read_cells("cut.h5ad")


@pytest.mark.filterwarnings("ignore::anndata.OldFormatWarning")
def test_a_foreign_hdf5(folder):
    import h5py

    with h5py.File("other.h5ad", "w") as file:
        file["image"] = np.zeros((3, 3))
    with pytest.raises(ValueError, match=r"other\.h5ad (cannot be read|holds no)"):
        io.read_cells("other.h5ad")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "holds no gene set"),
        (b"one word\n", "line 1 must hold"),
        (b"name\tdescription\n", "line 1 must hold"),
        (b"a\tb\tCD3D\n\nc\td\n", "line 3 must hold"),
        (b"a\tb\tCD3D\na\tb\tCD3E\n", "two gene sets named 'a'"),
        (b"\xff\xfea\tb\n", "not UTF-8"),
        (b"\tb\tCD3D\n", "line 1 must hold"),
    ],
)
def test_a_malformed_gmt(tmp_path, text, words):
    path = tmp_path / "sets.gmt"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=words):
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
    with pytest.raises(ValueError, match=r"data_set_ALL_AML_train\.csv.*not the published one"):
        datasets.golub()
    assert not any(path.is_file() for path in no_data.rglob("*"))


def test_a_download_without_a_network(no_data, monkeypatch):
    import requests

    def fail(*_, **__):
        raise requests.ConnectionError("no route")

    monkeypatch.setattr(pooch.core, "choose_downloader", lambda *_, **__: fail)
    with pytest.raises(ConnectionError, match=r"cannot be downloaded.*GLFS_BIO_DATA"):
        datasets.golub()
    assert not any(path.is_file() for path in no_data.rglob("*"))


LONG = """
import signal, sys, time
import anndata, numpy as np
import glfs_bio
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
rng = np.random.default_rng(0)
adata = anndata.AnnData(rng.normal(size=(300, 6000)))
before = adata.copy()
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    same = adata.var.equals(before.var) and not adata.uns and (adata.X == before.X).all()
    print("interrupted", time.time(), same, flush=True)
"""
CALLS = {
    "path": "glfs_bio.pp.select_genes(adata, 50, n_comps=None)",
    "resamples": "glfs_bio.tl.stability(adata, 20, n_resamples=200, show_progress=False)",
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c(call):
    command = [sys.executable, "-c", LONG.format(call=CALLS[call])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        word, when, same = process.stdout.readline().split()
    assert (word, same) == ("interrupted", "True")
    assert float(when) - sent < 20.0  # about one on a quiet machine; never the rest of the path


def test_too_little_memory(folder):
    """The limit is set when all is loaded: what is short is the memory for the work itself."""
    code = """
import resource, sys
import numpy as np, anndata
from glfs_bio.cli import app
import scanpy, sklearn.decomposition, glfs_bio
rng = np.random.default_rng(0)
anndata.AnnData(rng.normal(size=(1500, 20000)).astype("float32")).write_h5ad("large.h5ad")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 250_000_000,) * 2)
app(["select", "large.h5ad", "-o", "out.h5ad"])
"""
    done = python(code, env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert "memory" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "out.h5ad").exists()


def test_limits_of_this_process_are_as_they_were():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_cells_that_were_read_are_cells(folder):
    assert isinstance(io.read_cells("panel.h5ad"), ad.AnnData)
