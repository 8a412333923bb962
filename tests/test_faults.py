"""What goes wrong outside of the programme: no half file, a clear message, data as they were."""

from __future__ import annotations

import ast
import multiprocessing
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import anndata as ad
import numpy as np
import pooch
import pytest
import requests
from refusals import refused

import glfs_bio
from glfs_bio import _files, datasets, io
from glfs_bio.cli import app
from glfs_bio.cli import call as shell
from glfs_bio.errors import InvalidValue, Unreachable

PACKAGE = Path(glfs_bio.__file__).parent
FAULTS = ("killed in a write", "killed before it takes its place", "killed when it has", "no space")
#: Starts the processes that are killed, interrupted or short of memory.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    ["pooch", "pytest", "refusals", "requests", "scanpy", "glfs_bio.cli.call"]
)


def exit_code(task, *arguments):
    """How a process of its own ends."""
    process = SERVER.Process(target=task, args=arguments)
    process.start()
    process.join()
    return process.exitcode


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def write(adata, target):
    if target.suffix == ".csv":
        io.write_genes(adata, target, overwrite=True)
    else:
        shell.write_cells(adata, target, overwrite=True)


def write_with(fault, adata, target, n_bytes):
    """Write, and fail; it is an error if nothing goes wrong."""
    if fault == "killed before it takes its place":
        Path.replace = Path.rename = die
    elif fault == "killed when it has":
        _files.shutil = SimpleNamespace(rmtree=die, copymode=shutil.copymode)
    else:  # the kernel ends the process that makes a file longer, or refuses it
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if fault == "no space" else signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
    with suppress(OSError):
        write(adata, target)
        sys.exit("it was written")


def put_old(target):
    """A file or a store, whose file is returned."""
    if target.suffix != ".zarr":
        target.write_text("old")
        return target
    target.mkdir()
    (target / ".zgroup").write_text("{}")
    return put_old(target / "old")


@pytest.mark.parametrize(("ending", "share"), [("csv", 0.5), ("zarr", 0.5), ("h5ad", 1.0)])
def test_a_write_that_fails_leaves_the_old_file(pbmc, tmp_path, ending, share):
    """Nothing half is left but by the dead; HDF5 writes the beginning of a file last."""
    glfs_bio.pp.select_genes(pbmc, 12)
    adata = pbmc if ending == "csv" else ad.AnnData(pbmc.X[:200])
    whole = tmp_path / f"whole.{ending}"
    write(adata, whole)
    sizes = [file.stat().st_size for file in (whole, *whole.rglob("*")) if file.is_file()]
    for fault in FAULTS:
        folder = tmp_path / fault
        folder.mkdir()
        target = folder / f"cells.{ending}"
        old = put_old(target)
        code = exit_code(write_with, fault, adata, target, int(share * (max(sizes) - 1)))
        half = len(list(folder.iterdir())) - 1
        assert target.exists()
        assert (old.exists() and old.read_bytes() == b"old") == (fault != "killed when it has")
        if fault == "no space":
            assert (code, half) == (0, 0)
        else:
            assert code in (-signal.SIGKILL, -signal.SIGXFSZ)
            assert half <= 1


#: What writes a file; to_csv returns a text where it has no target.
WRITERS = ("write_text", "write_bytes", "savefig", "write_h5ad", "write_zarr")
#: Targets that are no files of their own: a pipe, a buffer, a part of an archive.
NO_FILES = ("_stdout()", "buffer", "entry")


def writes_a_file(node):
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).split(".")[-1]
    arguments = [ast.unparse(argument) for argument in node.args]
    if arguments and arguments[0] in NO_FILES:
        return False
    if name == "open":
        modes = [argument.strip("'") for argument in arguments if argument[0] == "'"]
        return any(set(mode) & set("wax+") for mode in modes)
    return name in WRITERS or (name == "to_csv" and bool(arguments))


def test_every_write_of_the_package_takes_the_place_of_the_old_file():
    """Whatever writes does so within `replacing`, or the faults above say nothing of it."""
    unsafe, safe = [], set()
    for path in PACKAGE.rglob("*.py"):
        within = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):  # from the outside in
            if isinstance(node, ast.With) and "replacing(" in ast.unparse(node.items[0]):
                within |= set(ast.walk(node))
            if writes_a_file(node) and path.name != "_files.py":
                (safe.add if node in within else unsafe.append)(path.name)
    assert not unsafe
    assert {"_lists.py", "call.py", "_figure.py", "_report.py", "sheets.py"} <= safe


def test_a_damaged_file_of_gene_sets(tmp_path):
    sets = tmp_path / "sets.gmt"
    for text in ("", "a word", "name\tdescription", "\tb\tC", "a\tb\tC\na\tb\tD", "\xff"):
        sets.write_text(text, encoding="latin-1")
        with refused(InvalidValue, "path"):
            io.read_markers(sets)


def another_file(_url, output, _pooch):
    Path(output).write_bytes(b"another file")


