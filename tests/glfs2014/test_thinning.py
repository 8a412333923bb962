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
def many():
    """300 genes of eight directions."""
    genes = np.random.default_rng(0).normal(size=(300, 8))
    return Variance(Exact.block(genes, np.diag(np.linspace(1.0, 5.0, 8))))


def test_fixed_points_are_stationary(many):
    """One update leaves a solution of the Newton solver as it is."""
    beta, lam = path.start(many)
    solution = newton(many, beta, lam, tol=1e-10)
    there, balanced = thinning.thin(many, solution.beta, lam, most=300, least=1)
    np.testing.assert_allclose(there, solution.beta, atol=1e-6 * solution.beta.max())
    np.testing.assert_allclose(balanced, lam, rtol=1e-6)


def test_few_genes_are_left_on_the_branch(many, objective):
    """Never beyond the last λ, and back where too few would be left."""
    beta, lam = path.start(many)
    thinned, larger = thinning.thin(many, beta, lam, most=20, least=5)
    assert 5 <= np.count_nonzero(thinned) <= 20
    assert larger > lam
    assert newton(many, thinned, larger).n_genes > 0
    assert thinning.thin(many, beta, lam, most=1, least=1, last=1.5 * lam)[1] <= 1.5 * lam
    beta, lam = path.start(objective)
    thinned, balanced = thinning.thin(objective, beta, lam, most=4, least=29)
    assert np.count_nonzero(thinned) >= 29
    assert 0 < balanced < lam * 1e3


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
