"""Cells in space: neighbours, blocks, domains and Moran's I."""

from __future__ import annotations

import numpy as np
import pytest
import scanpy as sc
from scipy import sparse

from glfs_bio.data.matrix import RowMatrix
from glfs_bio.measures import space
from glfs_bio.measures.space import Autocorrelation, Domains, blocks, neighbours, within

READINGS = ["knn", "laprls"]


def tissue(n=24):
    """Places on a grid, and stripes of a quarter of its width each."""
    where = np.stack(np.meshgrid(np.arange(4.0 * n), np.arange(n)), axis=2).reshape(-1, 2)
    stripe = (where[:, 0] // n).astype(np.intp)
    return where + 0.01 * np.random.default_rng(0).normal(size=where.shape), stripe


def domains(graph, stripe, seed=0):
    return Domains.of(graph, stripe, list("0123"), seed)


def accuracy(graph, stripe, values, *, seed=0):
    readings = domains(graph, stripe, seed).scores(READINGS, values, values, seed)
    return [readings[reading].accuracy for reading in READINGS]


def path(n):
    """Cells on a line, each beside the next."""
    return sparse.csr_array(sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]))


@pytest.fixture(scope="module")
def striped():
    where, stripe = tissue()
    return neighbours(where, np.zeros(len(where), dtype=int)), stripe


def test_genes_that_mark_stripes_tell_them_apart(striped):
    graph, stripe = striped
    marks = np.eye(4)[stripe] + 0.3 * np.random.default_rng(1).normal(size=(len(stripe), 4))
    assert min(accuracy(graph, stripe, marks)) > 0.97


@pytest.mark.parametrize("seed", [0, 1])
def test_genes_of_noise_are_at_chance_though_averages_are_shared(striped, seed):
    graph, stripe = striped
    noise = np.random.default_rng(seed).normal(size=(len(stripe), 10))
    assert max(accuracy(graph, stripe, noise, seed=seed)) < 0.32
    joined = graph + sparse.eye_array(len(stripe))
    averages = joined @ noise / joined.sum(axis=1)[:, None]
    leaking = space.readers.label_scores(averages, stripe, ["0", "1", "2", "3"])
    assert leaking.accuracy > 0.6


def test_averages_end_where_folds_do(striped):
    graph, stripe = striped
    cut = domains(graph, stripe)
    edges = cut.averages.tocoo()
    assert (cut.fold[edges.row] == cut.fold[edges.col]).all()
    np.testing.assert_allclose(cut.averages.sum(axis=1), 1.0)
    assert (cut.averages.diagonal() > 0).all()
    counts = np.array([np.bincount(stripe[cut.fold == k], minlength=4) for k in range(5)])
    assert ((counts > 0).sum(axis=0) > 1).all()  # every label is learned from other folds


def test_cells_without_a_domain_are_neighbours_and_nothing_else(striped):
    graph, stripe = striped
    some = np.where(np.arange(len(stripe)) % 5 == 0, -1, stripe)
    cut = domains(graph, some)
    np.testing.assert_array_equal(cut.cells, np.flatnonzero(some >= 0))
    assert cut.averages[:, some < 0].nnz > np.sum(some < 0)
    marks = np.eye(4)[stripe]
    assert min(accuracy(graph, some, marks)) > 0.97


def test_sections_are_apart():
    where = np.tile(np.arange(40.0)[:, None], (2, 2))
    section = np.repeat([1, 0], 40)
    graph = neighbours(where, section)
    edges = graph.tocoo()
    assert (section[edges.row] == section[edges.col]).all()
    np.testing.assert_array_equal(graph[:40, :40].toarray(), graph[40:, 40:].toarray())
    mixed = neighbours(where, np.zeros(80, dtype=int))
    assert mixed[:40, 40:].nnz
    cut = within(mixed, section)
    assert cut[:40, 40:].nnz == 0
    assert cut[:40, :40].nnz == mixed[:40, :40].nnz


def test_a_cell_is_no_neighbour_of_itself():
    """Squidpy joins it to itself where it is asked to; alone in a section it has none."""
    looped = sparse.csr_array(path(4) + sparse.eye_array(4))
    np.testing.assert_array_equal(within(looped, np.zeros(4)).toarray(), path(4).toarray())
    graph = neighbours(np.random.default_rng(0).random((9, 2)), np.array([1] + [0] * 8))
    np.testing.assert_array_equal(graph.sum(axis=1), [0, *[7] * 8])


