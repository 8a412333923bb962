"""Greedy selection against explicit inverses."""

from __future__ import annotations

import logging
from itertools import combinations

import numpy as np
import pytest
from all_panels import tried
from numpy.testing import assert_allclose

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.options import StructureSpec
from glfs_bio.solvers.greedy import CRITERIA, LARGEST, SHARE, Greedy, select

SETTINGS = [
    pytest.param({}, id="one set of cells"),
    pytest.param({"n_blocks": 3}, id="three sets"),
    pytest.param({"include": (2, 7)}, id="genes that are measured already"),
]


@pytest.fixture(params=SETTINGS)
def blocks(random_errors, request):
    return random_errors(0, **request.param)


def panel_of(genes):
    """β of a panel of 12 genes' number."""
    beta = np.zeros(12)
    beta[list(genes)] = 1.0
    return beta


def log_determinant(blocks, beta):
    """``−log det(I + A')``."""
    return -sum(
        np.linalg.slogdet(
            np.eye(len(block.weights)) + block.covered + (block.genes.T * beta) @ block.genes
        )[1]
        for block in blocks
    )


@pytest.fixture
def value(by_inverse):
    """What falls when genes enter, for either criterion."""
    return {"trace": by_inverse, "determinant": log_determinant}


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_gene_is_the_one_that_gains_most(blocks, value, criterion):
    """After every entry, what waits is the difference that each gene would make."""
    of = value[criterion]
    greedy = Greedy(blocks, criterion)
    for size in range(12):
        now = of(blocks, panel_of(greedy.picked))
        gains = np.array([now - of(blocks, panel_of([*greedy.picked, i])) for i in range(12)])
        gains[greedy.picked] = -np.inf
        rest = np.setdiff1d(np.arange(12), greedy.picked)
        assert_allclose(greedy.waiting[rest], gains[rest], rtol=1e-8, atol=1e-12)
        greedy.grow(size + 1)
        assert gains[greedy.picked[-1]] == pytest.approx(gains.max(), rel=1e-8, abs=1e-12)
        assert greedy.gains[-1] == pytest.approx(gains.max(), rel=1e-8, abs=1e-12)
    assert sorted(greedy.picked) == list(range(12))


def test_the_first_gene_is_the_best_of_all_panels_of_one(blocks, by_inverse):
    greedy = Greedy(blocks)
    greedy.grow(1)
    assert greedy.picked == [np.argmin(by_inverse(blocks, np.eye(12)))]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_panels_are_nested(blocks, criterion):
    at_once, in_steps = Greedy(blocks, criterion), Greedy(blocks, criterion)
    at_once.grow(9)
    for size in (1, 4, 4, 9):
        in_steps.grow(size)
        assert in_steps.picked == at_once.picked[:size]
    assert in_steps.gains == at_once.gains


def test_some_genes_first_and_no_more_than_there_are(random_errors):
    greedy = Greedy(random_errors(0))
    greedy.grow(6, among=np.array([2, 7]))
    assert set(greedy.picked) == {2, 7}
    greedy.grow(100)
    assert sorted(greedy.picked) == list(range(12))


def test_covered_genes_count(random_errors):
    blocks = random_errors(0)
    alone = Greedy(blocks)
    alone.grow(4)
    beside = Greedy([block.cover(np.array(alone.picked[:1])) for block in blocks])
    beside.grow(3)
    assert beside.picked == alone.picked[1:]


EVERY = np.arange(12)
NONE = np.empty(0, dtype=np.intp)


def test_selected_panels_are_nested(criterion):
    largest = select(criterion, 12, include=NONE, candidates=EVERY)
    assert sorted(tried(largest)) == list(range(12))
    for size in range(1, 12):
        panel = select(criterion, size, include=NONE, candidates=EVERY)
        assert panel.n_selected == size
        np.testing.assert_array_equal(tried(panel), tried(largest)[:size])
        np.testing.assert_array_equal(panel.preserved, largest.preserved[:size])


def test_kept_is_that_of_the_criterion(criterion):
    panel = select(criterion, 7, include=NONE, candidates=EVERY)
    np.testing.assert_allclose(panel.preserved, criterion.preserved(tried(panel)), rtol=1e-12)
    gains = criterion.errors(tried(panel))[-1] - [
        criterion.errors(np.append(tried(panel), gene))[-1] for gene in EVERY
    ]
    rest = np.setdiff1d(EVERY, tried(panel))
    waiting = panel.scores[rest] * gains[rest].max()
    np.testing.assert_allclose(waiting, gains[rest], rtol=1e-7, atol=1e-12)


def test_genes_that_must_be_in_come_first(criterion):
    include = np.array([2, 9])
    panel = select(criterion, 6, include=include, candidates=EVERY)
    assert set(tried(panel)[:2]) == {2, 9}
    assert np.isnan(panel.optimality[:2]).all()
    share = panel.optimality[2:]
    assert ((share > 0) & (share <= 1)).all()
    np.testing.assert_array_equal(panel.weights[include], 1.0)
    assert panel.weights.sum() == pytest.approx(6.0)


def test_weights_are_those_of_the_relaxed_choice(criterion):
    panel = select(criterion, 5, include=NONE, candidates=EVERY)
    assert panel.weights.sum() == pytest.approx(5.0)
    assert ((panel.weights >= 0) & (panel.weights <= 1)).all()


@pytest.mark.parametrize("include", [(), (2, 9)])
def test_share_of_the_best_possible_is_no_more_than_the_true_one(criterion, include):
    include = np.array(include, dtype=np.intp)
    candidates = np.array([0, 1, 2, 3, 4, 6, 7, 9, 11])
    panel = select(criterion, 6, include=include, candidates=candidates)
    errors = criterion.errors(tried(panel, candidates))
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
    assert tried(panel, candidates)[0] == 5
    assert sorted(tried(panel, candidates)) == [1, 4, 5, 8]
    assert len(panel.weights) == len(candidates)
    assert panel.preserved[-1] < 1.0
    assert panel.optimality[-1] == pytest.approx(1.0, rel=1e-2)


def test_the_fewest_genes_that_keep_enough(criterion, caplog):
    panel = select(criterion, None, include=NONE, candidates=EVERY)
    kept = criterion.preserved(tried(panel))
    assert kept[panel.n_selected - 1] >= SHARE
    assert panel.n_selected == 1 or kept[panel.n_selected - 2] < SHARE
    assert len(panel.optimality) == panel.n_selected
    assert len(panel.preserved) == len(tried(panel)) == 12
    same = select(criterion, panel.n_selected, include=NONE, candidates=EVERY)
    np.testing.assert_array_equal(tried(same), tried(panel)[: panel.n_selected])
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
    assert len(panel.preserved) == LARGEST
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
