"""Panels within limits are as large as they can be, and nearly as good, against all panels."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from all_panels import EVERY, N_GENES, NONE, OfBlocks, as_panel, at_least, at_most, feasible
from scipy.special import logsumexp

from glfs_bio.criterion.across import Largest
from glfs_bio.criterion.criterion import errors_along
from glfs_bio.solvers.constrained import _Search
from glfs_bio.solvers.constraints import Rows
from glfs_bio.solvers.exchanges import Exchanges
from glfs_bio.solvers.greedy import Greedy

SEEDS = range(12)
KINDS = ("total", "bits", "families", "total and types")


def limited(seed, kind):
    """Limits of a kind on nine genes, which bind."""
    rng = np.random.default_rng(seed)
    counts = rng.gamma(0.5, size=N_GENES) + 0.01
    rows = []
    if kind in ("total", "total and types"):
        rows.append(at_most(1.3 * float(np.sort(counts)[:4].sum()), name="total", values=counts))
    if kind == "bits":
        for bit in range(3):
            some = np.flatnonzero(rng.random(N_GENES) < 0.5)
            upper = float(np.quantile(counts[some], 0.6)) * 2
            rows.append(at_most(upper, some, f"bits {bit}", values=counts[some]))
    if kind == "families":
        for name in "ab":
            rows.append(at_most(1.0, np.flatnonzero(rng.random(N_GENES) < 0.6), f"family {name}"))
    if kind == "total and types":
        rows.append(at_least(1.0, np.argsort(counts)[2:6]))
    return Rows.of(rows, N_GENES)


def search(blocks, rows, include=NONE, *, worst=False):
    return _Search(OfBlocks(blocks, worst=worst), EVERY, rows, include)


def of_all(criterion, rows, size):
    """The number of genes of each panel within the limits, and its F."""
    panels = feasible(rows, size)
    errors = [criterion.errors(np.flatnonzero(panel))[-1] for panel in panels]
    return panels.sum(axis=1), np.array(errors)


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_panels_are_as_large_as_they_can_be(random_errors, caplog, kind, worst):
    size = 5
    for seed in SEEDS:
        rows, blocks = limited(seed, kind), random_errors(seed, n_blocks=2, n_genes=N_GENES)
        sought = search(blocks, rows, worst=worst)
        largest = of_all(sought.criterion, rows, size)[0].max()
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            panel = sought.best(size)
        picked = panel.picked
        assert rows.hold(as_panel(picked))
        assert len(set(picked)) == len(picked) == largest
        messages = [message for message in caplog.messages if "preserve" not in message]
        assert len(messages) == (largest < size)
        assert not messages or f"panel of {largest + 1:.0f} " in messages[0]
        errors = np.array([errors_along(block.only(picked)) for block in blocks])
        steps = logsumexp(100.0 * errors, axis=0) / 100.0 if worst else errors.sum(axis=0)
        assert panel.gains == pytest.approx(list(-np.diff(steps)))
        before = sought.start()
        before.fill(size)
        if len(before.picked) == largest:
            error, greedy = (sought.criterion.errors(of)[-1] for of in (picked, before.picked))
            assert error <= greedy + 1e-12


def test_fewer_genes_that_preserve_more_are_said(random_errors, caplog):
    """So many genes fit only without the one that gains most."""
    blocks = random_errors(0, n_genes=N_GENES)
    gains = Greedy(blocks).waiting
    best, worst = int(np.argmax(gains)), np.argsort(gains)[:3]
    counts = np.where(best == EVERY, 1.0, np.where(np.isin(EVERY, worst), 0.1, 5.0))
    rows = Rows.of([at_most(1.0, name="total", values=counts)], N_GENES)
    with caplog.at_level(logging.WARNING):
        panel = search(blocks, rows).best(3)
    assert set(panel.picked) == set(worst)
    assert "1 gene" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_panels_are_nearly_the_best(random_errors, kind):
    """Of their size: in the mean within 1 % of what the best gains, and nowhere below 80 %."""
    shares = []
    for seed in range(40):
        rows, blocks = limited(seed, kind), random_errors(seed, n_genes=N_GENES)
        sought = search(blocks, rows)
        sizes, errors = of_all(sought.criterion, rows, 5)
        start, error = sought.criterion.errors(sought.best(5).picked)[[0, -1]]
        shares.append((start - error) / (start - errors[sizes == sizes.max()].min()))
    assert np.mean(shares) > 0.99
    assert min(shares) > 0.8


def test_a_budget_is_used_well(random_errors):
    for seed in SEEDS:
        costs = np.random.default_rng(seed).integers(1, 6, N_GENES).astype(float)
        rows = Rows.of([at_most(9.0, name="budget", values=costs)], N_GENES, budget=True)
        sought = search(random_errors(seed, n_genes=N_GENES), rows)
        picked = sought.best(None).picked
        assert costs[picked].sum() <= 9.0
        errors = of_all(sought.criterion, rows, N_GENES)[1]
        start, error = sought.criterion.errors(picked)[[0, -1]]
        assert start - error > 0.95 * (start - errors.min())


def test_included_genes_stay(random_errors):
    for seed in SEEDS:
        rows, blocks = limited(seed, "total"), random_errors(seed, n_genes=N_GENES)
        cheap = np.argsort(rows.use)
        for include in (cheap[:1], cheap[1:2]):
            picked = search(blocks, rows, include).best(4).picked
            assert set(picked[: len(include)]) == set(include)
            assert rows.hold(as_panel(picked))


def test_an_exchange_respects_priority(random_errors):
    blocks = random_errors(4, n_genes=N_GENES)
    best = int(np.argmax(Greedy(blocks).waiting))
    other = (best + 1) % N_GENES
    for priority, stays in ((1.0, best), (1e6, other)):
        factors = np.ones(N_GENES)
        factors[other] = priority
        rows = Rows.of([at_most(1.0)], N_GENES, factors)
        exchanges = Exchanges(lambda: Greedy(blocks), rows, NONE, 1, 0.0)
        assert exchanges.improved([other]) == [stays]


def test_a_gene_that_leaves_leaves_nothing_behind(random_errors):
    blocks = random_errors(1, n_blocks=2)
    plain, other = (Greedy(blocks, across=Largest(np.ones(2), 100.0)) for _ in range(2))
    plain.enter(3)
    for gene in (3, 5, 0):
        other.enter(gene)
    for gene in (5, 0):
        other.leave(gene)
    np.testing.assert_allclose(other.waiting, plain.waiting)
    np.testing.assert_array_equal(other.can_enter, plain.can_enter)
