"""Panels within limits against all panels, and limits that conflict."""

from __future__ import annotations

import logging
from itertools import combinations

import numpy as np
import pytest
from all_panels import tried
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.constrained import select_within
from glfs_bio.solvers.constraints import Row, Rows, check
from glfs_bio.solvers.greedy import select

EVERY = np.arange(12)
NONE = np.empty(0, dtype=np.intp)
COSTS = np.array([3, 1, 2, 5, 4, 1, 2, 3, 1, 2, 6, 1]) / 10.0


def budget(upper):
    return Row(f"budget={upper:g}", f"budget={upper:g}", EVERY, COSTS, upper=upper)


def family(*genes, most=1, name="family"):
    genes = np.array(genes)
    return Row("per_family", f"per_family ({name})", genes, np.ones(len(genes)), upper=most)


def kind(*genes, least=1, name="B"):
    genes = np.array(genes)
    return Row("per_type", f"per_type ({name})", genes, np.ones(len(genes)), lower=least)


def ruled_out(*genes, name="max_mean=3"):
    genes = np.array(genes)
    return Row(name, name, genes, np.ones(len(genes)), upper=0.0)


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
    "all": [budget(1.1), family(0, 1, 2, 3), kind(2, 3, 10), ruled_out(7)],
}


@pytest.mark.parametrize("include", [(), (4, 8)])
@pytest.mark.parametrize("name", LIMITS)
def test_limits_hold_and_the_share_is_no_more_than_the_true_one(criterion, name, include):
    rows, include = Rows.of(LIMITS[name], 12), np.array(include, dtype=np.intp)
    panel = select_within(criterion, 5, rows=rows, include=include, candidates=EVERY)
    assert rows.hold(np.isin(EVERY, tried(panel)).astype(float))
    assert set(tried(panel)[: len(include)]) == set(include)
    errors = criterion.errors(tried(panel))
    start = criterion.errors(include)[-1]
    best = min(criterion.errors(other)[-1] for other in feasible(rows, 5, include))
    true = (start - errors[-1]) / (start - best)
    assert 0 < panel.optimality[-1] <= true + 1e-9
    for size in range(len(include) + 1, panel.n_selected):
        parts = feasible(rows.packing, size, include)
        best = min(criterion.errors(other)[-1] for other in parts)
        true = (start - errors[size]) / (start - best)
        assert 0 < panel.optimality[size - 1] <= true + 1e-9
    assert panel.weights.sum() <= 5 + 1e-9


def test_limits_that_do_not_bind_change_nothing(criterion):
    plain = select(criterion, 5, include=NONE, candidates=EVERY)
    rows = Rows.of([budget(100.0), family(0, 1, 2, most=3), kind(*EVERY, least=2)], 12)
    same = select_within(criterion, 5, rows=rows, include=NONE, candidates=EVERY)
    np.testing.assert_array_equal(tried(same), tried(plain))
    np.testing.assert_array_equal(same.preserved, plain.preserved)
    np.testing.assert_allclose(same.scores, plain.scores)
    assert (same.optimality >= plain.optimality - 1e-9).all()


@pytest.mark.parametrize("upper", [0.1, 0.45, 1.0, 100.0])
def test_as_many_genes_as_the_budget_affords(criterion, upper):
    rows = Rows.of([budget(upper)], 12, budget=True)
    panel = select_within(criterion, None, rows=rows, include=NONE, candidates=EVERY)
    left = upper - COSTS[tried(panel)].sum()
    rest = np.setdiff1d(EVERY, tried(panel))
    assert left >= -1e-9
    assert not len(rest) or COSTS[rest].min() > left
    best = min(criterion.errors(other)[-1] for other in feasible(rows, 12))
    errors = criterion.errors(tried(panel))
    assert panel.n_selected == len(tried(panel)) == len(panel.optimality)
    assert panel.optimality[-1] <= (errors[0] - errors[-1]) / (errors[0] - best) + 1e-9


