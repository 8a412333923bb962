"""From many genes to few, before a solver that converges."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.cells.cells import build_problems
from glfs_bio.datasets import simulate
from glfs_bio.glfs2014 import Exact, path, thinning
from glfs_bio.glfs2014.solvers import newton
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.options import StructureSpec


@pytest.fixture
def objective():
    rng = np.random.default_rng(0)
    genes = rng.normal(size=(300, 8))
    return Variance(Exact.block(genes, np.diag(np.linspace(1.0, 5.0, 8))))


def test_fixed_points_are_stationary(objective):
    """One update leaves a solution of the Newton solver as it is."""
    beta, lam = path.start(objective)
    solution = newton(objective, beta, lam, tol=1e-10)
    there, balanced = thinning.thin(objective, solution.beta, lam, most=300, least=1)
    np.testing.assert_allclose(there, solution.beta, atol=1e-6 * solution.beta.max())
    np.testing.assert_allclose(balanced, lam, rtol=1e-6)


def test_few_genes_are_left_on_the_branch(objective):
    beta, lam = path.start(objective)
    thinned, larger = thinning.thin(objective, beta, lam, most=20, least=5)
    assert 5 <= np.count_nonzero(thinned) <= 20
    assert larger > lam
    assert newton(objective, thinned, larger).n_genes > 0


def test_never_beyond_the_last_lambda(objective):
    beta, lam = path.start(objective)
    _, larger = thinning.thin(objective, beta, lam, most=1, least=1, last=1.5 * lam)
    assert larger <= 1.5 * lam


def test_signals_are_left():
    """80 samples in four groups, four genes that say which, 600 that are noise."""
    rng = np.random.default_rng(0)
    groups = np.eye(4)[rng.integers(4, size=80)]
    genes = np.hstack([groups, 0.2 * rng.normal(size=(80, 600))]).T
    centred = genes - genes.mean(axis=1, keepdims=True)
    objective = Variance(Exact.block(centred, np.eye(80) + 20.0 * (np.eye(80) - _means(groups))))
    beta, lam = path.start(objective)
    thinned, larger = thinning.thin(objective, beta, lam, most=40, least=4)
    best = np.argsort(-newton(objective, thinned, larger).beta)[:4]
    assert set(best) == {0, 1, 2, 3}


def _means(groups):
    """Projection on the means of the groups."""
    return groups @ np.linalg.inv(groups.T @ groups) @ groups.T


def test_an_avalanche_is_followed_to_its_end():
    """Directions of noise leave by the hundred within one step of λ: the signals are left."""
    noisy = simulate(200, 500, sigma=0.2, random_state=0)
    (problem,) = build_problems(noisy.X, StructureSpec(n_comps=None, standardize=None))
    genes = problem.projections / np.linalg.norm(problem.projections, axis=1).max()
    objective = Variance(Exact.block(genes, problem.stiffness))
    beta, lam = path.start(objective)
    thinned, _ = thinning.thin(objective, beta, lam, most=40, least=4)
    left = np.flatnonzero(thinned)
    assert set(left) >= set(np.flatnonzero(noisy.var["informative"]))
    assert len(left) <= 40
