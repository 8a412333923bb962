"""Laplacian Score, gene by gene and pair by pair."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from glfs_bio.cells.graph import knn_graph
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


FULL = Request.of(4, method="laplacian_score", n_comps=None)


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
    ranking = rank_genes(small, FULL, batch=batch)
    parts = [small[batch == name] for name in "ab"]
    sums = [laplacian_score(part, knn_graph(part).toarray()) for part in parts]
    along, spread = np.sum(sums, axis=0)
    np.testing.assert_allclose(ranking.weights, -along / spread, rtol=1e-8)


def test_laplacian_score_does_not_depend_on_the_unit_of_a_gene(small):
    graph = knn_graph(small, 5)
    in_other_units = small * np.geomspace(1e-6, 1e6, 20) + 5.0
    rankings = (rank_genes(data, FULL, graph=graph) for data in (small, in_other_units))
    np.testing.assert_allclose(*(ranking.weights for ranking in rankings), rtol=1e-4)
