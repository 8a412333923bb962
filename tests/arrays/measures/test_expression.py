"""Redundancy and totals against NumPy, and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy.stats import spearmanr

from glfs_bio.errors import InvalidValue
from glfs_bio.measures.genes import QUANTILES, redundancy, totals

#: Three cells of type a, two of b, one without counts; genes 0 and 1 are the panel.
COUNTS = np.array(
    [[1, 1, 8, 0], [2, 0, 8, 0], [3, 1, 10, 6], [5, 0, 3, 2], [9, 0, 0, 1], [0, 0, 0, 0]]
)
PANEL = np.array([0, 1])
CODES = np.array([0, 0, 0, 2, 2, 2])
NAMES = ["a", "without cells", "b"]


def test_correlations_are_those_of_numpy(pbmc, container):
    panel = np.argsort(-pbmc.X.toarray().var(axis=0))[:30]
    found = redundancy(container(pbmc.X.toarray()), panel)
    expected = np.corrcoef(pbmc.X.toarray()[:, panel].astype(float).T)
    eigenvalues = np.linalg.eigvalsh(expected)
    assert found.n_effective == pytest.approx(eigenvalues.sum() ** 2 / np.sum(eigenvalues**2))
    off = ~np.eye(30, dtype=bool)
    assert found.mean_correlation == pytest.approx(np.abs(expected[off]).mean())
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_array_equal(found.nearest, np.abs(expected).argmax(axis=1))
    np.testing.assert_allclose(found.correlation, expected[np.arange(30), found.nearest])


def test_a_gene_measured_twice():
    rng = np.random.default_rng(0)
    gene = rng.normal(size=500)
    data = np.column_stack([gene, -gene, np.full(500, 0.1)])
    both = redundancy(data, np.array([0, 1]))
    assert both.mean_correlation == pytest.approx(1.0)
    assert both.n_effective == pytest.approx(1.0)
    np.testing.assert_allclose(both.correlation, -1.0)
    with_constant = redundancy(data, np.array([0, 2, 1]))
    assert with_constant.nearest.tolist() == [2, -1, 0]
    assert np.isnan(with_constant.correlation[1])
    assert with_constant.n_effective == pytest.approx(1.0)
    assert with_constant.mean_correlation == pytest.approx(1.0)


def test_one_gene_repeats_nothing():
    one = redundancy(np.arange(6.0).reshape(3, 2), np.array([1]))
    assert one.n_effective == 1.0
    assert one.nearest.tolist() == [-1]
    assert np.isnan(one.mean_correlation)


def test_totals_by_hand(container):
    found = totals(container(COUNTS), PANEL, CODES, NAMES)
    assert found.share == pytest.approx(22 / 60)
    np.testing.assert_allclose(found.per_cell, [0.2, 0.2, 0.2, 0.5, 0.9, np.nan])
    assert tuple(found.quantiles) == QUANTILES
    assert found.quantiles[0.5] == pytest.approx(0.2)
    everything, taken = COUNTS.sum(axis=1), COUNTS[:, :2].sum(axis=1)
    assert found.spearman == pytest.approx(spearmanr(taken, everything).statistic)
    table = found.per_label
    assert list(table.index) == ["a", "b"]
    assert table["n_cells"].tolist() == [3, 3]
    np.testing.assert_allclose(table["share"], [8 / 40, 14 / 20])
    np.testing.assert_allclose(table["ratio"], table["share"] * 60 / 22)
    np.testing.assert_allclose(
        table["spearman"],
        [spearmanr(taken[own], everything[own]).statistic for own in (slice(3), slice(3, 6))],
    )
    assert found.spearman_within == pytest.approx(table["spearman"].mean())
    assert (found.least, found.most) == ("a", "b")


def test_labels_are_not_needed():
    found = totals(COUNTS, PANEL)
    assert found.per_label is None
    assert found.least is None
    assert np.isnan(found.spearman_within)
    assert found.share == totals(COUNTS, PANEL, CODES, NAMES).share


def test_cells_without_labels_are_in_the_total_only():
    some = np.where(np.arange(6) == 0, -1, CODES)
    found = totals(COUNTS, PANEL, some, NAMES)
    assert found.share == totals(COUNTS, PANEL).share
    assert found.per_label.loc["a", "share"] == pytest.approx(6 / 30)


def test_totals_of_all_genes_follow(pbmc):
    codes, names = pd.factorize(pbmc.obs["bulk_labels"].astype(str))
    found = totals(pbmc.X, np.arange(pbmc.n_vars), codes, names)
    assert found.share == 1.0
    assert found.spearman == pytest.approx(1.0)
    np.testing.assert_allclose(found.per_label["ratio"], 1.0)


def test_a_skewed_panel_is_seen():
    """Markers of one type make its counts twice those of the others."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 200)
    rates = np.where(codes[:, None] == 0, [4.0, 1.0, 20.0], [1.0, 1.0, 20.0])
    counts = rng.poisson(rates * rng.gamma(4.0, size=(400, 1)))
    skewed = totals(counts, np.array([0]), codes, ["a", "b"])
    even = totals(counts, np.array([1]), codes, ["a", "b"])
    assert skewed.most == "a"
    assert skewed.per_label["ratio"].max() / skewed.per_label["ratio"].min() > 3
    assert even.per_label["ratio"].max() / even.per_label["ratio"].min() < 1.4
    assert skewed.spearman < skewed.spearman_within


def test_totals_that_do_not_differ():
    found = totals(np.ones((5, 3)), PANEL, np.zeros(5, int), ["a"])
    assert np.isnan(found.spearman)
    assert np.isnan(found.spearman_within)


def test_a_panel_without_counts():
    counts = np.array([[0, 3], [0, 5]])
    found = totals(counts, np.array([0]), np.array([0, 1]), ["a", "b"])
    assert found.share == 0.0
    assert found.least is None
    assert found.per_label["ratio"].isna().all()


def test_totals_that_cannot_be_used():
    with refused(InvalidValue, "codes"):
        totals(COUNTS, PANEL, CODES[1:], NAMES)
    with refused(InvalidValue, "counts"):
        totals(np.zeros((3, 2)), PANEL)
