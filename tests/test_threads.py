"""Threads of a process are what they were; compiled functions need no place on disk."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse
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
    objects = [pbmc.copy() for _ in range(16)]
    threads_of_blas(3)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda adata: pp.select_genes(adata, 5), objects))
        assert number() == {3}
    assert all((adata.var == objects[0].var).all(axis=None) for adata in objects)


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


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_no_number_depends_on_the_threads_of_blas(container, threads_of_blas):
    rng = np.random.default_rng(0)
    x = rng.normal(1.0, 0.3, (800, 60)).clip(0.0)
    labels = pd.Categorical([f"type {k}" for k in np.arange(800) // 100])
    x[np.arange(800), labels.codes] += 2.0
    single, double = AnnData(container(x)), AnnData(container(x))
    for n, adata in enumerate((single, double), start=1):
        threads_of_blas(n)
        adata.obs["type"] = labels
        pp.select_genes(adata, 6, objective="exact", key_added="exact")
        pp.select_genes(adata, 6)
        tl.evaluate_panel(adata, labels="type", measures="all")
        tl.explain_panel(adata, labels="type")
        tl.substitutes(adata)
        tl.extend_panel(adata, "glfs", 3, labels="type", key_added="extended")
        tl.prove_panel(adata)
        tl.classify(adata, "type", n_genes=[3, 8], cv=2)
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
