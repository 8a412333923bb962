"""Redundancy and totals against NumPy, and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy.stats import spearmanr
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score

from glfs_bio.cells.cells import build_problems
from glfs_bio.errors import InvalidValue
from glfs_bio.measures.genes import QUANTILES, imputed, redundancy, sums, totals
from glfs_bio.options import StructureSpec

#: Three cells of type a, two of b, one without counts; genes 0 and 1 are the panel.
COUNTS = np.array(
    [[1, 1, 8, 0], [2, 0, 8, 0], [3, 1, 10, 6], [5, 0, 3, 2], [9, 0, 0, 1], [0, 0, 0, 0]]
)
PANEL = np.array([0, 1])
CODES = np.array([0, 0, 0, 2, 2, 2])
NAMES = ["a", "without cells", "b"]


def taken_of(counts, panel, *labels):
    return totals(sums(counts), sums(counts[:, panel]), *labels)


def test_correlations_are_those_of_numpy(pbmc, container):
    panel = np.argsort(-pbmc.X.toarray().var(axis=0))[:30]
    found = redundancy(container(pbmc.X.toarray()[:, panel]))
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
    both = redundancy(data[:, :2])
    assert both.mean_correlation == pytest.approx(1.0)
    assert both.n_effective == pytest.approx(1.0)
    np.testing.assert_allclose(both.correlation, -1.0)
    with_constant = redundancy(data[:, [0, 2, 1]])
    assert with_constant.nearest.tolist() == [2, -1, 0]
    assert np.isnan(with_constant.correlation[1])
    assert with_constant.n_effective == pytest.approx(1.0)
    assert with_constant.mean_correlation == pytest.approx(1.0)


def test_one_gene_repeats_nothing():
    one = redundancy(np.arange(6.0).reshape(3, 2)[:, 1:])
    assert one.n_effective == 1.0
    assert one.nearest.tolist() == [-1]
    assert np.isnan(one.mean_correlation)


def test_totals_by_hand(container):
    found = taken_of(container(COUNTS), PANEL, CODES, NAMES)
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
    found = taken_of(COUNTS, PANEL)
    assert found.per_label is None
    assert found.least is None
    assert np.isnan(found.spearman_within)
    assert found.share == taken_of(COUNTS, PANEL, CODES, NAMES).share


def test_cells_without_labels_are_in_the_total_only():
    some = np.where(np.arange(6) == 0, -1, CODES)
    found = taken_of(COUNTS, PANEL, some, NAMES)
    assert found.share == taken_of(COUNTS, PANEL).share
    assert found.per_label.loc["a", "share"] == pytest.approx(6 / 30)


def test_totals_of_all_genes_follow(pbmc):
    codes, names = pd.factorize(pbmc.obs["bulk_labels"].astype(str))
    found = taken_of(pbmc.X, np.arange(pbmc.n_vars), codes, names)
    assert found.share == 1.0
    assert found.spearman == pytest.approx(1.0)
    np.testing.assert_allclose(found.per_label["ratio"], 1.0)


def test_a_skewed_panel_is_seen():
    """Markers of one type make its counts twice those of the others."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 200)
    rates = np.where(codes[:, None] == 0, [4.0, 1.0, 20.0], [1.0, 1.0, 20.0])
    counts = rng.poisson(rates * rng.gamma(4.0, size=(400, 1)))
    skewed = taken_of(counts, np.array([0]), codes, ["a", "b"])
    even = taken_of(counts, np.array([1]), codes, ["a", "b"])
    assert skewed.most == "a"
    assert skewed.per_label["ratio"].max() / skewed.per_label["ratio"].min() > 3
    assert even.per_label["ratio"].max() / even.per_label["ratio"].min() < 1.4
    assert skewed.spearman < skewed.spearman_within


def test_totals_that_do_not_differ():
    found = taken_of(np.ones((5, 3)), PANEL, np.zeros(5, int), ["a"])
    assert np.isnan(found.spearman)
    assert np.isnan(found.spearman_within)


def test_a_panel_without_counts():
    counts = np.array([[0, 3], [0, 5]])
    found = taken_of(counts, np.array([0]), np.array([0, 1]), ["a", "b"])
    assert found.share == 0.0
    assert found.least is None
    assert found.per_label["ratio"].isna().all()


