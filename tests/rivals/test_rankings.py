"""Laplacian Score, Q−α, sparse PCA and variance against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio import rivals
from glfs_bio.cells.graph import knn_graph
from glfs_bio.errors import Caution
from glfs_bio.options import Request
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
    """α after so many rounds; `rows` are genes × cells."""
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


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("n_clusters", [3, 10])
def test_same_weights(small, n_clusters, centered):
    method = rivals.QAlpha(n_clusters=n_clusters, centered=centered)
    ranking = rank_genes(small, Request.of(5, method=method, n_comps=None))
    assert ranking.info["converged"]
    rows = (small - centered * small.mean(axis=0)).T
    alpha = by_brute_force(rows, n_clusters, ranking.info["n_iter"])
    np.testing.assert_allclose(ranking.weights, np.abs(alpha), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(ranking.weights), 1.0)
    np.testing.assert_array_equal(ranking.order, np.argsort(-np.abs(alpha)))


def test_batches_are_centred_each_by_itself(small, batch):
    method = rivals.QAlpha(centered=True)
    ranking = rank_genes(small, Request.of(5, method=method, n_comps=None), batch=batch)
    centred = np.vstack([small[batch == b] - small[batch == b].mean(axis=0) for b in "ab"])
    alpha = by_brute_force(centred.T, 10, ranking.info["n_iter"])
    np.testing.assert_allclose(ranking.weights, np.abs(alpha), atol=1e-8)


def test_unsettled_weights_are_told(clusters):
    genes = (clusters - clusters.mean(axis=0)).T
    assert rivals.coherent_weights(genes, 3, max_iter=1)[1:] == (1, False)


def zou(cells, n_components, n_loadings, rounds):
    """Loadings of unit length by the steps of the paper, on cells × genes."""
    directions = np.linalg.svd(cells, full_matrices=False)[2][:n_components].T
    for _ in range(rounds):
        loadings = cells.T @ cells @ directions
        for column in loadings.T:
            threshold = np.sort(np.abs(column))[-n_loadings - 1]
            column[:] = np.sign(column) * np.maximum(np.abs(column) - threshold, 0.0)
        left, _, right = np.linalg.svd(cells.T @ cells @ loadings, full_matrices=False)
        directions = left @ right
    return loadings / np.linalg.norm(loadings, axis=0)


@pytest.mark.parametrize("n_components", [1, 3])
def test_sparse_components(small, n_components):
    method = rivals.SparsePCA(n_components=n_components)
    ranking = rank_genes(small, Request.of(6, method=method, n_comps=None))
    n_iter = ranking.info["n_iter"]
    loadings = zou(small - small.mean(axis=0), n_components, 6 // n_components, n_iter)
    largest = np.abs(loadings).max(axis=1)
    np.testing.assert_allclose(ranking.weights, largest, atol=1e-8)
    loaded = int((largest > 0).sum())
    assert loaded <= 6
    np.testing.assert_array_equal(ranking.order[:loaded], np.argsort(-largest)[:loaded])
    assert (ranking.scores[ranking.weights == 0] <= 0).all()
    assert ranking.info["converged"]


def test_unsettled_loadings_are_told(small, monkeypatch):
    monkeypatch.setattr(rivals, "_ROUNDS_OF_LOADINGS", 1)
    with pytest.warns(Caution):
        ranking = rank_genes(small, Request.of(6, method="sparse_pca", n_comps=None))
    assert not ranking.info["converged"]


def test_variance(small, batch):
    ranking = rank_genes(small, Request.of(4, method="variance", n_comps=None))
    np.testing.assert_allclose(ranking.weights, small.var(axis=0), rtol=1e-8)
    small[batch == "b"] += 100.0  # a difference between batches is none within them
    within = np.mean([small[batch == name].var(axis=0) for name in "ab"], axis=0)
    ranking = rank_genes(small, Request.of(4, method="variance", n_comps=None), batch=batch)
    np.testing.assert_allclose(ranking.weights, within, rtol=1e-8)
