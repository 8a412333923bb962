"""The bound against all panels, also within limits, and the relaxed choice against SciPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from all_panels import EVERY, EXAMPLES, N_GENES, NONE, feasible, limits
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from glfs_bio.solvers.bound import relax, relax_within
from glfs_bio.solvers.certificate import Linear
from glfs_bio.solvers.constrained import Limited
from glfs_bio.solvers.constraints import Row, Rows

SHAPES = [(6, 2), (9, 4), (12, 6)]
#: How near to the best relaxed F its own weights and the bound come, as a share of it.
WEIGHTS, BOUND = 1e-4, 1e-2


def lowest(blocks, value, n_genes, free):
    """F of the best of all panels of 1, 2, … of the free genes."""
    best = []
    for size in range(1, len(free) + 1):
        panels = np.array(
            [np.isin(np.arange(n_genes), some).astype(float) for some in combinations(free, size)]
        )
        best.append(value(blocks, panels).min())
    return np.array(best)


@pytest.mark.parametrize("include", [(), (1, 4)])
@pytest.mark.parametrize("n_blocks", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_panel_is_below_the_bound(random_errors, by_inverse, shape, n_blocks, include):
    """For panels of all sizes, and for genes that every panel holds besides."""
    n_genes, rank = shape
    free = np.setdiff1d(np.arange(n_genes), include)
    for seed in range(8):
        blocks = random_errors(seed, n_blocks=n_blocks, n_genes=n_genes, rank=rank, include=include)
        best = lowest(blocks, by_inverse, n_genes, free)
        for size in {1, len(free) // 2, len(free)}:
            bound = relax(blocks, size).lower
            assert bound.shape == (size,)
            assert (bound <= best[:size] + 1e-12).all()
            assert (np.diff(bound) <= 1e-12).all()


@pytest.mark.parametrize("n_blocks", [1, 2])
def test_bounds_hold_at_any_weights(random_errors, by_inverse, n_blocks):
    """The gradient bounds panels of all sizes however far from a minimiser it is."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        blocks = random_errors(seed, n_blocks=n_blocks, n_genes=9, rank=4)
        best = lowest(blocks, by_inverse, 9, range(9))
        for _ in range(20):
            beta = rng.uniform(size=9) * (rng.uniform(size=9) < rng.uniform())
            value, gradient = evaluated(blocks, beta)
            bound = Linear(value - gradient @ beta, gradient).along(9)
            assert (bound <= best + 1e-12).all()


def evaluated(blocks, beta):
    """F and its gradient, summed over sets of cells."""
    values, gradients = zip(*(block.value_and_gradient(beta) for block in blocks), strict=True)
    return sum(values), sum(gradients)


def relaxed_by_scipy(blocks, size, value):
    """F at the best weights between 0 and 1 that sum to a number."""
    n_genes = len(blocks[0].genes)
    found = minimize(
        lambda beta: evaluated(blocks, np.clip(beta, 0.0, 1.0)),
        np.full(n_genes, size / n_genes),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n_genes,
        constraints=[LinearConstraint(np.ones((1, n_genes)), size, size)],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert abs(found.x.sum() - size) < 1e-9
    return value(blocks, np.clip(found.x, 0.0, 1.0))


@pytest.mark.parametrize("include", [(), (1, 4)])
@pytest.mark.parametrize("n_blocks", [1, 2])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_relaxed_choice_is_the_best(random_errors, by_inverse, size, n_blocks, include):
    for seed in range(5):
        blocks = random_errors(seed, n_blocks=n_blocks, include=include)
        found = relax(blocks, size)
        assert found.beta.sum() == pytest.approx(size, rel=1e-9)
        assert (found.beta >= 0).all()
        assert (found.beta <= 1).all()
        assert not found.beta[list(include)].any()
        best = relaxed_by_scipy(blocks, size, by_inverse)
        error = by_inverse(blocks, found.beta)
        assert best * (1.0 - 1e-9) <= error <= best * (1.0 + WEIGHTS)
        assert best * (1.0 - BOUND) <= found.lower[-1] <= best * (1.0 + 1e-9)


def test_all_genes_leave_nothing_open(random_errors, by_inverse):
    blocks = random_errors(0)
    found = relax(blocks, 12)
    assert found.lower[-1] == pytest.approx(by_inverse(blocks, np.ones(12)), rel=1e-2)
    np.testing.assert_allclose(found.beta, 1.0)


def test_genes_that_are_zero_take_no_weight(random_errors, by_inverse):
    (block,) = random_errors(0)
    block.genes[6:] = 0.0
    found = relax([block], 9)
    assert not found.beta[6:].any()
    assert (found.beta <= 1).all()
    assert (found.lower <= lowest([block], by_inverse, 12, range(12))[:9] + 1e-12).all()


def test_nothing_is_left_to_gain(random_errors):
    """Where no gene varies beside those that are in, the bound is what there is."""
    (block,) = random_errors(0, include=range(12))
    found = relax([block], 3)
    left = block.value(np.zeros(12))
    np.testing.assert_allclose(found.lower, left, rtol=1e-12)
    assert not found.beta.any()


@given(problem=limits(), n_blocks=st.sampled_from([1, 2]))
@EXAMPLES
def test_no_panel_within_limits_is_below_the_bound(random_errors, by_inverse, problem, n_blocks):
    rows, size, seed = problem
    assume(len(feasible(rows, size)))
    blocks = random_errors(seed, n_blocks=n_blocks, n_genes=N_GENES)
    greedy = Limited(blocks, rows, NONE)
    greedy.fill(size)
    free = np.flatnonzero(rows.allowed)
    assume(greedy.picked)
    some, blocks_of_some = rows.only(free), [block.only(free) for block in blocks]
    found = relax_within(
        blocks_of_some,
        some,
        size,
        relax(blocks_of_some, len(greedy.picked)),
    )
    lowest = by_inverse(blocks, feasible(rows, size)).min()
    assert found.lower[-1] <= lowest + 1e-12
    parts = feasible(rows.packing, size)
    for place, bound in enumerate(found.lower[:-1]):
        smaller = parts[parts.sum(axis=1) <= place + 1]
        assert bound <= by_inverse(blocks, smaller).min() + 1e-12
    assert ((found.beta >= 0) & (found.beta <= 1 + 1e-9)).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_close(random_errors, by_inverse, seed):
    """To the best panel in parts, which is itself close to the best panel."""
    costs = np.random.default_rng(seed).integers(1, 9, size=N_GENES) / 10.0
    rows = Rows.of([Row("cost", "cost", EVERY, costs, upper=2.0)], N_GENES)
    blocks = random_errors(seed, n_genes=N_GENES)
    greedy = Limited(blocks, rows, NONE)
    greedy.fill(N_GENES)
    start = relax(blocks, len(greedy.picked))
    found = relax_within(blocks, rows, N_GENES, start)
    relaxed = by_inverse(blocks, found.beta)
    assert rows.hold(found.beta)
    assert relaxed * (1 - 1e-2) <= found.lower[-1] <= relaxed * (1 + 1e-9)
