"""Passes over rows: whatever holds the matrix, the numbers are those of the matrix."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from glfs_bio.core import graph, passes, sample, subspace
from glfs_bio.core.krylov import leading_eigenvectors
from glfs_bio.core.moments import moments
from glfs_bio.core.passes import Cells, no_rows
from glfs_bio.rankers import rank_genes


class Slices:
    """The least that a file of rows offers."""

    def __init__(self, values, chunks=None):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        if chunks:
            self.chunks = chunks
        if sparse.issparse(values):
            self.format = values.format

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        return self.values[rows]


HOLDERS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "file": Slices,
    "chunked file": lambda x: Slices(x, (4, 2)),
    "sparse file": lambda x: Slices(sparse.csr_matrix(x)),
    "dask": lambda x: da.from_array(x, chunks=(7, 3)),
    "dask of csr": lambda x: da.from_array(x, chunks=(7, -1)).map_blocks(sparse.csr_array),
}


@pytest.fixture(params=HOLDERS)
def holder(request):
    return HOLDERS[request.param]


@pytest.fixture
def small_blocks(monkeypatch):
    for name in ("_DENSE_BLOCK", "_SPARSE_BLOCK", "_STORED_BLOCK"):
        monkeypatch.setattr(passes, name, 60)


def values(seed, n_cells=23, n_genes=9):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.7, (n_cells, n_genes)) * rng.random(n_genes)


def part(block, rows, weights):
    product = block @ weights
    return (block.T @ product, np.array(float(rows.stop - rows.start))), product


@pytest.mark.usefixtures("small_blocks")
def test_sweep_is_the_product(holder):
    x, weights = values(0), np.random.default_rng(1).normal(size=(9, 2))
    (total, count), rows = Cells(holder(x)).sweep(part, weights)
    np.testing.assert_allclose(total, x.T @ (x @ weights))
    np.testing.assert_allclose(rows, x @ weights)
    assert count == 23


@pytest.mark.usefixtures("small_blocks")
def test_some_cells_and_genes(holder):
    x = values(1)
    cells, genes = np.array([0, 3, 8, 9, 21]), np.array([1, 2, 7])
    some = Cells(Cells(holder(x), genes=np.array([0, 1, 2, 7])), cells, np.array([1, 2, 3]))
    assert some.shape == (5, 3)
    _, taken = moments(some, np.array([1, 4]))
    dense = taken.toarray() if sparse.issparse(taken) else taken
    np.testing.assert_allclose(dense, x[np.ix_([3, 21], genes)])
    first = some.first(2) if some.in_memory else Cells(holder(x)).first(2)
    assert first.shape[0] == 2


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 9), st.integers(4, 200))
def test_moments_do_not_depend_on_blocks(seed, n_cells, n_genes, block):
    x = values(seed, n_cells, n_genes) + 1e3
    x[:, 0] = 0.1
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_DENSE_BLOCK", "_SPARSE_BLOCK", "_STORED_BLOCK"):
            patch.setattr(passes, name, block)
        for hold in HOLDERS.values():
            found, taken = moments(Cells(hold(x)), np.array([1]))
            np.testing.assert_allclose(found.mean, x.mean(axis=0), rtol=1e-12)
            # less than 1e-12 of the mean square may be rounding, and is none
            np.testing.assert_allclose(found.variance, x.var(axis=0), rtol=1e-5, atol=2e-6)
            assert found.variance[0] == 0.0
            assert taken.shape == (1, n_genes)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_found(holder, bad):
    x = values(2)
    x[20, 4] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        moments(Cells(holder(x)))


def test_duplicate_entries_are_summed():
    twice = sparse.csr_array((np.ones(4), np.zeros(4, dtype=int), np.array([0, 2, 3, 4])), (3, 1))
    found, _ = moments(Cells(twice))
    np.testing.assert_allclose([found.mean[0], found.variance[0]], [4 / 3, 2 / 9])
    assert twice.nnz == 4


def test_matrix_by_genes_in_a_file_is_refused():
    with pytest.raises(TypeError, match=r"stored as CSC.*tocsr"):
        Cells(Slices(sparse.csc_matrix(values(0))))


def test_eigenvectors_of_a_small_matrix_are_exact():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 30)) @ np.diag(np.linspace(1, 4, 30))
    gram = x.T @ x
    values, found = leading_eigenvectors(lambda block: gram @ block, 30, 6, 0)
    every, vectors = np.linalg.eigh(gram)
    exact = vectors[:, ::-1][:, :6]
    np.testing.assert_allclose(values, every[::-1][:6])
    np.testing.assert_allclose(np.abs(np.sum(found * exact, axis=0)), 1.0, rtol=1e-8)


@pytest.mark.parametrize("rank", [370, 60])
def test_few_products_find_all_directions_of_few_cells(rank):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(370, rank)) @ rng.normal(size=(rank, 900))
    products = 0

    def times(block):
        nonlocal products
        products += 1
        return x @ (x.T @ block)

    values, found = leading_eigenvectors(times, 370, 50, 0, n_products=20)
    every, vectors = np.linalg.eigh(x @ x.T)
    assert products <= 8
    np.testing.assert_allclose(values, every[::-1][:50], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(found * vectors[:, ::-1][:, :50], axis=0)), 1.0)


def test_eigenvectors_of_low_rank_are_as_many_as_the_rank():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 300))
    _, found = leading_eigenvectors(lambda block: x.T @ (x @ block), 300, 10, 0)
    assert found.shape == (300, 3)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-10)


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
    cells, scale = Cells(holder(x)), np.linspace(0.5, 2, 12)
    mean = x.mean(axis=0)
    start = subspace.loadings(x[::4], 4, scale, 0)
    scores, basis, projections = subspace.spread(
        cells, start, 2, mean, scale, mostly_zero=mostly_zero
    )
    left, sizes, _ = np.linalg.svd((x - mean) * scale, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), sizes[:2], rtol=1e-4)
    np.testing.assert_allclose(np.abs(np.sum(basis * left[:, :2], axis=0)), 1.0, rtol=1e-4)
    np.testing.assert_allclose(projections, (x - mean).T @ basis, atol=1e-9)


def test_dask_sums_are_a_tree_and_wait_for_nothing():
    x = values(3)
    lazy = da.from_array(x, chunks=(1, 9))
    (total,), _ = Cells(lazy).sweep(lambda block, rows: ((block.sum(axis=0),), no_rows(block)))
    np.testing.assert_allclose(total, x.sum(axis=0))


def test_approximate_neighbours_are_nearly_all(monkeypatch):
    rng = np.random.default_rng(0)
    places = rng.normal(size=(1500, 8))
    exact = graph.knn_graph(places, 10)
    monkeypatch.setattr(graph, "MOST_EXACT", 1000)
    found, again = graph.knn_graph(places, 10), graph.knn_graph(places, 10)
    assert (found != again).nnz == 0
    shared = (exact.astype(bool).multiply(found.astype(bool))).nnz
    assert shared > 0.95 * exact.nnz
    assert abs(found - found.T).max() == 0
    assert not found.diagonal().any()


def test_part_of_a_sample(monkeypatch):
    x = values(0)
    every, whole = sample.look(Cells(x), whole=True, n_neighbors=3, random_state=0)
    assert whole.part(len(x)) is whole
    monkeypatch.setattr(sample, "MANY_CELLS", 15)
    _, drawn = sample.look(Cells(x), whole=False, n_neighbors=3, random_state=0)
    for of in (whole, drawn):
        part = of.part(10)
        assert len(np.unique(part.chosen)) == 10
        np.testing.assert_array_equal(sparse.csr_array(part.data).toarray(), x[part.chosen])
        np.testing.assert_allclose(part.variance, x[part.chosen].var(axis=0))
        np.testing.assert_array_equal(part.chosen, of.part(10).chosen)
    assert set(part.chosen) <= set(drawn.chosen)
    np.testing.assert_allclose(every.variance, x.var(axis=0))


def test_sample_is_drawn_by_the_seed(monkeypatch):
    monkeypatch.setattr(sample, "MANY_CELLS", 10)
    drawn = [
        sample.look(Cells(values(0)), whole=False, n_neighbors=3, random_state=seed)[1].chosen
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    _, whole = sample.look(Cells(values(0)), whole=True, n_neighbors=3, random_state=0)
    assert whole.chosen is None
    np.testing.assert_array_equal(whole.data, values(0))


def test_genes_that_a_sample_misses_are_noise(monkeypatch):
    monkeypatch.setattr(sample, "MANY_CELLS", 100)
    groups = np.kron(np.eye(3), np.ones((200, 5)))
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        signal = groups * 3.0 + rng.normal(scale=0.3, size=(600, 15))
        rare = np.zeros((600, 300))
        for gene in range(300):
            rare[rng.choice(600, 2, replace=False), gene] = 3.0
        found += np.sum(rank_genes(np.hstack([signal, rare]), 6, n_comps=5).order[:6] < 15)
    assert found >= 24  # of 30; less than half if they counted as exact
