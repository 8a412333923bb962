"""Panels some of whose genes fail."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from all_panels import greedy_panel

from glfs_bio.criterion.criterion import Criterion, OnPlatform, Target, TermOfCells, label_matrix
from glfs_bio.criterion.platform import Detection

EVERY = np.arange(12)


def failing(criterion, failure, n_draws=20):
    return OnPlatform(criterion, Detection(failure=failure), n_draws=n_draws)


def test_none_fails_or_all_do(criterion):
    never, always = (failing(criterion, np.full(12, chance), 3) for chance in (0.0, 1.0))
    np.testing.assert_allclose(never.preserved(EVERY), criterion.preserved(EVERY), rtol=1e-9)
    np.testing.assert_allclose(always.preserved(EVERY), 0.0, atol=1e-12)


def test_draws_keep_the_target_and_lengthen_genes_as_they_see_them(problems):
    targets = [
        Target(((TermOfCells(np.arange(len(cells.basis)) % 3, label_matrix), 1.0),))
        for cells in problems
    ]
    detection = Detection(np.linspace(0.2, 2.0, 12), spread=np.full(12, 0.5))
    criterion = Criterion(problems, targets, instrument=detection)
    drawn = OnPlatform(criterion, detection, n_draws=3)
    heights = detection.amplitude(detection.draws(12, 3, 0)[1])
    ratios = heights / detection.amplitude(detection.detected)
    for block, whole, ratio in zip(
        drawn.blocks, 3 * criterion.blocks, np.repeat(ratios, len(problems), axis=0), strict=True
    ):
        np.testing.assert_allclose(block.genes, whole.genes * ratio[:, None], rtol=1e-12)
    never = OnPlatform(criterion, Detection(failure=np.zeros(12)), n_draws=3)
    np.testing.assert_allclose(never.preserved(EVERY), criterion.preserved(EVERY), rtol=1e-9)


def test_mean_over_draws_is_near_the_mean_over_all_failures(criterion, by_definition):
    panel, chance = [7, 0, 3], 0.3
    expected = 0.0
    for works in product([False, True], repeat=3):
        left = [gene for gene, fine in zip(panel, works, strict=True) if fine]
        share = np.prod([1 - chance if fine else chance for fine in works])
        expected += share * (1.0 - by_definition(left)) / criterion.scale
    many = failing(criterion, np.full(12, chance), 2000)
    assert many.preserved(np.array(panel))[-1] == pytest.approx(expected, abs=0.02)


def test_the_chosen_panel_bears_failures_better(criterion):
    fails = failing(criterion, np.linspace(0.0, 0.9, 12)[::-1].copy())
    tolerant, plain = greedy_panel(fails, 4), greedy_panel(criterion, 4)
    assert fails.preserved(tolerant.order[:4])[-1] >= fails.preserved(plain.order[:4])[-1] - 1e-9
    assert (tolerant.optimality <= 1.0 + 1e-9).all()
    best = plain.order[0]
    assert greedy_panel(failing(criterion, (best == EVERY) * 1.0), 1).order[0] != best


def test_dark_genes_are_dark_on_an_instrument():
    """Amplitudes are in proportion to small efficiencies, 1 in the middle, logarithms beyond."""
    instrument = Detection(np.array([0.0, 1e-4, 1.0, 2.0, 4.0, 100.0]))
    heights = instrument.amplitude(instrument.detected)
    assert heights[0] == 0.0
    assert heights[1] / heights[3] == pytest.approx(1e-4 / instrument.middle / np.log(2), rel=1e-3)
    assert instrument.amplitude(np.array([instrument.middle])) == pytest.approx(1.0)
    assert 1.0 < heights[4] < 2.0 < heights[5] < 10.0


def test_draws_of_a_gene_are_spread_evenly():
    works, drawn = Detection(np.ones(7), np.full(7, 0.5), np.full(7, 0.25)).draws(7, 20, 0)
    assert ((~works).sum(axis=0) == 5).all()
    assert (np.abs((drawn < 1.0).sum(axis=0) - 10) == 0).all()
