"""Principal components, and bases of what they span."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells import pca as subspace
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.data.products import products


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


def test_leading_components_are_those_of_arpack(real):
    from sklearn.decomposition import PCA

    x = sparse.csr_array(np.log1p(real("sc_mixology_singlets1021").X))[:, :4000]
    found = subspace.orthonormal(subspace.principal_components(x, 50))
    best = PCA(50, svd_solver="arpack", random_state=0).fit_transform(x)
    leading = subspace.orthonormal(best)[:, :16]
    assert np.sum((found.T @ leading) ** 2) > 0.9999999 * 16


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("mostly_zero", [False, True])
def test_components_of_many_cells_from_those_of_a_sample(holder, mostly_zero):
    rng = np.random.default_rng(0)
    x = np.kron(np.eye(3, 12) * 3, np.ones((40, 1))) + rng.normal(scale=0.2, size=(120, 12))
    cells, scale = RowMatrix(holder(x)), np.linspace(0.5, 2, 12)
    mean = x.mean(axis=0)
    start = subspace.loadings(products(x[::4]), 4, scale, 0)
    scores, basis, projections = subspace.spread(
        cells, start, 2, mean, scale, mostly_zero=mostly_zero
    )
    left, sizes, _ = np.linalg.svd((x - mean) * scale, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), sizes[:2], rtol=1e-3)
    np.testing.assert_allclose(np.abs(np.sum(basis * left[:, :2], axis=0)), 1.0, rtol=1e-3)
    np.testing.assert_allclose(projections, (x - mean).T @ basis, atol=1e-9)