def test_blocks_are_connected():
    where, _ = tissue(12)
    graph = neighbours(where, np.repeat([0, 1], len(where) // 2))
    block = blocks(graph, 0)
    assert block.max() + 1 == 10
    for number in range(10):
        cells = np.flatnonzero(block == number)
        assert sparse.csgraph.connected_components(graph[cells][:, cells])[0] == 1
    assert len(np.unique(blocks(sparse.csr_array((30, 30)), 0))) == 30


def test_where_nothing_can_be_predicted_there_is_one_fold():
    alone = Domains.of(path(4), np.array([0, 1, 2, 3]), list("abcd"), 0)
    assert not alone.fold.any()
    few = Domains.of(path(4), np.array([0, 0, 1, 1]), list("ab"), 0)
    assert few.fold.max() == 1
    few.scores(READINGS, np.eye(4), np.eye(4), 0)


def test_morans_i_as_scanpy_has_it():
    data = np.random.default_rng(0).poisson(1.0, (200, 300)).astype(np.float32)
    data[:, 7] = 0.0
    moran = Autocorrelation.of(path(200), RowMatrix(sparse.csr_matrix(data)), np.arange(300))
    beside = path(200).toarray()
    mean = beside / beside.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(moran.weights.toarray(), (mean + mean.T) / 2, rtol=1e-6)
    theirs = sc.metrics.morans_i(sparse.csr_matrix(moran.weights), np.delete(data.T, 7, axis=0))
    np.testing.assert_allclose(np.delete(moran.of_genes, 7), theirs, rtol=1e-9, atol=1e-12)
    assert np.isnan(moran.of_genes[7])
    assert moran.mean(data[:, 5:8]) == pytest.approx(theirs[5:7].mean(), rel=1e-6)
    assert np.isnan(moran.mean(data[:, [7]]))


def test_what_is_kept_is_what_the_regression_explains():
    rng = np.random.default_rng(0)
    data = rng.poisson(3.0, (200, 12)) + 2.0 * np.sin(np.arange(200) / 20)[:, None]
    data = np.maximum(data, 0.0)
    panel = np.array([3, 7, 1])
    z = (data - data.mean(axis=0)) / data.std(axis=0)
    projection = z[:, panel] @ np.linalg.pinv(z[:, panel])
    left = z - projection @ z
    for form in (np.asarray, sparse.csr_array, sparse.csc_array):
        moran = Autocorrelation.of(path(200), RowMatrix(form(data)), np.arange(12))
        weights = moran.weights.toarray()
        noise = (left**2).sum(axis=0) / (200 - 1 - 3) * np.trace(projection @ weights)
        by_hand = 1 - (np.sum(left * (weights @ left)) + noise.sum()) / np.sum(z * (weights @ z))
        assert moran.preserved(form(data)[:, panel]) == pytest.approx(by_hand)
        assert moran.preserved(form(data)) == pytest.approx(1.0)


def test_noise_beside_a_smooth_gene_is_not_kept():
    """A fit takes a part of any noise: by itself it would look as if space were explained."""
    rng = np.random.default_rng(0)
    smooth = np.sin(np.arange(300)[:, None] / np.array([8.0, 13.0, 21.0, 34.0]))
    other = np.cumsum(rng.normal(size=(300, 1)), axis=0) % 7.0
    differences = []
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=(300, 40))
        data = np.hstack([smooth, other, noise])
        moran = Autocorrelation.of(path(300), RowMatrix(data), np.arange(45))
        differences.append(
            moran.preserved(data[:, :4]) * moran.of_genes.sum() - moran.of_genes[:4].sum()
        )
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(20) + 0.1


def test_some_genes_stand_for_all_where_there_are_many_cells(monkeypatch):
    rng = np.random.default_rng(0)
    levels = np.sin(np.arange(400)[:, None] / 20) * rng.random(60)
    data = rng.poisson(3.0 + 2.0 * levels)
    every, panel = np.arange(60), data[:, :5]
    moran = Autocorrelation.of(path(400), RowMatrix(data), every)
    monkeypatch.setattr(space, "MOST_EXACT", 300)
    monkeypatch.setattr(space, "GENES", 40)
    some = Autocorrelation.of(path(400), RowMatrix(data), every)
    assert some.values.shape == (400, 40)
    assert some.mean(panel) == moran.mean(panel)
    assert some.preserved(panel) == pytest.approx(moran.preserved(panel), abs=0.05)


def test_nothing_is_kept_where_nothing_is_in_space():
    values = np.tile([0.0, 1.0], 10)[:, None]
    moran = Autocorrelation.of(path(20), RowMatrix(values), np.array([0]))
    assert moran.of_genes[0] < 0
    assert np.isnan(moran.preserved(values))
