"""The relaxed choice against SciPy, and its bound."""

from __future__ import annotations

import numpy as np
import pytest
from all_panels import at_least, at_most, relaxed_by_scipy

from glfs_bio.solvers.constraints import Rows
from glfs_bio.solvers.relaxation import Polytope, relaxed

N_GENES, SIZE, GAP = 14, 5, 1e-7
COSTS = np.random.default_rng(1).uniform(0.1, 1.0, size=N_GENES)
#: Limits that change the best weights.
LIMITS = {
    "none": Rows.of((), N_GENES),
    "cost": Rows.of([at_most(1.2, np.arange(N_GENES), "cost", values=COSTS)], N_GENES),
    "family": Rows.of([at_most(1.0, range(6))], N_GENES),
    "markers": Rows.of([at_least(2.0, [9, 10, 11])], N_GENES),
}


def relaxed_in(blocks, rows, size=SIZE, **options):
    n_genes = len(blocks[0].genes)
    return relaxed(blocks, Polytope.of(rows, size), np.zeros(n_genes), gap=GAP, **options)


@pytest.mark.parametrize("kind", LIMITS)
def test_the_best_weights(random_errors, kind):
    """F is that of SciPy, and the bound is as near as was asked for."""
    for n_blocks in (1, 2):
        blocks = random_errors(3, n_blocks=n_blocks, n_genes=N_GENES)
        polytope = Polytope.of(LIMITS[kind], SIZE)
        best = relaxed_in(blocks, LIMITS[kind])
        expected = relaxed_by_scipy(blocks, polytope.matrix, polytope.most)
        least = best.bound.least(SIZE)
        assert least <= expected + 1e-9
        assert expected - least < 20 * GAP
        assert abs(best.value - expected) < 20 * GAP
        assert ((best.beta >= 0) & (best.beta <= 1) & (best.prices >= 0).all()).all()
        assert (polytope.matrix @ best.beta <= polytope.most + 1e-5).all()


def test_most_genes_stay_out_of_the_work(random_errors):
    """A working set finds what all genes do."""
    blocks = random_errors(0, n_genes=400)
    rows = Rows.of((), 400)
    of_all = relaxed_in(blocks, rows)
    steep = np.argsort(of_all.bound.slopes)[:130]
    polytope = Polytope.of(rows.only(steep), SIZE)
    of_few = relaxed([block.only(steep) for block in blocks], polytope, np.zeros(130), gap=GAP)
    assert of_all.value == pytest.approx(of_few.value, abs=10 * GAP)
    assert of_all.value - of_all.bound.least(SIZE) <= 10 * GAP


def test_lower_limits_bring_their_genes_in(random_errors):
    """They are far from the steepest of many."""
    (block,) = random_errors(0, n_genes=400)
    block.genes[:3] *= 0.01
    best = relaxed_in([block], Rows.of([at_least(2.0, range(3))], 400))
    assert best.beta[:3].sum() == pytest.approx(2.0, abs=1e-4)
    assert best.value - best.bound.least(SIZE) <= 10 * GAP


def test_where_no_panel_is_within_limits_the_bound_grows(random_errors):
    """Two limits in parts that cannot hold together: more than F can be."""
    rows = Rows.of([at_most(1.0, range(N_GENES)), at_least(2.0, range(6))], N_GENES)
    best = relaxed_in(random_errors(0, n_genes=N_GENES), rows, enough=1.0)
    assert best.bound.least(SIZE) >= 1.0


def test_what_is_left_beside_genes():
    """Rows that cannot bind are left out; nothing is left where a limit is broken."""
    rows = Rows.of([at_most(2.0, range(4)), at_least(1.0, [2, 3])], 4)
    polytope = Polytope.of(rows, 3)
    left = polytope.remaining(np.array([0]), np.array([1, 2, 3]))
    assert left.most[0] == 2
    assert len(left.most) == 3
    assert len(polytope.remaining(np.array([2]), np.array([3])).most) == 1
    assert polytope.remaining(np.array([0, 1, 2]), np.array([3])) is None
    assert polytope.remaining(np.array([0, 1]), np.array([], dtype=int)) is None
