"""Graph, subspace and noise: the pieces of a problem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.core import noise, subspace
from glfs_bio.core.graph import check_graph, knn_graph, laplacian, n_components


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


@pytest.mark.parametrize("kind", ["normalized", "unnormalized"])
def test_laplacian_is_the_definition(clusters, kind):
    graph = knn_graph(clusters, 5)
    dense = graph.toarray()
    degree = dense.sum(axis=1)
    expected = np.diag(degree) - dense
    if kind == "normalized":
        expected /= np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(laplacian(graph, kind).toarray(), expected, atol=1e-12)


def test_cell_without_neighbours_has_no_penalty():
    graph = sparse.csr_array(np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    assert not laplacian(graph).toarray()[2].any()
    assert n_components(graph) == 2


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((4, 4)), "shape"),
        (np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), "not symmetric"),
        (-np.ones((3, 3)), "negative"),
        (np.full((3, 3), np.nan), "not finite"),
        (np.eye(3), "no edges"),
    ],
)
def test_bad_graph_is_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        check_graph(sparse.csr_matrix(graph), 3)


def test_graph_is_not_changed():
    graph = sparse.csr_matrix(np.ones((3, 3)))
    checked = check_graph(graph, 3)
    assert checked.diagonal().sum() == 0
    assert graph.diagonal().sum() == 3


def test_noise_is_the_quadratic_form(clusters, container):
    smoother = laplacian(knn_graph(clusters, 5))
    centred = clusters - clusters.mean(axis=0)
    expected = np.einsum("ij,ij->j", centred, smoother.toarray() @ centred) / len(clusters)
    np.testing.assert_allclose(
        noise.graph_residuals(container(clusters), smoother), expected, rtol=1e-10
    )
    np.testing.assert_allclose(noise.variances(container(clusters)), centred.var(axis=0))


def test_noise_in_chunks(clusters, container, monkeypatch):
    smoother = laplacian(knn_graph(clusters, 5))
    whole = noise.graph_residuals(container(clusters), smoother)
    monkeypatch.setattr(noise, "_BLOCK", 90 * 7)
    np.testing.assert_allclose(noise.graph_residuals(container(clusters), smoother), whole)


def test_structured_genes_are_the_reliable_ones(clusters):
    variance = noise.variances(clusters)
    share = noise.reliability(variance, noise.measure(clusters, variance, knn_graph(clusters, 5)))
    assert share[:6].min() > 0.8
    assert share[6:].max() < 0.5


def test_orthonormal_drops_what_is_not_there():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(20, 3))
    basis = subspace.orthonormal(
        np.hstack([columns, columns @ rng.normal(size=(3, 2)), np.ones((20, 1))])
    )
    assert basis.shape == (20, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)


def test_principal_components_of_all_containers(clusters, container):
    expected = subspace.principal_components(clusters, 5)
    found = subspace.principal_components(container(clusters), 5)
    np.testing.assert_allclose(abs(found), abs(expected), atol=1e-8)
    assert subspace.principal_components(container(clusters), 60).shape[1] == 40
