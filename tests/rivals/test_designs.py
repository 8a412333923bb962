"""LapAOFS and LapDOFS against the trace and the determinant of Z itself, gene by gene."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.options import Request
from glfs_bio.selection import rank_genes
from glfs_bio.solvers.panel import Problem

FULL = {"n_comps": None, "standardize": None, "n_neighbors": 5, "lambda1": 10.0}


class OneBatch:
    """``Z = X B Xᵀ + λ2 I`` with X the rows of the chosen genes, all others zero."""

    def __init__(self, data, lambda1):
        n, d = data.shape
        smoother = laplacian(knn_graph(data, 5)).toarray()
        self.genes = (data - data.mean(axis=0)).T
        self.smooth = np.eye(n) + lambda1 * smoother
        residuals = [
            max(f @ smoother @ f / n, 1e-3 * (f @ f / n)) for f in self.genes if (f != 0).any()
        ]
        within = self.smooth
        rank = n
        if d < n:  # the subspace that the genes span
            v = np.linalg.svd(self.genes, full_matrices=False)[2]
            within, rank = v @ self.smooth @ v.T, d
        self.lambda2 = n * np.mean(residuals) * np.trace(within) / rank

    def z(self, chosen):
        rows = np.zeros_like(self.genes)
        rows[list(chosen)] = self.genes[list(chosen)]
        return rows @ self.smooth @ rows.T + self.lambda2 * np.eye(len(rows))

    def variance(self, chosen):
        return self.lambda2 * np.trace(np.linalg.inv(self.z(chosen)))

    def minus_log_det(self, chosen):
        return -np.linalg.slogdet(self.z(chosen))[1]


def by_brute_force(batches, method, n_genes, include=()):
    name = {"lapaofs": "variance", "lapdofs": "minus_log_det"}[method]

    def cost(chosen):
        return sum(getattr(batch, name)(chosen) for batch in batches)

    every = range(len(batches[0].genes))
    chosen, gains = [], []
    while len(chosen) < n_genes:
        left = [i for i in (include or every) if i not in chosen]
        if not left:
            left = [i for i in every if i not in chosen]
        costs = [cost([*chosen, i]) for i in left]
        gains.append(cost(chosen) - min(costs))
        chosen.append(left[int(np.argmin(costs))])
    waiting = {i: cost(chosen) - cost([*chosen, i]) for i in every if i not in chosen}
    return chosen, gains, waiting


def agree(ranking, chosen, gains, waiting):
    n = len(chosen)
    assert list(ranking.order[:n]) == chosen
    np.testing.assert_allclose(ranking.weights[chosen], gains, rtol=1e-8)
    others = np.setdiff1d(np.arange(len(ranking.weights)), chosen)
    assert not ranking.weights[others].any()
    best = max(waiting.values())
    np.testing.assert_allclose(ranking.scores[chosen], 2 - np.arange(n) / n, atol=1e-8)
    np.testing.assert_allclose(
        ranking.scores[others], [waiting[i] / best for i in others], atol=1e-8
    )


@pytest.fixture(params=["lapaofs", "lapdofs"])
def method(request):
    return request.param


def test_same_genes_and_gains(small, method):
    for data in (small, small[::2]):
        ranking = rank_genes(data, Request.of(7, method=method, **FULL))
        agree(ranking, *by_brute_force([OneBatch(data, 10.0)], method, 7))
        assert ranking.info["method"] == method
        assert "lam" not in ranking.info


def test_included_genes_are_covered_first(small, method):
    request = Request.of(6, method=method, **FULL)
    ranking = rank_genes(small, request, problem=Problem.of(20, [12, 3]))
    agree(ranking, *by_brute_force([OneBatch(small, 10.0)], method, 6, include=[3, 12]))


def test_gains_add_up_over_batches(small, batch, method):
    batches = [OneBatch(small[batch == name], 10.0) for name in "ab"]
    ranking = rank_genes(small, Request.of(6, method=method, **FULL), batch=batch)
    agree(ranking, *by_brute_force(batches, method, 6))
