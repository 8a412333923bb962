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


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    return rng.poisson(0.7, (23, 9)) * rng.random(9)


def test_a_sample_is_drawn_by_the_seed_and_has_parts(counts, monkeypatch):
    whole = sample.look(RowMatrix(counts), whole=True, random_state=0)
    assert whole.chosen is None
    assert whole.part(len(counts), 0) is whole
    np.testing.assert_array_equal(whole.data, counts)
    np.testing.assert_allclose(whole.variance, counts.var(axis=0))
    monkeypatch.setattr(sample, "MANY_CELLS", 15)
    drawn, again, other = (
        sample.look(RowMatrix(counts), whole=False, random_state=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(drawn.chosen, again.chosen)
    assert (drawn.chosen != other.chosen).any()
    for of in (whole, drawn):
        part = of.part(10, 0)
        assert len(np.unique(part.chosen)) == 10
        np.testing.assert_array_equal(sparse.csr_array(part.data).toarray(), counts[part.chosen])
        np.testing.assert_allclose(part.own_variance, counts[part.chosen].var(axis=0))
        np.testing.assert_array_equal(part.chosen, of.part(10, 0).chosen)
    assert set(part.chosen) <= set(drawn.chosen)


def test_coordinates_that_are_all_alike(clusters):
    with refused(InvalidValue, "representation"):
        build_problems(clusters, StructureSpec(), representation=np.ones((90, 3)))


def test_genes_that_a_sample_misses_are_noise(monkeypatch):
    monkeypatch.setattr(sample, "MANY_CELLS", 100)
    groups = np.kron(np.eye(3), np.ones((200, 5)))
    n_signal = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        signal = groups * 3.0 + rng.normal(scale=0.3, size=(600, 15))
        rare = np.zeros((600, 300))
        for gene in range(300):
            rare[rng.choice(600, 2, replace=False), gene] = 3.0
        n_signal += np.sum(
            rank_genes(np.hstack([signal, rare]), Request.of(6, n_comps=5)).order[:6] < 15
        )
    assert n_signal >= 24  # of 30; less than half if they counted as exact
