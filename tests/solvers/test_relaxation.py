"""The relaxed choice against SciPy, and its bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from glfs_bio.criterion.error import evaluate
from glfs_bio.solvers.constraints import ALONE, Row, Rows
from glfs_bio.solvers.relaxation import Polytope, relaxed

N_GENES, SIZE, GAP = 14, 5, 1e-7


def limits(kind):
    """Limits that change the best weights."""
    rng = np.random.default_rng(1)
    every, ones = np.arange(N_GENES), np.ones(N_GENES)
    rows = {
        "none": [],
        "cost": [Row("cost", "cost", every, rng.uniform(0.1, 1.0, size=N_GENES), upper=1.2)],
        "family": [Row("family", "family", every[:6], ones[:6], upper=1.0)],
        "markers": [Row("a", "a", every[9:12], ones[9:12], lower=2.0)],
        "together": [],
    }
    groups = np.full(N_GENES, ALONE)
    groups[[0, 13]] = 0
    return Rows.of(rows[kind], N_GENES, groups=groups if kind == "together" else None)


def by_scipy(blocks, polytope):
    found = minimize(
        lambda beta: evaluate(blocks, np.clip(beta, 0.0, 1.0)),
        np.full(N_GENES, 0.3),
        jac=True,
        bounds=[(0.0, 1.0)] * N_GENES,
        constraints=LinearConstraint(polytope.matrix, ub=polytope.most),
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("n_blocks", [1, 2])
@pytest.mark.parametrize("kind", ["none", "cost", "family", "markers", "together"])
def test_the_best_weights(random_errors, kind, n_blocks):
    """F is that of SciPy, and the bound is as near as was asked for."""
    blocks = random_errors(3, n_blocks=n_blocks, n_genes=N_GENES)
    polytope = Polytope.of(limits(kind), SIZE)
    found = relaxed(blocks, polytope, np.zeros(N_GENES), gap=GAP)
    expected = by_scipy(blocks, polytope)
    least = found.bound.least(SIZE)
    assert least <= expected + 1e-9
    assert expected - least < 20 * GAP
    assert abs(found.value - expected) < 20 * GAP
    assert ((found.beta >= 0) & (found.beta <= 1) & (found.prices >= 0).all()).all()
    assert (polytope.matrix @ found.beta <= polytope.most + 1e-5).all()


def test_most_genes_stay_out_of_the_work(random_errors):
    """A working set finds what all genes do."""
    blocks = random_errors(0, n_genes=400)
    polytope = Polytope.of(Rows.of((), 400), SIZE)
    found = relaxed(blocks, polytope, np.zeros(400), gap=GAP)
    steep = np.argsort(found.bound.slopes)[:130]
    of_few = relaxed(
        [block.only(steep) for block in blocks], polytope.only(steep), np.zeros(130), gap=GAP
    )
    assert found.value == pytest.approx(of_few.value, abs=10 * GAP)
    assert found.value - found.bound.least(SIZE) <= 10 * GAP


def test_lower_limits_bring_their_genes_in(random_errors):
    """They are far from the steepest of many."""
    (block,) = random_errors(0, n_genes=400)
    block.genes[:3] *= 0.01
    rows = Rows.of([Row("a", "a", np.arange(3), np.ones(3), lower=2.0)], 400)
    found = relaxed([block], Polytope.of(rows, SIZE), np.zeros(400), gap=GAP)
    assert found.beta[:3].sum() == pytest.approx(2.0, abs=1e-4)
    assert found.value - found.bound.least(SIZE) <= 10 * GAP


def test_where_no_panel_is_within_limits_the_bound_grows(random_errors):
    """Two limits in parts that cannot hold together: more than F can be."""
    blocks = random_errors(0, n_genes=N_GENES)
    ones = np.ones(N_GENES)
    rows = Rows.of(
        [
            Row("a", "a", np.arange(N_GENES), ones, upper=1.0),
            Row("b", "b", np.arange(6), ones[:6], lower=2.0),
        ],
        N_GENES,
    )
    found = relaxed(blocks, Polytope.of(rows, SIZE), np.zeros(N_GENES), gap=GAP, enough=1.0)
    assert found.bound.least(SIZE) >= 1.0


def test_what_is_left_beside_genes():
    """Rows that cannot bind are left out; nothing is left where a limit is broken."""
    ones = np.ones(4)
    rows = Rows.of(
        [
            Row("a", "a", np.arange(4), ones, upper=2.0),
            Row("b", "b", np.array([2, 3]), ones[:2], lower=1.0),
        ],
        4,
    )
    polytope = Polytope.of(rows, 3)
    left = polytope.beside(np.array([0]), np.array([1, 2, 3]))
    assert left.size == 2
    assert len(left.most) == 3
    assert len(polytope.beside(np.array([2]), np.array([3])).most) == 1
    assert polytope.beside(np.array([0, 1, 2]), np.array([3])) is None
    assert polytope.beside(np.array([0, 1]), np.array([], dtype=int)) is None
