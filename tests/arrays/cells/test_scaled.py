"""Products with scaled genes: what they are, how exact, and the same from any container."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells import pca as subspace
from glfs_bio.cells.cells import look
from glfs_bio.cells.pca import ScaledGenes
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.data.products import products


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
    genes = ScaledGenes.of(products(kind(x)), scale)
    centred = (x - x.mean(axis=0)) * scale
    rng = np.random.default_rng(1)
    weights, scores = rng.normal(size=(x.shape[1], 4)), rng.normal(size=(x.shape[0], 4))
    scores -= scores.mean(axis=0)
    for found, expected in (
        (genes.scores(weights), centred @ weights),
        (genes.weights(scores), centred.T @ scores),
    ):
        largest = np.abs(expected).max()
        np.testing.assert_allclose(genes.unit * found, expected, atol=exact * largest)


def test_units_of_any_size():
    x = expression(0.1)
    expected = ScaledGenes.of(products(sparse.csr_array(x)), np.ones(700))
    for size in (2.0**-150, 2.0**150):
        found = ScaledGenes.of(products(sparse.csr_array(x * size)), np.ones(700))
        stored = [genes.products.matrix.data for genes in (found, expected)]
        np.testing.assert_array_equal(*stored)
    nothing = ScaledGenes.of(products(sparse.csr_array((30, 700))), np.ones(700))
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
    found = []
    for container in (x, sparse.csr_array(x), sparse.csc_matrix(x), shuffled, with_zeros):
        _, sample = look(RowMatrix(container), whole=False, random_state=0)
        found.append(subspace.principal_components(sample.products, 20))
    for one in found[1:]:
        np.testing.assert_allclose(one, found[0], atol=1e-9 * np.abs(found[0]).max())


def test_more_cells_than_genes_or_fewer():
    x = expression(0.2, (500, 400))
    for values in (x, x[:300]):
        scores = subspace.principal_components(sparse.csr_array(values), 6, tolerance=5e-5)
        sizes = np.linalg.svd(values - values.mean(axis=0))[1][:6]
        np.testing.assert_allclose(np.linalg.norm(scores, axis=0), sizes, rtol=1e-5)


@pytest.mark.parametrize("size", [(300, 700), (700, 300)])
def test_no_more_components_than_there_are(size):
    rng = np.random.default_rng(1)
    levels = rng.lognormal(size=(5, size[1])) * (rng.uniform(size=(5, size[1])) < 0.2)
    x = sparse.csr_array(levels[rng.integers(5, size=size[0])])
    for scale in (np.ones(size[1]), 10.0 ** rng.uniform(-2, 2, size[1])):
        assert subspace.principal_components(x, 50, scale=scale).shape == (size[0], 4)
