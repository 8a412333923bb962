"""Laplacian Score, Q−α, sparse PCA and variance against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import SparsePCA

from glfs_bio.cells.cells import build_problems
from glfs_bio.cells.graph import knn_graph
from glfs_bio.errors import Caution
from glfs_bio.options import Request, StructureSpec
from glfs_bio.rivals import q_alpha, sparse_pca
from glfs_bio.selection import rank_genes


def laplacian_score(data, similarities):
    """Numerator and denominator of every gene, by loops over pairs of cells."""
    n, d = data.shape
    degrees = similarities.sum(axis=1)
    along, spread = np.zeros(d), np.zeros(d)
    for gene in range(d):
        f = data[:, gene] - degrees @ data[:, gene] / degrees.sum()
        for i in range(n):
            spread[gene] += degrees[i] * f[i] ** 2
            for j in range(n):
                along[gene] += similarities[i, j] * (f[i] - f[j]) ** 2 / 2
    return along, spread


LAPLACIAN_SCORE = Request.of(4, method="laplacian_score", n_comps=None)


def test_laplacian_score(small):
    """Also of components, and of a cell without neighbours."""
    graph = knn_graph(small, 5)
    lonely = sparse.csr_array(np.pad(knn_graph(small[:-1], 5).toarray(), (0, 1)))
    for similarities, n_comps in ((graph, None), (graph, 5), (lonely, None)):
        request = Request.of(4, method="laplacian_score", n_comps=n_comps)
        ranking = rank_genes(small, request, graph=similarities)
        along, spread = laplacian_score(small, similarities.toarray())
        np.testing.assert_allclose(ranking.weights, -along / spread, rtol=1e-8)
        np.testing.assert_array_equal(ranking.order, np.argsort(along / spread))


def test_laplacian_score_over_batches(small, batch):
    ranking = rank_genes(small, LAPLACIAN_SCORE, batch=batch)
    parts = [small[batch == name] for name in "ab"]
    sums = [laplacian_score(part, knn_graph(part).toarray()) for part in parts]
    along, spread = np.sum(sums, axis=0)
    np.testing.assert_allclose(ranking.weights, -along / spread, rtol=1e-8)


def test_laplacian_score_does_not_depend_on_the_unit_of_a_gene(small):
    graph = knn_graph(small, 5)
    in_other_units = small * np.geomspace(1e-6, 1e6, 20) + 5.0
    rankings = (rank_genes(data, LAPLACIAN_SCORE, graph=graph) for data in (small, in_other_units))
    np.testing.assert_allclose(*(ranking.weights for ranking in rankings), rtol=1e-4)


def by_brute_force(rows, n_clusters, rounds):
    """α after so many rounds; `rows` are centred genes × cells."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    d = len(rows)
    affinity = sum(np.outer(m, m) for m in rows)
    q = np.linalg.eigh(affinity)[1][:, -n_clusters:]
    for _ in range(rounds):
        g = np.empty((d, d))
        for i in range(d):
            for j in range(d):
                g[i, j] = (rows[i] @ rows[j]) * (rows[i] @ q @ q.T @ rows[j])
        alpha = np.linalg.eigh(g)[1][:, -1]
        alpha = alpha if alpha.sum() > 0 else -alpha
        affinity = sum(a * np.outer(m, m) for a, m in zip(alpha, rows, strict=True))
        q = np.linalg.qr(affinity @ q)[0]
    return alpha


Q_ALPHA = Request.of(5, method="q_alpha", n_comps=None)


@pytest.mark.parametrize("n_clusters", [3, 10])
def test_same_weights(small, monkeypatch, n_clusters):
    monkeypatch.setattr(q_alpha, "N_CLUSTERS", n_clusters)
    ranking = rank_genes(small, Q_ALPHA)
    assert ranking.info["converged"]
    centred = (small - small.mean(axis=0)).T
    alpha = by_brute_force(centred, n_clusters, ranking.info["n_iter"])
    np.testing.assert_allclose(ranking.weights, np.abs(alpha), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(ranking.weights), 1.0)
    np.testing.assert_array_equal(ranking.order, np.argsort(-np.abs(alpha)))


def test_batches_are_centred_each_by_itself(small, batch):
    ranking = rank_genes(small, Q_ALPHA, batch=batch)
    centred = np.vstack([small[batch == b] - small[batch == b].mean(axis=0) for b in "ab"])
    alpha = by_brute_force(centred.T, 10, ranking.info["n_iter"])
    np.testing.assert_allclose(ranking.weights, np.abs(alpha), atol=1e-8)


def test_unsettled_weights_are_told(clusters):
    genes = (clusters - clusters.mean(axis=0)).T
    assert q_alpha.coherent_weights(genes, 3, max_iter=1)[1:] == (1, False)


def in_reduced_units(data, n_comps):
    """Genes as the method gets them, and a centred matrix of cells × genes that has them."""
    problem = build_problems(data, StructureSpec(n_comps=n_comps, standardize=None))[0]
    largest = np.linalg.norm(problem.projections, axis=1).max()
    genes = problem.projections / largest
    directions = np.random.default_rng(0).normal(size=(len(data), genes.shape[1]))
    cells = np.linalg.qr(np.column_stack([np.ones(len(data)), directions]))[0][:, 1:]
    return genes, cells @ genes.T


SPARSE_PCA = Request.of(6, method="sparse_pca", n_comps=None)


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
    ranking = rank_genes(small, SPARSE_PCA)
    without = ranking.weights == 0
    assert 0 < without.sum() < 20
    assert (ranking.scores[without] <= 0).all()
    assert (ranking.scores[~without] > 0).all()
    assert len(np.unique(ranking.scores)) == 20


def test_many_genes_in_batches(monkeypatch, clusters):
    whole = rank_genes(clusters, SPARSE_PCA)
    monkeypatch.setattr(sparse_pca, "MANY_GENES", 10)
    ranking, again = (rank_genes(clusters, SPARSE_PCA) for _ in range(2))
    np.testing.assert_array_equal(ranking.scores, again.scores)
    assert "converged" not in ranking.info
    assert set(ranking.order[:6]) == set(whole.order[:6]) == set(range(6))


def test_unsettled_loadings_are_told(small, monkeypatch):
    monkeypatch.setattr(sparse_pca, "ROUNDS", 1)
    with pytest.warns(Caution):
        ranking = rank_genes(small, SPARSE_PCA)
    assert not ranking.info["converged"]


def test_variance(small, batch):
    ranking = rank_genes(small, Request.of(4, method="variance", n_comps=None))
    np.testing.assert_allclose(ranking.weights, small.var(axis=0), rtol=1e-8)
    small[batch == "b"] += 100.0  # a difference between batches is none within them
    within = np.mean([small[batch == name].var(axis=0) for name in "ab"], axis=0)
    ranking = rank_genes(small, Request.of(4, method="variance", n_comps=None), batch=batch)
    np.testing.assert_allclose(ranking.weights, within, rtol=1e-8)
