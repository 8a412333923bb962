"""Technical noise on the graph, the units that it gives genes, and axes that stand above it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells import noise
from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.cells.noise import edge, permuted
from glfs_bio.data import threads as parallel


def test_noise_is_the_quadratic_form(clusters, container, monkeypatch):
    smoother = laplacian(knn_graph(clusters, 5))
    centred = clusters - clusters.mean(axis=0)
    expected = np.einsum("ij,ij->j", centred, smoother.toarray() @ centred) / len(clusters)
    data = container(clusters)
    for block in (noise._BLOCK, 90 * 7):  # at once, and in chunks
        monkeypatch.setattr(noise, "_BLOCK", block)
        np.testing.assert_allclose(noise.graph_residuals(data, smoother), expected, rtol=1e-10)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("compiled", [True, False])
def test_quadratic_forms_compiled_or_not(compiled, n_threads, monkeypatch):
    monkeypatch.setattr(noise, "_ROWS", 5)
    monkeypatch.setattr(parallel, "n_threads", lambda: n_threads)
    if not compiled:
        monkeypatch.setattr(noise, "_forms_of_rows", noise._forms_of_rows.py_func)
    rng = np.random.default_rng(0)
    data = sparse.csr_array(rng.normal(size=(12, 7)) * (rng.uniform(size=(12, 7)) < 0.4))
    form = rng.normal(size=(12, 12)) * (rng.uniform(size=(12, 12)) < 0.3)
    form = sparse.csr_array(form @ form.T)
    twice = sparse.csr_array(  # an entry that is there twice counts as their sum
        (np.r_[data.data[:1] / 2, data.data[:1] / 2, data.data[1:]],
         np.r_[data.indices[:1], data.indices], np.r_[0, data.indptr[1:] + 1]),
        shape=data.shape,
    )  # fmt: skip
    centred = data.toarray() - data.toarray().mean(axis=0)
    expected = np.einsum("ij,ik,kj->j", centred, form.toarray(), centred) / 12
    for x in (data, twice):
        np.testing.assert_allclose(noise.graph_residuals(x, form), expected, atol=1e-12)


def test_structured_genes_are_the_reliable_ones(clusters):
    variance = clusters.var(axis=0)
    share = noise.reliability(variance, noise.measure(clusters, variance, knn_graph(clusters, 5)))
    assert share[:6].min() > 0.8
    assert share[6:].max() < 0.5


def reduced(data, **options):
    return build_cells(data, StructureSpec(**options))[0]


@pytest.mark.parametrize(("n_cells", "n_genes"), [(100, 900), (300, 300), (600, 150)])
def test_the_edge_is_the_largest_axis_of_noise(n_cells, n_genes):
    """Marchenko–Pastur, for genes of one noise; genes of unequal noise count as fewer."""
    rng = np.random.default_rng(0)
    noise = np.full(n_genes, 4.0)
    largest = np.linalg.norm(rng.normal(scale=2.0, size=(n_cells, n_genes)), 2) ** 2
    assert edge(noise, n_cells) == pytest.approx(largest, rel=0.05)
    one_gene = np.zeros(n_genes)
    one_gene[3] = 4.0
    assert edge(one_gene, n_cells) == pytest.approx(4.0 * (1.0 + np.sqrt(n_cells)) ** 2)
    assert edge(np.zeros(n_genes), n_cells) == 0.0


def spiked(n_axes, strength, seed=0, n_cells=400, n_genes=1000):
    """Noise of variance 1 with some axes, orthonormal times `strength`."""
    rng = np.random.default_rng(seed)
    cells = np.linalg.qr(rng.normal(size=(n_cells, n_axes)))[0]
    genes = np.linalg.qr(rng.normal(size=(n_genes, n_axes)))[0]
    return rng.normal(size=(n_cells, n_genes)) + strength * cells @ genes.T


@pytest.mark.parametrize("n_axes", [1, 8])
def test_axes_of_a_spiked_matrix_are_counted(n_axes):
    """The largest singular value of the noise is near √400 + √1000 ≈ 52."""
    problem = reduced(spiked(n_axes, 150.0))
    assert problem.n_axes == n_axes
    assert problem.n_axes
    root = problem.above_noise
    np.testing.assert_allclose(root, root.T)
    assert np.linalg.matrix_rank(root, tol=1e-6) == n_axes
    assert np.linalg.eigvalsh(root)[-1] < 1.0


def test_axes_below_the_noise_are_no_structure():
    """Of these the singular vectors have next to nothing in common with those of the matrix."""
    problem = reduced(spiked(3, 20.0))
    assert not problem.n_axes
    assert problem.n_axes == 0
    np.testing.assert_array_equal(problem.above_noise, np.eye(50))
    assert problem.strength < 1.3


@pytest.mark.parametrize("shape", [(38, 1500), (300, 900), (600, 60)])
def test_pure_noise_has_no_structure(shape):
    for seed in range(3):
        data = np.random.default_rng(seed).normal(size=shape)
        assert not reduced(data, random_state=seed).n_axes


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_permuted_genes_have_no_structure(clusters, hold):
    data = hold(clusters)
    assert reduced(data).n_axes
    shuffled = permuted(data, np.random.default_rng(0))
    assert type(shuffled) is type(data)
    dense = np.asarray(shuffled.todense()) if sparse.issparse(data) else shuffled
    np.testing.assert_allclose(np.sort(dense, axis=0), np.sort(clusters, axis=0))
    assert not reduced(shuffled, random_state=1).n_axes


def test_only_structure_that_is_not_evident_is_compared_with_chance():
    assert reduced(spiked(1, 400.0)).chance == 0.0
    weak = reduced(spiked(1, 100.0))
    assert weak.n_axes
    assert 0.5 < weak.chance < 1.3


def test_a_constant_gene_has_no_noise():
    """Its residual is rounding, of which the inverse would be millions."""
    rng = np.random.default_rng(0)
    data = np.hstack([np.full((25, 3), 100.0), rng.normal(size=(25, 4))])
    residuals = noise.measure(data, data.var(axis=0), knn_graph(data[:, 3:], 5))
    assert (residuals[:3] == 0).all()
    assert (residuals[3:] > 0).all()
