"""Principal components, bases of what they span, and products with scaled genes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells.cells import orthonormal, take_sample
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.data.products import (
    Products,
    ScaledGenes,
    leading_eigenvectors,
    principal_components,
    spread,
)


def test_orthonormal_drops_what_is_not_there():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(20, 3))
    basis = orthonormal(np.hstack([columns, columns @ rng.normal(size=(3, 2)), np.ones((20, 1))]))
    assert basis.shape == (20, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)


def test_leading_components_are_those_of_arpack(real):
    from sklearn.decomposition import PCA

    x = sparse.csr_array(np.log1p(real("sc_mixology_singlets1021").X))[:, :4000]
    components = orthonormal(principal_components(Products.of(x), 50))
    best = PCA(50, svd_solver="arpack", random_state=0).fit_transform(x)
    leading = orthonormal(best)[:, :16]
    assert np.sum((components.T @ leading) ** 2) > 0.9999999 * 16


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("mostly_zero", [False, True])
def test_components_of_many_cells_from_those_of_a_sample(holder, mostly_zero):
    rng = np.random.default_rng(0)
    x = np.kron(np.eye(3, 12) * 3, np.ones((40, 1))) + rng.normal(scale=0.2, size=(120, 12))
    cells, scale = RowMatrix(holder(x)), np.linspace(0.5, 2, 12)
    mean = x.mean(axis=0)
    start = ScaledGenes(Products.of(x[::4]), scale).loadings(4, 0)
    scores, basis, projections = spread(cells, start, 2, mean, scale, mostly_zero=mostly_zero)
    left, sizes, _ = np.linalg.svd((x - mean) * scale, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), sizes[:2], rtol=1e-3)
    np.testing.assert_allclose(np.abs(np.sum(basis * left[:, :2], axis=0)), 1.0, rtol=1e-3)
    np.testing.assert_allclose(projections, (x - mean).T @ basis, atol=1e-9)


def assert_leading(values, vectors, matrix):
    """The leading eigenvalues and eigenvectors of a matrix, but for signs."""
    every, exact = np.linalg.eigh(matrix)
    np.testing.assert_allclose(values, every[::-1][: len(values)], rtol=1e-9)
    cosines = np.sum(vectors * exact[:, ::-1][:, : len(values)], axis=0)
    np.testing.assert_allclose(np.abs(cosines), 1.0, rtol=1e-8)


def test_eigenvectors_of_a_small_matrix_are_exact_and_as_many_as_the_rank():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 30)) @ np.diag(np.linspace(1, 4, 30))
    gram = x.T @ x
    assert_leading(*leading_eigenvectors(lambda block: gram @ block, 30, 6, 0), gram)
    x = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 300))
    _, vectors = leading_eigenvectors(lambda block: x.T @ (x @ block), 300, 10, 0)
    assert vectors.shape == (300, 3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-10)


@pytest.mark.parametrize("rank", [370, 60])
def test_few_products_find_all_directions_of_few_cells(rank):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(370, rank)) @ rng.normal(size=(rank, 900))
    products = 0

    def times(block):
        nonlocal products
        products += 1
        return x @ (x.T @ block)

    values, vectors = leading_eigenvectors(times, 370, 50, 0)
    assert products <= 8
    assert_leading(values, vectors, x @ x.T)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_a_start_may_have_any_unit(unit):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 300)) @ np.diag(0.97 ** np.arange(300))
    gram = x.T @ x
    start = np.linalg.eigh(gram)[1][:, :-7:-1]
    start[:, 5] = 0.0
    plain, scaled = (
        leading_eigenvectors(lambda block: gram @ block, 300, 6, 0, start=scale * start)
        for scale in (1.0, unit)
    )
    np.testing.assert_allclose(scaled[0], plain[0], rtol=1e-10)
    np.testing.assert_allclose(np.abs(scaled[1]), np.abs(plain[1]), atol=1e-8)  # signs are free


def expression(share, size=(300, 700)):
    rng = np.random.default_rng(0)
    levels = 1.0 + rng.normal(size=(6, size[1])).clip(-0.9)
    cells = levels[rng.integers(6, size=size[0])] * rng.lognormal(sigma=0.3, size=size)
    return np.where(rng.uniform(size=size) < share, cells, 0.0)


@pytest.mark.parametrize(("share", "exact"), [(0.1, 1e-5), (0.9, 1e-12)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_products(kind, share, exact):
    x = expression(share)
    scale = np.linspace(0.1, 10.0, x.shape[1])
    genes = ScaledGenes(Products.of(kind(x)), scale)
    centred = (x - x.mean(axis=0)) * scale
    rng = np.random.default_rng(1)
    weights, scores = rng.normal(size=(x.shape[1], 4)), rng.normal(size=(x.shape[0], 4))
    scores -= scores.mean(axis=0)
    for product, expected in (
        (genes.scores(weights), centred @ weights),
        (genes.weights(scores), centred.T @ scores),
    ):
        largest = np.abs(expected).max()
        np.testing.assert_allclose(genes.unit * product, expected, atol=exact * largest)


def test_units_of_any_size():
    x = expression(0.1)
    expected = ScaledGenes(Products.of(sparse.csr_array(x)), np.ones(700))
    for size in (2.0**-150, 2.0**150):
        scaled = ScaledGenes(Products.of(sparse.csr_array(x * size)), np.ones(700))
        stored = [genes.products.matrix.data for genes in (scaled, expected)]
        np.testing.assert_array_equal(*stored)
    nothing = ScaledGenes(Products.of(sparse.csr_array((30, 700))), np.ones(700))
    assert not nothing.scores(np.ones((700, 2))).any()


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_components_are_the_same_to_rounding_from_any_container(share):
    x = expression(share)
    shuffled = sparse.csr_array(x)
    for begin, end in zip(shuffled.indptr, shuffled.indptr[1:], strict=False):
        shuffled.data[begin:end] = shuffled.data[begin:end][::-1].copy()
        shuffled.indices[begin:end] = shuffled.indices[begin:end][::-1].copy()
    shuffled.has_sorted_indices = False
    with_zeros = sparse.csr_array(np.where(x > 0, x, 1.0))
    with_zeros.data[x.ravel() == 0] = 0.0
    components = []
    for container in (x, sparse.csr_array(x), sparse.csc_matrix(x), shuffled, with_zeros):
        sample = take_sample(RowMatrix(container), all_cells=False, random_state=0)
        components.append(principal_components(Products.of(sample.data), 20))
    for others in components[1:]:
        np.testing.assert_allclose(others, components[0], atol=1e-9 * np.abs(components[0]).max())


def test_components_of_containers_that_are_no_sample(clusters, container):
    expected = principal_components(Products.of(clusters), 5)
    components = principal_components(Products.of(container(clusters)), 5)
    np.testing.assert_allclose(abs(components), abs(expected), atol=1e-8)
    assert principal_components(Products.of(container(clusters)), 60).shape[1] == 40


def test_more_cells_than_genes_or_fewer():
    x = expression(0.2, (500, 400))
    for values in (x, x[:300]):
        scores = principal_components(Products.of(sparse.csr_array(values)), 6, tolerance=5e-5)
        sizes = np.linalg.svd(values - values.mean(axis=0))[1][:6]
        np.testing.assert_allclose(np.linalg.norm(scores, axis=0), sizes, rtol=1e-5)


@pytest.mark.parametrize("size", [(300, 700), (700, 300)])
def test_no_more_components_than_there_are(size):
    rng = np.random.default_rng(1)
    levels = rng.lognormal(size=(5, size[1])) * (rng.uniform(size=(5, size[1])) < 0.2)
    x = sparse.csr_array(levels[rng.integers(5, size=size[0])])
    for scale in (np.ones(size[1]), 10.0 ** rng.uniform(-2, 2, size[1])):
        assert principal_components(Products.of(x), 50, scale=scale).shape == (size[0], 4)
