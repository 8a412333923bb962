"""The similarity graph and its Laplacian against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio.cells import graph
from glfs_bio.cells.graph import check_graph, knn_graph, laplacian, quadratic_form
from glfs_bio.errors import InvalidValue


def test_heat_kernel_graph_is_the_definition(clusters):
    graph = knn_graph(clusters, 5).toarray()
    squared = ((clusters[:, None] - clusters[None]) ** 2).sum(axis=2)
    nearest = np.argsort(squared + np.diag(np.full(90, np.inf)), axis=1)[:, :5]
    joined = np.zeros((90, 90), dtype=bool)
    joined[np.repeat(np.arange(90), 5), nearest.ravel()] = True
    bandwidth = squared[joined].mean()
    expected = np.where(joined | joined.T, np.exp(-squared / bandwidth), 0.0)
    np.testing.assert_allclose(graph, expected, atol=1e-10)


def test_graph_does_not_depend_on_the_unit(clusters):
    np.testing.assert_allclose(
        knn_graph(clusters).toarray(), knn_graph(1e6 * clusters).toarray(), rtol=1e-6
    )


def test_approximate_neighbours_are_nearly_all(monkeypatch):
    rng = np.random.default_rng(0)
    places = rng.normal(size=(1500, 8))
    exact = graph.knn_graph(places, 10)
    monkeypatch.setattr(graph, "MOST_EXACT", 1000)
    monkeypatch.setattr(graph, "_CELLS_OF_CLUSTER", 20)
    monkeypatch.setattr(graph, "_CANDIDATES", 700)
    found, again = graph.knn_graph(places, 10), graph.knn_graph(places, 10)
    assert (found != again).nnz == 0
    shared = (exact.astype(bool).multiply(found.astype(bool))).nnz
    assert shared > 0.95 * exact.nnz
    assert abs(found - found.T).max() == 0
    assert not found.diagonal().any()


def test_approximate_neighbours_of_identical_cells(monkeypatch):
    monkeypatch.setattr(graph, "_CELLS_OF_CLUSTER", 20)
    monkeypatch.setattr(graph, "_CANDIDATES", 30)
    monkeypatch.setattr(graph, "_PER_NEIGHBOR", 1)
    places = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 10, axis=0)
    found = graph.approximate_distances(places, 5, random_state=0)
    assert (np.diff(found.indptr) >= 5).all()
    np.testing.assert_allclose(found.data, 0, atol=1e-3)
    assert not found.diagonal().any()


@pytest.mark.parametrize("kind", ["normalized", "unnormalized"])
def test_laplacian_is_the_definition(clusters, kind):
    graph = knn_graph(clusters, 5)
    dense = graph.toarray()
    degree = dense.sum(axis=1)
    expected = np.diag(degree) - dense
    if kind == "normalized":
        expected /= np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(laplacian(graph, kind).toarray(), expected, atol=1e-12)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["normalized", "unnormalized"])
def test_quadratic_form_is_that_of_the_laplacian(clusters, kind):
    graph = knn_graph(clusters, 5).tolil()
    graph[3, :] = graph[:, 3] = 0.0  # a cell without neighbours
    graph = sparse.csr_array(graph)
    vectors = np.random.default_rng(0).normal(size=(len(clusters), 4))
    expected = vectors.T @ laplacian(graph, kind).toarray() @ vectors
    found = quadratic_form(graph, vectors, kind)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_cell_without_neighbours_has_no_penalty():
    graph = sparse.csr_array(np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    assert not laplacian(graph).toarray()[2].any()


@pytest.mark.parametrize(
    ("graph", "problem"),
    [
        (np.ones((4, 4)), "shape"),
        (np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), "not symmetric"),
        (-np.ones((3, 3)), "negative"),
        (np.full((3, 3), np.nan), "not finite"),
        (np.eye(3), "no edges"),
    ],
)
def test_bad_graph_is_refused(graph, problem):
    with refused(InvalidValue, "graph") as error:
        check_graph(sparse.csr_matrix(graph), 3)
    assert problem in error.value.problem


def test_graph_is_not_changed():
    graph = sparse.csr_matrix(np.ones((3, 3)))
    checked = check_graph(graph, 3)
    assert checked.diagonal().sum() == 0
    assert graph.diagonal().sum() == 3
