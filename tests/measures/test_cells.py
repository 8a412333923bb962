"""Cells as a panel shows them, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from glfs_bio.measures import cells as measures
from glfs_bio.measures.cells import cluster_preservation, clusterings, coordinates, nearest


@pytest.fixture
def values(pbmc):
    """Expression, the genes of the largest variance first."""
    expression = pbmc.X.toarray()
    return expression[:, np.argsort(-expression.var(axis=0))]


def test_few_genes_are_centred(values, container):
    where = coordinates(container(values[:, :12]))
    np.testing.assert_allclose(where, values[:, :12] - values[:, :12].mean(axis=0), atol=1e-5)


def test_many_genes_are_components(values, container):
    """As many components as there are genes would keep all distances."""
    panel = values[:, :60].astype(float)
    assert coordinates(container(values[:, :60])).shape == (700, 50)
    where = coordinates(container(values[:, :60]), n_comps=59)
    left = np.linalg.eigvalsh(np.cov(panel.T, bias=True))[0]
    lost = pdist(panel, "sqeuclidean") - pdist(where, "sqeuclidean")
    assert lost.min() > -1e-8
    # the mean over pairs of a squared difference is twice the variance
    assert lost.sum() == pytest.approx(left * len(panel) ** 2, rel=1e-6)
    assert coordinates(container(values[:20, :60])).shape == (20, 20)


def test_nearest_are_nearest(pbmc):
    where = pbmc.obsm["X_pca"].astype(float)
    distances = cdist(where, where)
    np.fill_diagonal(distances, np.inf)
    near = nearest(where)
    assert near.shape == (700, 15)
    assert nearest(where[:4]).shape == (4, 3)
    np.testing.assert_allclose(
        np.take_along_axis(distances, near, axis=1), np.sort(distances, axis=1)[:, :15], rtol=1e-6
    )


def test_knn_preservation_are_intersections(pbmc, values):
    full, near = nearest(pbmc.obsm["X_pca"]), nearest(coordinates(values[:, :20]))
    expected = [len(np.intersect1d(a, b)) / 15 for a, b in zip(full, near, strict=True)]
    np.testing.assert_allclose(measures.knn_preservation(near, full), expected)
    assert (measures.knn_preservation(full, full) == 1).all()


def test_cells_that_a_panel_cannot_tell_apart(clusters):
    """90 are too few for 10 or more clusters of ten; a gene on or off makes two, one off none."""
    few = clusterings(clusters)
    assert list(few) == [5, 7]
    assert cluster_preservation(few, few, measures.COARSE) == 1.0
    assert np.isnan(cluster_preservation(few, few, measures.FINE))
    switched = clusterings(np.repeat([-0.5, 0.5], 100)[:, None])
    assert all(len(np.unique(cluster)) == 2 for cluster in switched.values())
    same = clusterings(np.zeros((200, 1)))
    assert cluster_preservation(same, switched, measures.COARSE) == 0.0


def test_clusters_are_those_of_k_means(pbmc):
    where = pbmc.obsm["X_pca"].astype(np.float32)
    model = KMeans(10, n_init=3, random_state=0).fit(where)
    assert normalized_mutual_info_score(clusterings(where)[10], model.labels_) == pytest.approx(1.0)


def test_of_many_cells_nearly_all_of_the_nearest_are_found(monkeypatch):
    where = np.random.default_rng(0).normal(size=(9000, 3))
    exact = nearest(where)
    monkeypatch.setattr(measures, "MOST_EXACT", 1000)
    near = nearest(where)
    assert near.shape == exact.shape
    assert not (near == np.arange(len(where))[:, None]).any()
    assert measures.knn_preservation(near, exact).mean() > 0.9


def test_more_genes_keep_more_clusters(pbmc, values):
    full = clusterings(pbmc.obsm["X_pca"])
    few, many = (clusterings(coordinates(values[:, :size])) for size in (3, 100))
    for numbers in (measures.COARSE, measures.FINE):
        shares = [cluster_preservation(view, full, numbers) for view in (few, many, full)]
        assert shares[0] < shares[1] < shares[2] == pytest.approx(1.0)