def test_gain_per_cost_where_it_is_better(criterion):
    """One dear gene that gains most, or all the others: the better panel counts."""
    first = select(criterion, 1, include=NONE, candidates=EVERY).order[0]
    costs = np.where(first == EVERY, 1.1, 0.1)
    rows = Rows.of([Row("budget", "budget", EVERY, costs, upper=1.1)], 12, budget=True)
    panel = select_within(criterion, None, rows=rows, include=NONE, candidates=EVERY)
    assert sorted(tried(panel)) == sorted(set(EVERY) - {first})


def test_a_limit_that_lets_fewer_genes_in_is_said(criterion, caplog):
    rows = Rows.of([budget(0.45), family(0, 1, 2, most=3)], 12)
    with caplog.at_level(logging.WARNING):
        panel = select_within(criterion, 8, rows=rows, include=NONE, candidates=EVERY)
    assert panel.n_selected == len(tried(panel)) < 8
    record = next(one for one in caplog.records if "of 8" in one.getMessage())
    assert f"{panel.n_selected} of 8" in record.getMessage()
    assert "budget=0.45" in record.getMessage()


def test_the_fewest_genes_that_keep_enough_meet_lower_limits(criterion):
    plain = select(criterion, None, include=NONE, candidates=EVERY)
    late = tried(plain)[-3:]
    rows = Rows.of([kind(*late, least=2)], 12)
    panel = select_within(criterion, None, rows=rows, include=NONE, candidates=EVERY)
    chosen = tried(panel)[: panel.n_selected]
    assert np.isin(late, chosen).sum() == 2
    assert panel.preserved[panel.n_selected - 1] >= 0.9
    assert len(tried(panel)) == 12


def test_the_fewest_genes_within_an_upper_limit(criterion, caplog):
    rows = Rows.of([family(*EVERY, most=1)], 12)
    with caplog.at_level(logging.WARNING):
        panel = select_within(criterion, None, rows=rows, include=NONE, candidates=EVERY)
    assert panel.n_selected == 1
    assert "per_family (family)" in caplog.messages[-1]


CONFLICTS = {
    "more than the size": ([kind(0, 1, 2, least=3)], 2, ["per_type"]),
    "too few genes": ([kind(0, least=2)], 5, ["per_type (B)"]),
    "two types": (
        [kind(0, 1, least=2), kind(2, 3, least=2, name="T")],
        3,
        ["per_type"],
    ),
    "type and family": (
        [kind(0, 1, least=2), family(0, 1), family(4, 5, name="x"), budget(5)],
        5,
        ["per_type (B) and per_family (family)"],
    ),
    "type and cost": (
        [family(3, 4), budget(0.5), kind(3, name="T"), kind(10)],
        5,
        ["budget=0.5 and per_type (B)"],
    ),
    "type and expression": (
        [ruled_out(0, 1, 2), kind(5, name="T"), kind(0, 2)],
        None,
        ["max_mean=3 and per_type (B)"],
    ),
    "three": (
        [family(0, 1), family(2, 3, name="x")._replace(limit="x"), kind(0, 1, 2, 3, least=3)],
        None,
        ["per_family, x and per_type"],
    ),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_conflicts_are_named(criterion, name):
    rows, n_genes, said = CONFLICTS[name]
    rows = Rows.of(rows, 12)
    assert not list(feasible(rows, 12 if n_genes is None else n_genes))
    with refused(InvalidValue, "limits") as error:
        select_within(criterion, n_genes, rows=rows, include=NONE, candidates=EVERY)
    assert any(f" {limits}" in str(error.value) for limits in said)


def test_included_genes_count():
    rows = Rows.of([budget(0.5), kind(0, least=1), family(5, 6)], 12)
    check(rows, 2, include=np.array([5]), candidates=EVERY)
    with refused(InvalidValue, "include"):
        check(rows, 5, include=np.array([0, 3]), candidates=EVERY)
    with refused(InvalidValue, "include"):
        check(rows, 5, include=np.array([5, 6]), candidates=EVERY)
    with refused(InvalidValue, "limits"):
        check(rows, 5, include=np.array([4]), candidates=EVERY)
    with refused(InvalidValue, "limits"):
        check(rows, 1, include=np.array([1]), candidates=EVERY)


def test_no_gene_fits():
    rows = Rows.of([budget(0.05)], 12)
    with refused(InvalidValue, "limits"):
        check(rows, 3, include=NONE, candidates=EVERY)
