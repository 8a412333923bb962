"""Sparse PCA against scikit-learn's on the matrix of cells × genes itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import SparsePCA

from glfs_bio.cells.cells import build_problems
from glfs_bio.errors import Caution
from glfs_bio.options import Request, StructureSpec
from glfs_bio.rivals import sparse_pca
from glfs_bio.selection import rank_genes


def in_reduced_units(data, n_comps):
    """Genes as the method gets them, and a centred matrix of cells × genes that has them."""
    problem = build_problems(data, StructureSpec(n_comps=n_comps, standardize=None))[0]
    largest = np.linalg.norm(problem.projections, axis=1).max()
    genes = problem.projections / largest
    directions = np.random.default_rng(0).normal(size=(len(data), genes.shape[1]))
    cells = np.linalg.qr(np.column_stack([np.ones(len(data)), directions]))[0][:, 1:]
    return genes, cells @ genes.T


FULL = Request.of(6, method="sparse_pca", n_comps=None)


@pytest.mark.parametrize("n_comps", [None, 15])
def test_components_of_scikit_learn(small, n_comps, monkeypatch):
    monkeypatch.setattr(sparse_pca, "N_COMPONENTS", 3)
    monkeypatch.setattr(sparse_pca, "ALPHA", 0.1)
    genes, matrix = in_reduced_units(small, n_comps)
    loadings, _, info = sparse_pca.components(genes, 0)
    model = SparsePCA(3, alpha=0.1, method="cd", tol=1e-4, max_iter=300, random_state=0)
    model.fit(matrix)
    unit = loadings / np.linalg.norm(loadings, axis=0)
    np.testing.assert_allclose(np.abs(unit.T), np.abs(model.components_), atol=1e-8)
    assert info["n_iter"] == model.n_iter_
    request = Request.of(5, method="sparse_pca", n_comps=n_comps, standardize=None)
    ranking = rank_genes(small, request)
    largest = np.abs(loadings).max(axis=1)
    np.testing.assert_allclose(ranking.weights, largest, atol=1e-8)
    loaded = int((largest > 0).sum())
    np.testing.assert_array_equal(ranking.order[:loaded], np.argsort(-largest)[:loaded])


def test_loadings_are_stationary(small, monkeypatch):
    """Gene by gene: the correlation with what is left is α where there is a loading, else less."""
    monkeypatch.setattr(sparse_pca, "MANY_GENES", 10)
    genes, _ = in_reduced_units(small, None)
    loadings, directions, _ = sparse_pca.components(genes, 0)
    assert (np.linalg.norm(directions, axis=1) <= 1 + 1e-8).all()
    for gene, loading in zip(genes, loadings, strict=True):
        slope = directions @ (gene - loading @ directions)
        held = loading != 0
        np.testing.assert_allclose(slope[held], 0.2 * np.sign(loading[held]), atol=2e-3)
        assert (np.abs(slope[~held]) <= 0.2 + 2e-3).all()


def test_genes_without_a_loading_are_ordered_by_how_near_they_are(small, monkeypatch):
    monkeypatch.setattr(sparse_pca, "ALPHA", 0.6)
    ranking = rank_genes(small, FULL)
    without = ranking.weights == 0
    assert 0 < without.sum() < 20
    assert (ranking.scores[without] <= 0).all()
    assert (ranking.scores[~without] > 0).all()
    assert len(np.unique(ranking.scores)) == 20


def test_many_genes_in_batches(monkeypatch, clusters):
    whole = rank_genes(clusters, FULL)
    monkeypatch.setattr(sparse_pca, "MANY_GENES", 10)
    ranking, again = (rank_genes(clusters, FULL) for _ in range(2))
    np.testing.assert_array_equal(ranking.scores, again.scores)
    assert "converged" not in ranking.info
    assert set(ranking.order[:6]) == set(whole.order[:6]) == set(range(6))


def test_unsettled_loadings_are_told(small, monkeypatch):
    monkeypatch.setattr(sparse_pca, "ROUNDS", 1)
    with pytest.warns(Caution):
        ranking = rank_genes(small, FULL)
    assert not ranking.info["converged"]
