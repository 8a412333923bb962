"""Greedy selection against explicit inverses."""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from all_panels import NONE, greedy_panel, problem_of, tried
from numpy.testing import assert_allclose

from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.solvers.greedy import LARGEST, SHARE, Greedy, select

EVERY = np.arange(12)
SETTINGS = [{}, {"n_blocks": 3}, {"include": (2, 7)}]


@pytest.fixture(params=SETTINGS, ids=["one set of cells", "three sets", "genes measured already"])
def blocks(random_errors, request):
    return random_errors(0, **request.param)


def log_determinant(blocks, beta):
    """``−log det(I + A')``."""
    matrices = [np.eye(len(b.weights)) + b.covered + (b.genes.T * beta) @ b.genes for b in blocks]
    return -sum(np.linalg.slogdet(matrix)[1] for matrix in matrices)


@pytest.mark.parametrize("criterion", ["trace", "determinant"])
def test_every_gene_is_the_one_that_gains_most(blocks, by_inverse, criterion):
    """After every entry, what waits is the difference that each gene would make."""
    of = {"trace": by_inverse, "determinant": log_determinant}[criterion]

    def value(genes):
        return of(blocks, np.isin(EVERY, genes).astype(float))

    greedy = Greedy(blocks, criterion)
    for size in range(12):
        now = value(greedy.picked)
        gains = np.array([now - value([*greedy.picked, i]) for i in range(12)])
        gains[greedy.picked] = -np.inf
        rest = np.setdiff1d(np.arange(12), greedy.picked)
        assert_allclose(greedy.waiting[rest], gains[rest], rtol=1e-8, atol=1e-12)
        greedy.grow(size + 1)
        assert gains[greedy.picked[-1]] == pytest.approx(gains.max(), rel=1e-8, abs=1e-12)
        assert greedy.gains[-1] == pytest.approx(gains.max(), rel=1e-8, abs=1e-12)
    assert sorted(greedy.picked) == list(range(12))


def test_panels_are_nested(blocks):
    for criterion in ("trace", "determinant"):
        at_once, in_steps = Greedy(blocks, criterion), Greedy(blocks, criterion)
        at_once.grow(9)
        for size in (1, 4, 4, 9):
            in_steps.grow(size)
            assert in_steps.picked == at_once.picked[:size]
        assert in_steps.gains == at_once.gains
        among = Greedy(blocks, criterion)
        among.grow(6, among=np.array([1, 8]))
        assert set(among.picked) == {1, 8}
        among.grow(100)
        assert sorted(among.picked) == list(range(12))


def test_selected_panels_are_nested(criterion):
    largest = greedy_panel(criterion, 12)
    assert sorted(tried(largest)) == list(range(12))
    for size in range(1, 12):
        panel = greedy_panel(criterion, size)
        assert panel.n_selected == size
        np.testing.assert_array_equal(tried(panel), tried(largest)[:size])
        np.testing.assert_array_equal(panel.preserved, largest.preserved[:size])


def test_kept_is_that_of_the_criterion(criterion):
    panel = greedy_panel(criterion, 7)
    np.testing.assert_allclose(panel.preserved, criterion.preserved(tried(panel)), rtol=1e-12)
    gains = criterion.errors(tried(panel))[-1] - [
        criterion.errors(np.append(tried(panel), gene))[-1] for gene in EVERY
    ]
    rest = np.setdiff1d(EVERY, tried(panel))
    waiting = panel.scores[rest] * gains[rest].max()
    np.testing.assert_allclose(waiting, gains[rest], rtol=1e-7, atol=1e-12)
    assert panel.weights.sum() == pytest.approx(7.0, rel=1e-3)
    assert ((panel.weights >= 0) & (panel.weights <= 1)).all()


def test_genes_that_must_be_in_come_first(criterion):
    include = np.array([2, 9])
    panel = greedy_panel(criterion, 6, include)
    assert set(tried(panel)[:2]) == {2, 9}
    assert np.isnan(panel.optimality[:2]).all()
    share = panel.optimality[2:]
    assert ((share > 0) & (share <= 1)).all()
    np.testing.assert_array_equal(panel.weights[include], 1.0)
    assert panel.weights.sum() == pytest.approx(6.0, rel=1e-3)


