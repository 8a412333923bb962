"""What goes wrong outside of the programme: no half file, a clear message, data as they were."""

from __future__ import annotations

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
import os, resource, shutil, signal, sys, types
import anndata, numpy as np
from pathlib import Path
import glfs_bio
from glfs_bio import io, pl
from glfs_bio.cli import _common
from glfs_bio.io import _atomic

io._report._picture = lambda *_, **__: "data:,"  # drawing takes long, and is not what is tested
what, how, target = sys.argv[1], sys.argv[2], Path(sys.argv[3])
adata = anndata.read_h5ad("panel.h5ad")
writers = {
    "gene_list": lambda: io.write_gene_list(adata, target, overwrite=True),
    "rnk": lambda: io.write_rnk(adata, target, overwrite=True),
    "gmt": lambda: io.write_gmt(adata, target, overwrite=True),
    "report": lambda: io.write_report(adata, target, overwrite=True),
    "picture": lambda: pl.weights(adata, show=False, save=target),
    "cells": lambda: _common.put_cells(adata, target, overwrite=True),
    "table": lambda: _common.put_table(adata.var, target, overwrite=True),
}
if how == "kill":  # after the temporary file was written, before it takes the old one's place
    Path.replace = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
    Path.rename = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
elif how == "full":  # no file may grow beyond 100 bytes, as if the disk were full
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    shutil.disk_usage = lambda _: types.SimpleNamespace(free=100)
try:
    writers[what]()
except Exception as error:
    print(type(error).__name__, error)
    sys.exit(3)
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


@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize("what", ENDINGS)
def test_a_write_that_fails_leaves_the_old_file(folder, what, how):
    target = folder / f"old.{ENDINGS[what]}"
    target.write_bytes(b"old")
    done = python(WRITER, what, how, target)
    if how == "kill":
        assert done.returncode == -signal.SIGKILL, done.stderr
    else:
        assert done.returncode == 3, done.stdout + done.stderr
        assert done.stdout.startswith(("OSError", "BlockingIOError", "RuntimeError"))
        assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert target.read_bytes() == b"old"


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
