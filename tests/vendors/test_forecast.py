"""Efficiencies, off-target shares and spillover that are known are found again, with intervals."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.criterion.platform import Detection
from glfs_bio.vendors.forecast import (
    Means,
    Spillover,
    around,
    coexpression,
    counted,
    estimated,
    exclusive,
    leaks,
    mixed,
    of_labels,
    off_target,
)

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
    middle, spread = estimated(of_counts(here), of_counts(there), WEIGHTS)
    errors = (middle[:-1] - np.log(true)) / spread[:-1]
    assert 0.85 < (np.abs(errors) < 1.645).mean() <= 1.0
    assert np.exp(middle[-1]) == pytest.approx(0.3, rel=0.2)
    assert spread[-1] == pytest.approx(0.6, rel=0.35)
    raw = np.log((there.sum(axis=(0, 1)) + 0.5) / (here.sum(axis=(0, 1)) + 0.5))
    assert np.mean((middle[:-1] - np.log(true)) ** 2) < np.mean((raw - np.log(true)) ** 2)
    few = here.sum(axis=(0, 1)) < 5
    assert spread[:-1][few].mean() > 1.5 * spread[:-1][~few].mean()


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
    for table, accuracy, *_ in forecasts:
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


N_LABELS, N_OF_EACH = 4, 60
NAMES = ["a", "b", "c", "d"]
EVEN = np.full((N_LABELS, N_LABELS), 0.25)


@pytest.fixture
def cells():
    """Counts of cells of four types, each with two markers, and their codes."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(N_LABELS), N_OF_EACH)
    is_marker = codes[:, None] == np.repeat(np.arange(N_LABELS), 2)
    return rng.poisson(np.where(is_marker, 6.0, 0.0)).astype(float), codes


def forecast(cells, spillover=None, detection=None):
    counts, codes = cells
    detection = Detection() if detection is None else detection
    return of_labels(counts, counts, codes, NAMES, detection, 0, spillover)


def spilled(counts, codes, neighbors, share):
    spillover = Spillover(share, np.array(neighbors))
    return mixed(counts, codes, spillover, np.random.default_rng(0))


def test_a_share_of_the_molecules_moves():
    codes = np.repeat([0, 1], 3000)
    counts = np.zeros((6000, 2))
    counts[codes == 0, 0], counts[codes == 1, 1] = 50, 10
    after = spilled(counts, codes, [[0.7, 0.3], [0.3, 0.7]], 0.2)
    here, there = (after[codes == code].mean(axis=0) for code in (0, 1))
    np.testing.assert_allclose(here, [50 * (0.8 + 0.2 * 0.7), 10 * 0.2 * 0.3], rtol=0.08)
    np.testing.assert_allclose(there, [50 * 0.2 * 0.3, 10 * (0.8 + 0.2 * 0.7)], rtol=0.08)
    # neighbours of a type that is not there are replaced
    codes, counts = np.repeat([0, 1], 500), np.ones((1000, 1)) * 10
    nowhere = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert spilled(counts, codes, nowhere, 0.5).mean() == pytest.approx(10, rel=0.03)


def test_cells_that_follow_each_other_are_neighbours():
    """A cell of type a has neighbours a and b alike, which are neighbours of their own type."""
    neighbors = np.array([[0.5, 0.5], [0.05, 0.95]])
    first, then = around(neighbors, np.array([2, 2]))
    joint = np.array([first[s] * then[0] for s in (0, 1)])
    following = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(neighbors[0] @ following, neighbors[0], atol=1e-6)
    odds = following[0, 0] * following[1, 1] / (following[0, 1] * following[1, 0])
    assert odds == pytest.approx(0.5 * 0.95 / (0.5 * 0.05), rel=1e-4)
    first, then = around(np.full((2, 2), 0.5), np.array([2, 2]))
    np.testing.assert_allclose(first * then / then.sum(axis=1), 0.25)


def test_without_spillover_the_forecast_is_the_same(cells):
    plain = forecast(cells)
    none = forecast(cells, Spillover(0.0, EVEN))
    assert not len(plain.pairs)
    assert plain.per_label.equals(none.per_label[plain.per_label.columns])
    np.testing.assert_array_equal(plain.accuracies, none.accuracies)
    some = forecast(cells, Spillover(0.3, EVEN))
    np.testing.assert_array_equal(
        some.per_label["recall_without_spillover"], plain.per_label["recall"]
    )
    assert some.accuracy_without_spillover == plain.accuracies[0]


def test_recall_falls_with_the_share(cells):
    detection = Detection(np.full(8, 0.3))
    recalls = [
        forecast(cells, Spillover(share, EVEN), detection).per_label["recall"].mean()
        for share in (0.0, 0.2, 0.4, 0.8)
    ]
    assert recalls == sorted(recalls, reverse=True)
    assert recalls[-1] < recalls[0] - 0.2


def test_types_leak_into_their_neighbours(cells):
    neighbors = np.eye(N_LABELS)
    neighbors[0] = [0.0, 0.0, 1.0, 0.0]
    result = forecast(cells, Spillover(0.8, neighbors), Detection(np.full(8, 0.5)))
    recall = result.per_label["recall"]
    assert recall["a"] < recall[["b", "d"]].min() - 0.2
    first = result.leaks.iloc[0]
    assert (first["label"], first["predicted"], first["neighbors"]) == ("a", "c", 1.0)
    assert first["share"] == pytest.approx(1 - recall["a"], abs=0.15)


def test_leaks_are_what_spillover_adds():
    before, after = np.array([[9.0, 1.0], [0.0, 10.0]]), np.array([[6.0, 4.0], [0.0, 10.0]])
    table = leaks(before, after, np.eye(2), ["a", "b"])
    assert table[["label", "predicted"]].to_numpy().tolist() == [["a", "b"]]
    np.testing.assert_allclose(table["share"], [0.3])


def test_markers_that_exclude_each_other_are_joined(cells):
    on = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]], dtype=bool)
    np.testing.assert_allclose(
        coexpression(on), [[1, 1 / 3, 0], [1 / 3, 1, 0], [0, 0, 0]], atol=1e-12
    )
    counts, codes = cells
    pairs = exclusive(counts, codes)
    assert len(pairs) == 8 * 6 / 2  # all but those of one type
    assert (pairs["coexpression_reference"] == 0).all()
    shares = [
        forecast(cells, Spillover(share, EVEN)).pairs["coexpression"].mean()
        for share in (0, 0.1, 0.3)
    ]
    assert shares[0] == 0
    assert shares[0] < shares[1] < shares[2]
