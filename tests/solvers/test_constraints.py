"""Panels within limits against all panels, and limits that conflict."""

from __future__ import annotations

import logging
from itertools import combinations

import numpy as np
import pytest
from all_panels import NONE, at_least, at_most, greedy_panel, problem_of, tried
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.constrained import select_within
from glfs_bio.solvers.constraints import Rows, check

EVERY = np.arange(12)
COSTS = np.array([3, 1, 2, 5, 4, 1, 2, 3, 1, 2, 6, 1]) / 10.0


def budget(upper):
    return at_most(upper, EVERY, f"budget={upper:g}", values=COSTS)


def family(*genes, most=1, name="family"):
    return at_most(most, genes, f"per_group ({name})")._replace(limit="per_group")


def kind(*genes, least=1, name="B"):
    return at_least(least, genes, f"per_type ({name})")._replace(limit="per_type")


def feasible(rows, size, include=NONE):
    """Panels of at most so many genes within the limits."""
    others = np.setdiff1d(EVERY, include)
    for number in range(size - len(include) + 1):
        for some in combinations(others, number):
            panel = np.append(include, some).astype(np.intp)
            if rows.hold(np.isin(EVERY, panel).astype(float)):
                yield panel


LIMITS = {
    "budget": [budget(0.7)],
    "families": [family(0, 1, 2, 3, 4), family(5, 6, 7, most=1, name="other")],
    "types": [kind(3, 10, least=2), kind(8, 9, name="T")],
    "all": [budget(1.1), family(0, 1, 2, 3), kind(2, 3, 10), at_most(0.0, [7], "mean")],
}


def true_share(criterion, panels, errors, start):
    """How much of what the best of these panels gains such errors are."""
    best = min(criterion.errors(panel)[-1] for panel in panels)
    return (start - errors) / (start - best)


@pytest.mark.parametrize("name", LIMITS)
def test_limits_hold_and_the_share_is_no_more_than_the_true_one(criterion, name):
    rows = Rows.of(LIMITS[name], 12)
    for include in (NONE, np.array([4, 8])):
        panel = select_within(problem_of(criterion, 5, rows, include=include))
        assert rows.hold(np.isin(EVERY, tried(panel)).astype(float))
        assert set(tried(panel)[: len(include)]) == set(include)
        assert panel.weights.sum() <= 5 + 1e-9
        errors = criterion.errors(tried(panel))
        start = criterion.errors(include)[-1]
        true = true_share(criterion, feasible(rows, 5, include), errors[-1], start)
        assert 0 < panel.optimality[-1] <= true + 1e-9
        for size in range(len(include) + 1, panel.n_selected):
            parts = feasible(rows.subset(np.flatnonzero(np.isfinite(rows.upper))), size, include)
            true = true_share(criterion, parts, errors[size], start)
            assert 0 < panel.optimality[size - 1] <= true + 1e-9


def test_limits_that_do_not_bind_change_nothing(criterion):
    plain = greedy_panel(criterion, 5)
    rows = Rows.of([budget(100.0), family(0, 1, 2, most=3), kind(*EVERY, least=2)], 12)
    same = select_within(problem_of(criterion, 5, rows))
    np.testing.assert_array_equal(tried(same), tried(plain))
    np.testing.assert_array_equal(same.preserved, plain.preserved)
    np.testing.assert_allclose(same.scores, plain.scores)
    np.testing.assert_allclose(same.optimality, plain.optimality, atol=1e-3)


@pytest.mark.parametrize("upper", [0.1, 0.45, 1.0, 100.0])
def test_as_many_genes_as_the_budget_affords(criterion, upper):
    rows = Rows.of([budget(upper)], 12, budget=True)
    panel = select_within(problem_of(criterion, None, rows))
    left = upper - COSTS[tried(panel)].sum()
    rest = np.setdiff1d(EVERY, tried(panel))
    assert left >= -1e-9
    assert not len(rest) or COSTS[rest].min() > left
    errors = criterion.errors(tried(panel))
    assert panel.n_selected == len(tried(panel)) == len(panel.optimality)
    true = true_share(criterion, feasible(rows, 12), errors[-1], errors[0])
    assert panel.optimality[-1] <= true + 1e-9


