"""What only odd problems reach: each has an answer, or a message that says what to do."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.glfs2014 import path, thinning
from glfs_bio.glfs2014.solvers import newton, owlqn
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.methods import OBJECTIVES


@pytest.fixture
def objective():
    genes = np.random.default_rng(0).normal(size=(30, 5))
    return Variance(OBJECTIVES["exact"].block(genes, np.diag(np.linspace(1.0, 5.0, 5))))


@pytest.fixture
def unlike():
    """Genes and directions of sizes so unlike that no λ balances them for the printed formula."""
    rng = np.random.default_rng(1)
    genes = rng.normal(size=(8, 4)) * 10.0 ** rng.uniform(-2, 2, size=(8, 1))
    genes[4:] *= 0.01
    root = 100.0 * rng.normal(size=(4, 4))
    return Variance(OBJECTIVES["printed"].block(genes, np.eye(4) + root @ root.T))


@pytest.mark.parametrize("solver", [newton, owlqn])
def test_more_than_rounding_allows_ends_and_is_not_called_converged(objective, solver):
    beta, lam = path.start(objective)
    solution = solver(objective, beta, lam, tol=0.0)
    assert not solution.converged
    assert solution.kkt < 1e-12


def test_no_step_at_all_is_said(objective):
    beta, lam = path.start(objective)
    solution = owlqn(objective, beta, lam, max_iter=0)
    assert not solution.converged
    np.testing.assert_array_equal(solution.beta, beta)


def test_sizes_that_no_lambda_balances(unlike):
    with refused(path.Collapse, "X"):
        path.start(unlike)


def test_lambda_below_rounding(objective):
    with refused(InvalidValue, "lam"):
        path.walk_to(objective, 1e-40)


def test_line_search_where_every_lambda_collapses(objective, monkeypatch):
    begin = path.start
    monkeypatch.setattr(path, "start", lambda *_: (begin(objective)[0], 1e30))
    with refused(path.Collapse, "X"):
        path.line_search(objective)


def test_thinning_goes_back_where_too_few_would_be_left(objective):
    beta, lam = path.start(objective)
    kept, balanced = thinning.thin(objective, beta, lam, most=4, least=29)
    assert np.count_nonzero(kept) >= 29
    assert 0 < balanced < newton(objective, beta, lam).lam * 1e3