def test_totals_that_cannot_be_used():
    with refused(InvalidValue, "codes"):
        taken_of(COUNTS, PANEL, CODES[1:], NAMES)
    with refused(InvalidValue, "counts"):
        taken_of(np.zeros((3, 2)), PANEL)


MEASURED = np.array([7, 0, 3])


def test_the_formula(problems):
    """Explained over structured variance, summed over the sets of cells."""
    explained, structured, noise, variance = np.zeros((4, 12))
    for one in problems:
        c = one.projections
        precision = np.eye(c.shape[1])
        for gene in MEASURED:
            precision += np.outer(c[gene], c[gene]) / (one.n_cells * one.residuals[gene])
        explained += np.diag(c @ (np.eye(c.shape[1]) - np.linalg.inv(precision)) @ c.T)
        structured += np.sum(c**2, axis=1)
        noise += one.n_cells * one.residuals
        variance += one.n_cells * one.variance
    found = imputed(problems, MEASURED)
    others = np.setdiff1d(np.arange(12), MEASURED)
    np.testing.assert_allclose(found.of_structure[others], (explained / structured)[others])
    reliable = np.clip(1.0 - noise / variance, 0.0, 1.0)
    np.testing.assert_allclose(found.of_gene[others], (reliable * explained / structured)[others])
    assert np.isnan(found.of_structure[MEASURED]).all()
    assert np.isnan(found.of_gene[MEASURED]).all()


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(40)), size=st.integers(0, 20))
def test_another_gene_never_predicts_less(order, size):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(4), 25, axis=0)
    data = groups @ rng.gamma(1.0, size=(4, 40)) + rng.normal(scale=0.5, size=(100, 40))
    problems = build_problems(data, StructureSpec(n_comps=5, n_neighbors=5))
    order = np.array(order)
    fewer, more = (imputed(problems, order[:n]).of_structure for n in (size, size + 1))
    left = order[size + 1 :]
    assert (more[left] >= fewer[left] - 1e-9).all()
    assert (fewer[left] >= -1e-9).all()
    assert (more[left] <= 1).all()


def test_constant_genes(clusters):
    """They predict nothing and have nothing to be predicted."""
    clusters[:, 7] = 1.0
    problems = build_problems(clusters, StructureSpec(n_comps=5, n_neighbors=5))
    found = imputed(problems, np.array([0]))
    assert np.isnan(found.of_gene[7])
    with_constant = imputed(problems, np.array([0, 7]))
    np.testing.assert_array_equal(with_constant.of_gene, found.of_gene)


def test_against_regression_on_other_cells(real):
    """Ridge regression learns on one half of the blood cells, and predicts on the other."""
    adata = real("pbmc3k_2638")
    sc.pp.filter_genes(adata, min_cells=3)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=1500, subset=True)
    (one,) = build_problems(adata.X, StructureSpec())
    values = adata.X.toarray().astype(float)
    structure = one.basis @ one.projections.T
    rng = np.random.default_rng(0)
    panel = np.sort(rng.choice(np.argsort(-one.variance)[:200], 50, replace=False))
    others = np.setdiff1d(np.argsort(-one.variance)[:500], panel)
    learn, predict = np.array_split(rng.permutation(len(values)), 2)
    found = imputed([one], panel)

    def held_out(target):
        model = RidgeCV(np.logspace(-1, 4, 8)).fit(values[learn][:, panel], target[learn])
        return r2_score(
            target[predict], model.predict(values[predict][:, panel]), multioutput="raw_values"
        )

    expected, r2 = held_out(structure[:, others]), found.of_structure[others]
    assert np.median(r2) == pytest.approx(np.median(expected), abs=0.03)
    assert spearmanr(r2, expected).statistic > 0.95

    expected, r2 = held_out(values[:, others]), found.of_gene[others]
    assert np.median(r2) == pytest.approx(np.median(expected), abs=0.03)
    # most genes are noise, with R² near zero in any order
    well = expected > 0.1
    assert well.sum() > 50
    assert np.median(np.abs(r2 - expected)[well]) < 0.06
    assert spearmanr(r2[well], expected[well]).statistic > 0.9