def test_gain_per_cost_where_it_is_better(criterion):
    """One dear gene that gains most, or all the others: the better panel counts."""
    first = greedy_panel(criterion, 1).order[0]
    costs = np.where(first == EVERY, 1.1, 0.1)
    rows = Rows.of([at_most(1.1, EVERY, "budget", values=costs)], 12, budget=True)
    panel = select_within(problem_of(criterion, None, rows))
    assert sorted(tried(panel)) == sorted(set(EVERY) - {first})


def test_a_limit_that_lets_fewer_genes_in_is_said(criterion, caplog):
    for n_genes, limits, name in (
        (8, [budget(0.45), family(0, 1, 2, most=3)], "budget=0.45"),
        (None, [family(*EVERY)], "per_group (family)"),
    ):
        rows = Rows.of(limits, 12)
        with caplog.at_level(logging.WARNING):
            panel = select_within(problem_of(criterion, n_genes, rows))
        assert panel.n_selected < 8
        (message,) = (text for text in caplog.messages if name in text)
        assert n_genes is None or f"{panel.n_selected} of {n_genes}" in message


def test_the_fewest_genes_that_keep_enough_meet_lower_limits(criterion):
    plain = greedy_panel(criterion, None)
    late = tried(plain)[-3:]
    rows = Rows.of([kind(*late, least=2)], 12)
    panel = select_within(problem_of(criterion, None, rows))
    chosen = tried(panel)[: panel.n_selected]
    assert np.isin(late, chosen).sum() == 2
    assert panel.preserved[panel.n_selected - 1] >= 0.9
    assert len(tried(panel)) == 12


#: Limits, a number of genes, and what the message names.
CONFLICTS = [
    ([kind(0, 1, 2, least=3)], 2, "per_type"),
    ([kind(0, least=2)], 5, "per_type (B)"),
    ([kind(0, 1, least=2), kind(2, 3, least=2, name="T")], 3, "per_type"),
    (
        [kind(0, 1, least=2), family(0, 1), family(4, 5, name="x"), budget(5)],
        5,
        "per_type (B) and per_group (family)",
    ),
    ([family(3, 4), budget(0.5), kind(3, name="T"), kind(10)], 5, "budget=0.5 and per_type (B)"),
    (
        [at_most(0.0, [0, 1, 2], "mean"), kind(5, name="T"), kind(0, 2)],
        None,
        "mean and per_type (B)",
    ),
    (
        [family(0, 1), family(2, 3)._replace(limit="x"), kind(0, 1, 2, 3, least=3)],
        None,
        "per_group, x and per_type",
    ),
]


def test_conflicts_are_named(criterion):
    for limits, n_genes, names in CONFLICTS:
        rows = Rows.of(limits, 12)
        assert not list(feasible(rows, 12 if n_genes is None else n_genes))
        with refused(InvalidValue, "limits") as error:
            select_within(problem_of(criterion, n_genes, rows))
        assert f" {names}" in str(error.value)


def test_included_genes_count():
    rows = Rows.of([budget(0.5), kind(0, least=1), family(5, 6)], 12)
    check(rows, 2, include=np.array([5]), candidates=EVERY)
    for size, include, argument in (
        (5, [0, 3], "include"),
        (5, [5, 6], "include"),
        (5, [4], "limits"),
        (1, [1], "limits"),
    ):
        with refused(InvalidValue, argument):
            check(rows, size, include=np.array(include), candidates=EVERY)
    with refused(InvalidValue, "limits"):
        check(Rows.of([budget(0.05)], 12), 3, include=NONE, candidates=EVERY)
