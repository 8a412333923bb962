"""The bound against all panels, also within limits, and the relaxed choice against SciPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from all_panels import EXAMPLES, LIMITS, N_GENES, at_most, feasible, relaxed_by_scipy
from hypothesis import assume, given
from hypothesis import strategies as st

from glfs_bio.criterion.error import Linear, evaluate
from glfs_bio.solvers.constraints import Rows
from glfs_bio.solvers.relaxation import relax

#: How near to the best relaxed F its own weights and the bound come, as a share of it.
WEIGHTS, BOUND = 1e-4, 1e-2
#: One set of cells or two; genes that every panel holds besides.
SETTINGS = [(1, ()), (2, ()), (1, (1, 4)), (2, (1, 4))]


def lowest(blocks, value, free):
    """F of the best of all panels of 1, 2, … of the free genes."""
    every, best = np.arange(len(blocks[0].genes)), []
    for size in range(1, len(free) + 1):
        panels = np.array([np.isin(every, some) for some in combinations(free, size)])
        best.append(value(blocks, panels.astype(float)).min())
    return np.array(best)


@pytest.mark.parametrize(("n_genes", "rank"), [(6, 2), (9, 4), (12, 6)])
def test_no_panel_is_below_the_bound(random_errors, by_inverse, n_genes, rank):
    """For panels of all sizes."""
    for seed in range(12):
        n_blocks, include = SETTINGS[seed % 4]
        free = np.setdiff1d(np.arange(n_genes), include)
        blocks = random_errors(seed, n_blocks=n_blocks, n_genes=n_genes, rank=rank, include=include)
        best = lowest(blocks, by_inverse, free)
        for size in {1, len(free) // 2, len(free)}:
            bound = relax(blocks, size).lower
            assert bound.shape == (size,)
            assert (bound <= best[:size] + 1e-12).all()
            assert (np.diff(bound) <= 1e-12).all()


def test_bounds_hold_at_any_weights(random_errors, by_inverse):
    """The gradient bounds panels of all sizes however far from a minimiser it is."""
    rng = np.random.default_rng(0)
    for seed in range(8):
        blocks = random_errors(seed, n_blocks=1 + seed % 2, n_genes=9, rank=4)
        best = lowest(blocks, by_inverse, range(9))
        for _ in range(20):
            beta = rng.uniform(size=9) * (rng.uniform(size=9) < rng.uniform())
            value, gradient, _ = evaluate(blocks, beta)
            bound = Linear(value - gradient @ beta, gradient).along(9)
            assert (bound <= best + 1e-12).all()


@pytest.mark.parametrize("size", [1, 3, 7, 10])
def test_relaxed_choice_is_the_best(random_errors, by_inverse, size):
    for seed in range(8):
        n_blocks, include = SETTINGS[seed % 4]
        blocks = random_errors(seed, n_blocks=n_blocks, include=include)
        relaxed = relax(blocks, size)
        assert relaxed.beta.sum() == pytest.approx(size, rel=1e-3)
        assert ((relaxed.beta >= 0) & (relaxed.beta <= 1)).all()
        assert not relaxed.beta[list(include)].any()
        best = relaxed_by_scipy(blocks, np.ones((1, 12)), np.array([size]))
        error = by_inverse(blocks, relaxed.beta)
        assert best * (1.0 - 1e-9) <= error <= best * (1.0 + WEIGHTS)
        assert best * (1.0 - BOUND) <= relaxed.lower[-1] <= best * (1.0 + 1e-9)


def test_genes_that_are_zero_take_no_weight(random_errors, by_inverse):
    (block,) = random_errors(0)
    block.genes[6:] = 0.0
    relaxed = relax([block], 9)
    assert not relaxed.beta[6:].any()
    assert (relaxed.beta <= 1).all()
    assert (relaxed.lower <= lowest([block], by_inverse, range(12))[:9] + 1e-12).all()


def test_nothing_is_left_to_gain(random_errors):
    """Where no gene varies beside those that are in, the bound is what there is."""
    (block,) = random_errors(0, include=range(12))
    relaxed = relax([block], 3)
    np.testing.assert_allclose(relaxed.lower, block.value(np.zeros(12)), rtol=1e-12)
    assert not relaxed.beta.any()


@given(problem=LIMITS, n_blocks=st.sampled_from([1, 2]))
@EXAMPLES
def test_no_panel_within_limits_is_below_the_bound(random_errors, by_inverse, problem, n_blocks):
    rows, size, seed = problem
    assume(len(feasible(rows, size)))
    blocks = random_errors(seed, n_blocks=n_blocks, n_genes=N_GENES)
    free = np.flatnonzero(rows.allowed)
    of_free = [block.only(free) for block in blocks]
    relaxed = relax(of_free, min(size, len(free)), rows.only(free))
    assert relaxed.lower[-1] <= by_inverse(blocks, feasible(rows, size)).min() + 1e-12
    parts = feasible(rows.subset(np.flatnonzero(np.isfinite(rows.upper))), size)
    for place, bound in enumerate(relaxed.lower[:-1]):
        smaller = parts[parts.sum(axis=1) <= place + 1]
        assert bound <= by_inverse(blocks, smaller).min() + 1e-12
    assert ((relaxed.beta >= 0) & (relaxed.beta <= 1 + 1e-9)).all()


def test_beginnings_need_to_meet_no_lower_limit(random_errors, by_inverse):
    """Also where a group has a minimum and a maximum in one."""
    (block,) = random_errors(0, n_genes=N_GENES)
    block.genes[:4] *= 0.01
    rows = Rows.of([at_most(4.0, range(4))._replace(lower=3.0)], N_GENES)
    best = lowest([block], by_inverse, range(N_GENES))
    assert (relax([block], 5, rows).lower[:-1] <= best[:4] + 1e-12).all()


def test_the_bound_is_close(random_errors, by_inverse):
    """To the best panel in parts, which is itself close to the best panel."""
    for seed in range(5):
        costs = np.random.default_rng(seed).integers(1, 9, size=N_GENES) / 10.0
        rows = Rows.of([at_most(2.0, name="cost", values=costs)], N_GENES)
        blocks = random_errors(seed, n_genes=N_GENES)
        relaxed = relax(blocks, N_GENES, rows, n_sizes=4)
        error = by_inverse(blocks, relaxed.beta)
        assert rows.hold(relaxed.beta)
        assert error * (1 - 1e-2) <= relaxed.lower[-1] <= error * (1 + 1e-9)
