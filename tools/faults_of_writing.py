"""``python tools/faults_of_writing.py PANEL``: every writer, killed or out of space at every stage.

A child of this process for each fault, since starting takes seconds.  Prints, as JSON, how each
ended and what is left: ``{"gmt": {"killed after half": [exit code, "old", 0], …}, …}``, the last
being the number of half files.  Disks of a few pages are there where this process may mount them
(under ``unshare -rm``).
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import anndata
from typer.testing import CliRunner

from glfs_bio import _files, io, pl
from glfs_bio.cli import app
from glfs_bio.cli import files as shell

PANEL = sys.argv[1]
ENDINGS = {
    "gene list": "csv",
    "rnk": "rnk",
    "gmt": "gmt",
    "classifier": "json",
    "report": "html",
    "picture": "png",
    "cells": "h5ad",
    "cells in zarr": "zarr",
    "table": "tsv",
    "genes of a command": "txt",
}
PAGE = 4096
FAILED, WRITTEN = 3, 0


def select(target: Path) -> None:
    arguments = ["select", PANEL, "--n-genes", "5", "--genes", str(target), "--overwrite"]
    if CliRunner().invoke(app, arguments).exit_code:
        raise OSError


def bare(adata: anndata.AnnData) -> anndata.AnnData:
    return anndata.AnnData(adata.X)


def write(what: str, adata: anndata.AnnData, target: Path) -> None:
    {
        "gene list": lambda: io.write_gene_list(adata, target, overwrite=True),
        "rnk": lambda: io.write_rnk(adata, target, overwrite=True),
        "gmt": lambda: io.write_gmt(adata, target, overwrite=True),
        "classifier": lambda: io.write_classifier(adata, target, overwrite=True),
        "report": lambda: io.write_report(adata, target, overwrite=True),
        "picture": lambda: pl.weights(adata, show=False, save=target),
        "cells": lambda: shell.put_cells(adata, target, overwrite=True),
        # zarr takes seconds for tables and records
        "cells in zarr": lambda: shell.put_cells(bare(adata), target, overwrite=True),
        "table": lambda: shell.put_table(adata.var, target, overwrite=True),
        "genes of a command": lambda: select(target),
    }[what]()


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_before_it_takes_its_place(_: int) -> None:
    Path.replace = Path.rename = _files._exchanged = die


def killed_when_it_has(_: int) -> None:
    _files.shutil = SimpleNamespace(rmtree=die, copymode=shutil.copymode)


def up_to(n_bytes: int, *, die: bool) -> None:
    """No file may grow beyond: the kernel ends the process in that write, or refuses it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if die else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def room_is_not_known(_: int) -> None:
    shell.shutil = SimpleNamespace(disk_usage=lambda _: SimpleNamespace(free=float("inf")))


FAULTS = {
    "killed at the first byte": lambda size: up_to(0, die=True),
    "killed after half": lambda size: up_to(size // 2, die=True),
    "killed at the last byte": lambda size: up_to(size - 1, die=True),
    "killed before it takes its place": killed_before_it_takes_its_place,
    "killed when it has": killed_when_it_has,
    "full at the first byte": lambda size: up_to(0, die=False),
    "full after half": lambda size: up_to(size // 2, die=False),
    "full at the last byte": lambda size: up_to(size - 1, die=False),
    "disk full": room_is_not_known,
}
#: HDF5 writes the beginning of a file last, and its end first.
ONLY_CELLS = {how for how in FAULTS if how.endswith((" first byte", " last byte"))}


def in_a_child(what: str, adata: anndata.AnnData, target: Path, fault, size: int) -> int:
    child = os.fork()
    if child == 0:
        fault(size)
        try:
            write(what, adata, target)
        except OSError as error:
            os.write(2, f"{what}: {type(error).__name__}: {error}\n".encode())
            os._exit(FAILED)
        os._exit(WRITTEN)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def largest_file(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return max(file.stat().st_size for file in files)


def put_old(target: Path) -> Path:
    if target.suffix == ".zarr":
        target.mkdir()
        (target / ".zgroup").write_bytes(b"{}")
        target /= "old"
    target.write_bytes(b"old")
    return target


@contextlib.contextmanager
def small_disk(folder: Path, n_bytes: int):
    """A disk of so many bytes; yields whether there is one."""
    if os.geteuid() or not shutil.which("mount"):
        yield False
        return
    mount = ["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def main() -> None:
    adata = anndata.read_h5ad(PANEL)
    io._sections.picture = lambda *_, **__: "data:,"  # drawing takes long
    ends: dict[str, dict[str, list]] = {}
    for what, ending in ENDINGS.items():
        whole = Path(f"whole.{ending}")
        write(what, adata, whole)  # in this process, so that no child imports anything
        size = largest_file(whole)
        ends[what] = {}
        for how, fault in FAULTS.items():
            if how in ONLY_CELLS and what != "cells":
                continue
            folder = Path(f"{what} {how}")
            folder.mkdir()
            with contextlib.ExitStack() as stack:
                if how == "disk full":
                    room = PAGE * (1 + size // 2 // PAGE)
                    if not stack.enter_context(small_disk(folder, room)):
                        continue
                target = folder / f"old.{ending}"
                old = put_old(target)
                code = in_a_child(what, adata, target, fault, size)
                left = "missing" if not target.exists() else "new"
                if old.is_file() and old.read_bytes() == b"old":
                    left = "old"
                ends[what][how] = [code, left, len(list(folder.iterdir())) - 1]
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