def test_share_of_the_best_possible_is_no_more_than_the_true_one(criterion):
    candidates = np.array([0, 1, 2, 3, 4, 6, 7, 9, 11])
    for include in (NONE, np.array([2, 9])):
        panel = select(problem_of(criterion, 6, include=include, among=candidates))
        errors = criterion.errors(tried(panel, candidates))
        start = criterion.errors(include)[-1]
        others = np.setdiff1d(candidates, include)
        for size in range(len(include) + 1, 7):
            panels = combinations(others, size - len(include))
            best = min(criterion.errors(np.append(include, some))[-1] for some in panels)
            true = (start - errors[size]) / (start - best)
            assert 0 < panel.optimality[size - 1] <= min(true + 1e-9, 1.0)


def test_bounds_are_of_panels_with_one_of_each_set(criterion):
    def least(panels):
        return min(criterion.errors(np.array(panel))[-1] for panel in panels)

    best = problem_of(criterion, 3)
    twins = np.sort(select(best).order[:3])
    panel = select(replace(best, alike={"paralogs": twins}))
    panels = list(combinations(range(12), 3))
    start, error = criterion.errors(panel.order[:3])[[0, -1]]
    bound = start - (start - error) / panel.optimality[-1]
    assert np.isin(panel.order[:3], twins).sum() == 1
    assert bound <= least(some for some in panels if np.isin(some, twins).sum() < 2) + 1e-12
    assert bound > least(panels)


def test_genes_that_may_not_be_chosen(criterion, caplog):
    """Too few candidates are said."""
    candidates = np.array([1, 4, 5, 8])
    panel = select(problem_of(criterion, 4, include=np.array([5]), among=candidates))
    assert tried(panel, candidates)[0] == 5
    assert sorted(tried(panel, candidates)) == [1, 4, 5, 8]
    assert len(panel.weights) == len(candidates)
    assert panel.preserved[-1] < 1.0
    assert panel.optimality[-1] == pytest.approx(1.0, rel=1e-2)
    with caplog.at_level(logging.WARNING):
        panel = select(problem_of(criterion, None, among=np.array([3, 8])))
    assert panel.n_selected == 2
    assert panel.preserved[-1] < SHARE
    assert "2 genes" in caplog.messages[-1]


def test_the_fewest_genes_that_keep_enough(criterion, caplog):
    panel = greedy_panel(criterion, None)
    shares = criterion.preserved(tried(panel))
    assert shares[panel.n_selected - 1] >= SHARE
    assert panel.n_selected == 1 or shares[panel.n_selected - 2] < SHARE
    assert len(panel.optimality) == panel.n_selected
    assert len(panel.preserved) == len(tried(panel)) == 12
    same = greedy_panel(criterion, panel.n_selected)
    np.testing.assert_array_equal(tried(same), tried(panel)[: panel.n_selected])
    np.testing.assert_allclose(same.optimality, panel.optimality, atol=1e-3)
    assert not caplog.records
    assert greedy_panel(criterion, None, EVERY[:11]).n_selected >= 11


def test_no_more_than_the_largest():
    """More genes than an automatic panel has, each a direction of its own."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(620, LARGEST + 40))
    (problem,) = build_cells(data, StructureSpec(n_comps=3, n_neighbors=5))
    panel = greedy_panel(Criterion([problem]), None)
    assert len(panel.preserved) == LARGEST
    assert panel.n_selected <= LARGEST


def test_what_is_in_keeps_everything(clusters):
    """Genes that vary are all in; what is left to choose from is constant."""
    data = np.hstack([clusters[:, :6], np.ones((90, 4))])
    criterion = Criterion(build_cells(data, StructureSpec(n_comps=3, n_neighbors=5)))
    for size in (6, 8):
        panel = greedy_panel(criterion, size, np.arange(6))
        assert panel.preserved[5:] == pytest.approx(1.0)
        assert np.isnan(panel.optimality[:6]).all()
        assert not (panel.optimality[6:] < 1.0).any()
