"""The nearest cells, looked for in single precision, against all distances in double."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.cells import nearest as module
from glfs_bio.cells.nearest import nearest
from glfs_bio.data import threads as parallel


def by_definition(cells, among, n_neighbors):
    squared = ((cells[:, None].astype(float) - among[None].astype(float)) ** 2).sum(axis=2)
    near = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]
    return np.sqrt(np.take_along_axis(squared, near, axis=1)), near


def places(n_cells, dtype=np.float64):
    rng = np.random.default_rng(n_cells)
    return (rng.normal(size=(n_cells, 6)) * 3.0 ** -np.arange(6)).astype(dtype)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearest_are_those_of_all_distances(dtype, compiled, n_threads, monkeypatch):
    monkeypatch.setattr(parallel, "n_threads", lambda: n_threads)
    if not compiled:
        monkeypatch.setattr(module, "_least", module._least.py_func)
        monkeypatch.setattr(module, "_measure", module._measure.py_func)
    cells, among = places(150, dtype), places(421, dtype)
    (far, near), expected = nearest(cells, among, 4), by_definition(cells, among, 4)
    np.testing.assert_allclose(far, expected[0], rtol=1e-12)
    np.testing.assert_array_equal(near, expected[1])


def test_what_single_precision_cannot_tell_apart_is_looked_at_again(monkeypatch):
    again = []
    by_double = module._by_double

    def counted(cells, among, n_neighbors):
        again.append(len(cells))
        return by_double(cells, among, n_neighbors)

    monkeypatch.setattr(module, "_by_double", counted)
    near = 1e-9 * np.random.default_rng(0).normal(size=(900, 6))
    among = np.vstack([near + 1.0, places(500)])  # many in one place, for single precision
    cells = near[:20] + 1.0
    neighbors, expected = nearest(cells, among, 4), by_definition(cells, among, 4)
    assert again == [20]
    np.testing.assert_array_equal(np.sort(neighbors[1]), np.sort(expected[1]))
    nearest(among[900:], among, 4)
    assert again == [20]


def test_identical_cells_and_any_unit():
    among = np.repeat(places(40), 12, axis=0)
    for unit in (1.0, 1e-30, 1e30):
        far, near = nearest(unit * among, unit * among, 5)
        np.testing.assert_allclose(far / unit, 0.0, atol=1e-6)
        assert (near // 12 == np.arange(len(among))[:, None] // 12).all()
    far, _ = nearest(np.ones((500, 3)), np.ones((500, 3)), 5)
    assert not far.any()
