"""Cells as a panel shows them, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from glfs_bio.errors import InvalidValue
from glfs_bio.measures import cells as measures
from glfs_bio.measures.cells import (
    COARSE,
    FINE,
    ari_in_splits,
    cluster_preservation,
    clustered_by_split,
    clusterings,
    coordinates,
    knn_preservation,
    nearest,
)


@pytest.fixture
def by_variance(pbmc):
    return np.argsort(-pbmc.X.toarray().var(axis=0))


def test_few_genes_are_centred(pbmc, by_variance, container):
    panel = by_variance[:12]
    where = coordinates(container(pbmc.X.toarray()[:, panel]))
    values = pbmc.X.toarray()[:, panel]
    np.testing.assert_allclose(where, values - values.mean(axis=0), atol=1e-5)


def test_many_genes_are_components(pbmc, by_variance, container):
    """As many components as there are genes would keep all distances."""
    panel = by_variance[:60]
    data = container(pbmc.X.toarray()[:, panel])
    assert coordinates(data).shape == (700, 50)
    values = pbmc.X.toarray()[:, panel].astype(float)
    where = coordinates(data, n_comps=59)
    left = np.linalg.eigvalsh(np.cov(values.T, bias=True))[0]
    lost = pdist(values, "sqeuclidean") - pdist(where, "sqeuclidean")
    assert lost.min() > -1e-8
    # the mean over pairs of a squared difference is twice the variance
    assert lost.sum() == pytest.approx(left * len(values) ** 2, rel=1e-6)


def test_fewer_cells_than_components(pbmc, by_variance):
    assert coordinates(pbmc.X[:20, by_variance[:60]]).shape == (20, 20)


def test_nearest_are_nearest(pbmc):
    where = pbmc.obsm["X_pca"].astype(float)
    distances = cdist(where, where)
    np.fill_diagonal(distances, np.inf)
    near = nearest(where)
    assert near.shape == (700, 15)
    np.testing.assert_allclose(
        np.take_along_axis(distances, near, axis=1), np.sort(distances, axis=1)[:, :15], rtol=1e-6
    )


def test_no_more_neighbors_than_cells():
    near = nearest(np.arange(4.0)[:, None])
    assert near.shape == (4, 3)
    assert near[0].tolist() == [1, 2, 3]


def test_knn_preservation_are_intersections(pbmc, by_variance):
    full = nearest(pbmc.obsm["X_pca"])
    near = nearest(coordinates(pbmc.X[:, by_variance[:20]]))
    expected = [len(np.intersect1d(a, b)) / 15 for a, b in zip(full, near, strict=True)]
    np.testing.assert_allclose(knn_preservation(near, full), expected)
    assert (knn_preservation(full, full) == 1).all()


def test_neighbors_of_other_cells_are_refused(pbmc):
    full = nearest(pbmc.obsm["X_pca"])
    with refused(InvalidValue, "near"):
        knn_preservation(full, full[:, :10])


def test_clusters_of_the_same_cells_are_kept(pbmc):
    where = pbmc.obsm["X_pca"]
    kept = cluster_preservation(clusterings(where), clusterings(where))
    assert kept.numbers == COARSE + FINE
    np.testing.assert_allclose(kept.nmi, 1.0)
    assert kept.coarse == pytest.approx(1.0)
    assert kept.fine == pytest.approx(1.0)


def test_more_genes_keep_more_clusters(pbmc, by_variance):
    full = clusterings(pbmc.obsm["X_pca"])
    small, large = (
        cluster_preservation(clusterings(coordinates(pbmc.X[:, by_variance[:size]])), full)
        for size in (3, 100)
    )
    assert small.coarse < large.coarse
    assert small.fine < large.fine


def test_few_cells_have_few_clusters(clusters):
    """90 cells: too few for 10 or more clusters of ten."""
    found = clusterings(clusters)
    assert list(found) == [5, 7]
    kept = cluster_preservation(found, found)
    assert kept.coarse == pytest.approx(1.0)
    assert np.isnan(kept.fine)


def test_cells_that_a_panel_cannot_tell_apart():
    """A gene that is on or off makes two clusters, one that is off none."""
    on = np.repeat([0.0, 1.0], 100)[:, None]
    found = clusterings(on - on.mean())
    assert all(len(np.unique(cluster)) == 2 for cluster in found.values())
    off = clusterings(np.zeros((200, 1)))
    assert cluster_preservation(off, found).coarse == 0.0


def test_agreement_in_splits_is_that_of_clusters_of_each_split(pbmc, by_variance):
    views = [pbmc.obsm["X_pca"], coordinates(pbmc.X[:, by_variance[:10]])]
    found = ari_in_splits(*(clustered_by_split(where) for where in reversed(views)))
    expected = []
    for first in range(5):
        own = [where[first::5].astype(np.float32) for where in views]
        models = [KMeans(10, n_init=3, random_state=0).fit(where) for where in own]
        expected.append(adjusted_rand_score(*(model.labels_ for model in models)))
    np.testing.assert_allclose(found, expected)
    assert 0 < np.std(found) < np.mean(found) < 1


def test_splits_of_few_cells_are_not_clustered(pbmc):
    few = clustered_by_split(pbmc.obsm["X_pca"][:499])
    assert np.isnan(ari_in_splits(few, few)).all()
    enough = clustered_by_split(pbmc.obsm["X_pca"][:500])
    np.testing.assert_allclose(ari_in_splits(enough, enough), np.ones(5))


def test_of_many_cells_nearly_all_of_the_nearest_are_found(monkeypatch):
    where = np.random.default_rng(0).normal(size=(9000, 3))
    exact = nearest(where)
    monkeypatch.setattr(measures, "MOST_EXACT", 1000)
    found = nearest(where)
    assert found.shape == exact.shape
    assert not (found == np.arange(len(where))[:, None]).any()
    assert knn_preservation(found, exact).mean() > 0.9
