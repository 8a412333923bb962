"""Efficiencies and off-target shares that are known are found again, with honest intervals."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.criterion.platform import Detection
from glfs_bio.vendors.forecast import Means, counted, estimated, of_labels, off_target

N_GENES, N_TYPES, N_CELLS = 200, 5, 60
WEIGHTS = np.full(N_TYPES, 1.0 / N_TYPES)


def of_counts(counts):
    """Means of counts, shape (n_types, n_cells, n_genes)."""
    return Means(counts.mean(axis=1), counts.var(axis=1), np.full(N_TYPES, N_CELLS))


@pytest.fixture
def assays():
    rng = np.random.default_rng(1)
    rates = rng.gamma(0.5, 2.0, size=(N_TYPES, 1, N_GENES)) * rng.gamma(0.3, size=N_GENES)
    true = np.exp(rng.normal(np.log(0.3), 0.6, size=N_GENES))
    cells = np.ones((N_TYPES, N_CELLS, 1))
    return rates, true, rng.poisson(rates * cells), rng.poisson(rates * true * cells)


def test_efficiencies_are_shrunk_and_their_intervals_hold(assays):
    _, true, here, there = assays
    efficiency = estimated(of_counts(here), of_counts(there), WEIGHTS)
    errors = (efficiency.middle - np.log(true)) / efficiency.spread
    assert 0.85 < (np.abs(errors) < 1.645).mean() <= 1.0
    assert np.exp(efficiency.prior_middle) == pytest.approx(0.3, rel=0.2)
    assert efficiency.prior_spread == pytest.approx(0.6, rel=0.35)
    raw = np.log((there.sum(axis=(0, 1)) + 0.5) / (here.sum(axis=(0, 1)) + 0.5))
    assert np.mean((efficiency.middle - np.log(true)) ** 2) < np.mean((raw - np.log(true)) ** 2)
    few = here.sum(axis=(0, 1)) < 5
    assert efficiency.spread[few].mean() > 1.5 * efficiency.spread[~few].mean()


def test_what_does_not_follow_the_types_is_off_target(assays):
    rates, true, here, _ = assays
    rng = np.random.default_rng(2)
    share = np.where(np.arange(N_GENES) < N_GENES // 2, 0.0, 0.5)
    total = (rates * true).mean(axis=0)
    rate = rates * true * (1 - share) + total * share
    there = rng.poisson(rate * np.ones((N_TYPES, N_CELLS, 1)))
    shares = off_target(of_counts(here), of_counts(there), WEIGHTS)
    some = here.sum(axis=(0, 1)) > 200
    assert np.median(shares[some & (share == 0)]) < 0.15
    assert np.median(shares[some & (share > 0)]) == pytest.approx(0.5, abs=0.15)
    assert ((shares >= 0) & (shares <= 1)).all()


def test_counts_of_the_platform_have_its_efficiencies():
    rng = np.random.default_rng(0)
    rates = np.tile([4.0, 4.0, 4.0], (4000, 1))
    counts = rng.poisson(rates)
    efficiency = np.array([0.25, 1.0, 3.0])
    here = counted(counts, rates, efficiency, None, rng)
    np.testing.assert_allclose(here.mean(axis=0), [1.0, 4.0, 12.0], rtol=0.05)
    np.testing.assert_array_equal(here[:, 1], counts[:, 1])
    wrong = counted(counts, rates, efficiency, np.full(3, 0.5), rng)
    np.testing.assert_allclose(wrong.mean(axis=0), [1.0, 4.0, 12.0], rtol=0.05)
    assert np.corrcoef(wrong[:, 1], counts[:, 1])[0, 1] < 0.9


def test_recall_falls_with_what_is_detected():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 50)
    rates = np.where(codes[:, None] == np.repeat(np.arange(4), 2), 4.0, 0.5)
    counts = rng.poisson(rates).astype(float)
    names = ["a", "b", "c", "d"]
    forecasts = [
        of_labels(counts, rates, codes, names, Detection(np.full(8, share)), 0)
        for share in (1.0, 0.1)
    ]
    whole, little = (forecast.per_label for forecast in forecasts)
    assert list(whole.index) == names
    assert (whole["recall"] > little["recall"]).all()
    for table, accuracy, _ in forecasts:
        assert (table["recall_low"] < table["recall"]).all()
        assert (table["recall"] < table["recall_high"]).all()
        assert accuracy[1] < accuracy[0] < accuracy[2]
    unsure = Detection(np.full(8, 0.3), np.full(8, 1.0), np.full(8, 0.2))
    wide = of_labels(counts, rates, codes, names, unsure, 0).per_label
    assert (wide["recall_high"] - wide["recall_low"]).mean() > 0.3


def test_an_interval_has_what_few_cells_can_show():
    """Of a type of few cells all, or none, are often right."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(3), [60, 60, 6])
    rates = np.where(codes[:, None] == np.array([0, 0, 1, 1]), 6.0, 0.2)
    table = of_labels(rng.poisson(rates), rates, codes, ["a", "b", "c"], Detection(), 0).per_label
    assert table.loc["a", "recall_high"] == 1.0
    assert table.loc["c", "recall_low"] == 0.0
