"""Panels within linear limits, against all panels."""

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
    OfBlocks,
    as_panel,
    at_most,
    feasible,
    problem_of,
    tried,
)
from hypothesis import assume, event, given
from hypothesis import strategies as st

from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.constrained import Packed, select_within
from glfs_bio.solvers.constraints import Rows, check
from glfs_bio.solvers.greedy import Greedy, select

FREE = Rows.of((), N_GENES)


@given(LIMITS)
@EXAMPLES
def test_whether_limits_can_hold_is_known(problem):
    """For every beginning of a panel too."""
    rows, size, seed = problem
    holding = [rows.hold(panel) for panel in PANELS]
    np.testing.assert_array_equal(PANELS[holding], feasible(rows, N_GENES))
    begun = np.random.default_rng(seed).choice(N_GENES, seed % 3, replace=False)
    assume((rows.sums(begun) <= rows.most).all())
    others = np.setdiff1d(EVERY, begun)
    rest = rows.remaining(begun).only(others)
    sizes = feasible(rows, N_GENES, begun).sum(axis=1) - len(begun)
    smallest = rest.smallest()
    assert (smallest is not None) == bool(len(sizes))
    assert smallest is None or len(smallest) == sizes.min()
    possible = bool((sizes <= size).any())
    genes = rest.best_vertex(np.ones(len(others)), size)
    event(f"possible: {possible}")
    assert (genes is not None) == possible
    if genes is not None:
        assert len(genes) == sizes[sizes <= size].max()
        assert rows.hold(as_panel([*begun, *others[genes]]))


@given(problem=LIMITS, n_blocks=st.sampled_from([1, 2]), worst=st.booleans())
@EXAMPLES
def test_limits_hold(random_errors, problem, n_blocks, worst):
    rows, size, seed = problem
    panels = feasible(rows, size)
    criterion = OfBlocks(random_errors(seed, n_blocks=n_blocks, n_genes=N_GENES), worst=worst)
    if not len(panels):
        with pytest.raises(InvalidValue):
            select_within(problem_of(criterion, size, rows))
        return
    check(rows, size, include=NONE, candidates=EVERY)
    panel = select_within(problem_of(criterion, size, rows))
    genes = tried(panel)
    assert len(set(genes)) == len(genes) <= size
    assert rows.hold(as_panel(genes))
    if len(genes) < size:
        fuller = panels[panels[:, genes].all(axis=1)]
        assert (fuller.sum(axis=1) == len(genes)).all()
    if not worst:
        error = criterion.errors(genes)[-1]
        best = min(criterion.errors(np.flatnonzero(one))[-1] for one in panels)
        start = criterion.errors(NONE)[-1]
        # of the worst problem; the mean of several is tested with the exchanges
        assert (start - error) >= 0.7 * (start - best)


@pytest.mark.parametrize("include", [(), (3, 5)])
def test_without_limits_it_is_greedy(random_errors, include):
    criterion = OfBlocks(random_errors(0, n_genes=N_GENES))
    include = np.array(include, dtype=np.intp)
    plain = select(problem_of(criterion, 6, include=include))
    generous = at_most(100.0, name="cost", values=np.arange(1.0, 10.0))
    for rows in (FREE, Rows.of([generous], N_GENES)):
        panel = select_within(problem_of(criterion, 6, rows, include=include))
        np.testing.assert_array_equal(tried(panel), tried(plain))
        np.testing.assert_allclose(panel.scores, plain.scores)


def test_priority_is_a_factor_of_the_gain(random_errors):
    criterion = OfBlocks(random_errors(2, n_genes=N_GENES))
    gains = Greedy(criterion.blocks).waiting
    order = np.argsort(-gains)
    priority = np.ones(N_GENES)
    priority[order[0]] = 0.0
    priority[order[2]] = 1.01 * gains[order[1]] / gains[order[2]]
    greedy = Packed(problem_of(criterion, N_GENES, Rows.of((), N_GENES, priority)))
    greedy.fill(N_GENES)
    assert greedy.picked[0] == order[2]
    assert greedy.picked[-1] == order[0]
    np.testing.assert_allclose(greedy.gains[0], gains[order[2]])
