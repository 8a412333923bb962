"""R² of unmeasured genes by its formula, and against regression on other cells."""

from __future__ import annotations

import numpy as np
import pytest
import scanpy as sc
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score

from glfs_bio.cells.cells import build_problems
from glfs_bio.measures.genes import imputed
from glfs_bio.options import StructureSpec

PANEL = np.array([7, 0, 3])


def test_the_formula(problems):
    """Explained over structured variance, summed over the sets of cells."""
    explained, structured, noise, variance = np.zeros((4, 12))
    for one in problems:
        c = one.projections
        precision = np.eye(c.shape[1])
        for gene in PANEL:
            precision += np.outer(c[gene], c[gene]) / (one.n_cells * one.residuals[gene])
        explained += np.diag(c @ (np.eye(c.shape[1]) - np.linalg.inv(precision)) @ c.T)
        structured += np.sum(c**2, axis=1)
        noise += one.n_cells * one.residuals
        variance += one.n_cells * one.variance
    found = imputed(problems, PANEL)
    others = np.setdiff1d(np.arange(12), PANEL)
    np.testing.assert_allclose(found.of_structure[others], (explained / structured)[others])
    reliable = np.clip(1.0 - noise / variance, 0.0, 1.0)
    np.testing.assert_allclose(found.of_gene[others], (reliable * explained / structured)[others])
    assert np.isnan(found.of_structure[PANEL]).all()
    assert np.isnan(found.of_gene[PANEL]).all()


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
