"""Genes under linear limits, all or none of some genes, and their bounds, against all panels."""

from __future__ import annotations

import numpy as np
import pytest
from all_panels import EVERY, EXAMPLES, N_GENES, NONE, PANELS, as_panel, feasible, limits
from hypothesis import assume, event, given
from hypothesis import strategies as st
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.bound import relax, relax_within
from glfs_bio.solvers.constrained import Limited
from glfs_bio.solvers.constraints import ALONE, BROKEN, Row, Rows, check
from glfs_bio.solvers.greedy import Greedy
from glfs_bio.vendors.forecast import loads


@given(limits())
@EXAMPLES
def test_whether_limits_can_hold_is_known(problem):
    """For every beginning of a panel too."""
    rows, size, seed = problem
    panels = feasible(rows, size)
    rng = np.random.default_rng(seed)
    begun = rng.choice(N_GENES, rng.integers(0, 3), replace=False)
    assume((rows.sums(begun) <= rows.most).all())
    assume(len(begun) <= size)
    possible = panels[:, begun].all(axis=1).any()
    open_ = ~np.isin(EVERY, begun)
    rest = rows.completion(rows.sums(begun), open_, size - len(begun))
    assert (rest is not None) == possible
    event(f"possible: {possible}")
    if rest is not None:
        whole = [*begun, *rest]
        assert len(set(whole)) == len(whole) <= size
        assert rows.hold(as_panel(whole))


@given(problem=limits(), thrift=st.sampled_from([0.0, 1.0]), n_blocks=st.sampled_from([1, 2]))
@EXAMPLES
def test_limits_hold(random_errors, problem, thrift, n_blocks):
    rows, size, seed = problem
    panels = feasible(rows, size)
    assume(len(panels))
    blocks = random_errors(seed, n_blocks=n_blocks, n_genes=N_GENES)
    greedy = Limited(blocks, rows, NONE, thrift=thrift)
    greedy.fill(size)
    picked = list(greedy.picked)
    assert len(set(picked)) == len(picked) <= size
    assert rows.hold(as_panel(picked))
    for part in range(len(picked)):
        assert (rows.sums(picked[:part]) <= rows.most).all()
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
    generous = Row("cost", "cost", EVERY, np.arange(1.0, 10.0), upper=100.0)
    for rows in (Rows.of((), N_GENES), Rows.of([generous], N_GENES)):
        greedy = Limited(blocks, rows, include)
        greedy.fill(6)
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
    greedy = Limited(blocks, Rows.of((), N_GENES, priority), NONE)
    greedy.fill(N_GENES)
    assert greedy.picked[0] == order[2]
    assert greedy.picked[-1] == order[0]
    np.testing.assert_allclose(greedy.gains[0], gains[order[2]])


def test_places_are_kept_for_lower_limits(random_errors):
    """The worst two genes must be in: they come last, and no more than two places are kept."""
    blocks = random_errors(0, n_genes=N_GENES)
    plain = Greedy(blocks)
    plain.grow(N_GENES)
    worst = np.sort(plain.picked[-2:])
    rows = Rows.of([Row("types", "a", worst, np.ones(2), lower=2.0)], N_GENES)
    greedy = Limited(blocks, rows, NONE)
    assert greedy.fewest() == 2
    greedy.fill(5)
    assert greedy.picked[:3] == plain.picked[:3]
    assert set(greedy.picked[3:]) == set(worst)
    with refused(InvalidValue, "limits"):
        Limited(blocks, rows, NONE).fill(1)


def tied(*sets):
    groups = np.full(N_GENES, ALONE)
    for number, genes in enumerate(sets):
        groups[list(genes)] = number
    return groups


def all_feasible(rows, size):
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
    panels = all_feasible(rows, size)
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
    found = relax_within(blocks, rows, size, relax(blocks, len(greedy.picked)))
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
