"""Panels some of whose genes fail."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from glfs_bio.criterion.instrument import Instrument
from glfs_bio.criterion.platform import Detection, OnPlatform
from glfs_bio.solvers.greedy import select

NONE = np.empty(0, dtype=np.intp)
EVERY = np.arange(12)


def test_none_fails(criterion):
    never = OnPlatform(criterion, Detection(failure=np.zeros(12)), n_draws=3)
    np.testing.assert_allclose(never.preserved(EVERY), criterion.preserved(EVERY), rtol=1e-9)


def test_all_fail(criterion):
    always = OnPlatform(criterion, Detection(failure=np.ones(12)), n_draws=3)
    np.testing.assert_allclose(always.preserved(EVERY), 0.0, atol=1e-12)


def test_mean_over_draws_is_near_the_mean_over_all_failures(criterion, by_definition):
    panel, chance = [7, 0, 3], 0.3
    expected = 0.0
    for works in product([False, True], repeat=3):
        left = [gene for gene, fine in zip(panel, works, strict=True) if fine]
        share = np.prod([1 - chance if fine else chance for fine in works])
        expected += share * (1.0 - by_definition(left)) / criterion.scale
    many = OnPlatform(criterion, Detection(failure=np.full(12, chance)), n_draws=2000)
    assert many.preserved(np.array(panel))[-1] == pytest.approx(expected, abs=0.02)


def test_the_mean_weight_is_too_good(criterion):
    """F is convex: at the mean of the weights it is below its mean."""
    fails = OnPlatform(criterion, Detection(failure=np.full(12, 0.4)), n_draws=500)
    panel = np.array([7, 0, 3, 5])
    beta = np.zeros(12)
    beta[panel] = 0.6
    at_mean = sum(block.value(beta) for block in criterion.blocks)
    assert at_mean < fails.errors(panel)[-1]


def test_a_panel_avoids_genes_that_fail(criterion):
    fails = np.zeros(12)
    best = select(criterion, 1, include=NONE, candidates=EVERY).order[0]
    fails[best] = 1.0
    assert (
        select(
            OnPlatform(criterion, Detection(failure=fails)), 1, include=NONE, candidates=EVERY
        ).order[0]
        != best
    )


def test_the_chosen_panel_bears_failures_better(criterion):
    fails = OnPlatform(
        criterion, Detection(failure=np.linspace(0.0, 0.9, 12)[::-1].copy()), n_draws=50
    )
    tolerant = select(fails, 4, include=NONE, candidates=EVERY)
    plain = select(criterion, 4, include=NONE, candidates=EVERY)
    assert fails.preserved(tolerant.order[:4])[-1] >= fails.preserved(plain.order[:4])[-1] - 1e-9
    assert (tolerant.optimality <= 1.0 + 1e-9).all()


def test_dark_genes_are_dark_on_an_instrument():
    """Amplitudes are in proportion to small efficiencies, 1 in the middle, logarithms beyond."""
    instrument = Instrument(np.array([0.0, 1e-4, 1.0, 2.0, 4.0, 100.0]))
    found = instrument.amplitude(instrument.efficiency)
    assert found[0] == 0.0
    assert found[1] / found[3] == pytest.approx(1e-4 / instrument.middle / np.log(2), rel=1e-3)
    assert instrument.amplitude(np.array([instrument.middle])) == pytest.approx(1.0)
    assert 1.0 < found[4] < 2.0 < found[5] < 10.0


def test_draws_of_a_gene_are_spread_evenly():
    works, drawn = Detection(np.ones(7), np.full(7, 0.5), np.full(7, 0.25)).draws(7, 20, 0)
    assert ((~works).sum(axis=0) == 5).all()
    assert (np.abs((drawn < 1.0).sum(axis=0) - 10) == 0).all()
