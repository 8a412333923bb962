"""``python tools/faults_of_running.py``: Ctrl-C at several moments, and several limits of memory.

A child of this process for each, since starting takes seconds.  Prints JSON:
``{"interrupted": {"path after 0.5 s": [seconds, processor seconds, as it was], …},
"memory": {"5 MB": [exit code, stderr, files], …}}``.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import anndata
import numpy as np
from scipy import sparse

import glfs_bio
from glfs_bio.cli import app

TICKS = os.sysconf("SC_CLK_TCK")
MEGABYTES = (5, 20, 40, 70)


def counts(n_cells: int, n_genes: int) -> anndata.AnnData:
    """Logarithmised counts of eight kinds of cells."""
    rng = np.random.default_rng(0)
    programmes = rng.gamma(0.3, size=(8, n_genes))
    rates = programmes[rng.integers(8, size=n_cells)] * rng.gamma(2.0, 0.5, size=(n_cells, 1))
    return anndata.AnnData(sparse.csr_matrix(np.log1p(rng.poisson(rates)).astype(np.float32)))


def used(pid: int) -> float:
    """Processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def interrupted(adata: anndata.AnnData, call, after: float) -> list:
    """SIGINT after so many processor seconds: how long it takes, and whether all is the same."""
    before = adata.copy()
    answer, end = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
        told: list = ["not interrupted"]
        try:
            call(adata)
        except KeyboardInterrupt:
            told = [time.monotonic(), time.process_time()]
            same = adata.var.equals(before.var) and adata.obs.equals(before.obs)
            same = same and not adata.uns and not adata.obsm and not adata.obsp and not adata.varm
            difference = adata.X != before.X
            told.append(bool(same and not difference.sum()))
        os.write(end, json.dumps(told).encode())
        os._exit(0)
    started = used(child)
    while used(child) < started + after:
        time.sleep(0.005)
    began, spent = time.monotonic(), used(child)
    os.kill(child, signal.SIGINT)
    told = json.loads(os.read(answer, 1000))
    os.waitpid(child, 0)
    return told if len(told) == 1 else [told[0] - began, told[1] - spent, told[2]]


def in_little_memory(megabytes: int) -> list:
    """Run the command with so much more than is in use when everything is loaded."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(f"stderr{megabytes}", os.O_WRONLY | os.O_CREAT), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        with contextlib.suppress(SystemExit):  # what the command imports only when it runs
            app(["select", "warm.h5ad", "--n-genes", "5", "-o", f"warm{megabytes}.h5ad"])
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            app(["select", "large.h5ad", "--n-genes", "20", "-o", f"out{megabytes}.h5ad"])
        except SystemExit as end:
            os._exit(int(end.code or 0))
        os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = [path.name for path in Path().glob(f"*out{megabytes}.h5ad")]
    return [code, Path(f"stderr{megabytes}").read_text(), left]


def main() -> None:
    wide = anndata.AnnData(np.random.default_rng(0).normal(size=(300, 6000)))
    cells = counts(6000, 3000)
    warm = cells[:300, :300].copy()
    glfs_bio.pp.select_genes(warm, 5)  # numba compiles once
    warm.write_h5ad("warm.h5ad")
    calls = {
        "path": (
            wide,
            lambda adata: glfs_bio.pp.select_genes(adata, 50, objective="exact", n_comps=None),
        ),
        "cells": (cells, lambda adata: glfs_bio.pp.select_genes(adata, 50)),
        "resamples": (
            cells,
            lambda adata: glfs_bio.tl.stability(adata, 20, n_resamples=200),
        ),
    }
    moments = {"path": (0.3, 2.0), "cells": (0.1, 0.5), "resamples": (0.5,)}
    told = {
        f"{name} after {after} s": interrupted(*calls[name], after)
        for name in calls
        for after in moments[name]
    }
    anndata.AnnData(wide.X.astype(np.float32).repeat(8, axis=0)).write_h5ad("large.h5ad")
    del wide, cells, calls
    memory = {f"{size} MB": in_little_memory(size) for size in MEGABYTES}
    json.dump({"interrupted": told, "memory": memory}, sys.stdout)


if __name__ == "__main__":
    main()
