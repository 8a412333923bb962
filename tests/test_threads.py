"""Threads of a process are what they were; compiled functions need no place on disk."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_limits

from glfs_bio import pp
from glfs_bio.data import threads


def number():
    libraries = threads.controller().info()
    return [one["num_threads"] for one in libraries if one["user_api"] == "blas"]


@pytest.mark.parametrize("before", [2])
def test_selections_in_many_threads_leave_blas_as_it_was(pbmc, before):
    objects = [pbmc.copy() for _ in range(4)]
    with threadpool_limits(before, user_api="blas"):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda adata: pp.select_genes(adata, 5), objects))
        assert set(number()) == {before}
    assert all((one.var == objects[0].var).all(axis=None) for one in objects)


def test_limits_that_overlap():
    """The first to begin ends first."""
    with threadpool_limits(3, user_api="blas"):
        first, second = threads.one_thread_of_blas(), threads.one_thread_of_blas()
        first.__enter__()
        second.__enter__()
        assert set(number()) == {1}
        first.__exit__(None, None, None)
        assert set(number()) == {1}
        second.__exit__(None, None, None)
        assert set(number()) == {3}


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
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout == "3\n", done.stderr
