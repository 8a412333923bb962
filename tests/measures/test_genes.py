"""Redundancy, totals and the overlap of panels against NumPy, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scanpy as sc
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import refused
from scipy.stats import spearmanr
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score

from glfs_bio.cells.cells import build_problems
from glfs_bio.errors import InvalidValue
from glfs_bio.measures.genes import QUANTILES, imputed, redundancy, sums, totals
from glfs_bio.measures.stability import consensus, jaccard
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
    values = pbmc.X.toarray()[:, panel]
    measured = redundancy(container(values))
    expected = np.corrcoef(values.astype(float).T)
    eigenvalues = np.linalg.eigvalsh(expected)
    assert measured.n_effective == pytest.approx(eigenvalues.sum() ** 2 / np.sum(eigenvalues**2))
    off = ~np.eye(30, dtype=bool)
    assert measured.mean_correlation == pytest.approx(np.abs(expected[off]).mean())
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_array_equal(measured.nearest, np.abs(expected).argmax(axis=1))
    np.testing.assert_allclose(measured.correlation, expected[np.arange(30), measured.nearest])


def test_a_gene_measured_twice():
    gene = np.random.default_rng(0).normal(size=500)
    both = redundancy(np.column_stack([gene, -gene]))
    np.testing.assert_allclose(both.correlation, -1.0)
    with_constant = redundancy(np.column_stack([gene, np.full(500, 0.1), -gene]))
    assert with_constant.nearest.tolist() == [2, -1, 0]
    assert np.isnan(with_constant.correlation[1])
    for measured in (both, with_constant):
        assert measured.n_effective == pytest.approx(1.0)
        assert measured.mean_correlation == pytest.approx(1.0)
    alone = redundancy(np.arange(3.0)[:, None])
    assert alone.n_effective == 1.0
    assert alone.nearest.tolist() == [-1]
    assert np.isnan(alone.mean_correlation)


def test_totals_by_hand(container):
    whole = taken_of(container(COUNTS), PANEL, CODES, NAMES)
    assert whole.share == pytest.approx(22 / 60)
    np.testing.assert_allclose(whole.per_cell, [0.2, 0.2, 0.2, 0.5, 0.9, np.nan])
    assert tuple(whole.quantiles) == QUANTILES
    assert whole.quantiles[0.5] == pytest.approx(0.2)
    everything, taken = COUNTS.sum(axis=1), COUNTS[:, :2].sum(axis=1)
    assert whole.spearman == pytest.approx(spearmanr(taken, everything).statistic)
    table = whole.per_label
    assert list(table.index) == ["a", "b"]
    assert table["n_cells"].tolist() == [3, 3]
    np.testing.assert_allclose(table["share"], [8 / 40, 14 / 20])
    np.testing.assert_allclose(table["ratio"], table["share"] * 60 / 22)
    groups = slice(3), slice(3, 6)
    expected = [spearmanr(taken[group], everything[group]).statistic for group in groups]
    np.testing.assert_allclose(table["spearman"], expected)
    assert whole.spearman_within == pytest.approx(table["spearman"].mean())
    assert (whole.least, whole.most) == ("a", "b")


def test_labels_are_not_needed():
    """Cells without one count in the total only."""
    without = taken_of(COUNTS, PANEL)
    assert without.per_label is None
    assert without.least is None
    assert np.isnan(without.spearman_within)
    some = taken_of(COUNTS, PANEL, np.where(np.arange(6) == 0, -1, CODES), NAMES)
    assert without.share == some.share == taken_of(COUNTS, PANEL, CODES, NAMES).share
    assert some.per_label.loc["a", "share"] == pytest.approx(6 / 30)


def test_a_skewed_panel_is_seen():
    """Markers of one type make its counts twice those of the others."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 200)
    rates = np.where(codes[:, None] == 0, [4.0, 1.0, 20.0], [1.0, 1.0, 20.0])
    counts = rng.poisson(rates * rng.gamma(4.0, size=(400, 1)))
    skewed, even = (taken_of(counts, np.array([gene]), codes, ["a", "b"]) for gene in (0, 1))
    ratios = [totals.per_label["ratio"] for totals in (skewed, even)]
    assert skewed.most == "a"
    assert ratios[0].max() / ratios[0].min() > 3
    assert ratios[1].max() / ratios[1].min() < 1.4
    assert skewed.spearman < skewed.spearman_within


