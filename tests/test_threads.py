"""Threads are what they were afterwards, and workers can be forked from a process with threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from threadpoolctl import threadpool_limits

from glfs_bio import pp, tl
from glfs_bio.data import threads


def number():
    libraries = threads.controller().info()
    return {library["num_threads"] for library in libraries if library["user_api"] == "blas"}


@pytest.fixture
def threads_of_blas():
    """Set the number of BLAS threads as an environment does: no living thread controls it."""

    def to(n):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(threadpool_limits, n, user_api="blas").result()

    (before,) = number()
    yield to
    to(before)


def test_selections_in_many_threads_leave_blas_as_it_was(pbmc, threads_of_blas):
    objects = [pbmc[::2, ::3].copy() for _ in range(8)]
    threads_of_blas(3)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda adata: pp.select_genes(adata, 5), objects))
        assert number() == {3}
    assert all(adata.var.equals(objects[0].var) for adata in objects)


def test_the_last_to_leave_need_not_be_the_first_to_come(threads_of_blas):
    threads_of_blas(3)
    came, left, done, end = (threading.Event() for _ in range(4))

    def first():
        with threads.one_thread_of_blas():
            came.set()
            assert left.wait(60)
        done.set()
        assert end.wait(60)  # it lives on, as threads of a pool do

    def second():
        with threads.one_thread_of_blas():
            left.set()
            assert done.wait(60)
            assert number() == {1}

    with ThreadPoolExecutor(2) as pool:
        living = pool.submit(first)
        assert came.wait(60)
        pool.submit(second).result()
        assert number() == {3}
        end.set()
        living.result()


def numbers(entry, path=""):
    """Every array of numbers in nested tables, by its path."""
    if isinstance(entry, Mapping | pd.DataFrame):
        for name, value in entry.items():
            yield from numbers(value, f"{path}/{name}")
    elif np.asarray(entry).dtype.kind == "f":
        yield path, np.asarray(entry)


def test_no_number_depends_on_the_threads_of_blas(threads_of_blas):
    rng = np.random.default_rng(0)
    x = rng.normal(1.0, 0.3, (800, 60)).clip(0.0)
    labels = pd.Categorical([f"type {k}" for k in np.arange(800) // 100])
    x[np.arange(800), labels.codes] += 2.0
    single, double = AnnData(x), AnnData(x.copy())
    for n, adata in enumerate((single, double), start=1):
        threads_of_blas(n)
        adata.obs["type"] = labels
        pp.select_genes(adata, 6, objective="exact", key_added="exact")
        pp.select_genes(adata, 6)
        tl.evaluate_panel(adata, labels="type", measures="all")
        tl.explain_panel(adata, labels="type")
        tl.extend_panel(adata, "glfs", 9, key_added="extended")
        tl.prove_panel(adata)
        tl.classify(adata, "type", n_genes=8)
    for part in ("obs", "obsm", "var", "varm", "uns"):
        others = dict(numbers(getattr(double, part)))
        for name, value in numbers(getattr(single, part)):
            np.testing.assert_array_equal(others[name], value, err_msg=name)


def test_numba_without_a_place_for_its_cache():
    """As where the package is read-only and there is no home."""
    code = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []
import numpy as np
from scipy import sparse
from glfs_bio import GLFS
X = sparse.random(60, 80, 0.3, format="csr", random_state=0)
print(GLFS(3).fit(X).get_support().sum())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr


IN_WORKERS = """
import multiprocessing
import sys

def in_workers(task):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map_async(task, range(2)).get(timeout=3600)
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
    evaluation = glfs_bio.tl.evaluate_panel(cells, panel, "bulk_labels", inplace=False)
    values = evaluation["measures"].set_index("measure")["value"]
    return [values[name] for name in ("preserved", "knn_preservation", "accuracy")]

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
from glfs_bio.errors import Refusal

@numba.njit(parallel=True)
def total(values):
    sum = 0.0
    for i in numba.prange(len(values)):
        sum += values[i]
    return sum

@pools.one_thread_if_forked()
def work(_):
    try:
        pools.need_numba("This")
    except Refusal as error:
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
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_workers_end_with_the_same_result(pbmc, tmp_path):
    del pbmc.obsm, pbmc.obsp, pbmc.uns
    pbmc[::2].copy().write_h5ad(tmp_path / "cells.h5ad")
    output(SELECT, str(tmp_path / "cells.h5ad"))


def test_numba_says_what_to_do():
    """numba ends a process that was forked after its threads of OpenMP: a pool waits for ever."""
    said = output(NUMBA)
    if not said:
        pytest.skip("numba's threads are not those of OpenMP")
    assert said.count("start the workers with `multiprocessing.get_context('spawn')`") == 2
