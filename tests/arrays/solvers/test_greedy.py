"""Greedy selection against explicit inverses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from glfs_bio.solvers.greedy import CRITERIA, Greedy

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
