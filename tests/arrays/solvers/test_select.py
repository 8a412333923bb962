"""Panels against all panels."""

from __future__ import annotations

import logging
from itertools import combinations

import numpy as np
import pytest

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.options import StructureSpec
from glfs_bio.solvers.greedy import LARGEST, SHARE, select

EVERY = np.arange(12)
NONE = np.empty(0, dtype=np.intp)


def test_panels_are_nested(criterion):
    largest = select(criterion, 12, include=NONE, candidates=EVERY)
    assert sorted(largest.order) == list(range(12))
    for size in range(1, 12):
        panel = select(criterion, size, include=NONE, candidates=EVERY)
        assert panel.n_selected == size
        np.testing.assert_array_equal(panel.order, largest.order[:size])
        np.testing.assert_array_equal(panel.preserved, largest.preserved[:size])


def test_kept_is_that_of_the_criterion(criterion):
    panel = select(criterion, 7, include=NONE, candidates=EVERY)
    np.testing.assert_allclose(panel.preserved, criterion.preserved(panel.order), rtol=1e-12)
    gains = criterion.errors(panel.order)[-1] - [
        criterion.errors(np.append(panel.order, gene))[-1] for gene in EVERY
    ]
    rest = np.setdiff1d(EVERY, panel.order)
    np.testing.assert_allclose(panel.waiting[rest], gains[rest], rtol=1e-7, atol=1e-12)


def test_genes_that_must_be_in_come_first(criterion):
    include = np.array([2, 9])
    panel = select(criterion, 6, include=include, candidates=EVERY)
    assert set(panel.order[:2]) == {2, 9}
    assert np.isnan(panel.optimality[:2]).all()
    share = panel.optimality[2:]
    assert ((share > 0) & (share <= 1)).all()
    np.testing.assert_array_equal(panel.beta[include], 1.0)
    assert panel.beta.sum() == pytest.approx(6.0)


def test_weights_are_those_of_the_relaxed_choice(criterion):
    panel = select(criterion, 5, include=NONE, candidates=EVERY)
    assert panel.beta.sum() == pytest.approx(5.0)
    assert ((panel.beta >= 0) & (panel.beta <= 1)).all()


@pytest.mark.parametrize("include", [(), (2, 9)])
def test_share_of_the_best_possible_is_no_more_than_the_true_one(criterion, include):
    include = np.array(include, dtype=np.intp)
    candidates = np.array([0, 1, 2, 3, 4, 6, 7, 9, 11])
    panel = select(criterion, 6, include=include, candidates=candidates)
    errors = criterion.errors(panel.order)
    start = criterion.errors(include)[-1]
    others = np.setdiff1d(candidates, include)
    for size in range(len(include) + 1, 7):
        best = min(
            criterion.errors(np.append(include, some))[-1]
            for some in combinations(others, size - len(include))
        )
        true = (start - errors[size]) / (start - best)
        assert 0 < panel.optimality[size - 1] <= true + 1e-9
        assert panel.optimality[size - 1] <= 1.0


def test_genes_that_may_not_be_chosen(criterion):
    candidates = np.array([1, 4, 5, 8])
    panel = select(criterion, 4, include=np.array([5]), candidates=candidates)
    assert panel.order[0] == 5
    assert sorted(panel.order) == [1, 4, 5, 8]
    others = np.setdiff1d(EVERY, candidates)
    assert not panel.beta[others].any()
    assert not panel.waiting[others].any()
    assert panel.preserved[-1] < 1.0
    assert panel.optimality[-1] == pytest.approx(1.0, rel=1e-2)


def test_the_fewest_genes_that_keep_enough(criterion, caplog):
    panel = select(criterion, None, include=NONE, candidates=EVERY)
    kept = criterion.preserved(panel.order)
    assert kept[panel.n_selected - 1] >= SHARE
    assert panel.n_selected == 1 or kept[panel.n_selected - 2] < SHARE
    assert len(panel.optimality) == panel.n_selected
    assert len(panel.preserved) == len(panel.order) == 12
    same = select(criterion, panel.n_selected, include=NONE, candidates=EVERY)
    np.testing.assert_array_equal(same.order, panel.order[: panel.n_selected])
    np.testing.assert_allclose(same.optimality, panel.optimality)
    assert not caplog.records


def test_at_least_those_that_must_be_in(criterion):
    panel = select(criterion, None, include=np.arange(11), candidates=EVERY)
    assert panel.n_selected >= 11


def test_too_few_candidates_are_said(criterion, caplog):
    candidates = np.array([3, 8])
    with caplog.at_level(logging.WARNING):
        panel = select(criterion, None, include=NONE, candidates=candidates)
    assert panel.n_selected == 2
    assert panel.preserved[-1] < SHARE
    assert "2 genes" in caplog.messages[-1]


def test_no_more_than_the_largest():
    """More genes than an automatic panel has, each a direction of its own."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(620, LARGEST + 40))
    (problem,) = build_problems(data, StructureSpec(n_comps=3, n_neighbors=5))
    panel = select(Criterion([problem]), None, include=NONE, candidates=np.arange(LARGEST + 40))
    assert len(panel.order) == LARGEST
    assert panel.n_selected <= LARGEST


@pytest.mark.parametrize("n_more", [0, 2])
def test_what_is_in_keeps_everything(clusters, n_more):
    """Genes that vary are all in; what is left to choose from is constant."""
    data = np.hstack([clusters[:, :6], np.ones((90, 4))])
    criterion = Criterion(build_problems(data, StructureSpec(n_comps=3, n_neighbors=5)))
    panel = select(criterion, 6 + n_more, include=np.arange(6), candidates=np.arange(10))
    assert panel.preserved[5:] == pytest.approx(1.0)
    assert np.isnan(panel.optimality[:6]).all()
    assert not (panel.optimality[6:] < 1.0).any()
