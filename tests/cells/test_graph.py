"""The graph of the cells against its definition, and the reduced cells that come of it."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio.cells import cells as sample
from glfs_bio.cells import graph, noise
from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.cells.graph import check_graph, knn_graph, laplacian, quadratic_form
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.errors import InvalidValue
from glfs_bio.options import Request
from glfs_bio.selection import rank_genes


def test_heat_kernel_graph_is_the_definition_in_any_unit(clusters):
    graph = knn_graph(clusters, 5).toarray()
    squared = ((clusters[:, None] - clusters[None]) ** 2).sum(axis=2)
    nearest = np.argsort(squared + np.diag(np.full(90, np.inf)), axis=1)[:, :5]
    joined = np.zeros((90, 90), dtype=bool)
    joined[np.repeat(np.arange(90), 5), nearest.ravel()] = True
    bandwidth = squared[joined].mean()
    expected = np.where(joined | joined.T, np.exp(-squared / bandwidth), 0.0)
    np.testing.assert_allclose(graph, expected, atol=1e-10)
    np.testing.assert_allclose(graph, knn_graph(1e6 * clusters, 5).toarray(), rtol=1e-6)


def test_approximate_neighbours_are_nearly_all(monkeypatch):
    rng = np.random.default_rng(0)
    places = rng.normal(size=(1500, 8))
    exact = graph.knn_graph(places, 10)
    monkeypatch.setattr(graph, "MOST_EXACT", 1000)
    monkeypatch.setattr(graph, "_CELLS_OF_CLUSTER", 20)
    monkeypatch.setattr(graph, "_CANDIDATES", 700)
    near, again = graph.knn_graph(places, 10), graph.knn_graph(places, 10)
    assert (near != again).nnz == 0
    shared = (exact.astype(bool).multiply(near.astype(bool))).nnz
    assert shared > 0.95 * exact.nnz
    assert abs(near - near.T).max() == 0
    assert not near.diagonal().any()


def test_approximate_neighbours_of_identical_cells(monkeypatch):
    monkeypatch.setattr(graph, "_CELLS_OF_CLUSTER", 20)
    monkeypatch.setattr(graph, "_CANDIDATES", 30)
    monkeypatch.setattr(graph, "_PER_NEIGHBOR", 1)
    places = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 10, axis=0)
    distances = graph.distances_to_others(*graph.approximate_neighbors(places, 5, random_state=0))
    assert (np.diff(distances.indptr) >= 5).all()
    np.testing.assert_allclose(distances.data, 0, atol=1e-3)
    assert not distances.diagonal().any()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["normalized", "unnormalized"])
def test_laplacian_and_its_quadratic_form_are_the_definition(clusters, kind):
    graph = knn_graph(clusters, 5).tolil()
    graph[3, :] = graph[:, 3] = 0.0  # a cell without neighbours, which has no penalty
    graph = sparse.csr_array(graph)
    dense = graph.toarray()
    degree = dense.sum(axis=1)
    expected = np.diag(degree) - dense
    if kind == "normalized":
        degree[3] = 1.0
        expected /= np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(laplacian(graph, kind).toarray(), expected, atol=1e-12)
    vectors = np.random.default_rng(0).normal(size=(len(clusters), 4))
    if kind == "normalized":
        form = quadratic_form(graph, vectors)
        np.testing.assert_allclose(form, vectors.T @ expected @ vectors, atol=1e-12)


def test_graphs_are_checked_and_not_changed():
    for weights, problem in (
        (np.ones((4, 4)), "shape"),
        (np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), "not symmetric"),
        (-np.ones((3, 3)), "negative"),
        (np.full((3, 3), np.nan), "not finite"),
        (np.eye(3), "no edges"),
    ):
        with refused(InvalidValue, "graph") as error:
            check_graph(sparse.csr_matrix(weights), 3)
        assert problem in str(error.value)
    weights = sparse.csr_matrix(np.ones((3, 3)))
    assert check_graph(weights, 3).diagonal().sum() == 0
    assert weights.diagonal().sum() == 3


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    return rng.poisson(0.7, (23, 9)) * rng.random(9)


def test_a_sample_is_drawn_by_the_seed(counts, monkeypatch):
    whole = sample.take_sample(RowMatrix(counts), all_cells=True, random_state=0)
    assert whole.chosen is None
    np.testing.assert_array_equal(whole.data, counts)
    np.testing.assert_allclose(whole.variance, counts.var(axis=0))
    monkeypatch.setattr(sample, "MANY_CELLS", 15)
    drawn, again, other = (
        sample.take_sample(RowMatrix(counts), all_cells=False, random_state=seed)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(drawn.chosen, again.chosen)
    assert (drawn.chosen != other.chosen).any()
    assert len(np.unique(drawn.chosen)) == 15
    np.testing.assert_array_equal(sparse.csr_array(drawn.data).toarray(), counts[drawn.chosen])
    own, near = counts[drawn.chosen].var(axis=0), knn_graph(counts[drawn.chosen], 3)
    share = noise.measure(drawn.data, own, near) / np.where(own > 0, own, 1.0)
    expected = np.where(own > 0, share, 1.0) * drawn.variance
    measured = noise.measure(drawn.data, drawn.variance, near, of_all=False)
    np.testing.assert_allclose(measured, expected)


def test_coordinates_that_are_all_alike(clusters):
    with refused(InvalidValue, "representation"):
        build_cells(clusters, StructureSpec(), representation=np.ones((90, 3)))


def test_genes_that_a_sample_misses_are_noise(monkeypatch):
    monkeypatch.setattr(sample, "MANY_CELLS", 100)
    groups = np.kron(np.eye(3), np.ones((200, 5)))
    n_signal = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        signal = groups * 3.0 + rng.normal(scale=0.3, size=(600, 15))
        rare = np.zeros((600, 300))
        for gene in range(300):
            rare[rng.choice(600, 2, replace=False), gene] = 3.0
        n_signal += np.sum(
            rank_genes(np.hstack([signal, rare]), Request.of(6, n_comps=5)).order[:6] < 15
        )
    assert n_signal >= 24  # of 30; less than half if they counted as exact
