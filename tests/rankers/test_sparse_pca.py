"""Sparse PCA against scikit-learn's on the matrix of cells × genes itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA, SparsePCA

from glfs_bio.rankers import rank_genes, sparse_pca


def largest_loadings(matrix):
    centred = matrix - matrix.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=0).max()
    model = SparsePCA(
        6,
        alpha=sparse_pca.ALPHA,
        method="cd",
        tol=1e-4,
        max_iter=300,
        random_state=0,
    )
    model.fit(centred)
    return np.abs(model.components_).max(axis=0)


@pytest.mark.parametrize("n_comps", [None, 15])
def test_same_loadings(small, n_comps, monkeypatch):
    monkeypatch.setattr(sparse_pca, "N_COMPONENTS", 6)
    matrix = small
    if n_comps is not None:
        model = PCA(n_comps, svd_solver="full")
        matrix = model.inverse_transform(model.fit_transform(small))
    ranking = rank_genes(
        small,
        5,
        method="sparse_pca",
        n_comps=n_comps,
        standardize=None,
    )
    expected = largest_loadings(matrix)
    np.testing.assert_allclose(ranking.weights, expected, atol=1e-8)
    loaded = int((expected > 0).sum())
    np.testing.assert_array_equal(ranking.order[:loaded], np.argsort(-expected)[:loaded])


def test_genes_without_a_loading_are_ordered_by_how_near_they_are(small, monkeypatch):
    monkeypatch.setattr(sparse_pca, "ALPHA", 0.6)
    ranking = rank_genes(small, 5, method="sparse_pca", n_comps=None)
    without = ranking.weights == 0
    assert 0 < without.sum() < 20
    assert (ranking.scores[without] <= 0).all()
    assert (ranking.scores[~without] > 0).all()
    assert len(np.unique(ranking.scores)) == 20


def test_many_genes_in_batches(monkeypatch, clusters):
    whole = rank_genes(clusters, 6, method="sparse_pca", n_comps=None)
    monkeypatch.setattr(sparse_pca, "MANY_GENES", 10)
    ranking = rank_genes(clusters, 6, method="sparse_pca", n_comps=None)
    again = rank_genes(clusters, 6, method="sparse_pca", n_comps=None)
    np.testing.assert_array_equal(ranking.scores, again.scores)
    assert "converged" not in ranking.info
    assert set(ranking.order[:6]) == set(whole.order[:6]) == set(range(6))


def test_unsettled_loadings_are_told(small, monkeypatch):
    monkeypatch.setattr(sparse_pca, "_MOST_ROUNDS", 1)
    with pytest.warns(UserWarning, match="did not settle in 1 rounds"):
        ranking = rank_genes(small, 5, method="sparse_pca", n_comps=None)
    assert not ranking.info["converged"]
