"""Derivatives from inner products of genes against those in the space of directions."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.glfs2014 import Exact, newton, path
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.methods import OBJECTIVES


@pytest.fixture
def genes():
    """More directions than genes of a support, of very different sizes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 20)) * np.geomspace(1.0, 3.0, 30)[:, None]


STIFFNESS = np.diag(np.geomspace(1.0, 50.0, 20))


def points(genes, name, beta, support):
    """The same point twice: the second has a gene of no length, and so more genes than directions.

    Nothing but the number of genes decides how it is evaluated.
    """
    block = OBJECTIVES[name].block(genes, STIFFNESS)
    padded = OBJECTIVES[name].block(np.vstack([genes, np.zeros((30, 20))]), STIFFNESS)
    few = Variance(block).at(beta, support)
    many = np.append(support, np.arange(30, 60))
    return few, Variance(padded).at(np.append(beta, np.zeros(30)), many)


@pytest.mark.parametrize("zeros", [0, 3])
@pytest.mark.parametrize("name", ["exact", "printed"])
def test_both_ways_agree(genes, name, zeros):
    rng = np.random.default_rng(1)
    support = np.sort(rng.choice(30, 12, replace=False))
    beta = rng.uniform(0.1, 5.0, size=12)
    beta[:zeros] = 0.0
    few, many = points(genes, name, beta, support)
    assert few.value == pytest.approx(many.value, rel=1e-8)
    largest = abs(many.gradient).max()
    np.testing.assert_allclose(few.gradient, many.gradient[:12], rtol=1e-7, atol=1e-8 * largest)
    np.testing.assert_allclose(few.full_gradient(), many.full_gradient()[:30], rtol=1e-7)
    for one, other in zip(few.hessian(np.arange(12)), many.hessian(np.arange(12)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7 * abs(other).max())
    step = rng.normal(size=12)
    drop = many.largest_drop(np.append(step, np.zeros(30)))
    assert few.largest_drop(step) == pytest.approx(drop, rel=1e-6)


@pytest.mark.parametrize("name", ["exact", "printed"])
def test_moved_and_narrowed_are_what_they_say(genes, name):
    rng = np.random.default_rng(2)
    objective = Variance(OBJECTIVES[name].block(genes, STIFFNESS))
    support = np.arange(4, 17)
    beta, elsewhere = rng.uniform(0.1, 2.0, size=(2, 13))
    point = objective.at(beta, support)
    expected = objective.at(elsewhere, support)
    np.testing.assert_allclose(point.moved(elsewhere).gradient, expected.gradient, rtol=1e-12)
    among = np.array([0, 3, 4, 9])
    expected = objective.at(beta[among], support[among])
    narrow = point.narrowed(among)
    np.testing.assert_array_equal(narrow.support, support[among])
    assert narrow.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(narrow.gradient, expected.gradient, rtol=1e-10)


def test_twins_do_not_stop_a_step():
    """Equal genes make the inner products singular."""
    rng = np.random.default_rng(3)
    genes = np.repeat(rng.normal(size=(6, 20)), 2, axis=0)
    point = Variance(Exact.block(genes, STIFFNESS)).at(np.ones(12), np.arange(12))
    step = np.tile([-0.5, 0.5], 6)
    assert point.largest_drop(step) == pytest.approx(0.0, abs=1e-5)


def test_a_thinned_path_ends_where_a_whole_one_does():
    """Different ways to λ, one of them through few genes only: the same solution in the end."""
    rng = np.random.default_rng(4)
    groups = np.repeat(np.eye(3), 20, axis=0)
    data = np.hstack([groups + 0.05 * rng.normal(size=(60, 3)), 0.1 * rng.normal(size=(60, 150))])
    centred = (data - data.mean(axis=0)).T
    means = groups @ groups.T / 20
    objective = Variance(Exact.block(centred, np.eye(60) + 50.0 * (np.eye(60) - means)))
    whole = list(path.walk(objective, least=3))
    thinned = list(path.walk(objective, least=3, most=20))
    assert thinned[0].n_genes <= 20 < whole[0].n_genes
    lam = max(whole[-1].lam, thinned[-1].lam)
    ends = [newton.minimise(objective, way[-1].beta, lam, tol=1e-8) for way in (whole, thinned)]
    assert all(end.converged for end in ends)
    supports = [set(np.argsort(-end.beta)[:2]) for end in ends]
    assert supports[0] <= {0, 1, 2}
    assert supports[1] <= {0, 1, 2}
