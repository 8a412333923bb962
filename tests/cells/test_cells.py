"""From a matrix and a graph to the reduced cells, and the sample that is looked at one by one."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio.cells import cells as sample
from glfs_bio.cells.cells import build_problems
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.errors import InvalidValue
from glfs_bio.options import Request, StructureSpec
from glfs_bio.selection import rank_genes


def test_coordinates_that_are_all_alike(clusters):
    with refused(InvalidValue, "representation"):
        build_problems(clusters, StructureSpec(), representation=np.ones((90, 3)))


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    return rng.poisson(0.7, (23, 9)) * rng.random(9)


def test_part_of_a_sample(counts, monkeypatch):
    x = counts
    whole = sample.look(RowMatrix(x), whole=True, random_state=0)
    assert whole.part(len(x), 0) is whole
    monkeypatch.setattr(sample, "MANY_CELLS", 15)
    drawn = sample.look(RowMatrix(x), whole=False, random_state=0)
    for of in (whole, drawn):
        part = of.part(10, 0)
        assert len(np.unique(part.chosen)) == 10
        np.testing.assert_array_equal(sparse.csr_array(part.data).toarray(), x[part.chosen])
        np.testing.assert_allclose(part.own_variance, x[part.chosen].var(axis=0))
        np.testing.assert_array_equal(part.chosen, of.part(10, 0).chosen)
    assert set(part.chosen) <= set(drawn.chosen)
    np.testing.assert_allclose(whole.variance, x.var(axis=0))


def test_sample_is_drawn_by_the_seed(counts, monkeypatch):
    monkeypatch.setattr(sample, "MANY_CELLS", 10)
    drawn = [
        sample.look(RowMatrix(counts), whole=False, random_state=seed).chosen for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    whole = sample.look(RowMatrix(counts), whole=True, random_state=0)
    assert whole.chosen is None
    np.testing.assert_array_equal(whole.data, counts)


def test_genes_that_a_sample_misses_are_noise(monkeypatch):
    monkeypatch.setattr(sample, "MANY_CELLS", 100)
    groups = np.kron(np.eye(3), np.ones((200, 5)))
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        signal = groups * 3.0 + rng.normal(scale=0.3, size=(600, 15))
        rare = np.zeros((600, 300))
        for gene in range(300):
            rare[rng.choice(600, 2, replace=False), gene] = 3.0
        found += np.sum(
            rank_genes(np.hstack([signal, rare]), Request.of(6, n_comps=5)).order[:6] < 15
        )
    assert found >= 24  # of 30; less than half if they counted as exact
