"""Panels within limits are as large as they can be, and nearly as good, against all panels."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from all_panels import EVERY, N_GENES, NONE, PANELS, as_panel

from glfs_bio.criterion.across import Largest
from glfs_bio.criterion.criterion import along
from glfs_bio.solvers.constrained import Limited, _Search
from glfs_bio.solvers.constraints import ALONE, Row, Rows
from glfs_bio.solvers.exchanges import Exchanges
from glfs_bio.solvers.greedy import Greedy

SEEDS = range(12)


class OfBlocks:
    """F of some blocks: their sum, or the largest of them."""

    def __init__(self, blocks, worst):
        self.blocks, self.worst = blocks, worst

    def across(self):
        starts = np.array([block.weights.sum() for block in self.blocks])
        return Largest(starts, 100.0) if self.worst else None

    def errors(self, order):
        errors = [along(block.only(order)) for block in self.blocks]
        return np.max(errors, axis=0) if self.worst else np.sum(errors, axis=0)

    def preserved(self, order):
        errors = self.errors(order)
        return 1.0 - errors[1:] / errors[0]


def limited(seed, kind):
    """Limits of a kind on nine genes, which bind."""
    rng = np.random.default_rng(seed)
    counts = rng.gamma(0.5, size=N_GENES) + 0.01
    rows, groups = [], None
    if kind in ("total", "total and types", "tied"):
        upper = 1.3 * float(np.sort(counts)[:4].sum())
        rows.append(Row("total", "total", EVERY, counts, upper=upper))
    if kind == "bits":
        for bit in range(3):
            some = np.flatnonzero(rng.random(N_GENES) < 0.5)
            upper = float(np.quantile(counts[some], 0.6)) * 2
            rows.append(Row("bits", f"bits {bit}", some, counts[some], upper=upper))
    if kind == "families":
        for name in "ab":
            some = np.flatnonzero(rng.random(N_GENES) < 0.6)
            rows.append(Row("family", f"family {name}", some, np.ones(len(some)), upper=1.0))
    if kind == "total and types":
        some = np.argsort(counts)[2:6]
        rows.append(Row("types", "types", some, np.ones(4), lower=1.0))
    if kind == "tied":
        groups = np.full(N_GENES, ALONE)
        groups[np.argsort(counts)[[1, 3]]] = 0
    return Rows.of(rows, N_GENES, groups=groups)


KINDS = ("total", "bits", "families", "total and types", "tied")


def search(blocks, rows, include=NONE, *, worst=False):
    return _Search(OfBlocks(blocks, worst), EVERY, blocks, rows, include)


def of_all(criterion, rows, size, include=NONE):
    """All panels of at most so many genes within the limits, and F of each."""
    panels = [
        panel
        for panel in PANELS
        if panel.sum() <= size and panel[include].all() and rows.hold(panel)
    ]
    return np.array(
        [[panel.sum(), criterion.errors(np.flatnonzero(panel))[-1]] for panel in panels]
    )


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_panels_are_as_large_as_they_can_be(random_errors, caplog, seed, kind, worst):
    rows, blocks, size = limited(seed, kind), random_errors(seed, n_blocks=2, n_genes=N_GENES), 5
    sought = search(blocks, rows, worst=worst)
    every = of_all(sought.criterion, rows, size)
    with caplog.at_level(logging.WARNING):
        found = sought.best(size)
    picked, largest = found.picked, int(every[:, 0].max())
    assert rows.hold(as_panel(picked))
    assert len(set(picked)) == len(picked) == largest
    said = [message for message in caplog.messages if "preserve" not in message]
    assert said == [] if largest == size else f"panel of {largest + 1} " in said[0]
    assert found.gains == pytest.approx(list(-np.diff(ordered(blocks, picked, worst))))
    before = sought.start()
    before.fill(size)
    if len(before.picked) == largest:
        error = sought.criterion.errors
        assert error(picked)[-1] <= error(before.picked)[-1] + 1e-12


def ordered(blocks, picked, worst):
    """The error that genes are chosen by, along a panel."""
    errors = np.array([along(block.only(picked)) for block in blocks])
    if not worst:
        return errors.sum(axis=0)
    return np.log(np.exp(100.0 * errors).sum(axis=0)) / 100.0


def test_fewer_genes_that_preserve_more_are_said(random_errors, caplog):
    """So many genes fit only without the one that gains most."""
    blocks = random_errors(0, n_genes=N_GENES)
    gains = Greedy(blocks).waiting
    best, worst = int(np.argmax(gains)), np.argsort(gains)[:3]
    counts = np.where(best == EVERY, 1.0, np.where(np.isin(EVERY, worst), 0.1, 5.0))
    rows = Rows.of([Row("total", "total", EVERY, counts, upper=1.0)], N_GENES)
    with caplog.at_level(logging.WARNING):
        found = search(blocks, rows).best(3)
    assert set(found.picked) == set(worst)
    assert "1 gene" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_panels_are_nearly_the_best(random_errors, kind):
    """Of their size: in the mean within 1 % of what the best gains, and nowhere below 80 %."""
    shares = []
    for seed in range(40):
        rows, blocks = limited(seed, kind), random_errors(seed, n_genes=N_GENES)
        sought = search(blocks, rows)
        every = of_all(sought.criterion, rows, 5)
        start, error = sought.criterion.errors(sought.best(5).picked)[[0, -1]]
        best = every[every[:, 0] == every[:, 0].max(), 1].min()
        shares.append((start - error) / (start - best))
    assert np.mean(shares) > 0.99
    assert min(shares) > 0.8


@pytest.mark.parametrize("seed", SEEDS)
def test_a_budget_is_used_well(random_errors, seed):
    rng = np.random.default_rng(seed)
    costs = rng.integers(1, 6, N_GENES).astype(float)
    rows = Rows.of([Row("budget", "budget", EVERY, costs, upper=9.0)], N_GENES, budget=True)
    sought = search(random_errors(seed, n_genes=N_GENES), rows)
    picked = sought.best(None).picked
    assert costs[picked].sum() <= 9.0
    every = of_all(sought.criterion, rows, N_GENES)[:, 1]
    start, error = sought.criterion.errors(picked)[[0, -1]]
    assert start - error > 0.95 * (start - every.min())


def test_included_genes_and_partners_stay(random_errors):
    for seed in SEEDS:
        rows, blocks = limited(seed, "tied"), random_errors(seed, n_genes=N_GENES)
        cheap = np.argsort(rows.use)
        for include in (cheap[:1], cheap[1:2]):
            found = search(blocks, rows, include).best(4)
            assert set(found.picked[: len(include)]) == set(include)
            assert rows.hold(as_panel(found.picked))


def test_an_exchange_respects_priority(random_errors):
    blocks = random_errors(4, n_genes=N_GENES)
    best = int(np.argmax(Greedy(blocks).waiting))
    other = (best + 1) % N_GENES
    one = Row("one", "one", EVERY, np.ones(N_GENES), upper=1.0)
    for priority, kept in ((1.0, best), (1e6, other)):
        factors = np.ones(N_GENES)
        factors[other] = priority
        rows = Rows.of([one], N_GENES, factors)
        exchanges = Exchanges(lambda: Greedy(blocks), rows, NONE, 1, 0.0)
        assert exchanges.improved([other]) == [kept]


def test_a_gene_that_leaves_leaves_nothing_behind(random_errors):
    blocks = random_errors(1, n_blocks=2)
    plain, other = (Greedy(blocks, across=Largest(np.ones(2), 100.0)) for _ in range(2))
    plain.enter(3)
    for gene in (3, 5, 0):
        other.enter(gene)
    for gene in (5, 0):
        other.leave(gene)
    np.testing.assert_allclose(other.waiting, plain.waiting)
    np.testing.assert_array_equal(other.left, plain.left)


def test_a_dear_gene_makes_room(random_errors):
    """One gene that gains most takes all that the limit allows; three are asked for."""
    blocks = random_errors(0, n_genes=N_GENES)
    best = int(np.argmax(Greedy(blocks).waiting))
    counts = np.where(best == EVERY, 1.0, 0.4)
    rows = Rows.of([Row("total", "total", EVERY, counts, upper=1.25)], N_GENES)
    short = Limited(blocks, rows, NONE)
    short.fill(3)
    assert len(short.picked) == 1
    found = search(blocks, rows).best(3)
    assert len(found.picked) == 3
    assert best not in found.picked
