"""Laplacian Score, gene by gene and pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
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


@pytest.mark.parametrize("n_comps", [None, 5])
def test_laplacian_score(small, n_comps):
    graph = knn_graph(small, 5)
    ranking = rank_genes(
        small, Request.of(4, method="laplacian_score", n_comps=n_comps), graph=graph
    )
    along, spread = laplacian_score(small, graph.toarray())
    np.testing.assert_allclose(ranking.weights, -along / spread, rtol=1e-8)
    np.testing.assert_array_equal(ranking.order, np.argsort(along / spread))


def test_laplacian_score_over_batches(small, batch):
    ranking = rank_genes(small, Request.of(4, method="laplacian_score", n_comps=None), batch=batch)
    parts = [small[batch == name] for name in "ab"]
    sums = [laplacian_score(part, knn_graph(part).toarray()) for part in parts]
    along, spread = np.sum(sums, axis=0)
    np.testing.assert_allclose(ranking.weights, -along / spread, rtol=1e-8)


def test_laplacian_score_of_cells_without_neighbours(small):
    graph = knn_graph(small[:-1], 5).toarray()
    graph = np.pad(graph, (0, 1))
    ranking = rank_genes(
        small, Request.of(4, method="laplacian_score", n_comps=None), graph=sparse.csr_array(graph)
    )
    along, spread = laplacian_score(small, graph)
    np.testing.assert_allclose(ranking.weights, -along / spread, rtol=1e-8)


def test_laplacian_score_does_not_depend_on_the_unit_of_a_gene(small):
    graph = knn_graph(small, 5)
    request = Request.of(4, method="laplacian_score", n_comps=None)
    one = rank_genes(small, request, graph=graph)
    other = rank_genes(small * np.geomspace(1e-6, 1e6, 20) + 5.0, request, graph=graph)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-4)
