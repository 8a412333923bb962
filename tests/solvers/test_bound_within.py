"""Bounds within linear limits, against all panels."""

from __future__ import annotations

import numpy as np
import pytest
from all_panels import EVERY, EXAMPLES, N_GENES, NONE, feasible, limits
from hypothesis import assume, given
from hypothesis import strategies as st

from glfs_bio.solvers.bound import relax, relax_within
from glfs_bio.solvers.constrained import Limited
from glfs_bio.solvers.constraints import Row, Rows


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
