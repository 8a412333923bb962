"""Genes under linear limits, and their bounds, against all panels."""

from __future__ import annotations

import numpy as np
import pytest
from all_panels import (
    EVERY,
    EXAMPLES,
    LIMITS,
    N_GENES,
    NONE,
    PANELS,
    as_panel,
    at_least,
    at_most,
    feasible,
)
from hypothesis import assume, event, given
from hypothesis import strategies as st
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.constrained import Limited
from glfs_bio.solvers.constraints import Rows, check
from glfs_bio.solvers.greedy import Greedy

FREE = Rows.of((), N_GENES)


def filled(blocks, rows, size, include=NONE, **options):
    greedy = Limited(blocks, rows, include, **options)
    greedy.fill(size)
    return greedy


@given(LIMITS)
@EXAMPLES
def test_whether_limits_can_hold_is_known(problem):
    """For every beginning of a panel too."""
    rows, size, seed = problem
    holding = [rows.hold(panel) for panel in PANELS]
    np.testing.assert_array_equal(PANELS[holding], feasible(rows, N_GENES))
    rng = np.random.default_rng(seed)
    begun = rng.choice(N_GENES, rng.integers(0, 3), replace=False)
    assume((rows.sums(begun) <= rows.most).all())
    assume(len(begun) <= size)
    possible = bool(len(feasible(rows, size, begun)))
    open_ = ~np.isin(EVERY, begun)
    rest = rows.completion(rows.sums(begun), open_, size - len(begun))
    assert (rest is not None) == possible
    event(f"possible: {possible}")
    if rest is not None:
        whole = [*begun, *rest]
        assert len(set(whole)) == len(whole) <= size
        assert rows.hold(as_panel(whole))


@given(problem=LIMITS, thrift=st.sampled_from([0.0, 1.0]), n_blocks=st.sampled_from([1, 2]))
@EXAMPLES
def test_limits_hold(random_errors, by_inverse, problem, thrift, n_blocks):
    rows, size, seed = problem
    panels = feasible(rows, size)
    if not len(panels):
        with pytest.raises(InvalidValue):
            check(rows, size, include=NONE, candidates=EVERY)
        return
    check(rows, size, include=NONE, candidates=EVERY)
    blocks = random_errors(seed, n_blocks=n_blocks, n_genes=N_GENES)
    greedy = filled(blocks, rows, size, thrift=thrift)
    picked = list(greedy.picked)
    assert len(set(picked)) == len(picked) <= size
    assert rows.hold(as_panel(picked))
    for part in range(len(picked)):
        assert (rows.sums(picked[:part]) <= rows.most).all()
    start, error = by_inverse(blocks, np.zeros(N_GENES)), by_inverse(blocks, as_panel(picked))
    assert sum(greedy.gains) == pytest.approx(start - error)
    if len(picked) < size:
        fuller = panels[panels[:, picked].all(axis=1)]
        assert (fuller.sum(axis=1) == len(picked)).all()
        assert greedy.exhausted in rows.names


@pytest.mark.parametrize("include", [(), (3, 5)])
def test_without_limits_it_is_greedy(random_errors, include):
    blocks = random_errors(0, n_genes=N_GENES)
    include = np.array(include, dtype=np.intp)
    plain = Greedy(blocks)
    plain.grow(len(include), among=include)
    plain.grow(6)
    generous = at_most(100.0, name="cost", values=np.arange(1.0, 10.0))
    for rows in (FREE, Rows.of([generous], N_GENES)):
        greedy = filled(blocks, rows, 6, include)
        assert greedy.picked == plain.picked
        assert greedy.gains == pytest.approx(plain.gains)
        assert not greedy.held_back
        assert greedy.exhausted is None


def test_priority_is_a_factor_of_the_gain(random_errors):
    blocks = random_errors(2, n_genes=N_GENES)
    gains = Greedy(blocks).waiting
    order = np.argsort(-gains)
    priority = np.ones(N_GENES)
    priority[order[0]] = 0.0
    priority[order[2]] = 1.01 * gains[order[1]] / gains[order[2]]
    greedy = filled(blocks, Rows.of((), N_GENES, priority), N_GENES)
    assert greedy.picked[0] == order[2]
    assert greedy.picked[-1] == order[0]
    np.testing.assert_allclose(greedy.gains[0], gains[order[2]])


def test_places_are_kept_for_lower_limits(random_errors):
    """The worst two genes must be in: they come last, and no more than two places are kept."""
    blocks = random_errors(0, n_genes=N_GENES)
    plain = filled(blocks, FREE, N_GENES)
    worst = np.sort(plain.picked[-2:])
    rows = Rows.of([at_least(2.0, worst)], N_GENES)
    greedy = Limited(blocks, rows, NONE)
    assert greedy.fewest() == 2
    greedy.fill(5)
    assert greedy.held_back
    assert greedy.picked[:3] == plain.picked[:3]
    assert set(greedy.picked[3:]) == set(worst)
    with refused(InvalidValue, "limits"):
        Limited(blocks, rows, NONE).fill(1)
