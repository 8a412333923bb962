"""Q−α against matrices of genes × genes and cells × cells, all formed."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.options import Request
from glfs_bio.rivals import q_alpha
from glfs_bio.selection import rank_genes


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


FULL = Request.of(5, method="q_alpha", n_comps=None)


@pytest.mark.parametrize("n_clusters", [3, 10])
def test_same_weights(small, monkeypatch, n_clusters):
    monkeypatch.setattr(q_alpha, "N_CLUSTERS", n_clusters)
    ranking = rank_genes(small, FULL)
    assert ranking.info["converged"]
    centred = (small - small.mean(axis=0)).T
    alpha = by_brute_force(centred, n_clusters, ranking.info["n_iter"])
    np.testing.assert_allclose(ranking.weights, np.abs(alpha), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(ranking.weights), 1.0)
    np.testing.assert_array_equal(ranking.order, np.argsort(-np.abs(alpha)))


def test_batches_are_centred_each_by_itself(small, batch):
    ranking = rank_genes(small, FULL, batch=batch)
    centred = np.vstack([small[batch == b] - small[batch == b].mean(axis=0) for b in "ab"])
    alpha = by_brute_force(centred.T, 10, ranking.info["n_iter"])
    np.testing.assert_allclose(ranking.weights, np.abs(alpha), atol=1e-8)


def test_unsettled_weights_are_told(clusters):
    genes = (clusters - clusters.mean(axis=0)).T
    assert q_alpha.coherent_weights(genes, 3, max_iter=1)[1:] == (1, False)
