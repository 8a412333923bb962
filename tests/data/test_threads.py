"""Work on several threads: in order, the same as on one, and not too far ahead."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells import graph as graphs
from glfs_bio.data import matrix as rows
from glfs_bio.data import threads as parallel


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    def n_threads():
        return 1 if getattr(parallel._THREAD, "alone", False) else request.param

    monkeypatch.setattr(parallel, "n_threads", n_threads)
    return request.param


def test_results_come_in_the_order_of_the_items(threads):
    for n_items in (0, 1, 9):
        begun = [threading.Event() for _ in range(n_items)]

        def slower_first(item, other, begun=begun):
            begun[item].set()
            if threads > 1 and item % 2 == 0 and item + 1 < len(begun):
                assert begun[item + 1].wait(60)
            return item, other

        items, others = range(n_items), [str(item) for item in range(n_items)]
        results = list(parallel.in_order(slower_first, items, others))
        assert results == list(zip(items, others, strict=True))


def test_items_are_not_taken_far_ahead(threads):
    taken = []

    def items():
        for item in range(20):
            taken.append(item)
            yield item

    for done, _ in enumerate(parallel.in_order(lambda item: item, items()), 1):
        assert len(taken) - done <= threads + 1


def test_an_error_ends_the_work(threads):
    begun = []

    def fails(item):
        begun.append(item)
        if item == 2:
            msg = "broken"
            raise RuntimeError(msg)

    with pytest.raises(RuntimeError, match="broken"):
        list(parallel.in_order(fails, range(100)))
    assert len(begun) <= 3 + 2 * threads


@pytest.mark.usefixtures("threads")
def test_threads_do_not_start_more_threads():
    assert list(parallel.in_order(lambda _: parallel.n_threads(), range(4))) == [1] * 4


def test_passes_and_neighbours_do_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(0)
    x = sparse.csr_array(rng.poisson(0.2, (90, 40)).astype(float))
    weights, cells = rng.normal(size=(90, 3)), rng.normal(size=(400, 5))
    monkeypatch.setattr(rows, "SPARSE_BLOCK", 100)
    monkeypatch.setattr(graphs, "_CELLS_OF_CLUSTER", 40)
    monkeypatch.setattr(graphs, "_CANDIDATES", 120)
    monkeypatch.setattr(graphs, "_PER_NEIGHBOR", 1)
    sums, distances = [], []
    for n_threads in (1, 3):
        monkeypatch.setattr(parallel, "n_threads", lambda n_threads=n_threads: n_threads)
        sums.append(rows.RowMatrix(x).weighted_sums(weights))
        nearest = graphs.approximate_neighbors(cells, 4, 0)
        distances.append(graphs.distances_to_others(*nearest).toarray())
    np.testing.assert_array_equal(*sums)
    np.testing.assert_array_equal(*distances)
