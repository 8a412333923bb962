"""Workers that are forked from a process in which threads have run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

IN_WORKERS = """
import multiprocessing
import sys

def in_workers(task):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map_async(task, range(2)).get(timeout=600)
"""
#: Neighbours are looked for with OpenMP, and clusters too.
SELECT = """
import anndata as ad
import numpy as np
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_info
import glfs_bio

cells = ad.read_h5ad(sys.argv[1])

def select(_):
    return list(glfs_bio.pp.select_genes(cells, 10, inplace=False)["glfs_weight"])

def evaluate(_):
    panel = [*cells.var_names[:20]]
    entry = glfs_bio.tl.evaluate_panel(cells, panel, "bulk_labels", inplace=False)
    return list(entry["measures"]["value"])

def threads(_):
    before = [pool["num_threads"] for pool in threadpool_info()]
    select(_)
    return before, [pool["num_threads"] for pool in threadpool_info()]

kneighbors_graph(cells.X.toarray(), 5)
for task in (select, evaluate):
    # The first workers are forked where only others have run threads.
    there, here = in_workers(task), np.hstack(task(None))
    for values in there:
        np.testing.assert_allclose(np.hstack(values), here, rtol=1e-10, atol=1e-12)
for before, after in in_workers(threads):
    assert before == after and 2 in before, (before, after)
"""
NUMBA = """
import numba
import numpy as np
from glfs_bio.data import threads as pools

@numba.njit(parallel=True)
def total(values):
    sum = 0.0
    for i in numba.prange(len(values)):
        sum += values[i]
    return sum

@pools.one_thread_if_forked
def work(_):
    try:
        pools.need_numba("This")
    except RuntimeError as error:
        return str(error)
    return total(np.ones(10))

def twice(_):
    return work(_), work(_)

assert in_workers(twice) == [(10.0, 10.0)] * 2, "a worker's own threads are no obstacle"
total(np.ones(10))
if numba.threading_layer() == "omp":
    print(*in_workers(work), sep="\\n")
"""


def output(code: str, *arguments: str) -> str:
    """What a script prints that has two threads of OpenMP; one that hangs fails."""
    threads = {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", IN_WORKERS + code, *arguments],
        env=os.environ | threads,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_workers_end_with_the_same_result(pbmc, tmp_path):
    del pbmc.obsm, pbmc.obsp, pbmc.uns
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    output(SELECT, str(tmp_path / "cells.h5ad"))


def test_numba_says_what_to_do():
    """numba ends a process that was forked after its threads of OpenMP: a pool waits for ever."""
    said = output(NUMBA)
    if not said:
        pytest.skip("numba's threads are not those of OpenMP")
    assert said.count("start the workers with multiprocessing.get_context('spawn')") == 2