def test_totals_that_do_not_differ_or_cannot_be_used():
    alike = taken_of(np.ones((5, 3)), PANEL, np.zeros(5, int), ["a"])
    assert np.isnan([alike.spearman, alike.spearman_within]).all()
    nothing = taken_of(np.array([[0, 3], [0, 5]]), np.array([0]), np.array([0, 1]), ["a", "b"])
    assert nothing.share == 0.0
    assert nothing.least is None
    assert nothing.per_label["ratio"].isna().all()
    with refused(InvalidValue, "codes"):
        taken_of(COUNTS, PANEL, CODES[1:], NAMES)
    with refused(InvalidValue, "counts"):
        taken_of(np.zeros((3, 2)), PANEL)


MEASURED = np.array([7, 0, 3])


def test_the_formula(problems):
    """Explained over structured variance, summed over the sets of cells."""
    explained, structured, noise, variance = np.zeros((4, 12))
    for problem in problems:
        c = problem.projections
        precision = np.eye(c.shape[1])
        for gene in MEASURED:
            precision += np.outer(c[gene], c[gene]) / (problem.n_cells * problem.residuals[gene])
        explained += np.diag(c @ (np.eye(c.shape[1]) - np.linalg.inv(precision)) @ c.T)
        structured += np.sum(c**2, axis=1)
        noise += problem.n_cells * problem.residuals
        variance += problem.n_cells * problem.variance
    shares = explained / structured
    shares[MEASURED] = np.nan
    r2 = imputed(problems, MEASURED)
    np.testing.assert_allclose(r2.of_structure, shares)
    np.testing.assert_allclose(r2.of_gene, np.clip(1.0 - noise / variance, 0.0, 1.0) * shares)


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
    without, with_constant = (imputed(problems, np.array(panel)) for panel in ([0], [0, 7]))
    assert np.isnan(without.of_gene[7])
    np.testing.assert_array_equal(with_constant.of_gene, without.of_gene)


def test_against_regression_on_other_cells(real):
    """Ridge regression learns on one half of the blood cells, and predicts on the other."""
    adata = real("pbmc3k_2638")
    sc.pp.filter_genes(adata, min_cells=3)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=1500, subset=True)
    (problem,) = build_problems(adata.X, StructureSpec())
    values = adata.X.toarray().astype(float)
    structure = problem.basis @ problem.projections.T
    rng = np.random.default_rng(0)
    loud = np.argsort(-problem.variance)
    panel = np.sort(rng.choice(loud[:200], 50, replace=False))
    others = np.setdiff1d(loud[:500], panel)
    learn, predict = np.array_split(rng.permutation(len(values)), 2)
    r2 = imputed([problem], panel)

    def held_out(target):
        model = RidgeCV(np.logspace(-1, 4, 8)).fit(values[learn][:, panel], target[learn])
        predicted = model.predict(values[predict][:, panel])
        return r2_score(target[predict], predicted, multioutput="raw_values")

    expected, of_structure = held_out(structure[:, others]), r2.of_structure[others]
    assert np.median(of_structure) == pytest.approx(np.median(expected), abs=0.03)
    assert spearmanr(of_structure, expected).statistic > 0.95

    expected, of_gene = held_out(values[:, others]), r2.of_gene[others]
    assert np.median(of_gene) == pytest.approx(np.median(expected), abs=0.03)
    # most genes are noise, with R² near zero in any order
    well = expected > 0.1
    assert well.sum() > 50
    assert np.median(np.abs(of_gene - expected)[well]) < 0.06
    assert spearmanr(of_gene[well], expected[well]).statistic > 0.9


@given(arrays(bool, (3, 8)))
@settings(max_examples=30, deadline=None)
def test_jaccard_by_sets(chosen):
    chosen[:, 0] = True
    sets = [set(np.flatnonzero(row)) for row in chosen]
    expected = [[len(a & b) / len(a | b) for b in sets] for a in sets]
    assert jaccard(chosen) == pytest.approx(np.array(expected))
    assert np.isnan(jaccard(np.zeros((2, 4), dtype=bool))).all()


@given(st.permutations(range(6)), st.integers(1, 5))
@settings(max_examples=20, deadline=None)
def test_ties_go_to_the_best_rank(order, size):
    ranks = np.array([order, order], dtype=float)
    chosen = np.ones((2, 6), dtype=bool)
    assert set(ranks[0][consensus(chosen, ranks, size)]) == set(range(size))


def test_frequency_comes_before_rank_and_untested_genes_last():
    chosen = np.array([[True, False, True, False], [True, False, False, False]])
    ranks = np.array([[3.0, 1.0, 2.0, np.nan], [3.0, 1.0, 2.0, np.nan]])
    assert list(consensus(chosen, ranks, 1)) == [True, False, False, False]
    assert list(consensus(chosen, ranks, 3)) == [True, True, True, False]
