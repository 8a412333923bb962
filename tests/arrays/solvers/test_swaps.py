"""Exchanges of genes against all panels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from glfs_bio.solvers.greedy import Greedy
from glfs_bio.solvers.swaps import exchange

EVERY = np.ones(12, dtype=bool)


def panel_of(genes):
    beta = np.zeros(12)
    beta[list(genes)] = 1.0
    return beta


def picked(blocks, genes):
    """A panel of given genes, in their order."""
    greedy = Greedy(blocks)
    for size, gene in enumerate(genes, start=1):
        greedy.grow(size, among=np.array([gene]))
    return greedy


@pytest.mark.parametrize("n_blocks", [1, 2])
@pytest.mark.parametrize("seed", range(15))
def test_no_single_exchange_is_left(random_errors, by_inverse, seed, n_blocks):
    blocks = random_errors(seed, n_blocks=n_blocks)
    rng = np.random.default_rng(seed)
    greedy = picked(blocks, rng.choice(12, 5, replace=False))
    before = list(greedy.picked)
    started = by_inverse(blocks, panel_of(before))
    n_exchanges = exchange(greedy, EVERY, 0)
    ended = by_inverse(blocks, panel_of(greedy.picked))
    assert len(set(greedy.picked)) == 5
    if n_exchanges:
        assert ended < started
    else:
        assert greedy.picked == before
    for out in greedy.picked:
        stay = [gene for gene in greedy.picked if gene != out]
        others = [by_inverse(blocks, panel_of([*stay, gene])) for gene in range(12)]
        assert min(others) >= ended - 1e-9
    assert exchange(greedy, EVERY, 0) == 0


def test_what_waits_is_that_of_the_panel(random_errors):
    blocks = random_errors(1)
    greedy = picked(blocks, range(5))
    assert exchange(greedy, EVERY, 0) > 0
    rest = np.setdiff1d(np.arange(12), greedy.picked)
    expected = picked(blocks, greedy.picked).waiting[rest]
    np.testing.assert_allclose(greedy.waiting[rest], expected, rtol=1e-9)


def test_fixed_and_forbidden_genes(random_errors):
    exchanged = 0
    for seed in range(10):
        greedy = picked(random_errors(seed), [11, 3, 0, 1, 2])
        allowed = EVERY.copy()
        allowed[4:7] = False
        exchanged += exchange(greedy, allowed, 2)
        assert greedy.picked[:2] == [11, 3]
        assert not set(greedy.picked) & {4, 5, 6}
    assert exchanged > 0


def test_the_best_panel_where_greedy_misses_it(random_errors, by_inverse):
    """Over many small problems exchanges end at the best of all panels more often."""
    panels = list(combinations(range(12), 3))
    masks = np.array([panel_of(panel) for panel in panels])
    missed, mended = 0, 0
    for seed in range(30):
        blocks = random_errors(seed)
        best = set(panels[np.argmin(by_inverse(blocks, masks))])
        greedy = Greedy(blocks)
        greedy.grow(3)
        if set(greedy.picked) == best:
            continue
        missed += 1
        exchange(greedy, EVERY, 0)
        mended += set(greedy.picked) == best
    assert missed >= 3
    assert mended >= missed / 2
