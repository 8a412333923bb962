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

from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.errors import InvalidValue
from glfs_bio.measures.genes import imputed, redundancy, sums, totals, totals_by_label
from glfs_bio.tl._stability import consensus, jaccard

#: Three cells of type a, two of b, one without counts; genes 0 and 1 are the panel.
COUNTS = np.array(
    [[1, 1, 8, 0], [2, 0, 8, 0], [3, 1, 10, 6], [5, 0, 3, 2], [9, 0, 0, 1], [0, 0, 0, 0]]
)
PANEL = np.array([0, 1])
CODES = np.array([0, 0, 0, 2, 2, 2])
NAMES = ["a", "without cells", "b"]


def test_correlations_are_those_of_numpy(pbmc, container):
    panel = np.argsort(-pbmc.X.toarray().var(axis=0))[:30]
    values = pbmc.X.toarray()[:, panel]
    mean_correlation, n_effective = redundancy(container(values))
    expected = np.corrcoef(values.astype(float).T)
    eigenvalues = np.linalg.eigvalsh(expected)
    assert n_effective == pytest.approx(eigenvalues.sum() ** 2 / np.sum(eigenvalues**2))
    off = ~np.eye(30, dtype=bool)
    assert mean_correlation == pytest.approx(np.abs(expected[off]).mean())


def test_a_gene_measured_twice():
    gene = np.random.default_rng(0).normal(size=500)
    for values in ([gene, -gene], [gene, np.full(500, 0.1), -gene]):
        assert redundancy(np.column_stack(values)) == pytest.approx((1.0, 1.0))
    mean_correlation, n_effective = redundancy(np.arange(3.0)[:, None])
    assert n_effective == 1.0
    assert np.isnan(mean_correlation)


def test_totals_by_hand(container):
    counts = container(COUNTS)
    everything, taken = sums(counts), sums(counts[:, PANEL])
    share, spearman = totals(everything, taken)
    assert share == pytest.approx(22 / 60)
    assert spearman == pytest.approx(spearmanr(taken, everything).statistic)
    table = totals_by_label(everything, taken, CODES, NAMES)
    assert list(table.index) == ["a", "b"]
    np.testing.assert_allclose(table["counts_share"], [8 / 40, 14 / 20])
    np.testing.assert_allclose(table["counts_ratio"], table["counts_share"] * 60 / 22)
    groups = slice(3), slice(3, 6)
    expected = [spearmanr(taken[group], everything[group]).statistic for group in groups]
    np.testing.assert_allclose(table["counts_spearman"], expected)
    some = totals_by_label(everything, taken, np.where(np.arange(6) == 0, -1, CODES), NAMES)
    assert some.loc["a", "counts_share"] == pytest.approx(6 / 30)


def test_totals_that_do_not_differ_or_cannot_be_used():
    alike = np.full(5, 3.0)
    assert np.isnan(totals(alike, alike)[1])
    nothing = totals_by_label(np.array([3.0, 5.0]), np.zeros(2), np.array([0, 1]), ["a", "b"])
    assert nothing["counts_ratio"].isna().all()
    with refused(InvalidValue, "counts"):
        totals(np.zeros(3), np.zeros(3))


MEASURED = np.array([7, 0, 3])


def test_the_formula(problems):
    """Explained over structured variance, summed over the sets of cells."""
    explained, structured = np.zeros((2, 12))
    for problem in problems:
        c = problem.projections
        precision = np.eye(c.shape[1])
        for gene in MEASURED:
            precision += np.outer(c[gene], c[gene]) / (problem.n_cells * problem.residuals[gene])
        explained += np.diag(c @ (np.eye(c.shape[1]) - np.linalg.inv(precision)) @ c.T)
        structured += np.sum(c**2, axis=1)
    shares = explained / structured
    shares[MEASURED] = np.nan
    np.testing.assert_allclose(imputed(problems, MEASURED), shares)


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(40)), size=st.integers(0, 20))
def test_another_gene_never_predicts_less(order, size):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(4), 25, axis=0)
    data = groups @ rng.gamma(1.0, size=(4, 40)) + rng.normal(scale=0.5, size=(100, 40))
    problems = build_cells(data, StructureSpec(n_comps=5, n_neighbors=5))
    order = np.array(order)
    fewer, more = (imputed(problems, order[:n]) for n in (size, size + 1))
    left = order[size + 1 :]
    assert (more[left] >= fewer[left] - 1e-9).all()
    assert (fewer[left] >= -1e-9).all()
    assert (more[left] <= 1).all()


def test_constant_genes(clusters):
    """They predict nothing and have nothing to be predicted."""
    clusters[:, 7] = 1.0
    problems = build_cells(clusters, StructureSpec(n_comps=5, n_neighbors=5))
    without, with_constant = (imputed(problems, np.array(panel)) for panel in ([0], [0, 7]))
    assert np.isnan(without[7])
    np.testing.assert_array_equal(with_constant, without)


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


def test_against_regression_on_other_cells(real):
    """Ridge regression learns on one half of the blood cells, and predicts on the other."""
    adata = real("pbmc3k_2638")
    sc.pp.filter_genes(adata, min_cells=3)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=1500, subset=True)
    (problem,) = build_cells(adata.X, StructureSpec())
    values = adata.X.toarray().astype(float)
    structure = problem.basis @ problem.projections.T
    rng = np.random.default_rng(0)
    loud = np.argsort(-problem.variance)
    panel = np.sort(rng.choice(loud[:200], 50, replace=False))
    others = np.setdiff1d(loud[:500], panel)
    learn, predict = np.array_split(rng.permutation(len(values)), 2)

    def held_out(target):
        model = RidgeCV(np.logspace(-1, 4, 8)).fit(values[learn][:, panel], target[learn])
        predicted = model.predict(values[predict][:, panel])
        return r2_score(target[predict], predicted, multioutput="raw_values")

    expected, r2 = held_out(structure[:, others]), imputed([problem], panel)[others]
    assert np.median(r2) == pytest.approx(np.median(expected), abs=0.03)
    assert spearmanr(r2, expected).statistic > 0.95
