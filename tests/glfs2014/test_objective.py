"""The paper's own problem: all directions of the samples, no weights by noise."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio.cells.cells import build_problems
from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.datasets import simulate
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.glfs2014 import Exact, objective
from glfs_bio.options import Request
from glfs_bio.selection import rank_genes

PAPER = Request.of(4, objective="exact", n_comps=None)


@pytest.fixture(scope="module")
def noisy():
    """80 samples, four features of signal among 200 of noise that is nearly as large."""
    adata = simulate(80, 200, sigma=0.3, random_state=0)
    return adata.X, np.flatnonzero(adata.var["informative"])


def test_signal_in_noise_comes_first(noisy):
    """Genes of the solution are ranked by weight, and before all others."""
    values, signal = noisy
    ranking = rank_genes(values, PAPER)
    assert set(ranking.order[:4]) == set(signal)
    assert ranking.info["kkt"] <= 1e-4
    weighed = ranking.weights > 0
    assert ranking.scores[weighed].min() > 1.0 >= ranking.scores[~weighed].max()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_reliability_is_measured_on_the_graph_of_the_support(noisy, container):
    values, signal = noisy
    problems = build_problems(container(values), PAPER.resolved_structure)
    reliability = objective._reliability(problems, signal, PAPER.resolved_structure)
    smoother = laplacian(knn_graph(values[:, signal])).toarray()
    centred = values - values.mean(axis=0)
    residuals = np.einsum("ij,ik,kj->j", centred, smoother, centred) / len(values)
    expected = np.clip(1.0 - residuals / values.var(axis=0), 1e-3, 1.0)
    np.testing.assert_allclose(reliability, expected, atol=1e-10)
    assert reliability[signal].min() > np.delete(reliability, signal).max()


def test_options_are_checked():
    for kind, argument, values in (
        (InvalidValue, "lam", [0.0, "largest"]),
        (InvalidType, "lam", [[1.0]]),
        (InvalidValue, "solver", ["adam"]),
        (InvalidValue, "tol", [0.0]),
        (InvalidType, "tol", ["small"]),
    ):
        for value in values:
            with refused(kind, argument):
                Exact(**{argument: value})