def no_route(*_, **__):
    raise requests.ConnectionError("no route")


@pytest.mark.parametrize(
    ("download", "kind"), [(another_file, InvalidValue), (no_route, Unreachable)]
)
def test_a_download_that_breaks(monkeypatch, tmp_path, download, kind):
    monkeypatch.delenv("GLFS_BIO_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda _: tmp_path / "cache")
    monkeypatch.setattr(pooch.core, "choose_downloader", lambda *_, **__: download)
    with refused(kind, "GLFS_BIO_DATA"):
        datasets.golub()
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def interrupted():
    """Ctrl-C after a second of the processor: soon the call ends, and all is as it was."""
    values = np.random.default_rng(0).normal(size=(300, 6000))
    adata, signalled = ad.AnnData(values.copy()), []
    glfs_bio.pp.select_genes(adata[:200, :200].copy(), 5)  # loads and compiles

    def interrupt(*_):
        signalled.append(time.process_time())
        raise KeyboardInterrupt

    signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1.0)
    with suppress(KeyboardInterrupt):
        glfs_bio.pp.select_genes(adata, 50, objective="exact", n_comps=None)
        sys.exit("it ended before")
    assert time.process_time() - signalled[0] < 20.0  # a hundredth usually
    assert list(adata.var) == list(adata.obs) == []
    assert not any(map(len, (adata.uns, adata.obsm, adata.obsp, adata.varm)))
    assert (values == adata.X).all()


def test_ctrl_c():
    assert exit_code(interrupted) == 0


REPEATING = """
import logging
import sys
from glfs_bio.__main__ import main
logging.basicConfig(level=logging.INFO)
sys.argv[1:] = ["stability", "cells.h5ad", "--n-resamples", "500", "--n-jobs", "2"]
main()
"""


@pytest.mark.parametrize(("name", "code"), [("INT", 130), ("TERM", 143)])
def test_workers_end_with_what_started_them(pbmc, tmp_path, name, code):
    glfs_bio.pp.select_genes(pbmc, 3)
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    command = [sys.executable, "-c", REPEATING]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while "parts: 9 of" not in process.stderr.readline():
        assert process.poll() is None
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ends = [os.pidfd_open(int(worker)) for worker in workers]
    assert len(ends) >= 2
    process.send_signal(signal.Signals[f"SIG{name}"])
    process.communicate(timeout=120.0)  # a closed stderr would end it in another way
    assert process.returncode == code
    for end in ends:
        assert select.select([end], [], [], 120.0)[0]  # a second usually
        os.close(end)


INTERRUPTED = """
import ctypes, os, signal, sys, weakref
import anndata
from glfs_bio.__main__ import main
number = getattr(signal, sys.argv.pop())
signal.signal(number, signal.SIG_DFL)  # which nohup, or a shell, may ignore
class Number(ctypes.c_int):
    pass
values = weakref.WeakValueDictionary()
def number_that_goes_with_its_use():
    values[0] = value = Number(number)
    return value
def write(self, path):
    path.write_text("half")
    ctypes.pythonapi.PyErr_SetInterruptEx(number_that_goes_with_its_use())
    signal.pause()
anndata.AnnData.write_h5ad = write
sys.argv[1:] = ["select", "cells.h5ad", "-n", "5", "-o", "cells.h5ad", "--overwrite"]
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_leaves_the_old_file_and_no_other(pbmc, tmp_path, name, code):
    """Also where Python drops what a handler raises: while a weak reference is cleared."""
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    before = (tmp_path / "cells.h5ad").read_bytes()
    command = [sys.executable, "-c", INTERRUPTED, name]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stderr
    assert "Traceback" not in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["cells.h5ad"]
    assert (tmp_path / "cells.h5ad").read_bytes() == before


def in_little_memory(folder, megabytes):
    """Run a command with so much more than is in use when everything is loaded."""
    os.chdir(folder)
    os.dup2(os.open("stderr", os.O_WRONLY | os.O_CREAT), 2)
    with suppress(SystemExit):  # what the command imports only when it runs
        app(["select", "small.h5ad", "--n-genes", "5", "-o", "warm.h5ad", "--overwrite"])
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    app(["select", "large.h5ad", "--n-genes", "20", "-o", "out.h5ad"])


def test_too_little_memory(tmp_path):
    """The limit is set when all is loaded: what is short is the memory for the work itself."""
    values = np.random.default_rng(0).normal(size=(2400, 6000)).astype(np.float32)
    ad.AnnData(values).write_h5ad(tmp_path / "large.h5ad")
    ad.AnnData(values[:300, :300]).write_h5ad(tmp_path / "small.h5ad")
    for megabytes in (5, 40):
        assert exit_code(in_little_memory, tmp_path, megabytes) == 1
        message = (tmp_path / "stderr").read_text()
        assert "memory" in message
        assert "Traceback" not in message
        assert not list(tmp_path.glob("*out.h5ad"))
