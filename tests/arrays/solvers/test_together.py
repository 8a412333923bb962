"""Genes that are in a panel all or none, and loads of bits, against all panels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.bound import relax
from glfs_bio.solvers.constrained import Limited
from glfs_bio.solvers.constrained_bound import relax_within
from glfs_bio.solvers.constraints import ALONE, BROKEN, Row, Rows, check
from glfs_bio.vendors.forecast import loads

N_GENES = 9
EVERY = np.arange(N_GENES)
NONE = np.empty(0, dtype=np.intp)
PANELS = np.array(
    [np.isin(EVERY, some) for size in range(N_GENES + 1) for some in combinations(EVERY, size)]
).astype(float)


def tied(*sets):
    groups = np.full(N_GENES, ALONE)
    for number, genes in enumerate(sets):
        groups[list(genes)] = number
    return groups


def feasible(rows, size):
    """All panels of at most so many genes within the limits, by definition."""
    within = np.array([rows.hold(panel) for panel in PANELS])
    return PANELS[within & (PANELS.sum(axis=1) <= size)]


def problem(seed, size):
    """A pair, a set of three, codewords of two of five bits, and a gene that must be in."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(N_GENES)
    words = np.zeros((N_GENES, 5), dtype=bool)
    for word in words:
        word[rng.choice(5, 2, replace=False)] = True
    counts = rng.gamma(1.0, size=N_GENES)
    load = loads(words, counts)
    most = float(np.quantile(load.sum(axis=1), 0.5)) * size / N_GENES
    bits = [Row("bit", f"bit {bit}", EVERY, one, upper=most) for bit, one in enumerate(load)]
    bits.append(Row("types", "a", order[5:8], np.ones(3), lower=1.0))
    return Rows.of(bits, N_GENES, groups=tied(order[:2], order[2:5]))


@pytest.mark.parametrize("size", [4, 6])
@pytest.mark.parametrize("seed", range(8))
def test_panels_hold_and_are_bounded(random_errors, by_inverse, seed, size):
    rows = problem(seed, size)
    blocks = random_errors(seed, n_blocks=2, n_genes=N_GENES)
    panels = feasible(rows, size)
    try:
        check(rows, size, include=NONE, candidates=EVERY)
    except InvalidValue:
        assert not len(panels)
        return
    assert len(panels)
    greedy = Limited(blocks, rows, NONE)
    greedy.fill(size)
    chosen = np.isin(EVERY, greedy.picked).astype(float)
    assert len(set(greedy.picked)) == len(greedy.picked) <= size
    assert rows.hold(chosen)
    assert sum(greedy.gains) == pytest.approx(
        by_inverse(blocks, np.zeros(N_GENES)) - by_inverse(blocks, chosen)
    )
    found = relax_within(blocks, rows, size, chosen, relax(blocks, len(greedy.picked)))
    lowest = by_inverse(blocks, panels).min()
    assert found.lower[-1] <= lowest + 1e-12
    assert lowest <= by_inverse(blocks, chosen) + 1e-12


def test_limits_on_bits_bind(random_errors, by_inverse):
    """Without them a better panel is chosen, which breaks them."""
    rows = problem(0, 5)
    blocks = random_errors(0, n_genes=N_GENES)
    greedy, free = (Limited(blocks, one, NONE) for one in (rows, Rows.of((), N_GENES)))
    for one in (greedy, free):
        one.fill(5)
    assert not rows.hold(np.isin(EVERY, free.picked).astype(float))
    assert greedy.held_back
    assert sum(greedy.gains) < sum(free.gains)


def test_a_pair_enters_for_what_its_genes_gain_together(random_errors):
    blocks = random_errors(3, n_genes=N_GENES)
    plain = Limited(blocks, Rows.of((), N_GENES), NONE)
    plain.fill(N_GENES)
    best, worst = plain.picked[0], plain.picked[-1]
    rows = Rows.of((), N_GENES, groups=tied((best, worst)))
    for size in (1, 2, 5, 9):
        greedy = Limited(blocks, rows, NONE)
        greedy.fill(size)
        assert (best in greedy.picked) == (worst in greedy.picked)
        assert len(greedy.picked) == size
    alone = Limited(blocks, rows, NONE)
    alone.fill(1)
    assert best not in alone.picked


def test_a_set_in_parts_is_out(random_errors):
    rows = Rows.of((), N_GENES, groups=tied((0, 1), (2, 3, 4)))
    some = rows.only(np.array([0, 2, 3, 4, 5]))
    assert [list(one) for one in some.sets] == [[1, 2, 3]]
    np.testing.assert_array_equal(some.whole(np.ones(5, dtype=bool)), [False, *[True] * 4])
    np.testing.assert_array_equal(rows.with_partners(np.array([1, 7])), [0, 1, 7])
    assert rows.closed([5, 0, 1, 6], 2) == 3
    with refused(InvalidValue, "together"):
        check(rows, 3, include=np.array([0]), candidates=np.array([0, 2, 5]))
    with refused(InvalidValue, "together"):
        check(rows, 2, include=np.array([0, 5]), candidates=EVERY)
    groups = rows.groups.copy()
    groups[8] = BROKEN
    assert not Rows.of((), N_GENES, groups=groups).whole(np.ones(N_GENES, dtype=bool))[8]
