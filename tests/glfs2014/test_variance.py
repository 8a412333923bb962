"""The objectives against brute force and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.cells.pca import full_rank, orthonormal, project
from glfs_bio.glfs2014 import Exact, path
from glfs_bio.glfs2014.solvers import newton
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.methods import OBJECTIVES

LAMBDA1 = 3.0


def problem(n, d, r=None, *, connected=True, seed=0):
    """Centred data, B, and the block of the exact name with its basis."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(n, d))
    graph = knn_graph(data, 4)
    if not connected:
        half = n // 2
        keep = np.zeros((n, n))
        keep[:half, :half] = keep[half:, half:] = 1.0
        graph = sparse.csr_array(graph.multiply(keep))
    graph_matrix = np.eye(n) + LAMBDA1 * laplacian(graph).toarray()
    basis = np.eye(n) if r is None else orthonormal(rng.normal(size=(n, r)))
    return data - data.mean(axis=0), graph_matrix, basis, rng.uniform(size=d)


CASES = {
    "d>n": problem(12, 30),
    "d<n": problem(30, 12),
    "reduced": problem(20, 30, r=5),
    "disconnected": problem(20, 15, connected=False),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(params=["exact", "printed"])
def name(request):
    return request.param


def block_of(data, graph_matrix, basis, name="exact"):
    return OBJECTIVES[name].block(project(data, basis), basis.T @ graph_matrix @ basis)


def brute_force(data, graph_matrix, beta, name="exact"):
    """The definitions, with explicit inverses: X is genes × cells as in the paper."""
    x = np.sqrt(beta)[:, None] * data.T
    if name == "exact":
        z = np.linalg.inv(x @ graph_matrix @ x.T + np.eye(len(x)))
        return np.trace(z @ x @ x.T @ z)
    m = np.linalg.inv(graph_matrix)
    a = x.T @ x
    f = np.linalg.inv(m + a)
    return np.trace(a @ f @ f @ m @ m)


def test_value_is_the_definition(case, name):
    """In a subspace that of its coordinates, and for the exact objective of the projected data."""
    data, graph_matrix, basis, beta = case
    value = Variance(block_of(data, graph_matrix, basis, name)).at(beta).value
    reduced = brute_force(basis.T @ data, basis.T @ graph_matrix @ basis, beta, name)
    assert value == pytest.approx(reduced, rel=1e-10)
    if name == "exact":
        projected = brute_force(basis @ (basis.T @ data), graph_matrix, beta)
        assert value == pytest.approx(projected, rel=1e-10)


def test_row_space_is_enough_for_the_exact_objective():
    data, graph_matrix, _, beta = problem(30, 12)
    basis = full_rank(data)
    assert basis.shape == (30, 12)
    value = Variance(block_of(data, graph_matrix, basis)).at(beta).value
    assert value == pytest.approx(brute_force(data, graph_matrix, beta), rel=1e-10)


def test_derivatives_are_finite_differences(case, name):
    beta = case[-1]
    objective = Variance(block_of(*case[:3], name))
    genes, step = np.arange(len(beta)), 1e-6
    point = objective.at(beta, genes)
    ways = np.eye(len(beta)) * step
    ahead = [objective.at(beta + way, genes) for way in ways]
    behind = [objective.at(beta - way, genes) for way in ways]
    pairs = list(zip(ahead, behind, strict=True))
    slopes = np.array([a.value - b.value for a, b in pairs]) / (2 * step)
    curves = np.array([a.gradient - b.gradient for a, b in pairs]) / (2 * step)
    np.testing.assert_allclose(point.gradient, slopes, rtol=1e-6, atol=1e-6 * abs(slopes).max())
    exact, convex = point.hessian(genes)
    np.testing.assert_allclose(exact, curves, rtol=1e-5, atol=1e-6 * abs(curves).max())
    assert np.linalg.eigvalsh(convex)[0] >= -1e-10 * abs(convex).max()


def by_definition(block, beta):
    """E, in the eigenbasis of K."""
    return np.linalg.inv(np.eye(block.genes.shape[1]) + (block.genes.T * beta) @ block.genes)


def test_convex_part_of_the_hessian(case, name):
    """``2 (g_iᵀEg_j)(g_iᵀENEg_j)``, what is added where the whole is not positive definite."""
    block, beta = block_of(*case[:3], name), case[-1]
    genes = np.arange(len(beta))
    e = by_definition(block, beta)
    for among in (slice(None), slice(3, 9)):
        _, convex = Variance(block).at(beta, genes).hessian(genes[among])
        g = block.genes[among]
        expected = 2.0 * (g @ e @ g.T) * (g @ (e * block.outer) @ e @ g.T)
        np.testing.assert_allclose(convex, expected, rtol=1e-8, atol=1e-10 * expected.max())


def test_largest_drop(case, name):
    """``−λ_min`` of ``E^½ ΔA E^½``, whose eigenvalues are those of ``E ΔA``; not all genes move."""
    block, beta = block_of(*case[:3], name), case[-1]
    step = -0.5 * beta
    step[::3], step[1], step[2] = 0.0, 1.0, 3.0
    drop = Variance(block).at(beta, np.arange(len(beta))).largest_drop(step)
    change = by_definition(block, beta) @ (block.genes.T * step) @ block.genes
    assert drop == pytest.approx(-np.linalg.eigvals(change).real.min(), rel=1e-8)


def test_printed_differs_from_exact_unless_matrices_commute():
    data, graph_matrix, basis, beta = problem(30, 20)
    for matrix, alike in ((graph_matrix, False), (np.eye(30), True)):
        blocks = (block_of(data, matrix, basis, name) for name in ("exact", "printed"))
        exact, printed = (Variance(block).at(beta).value for block in blocks)
        assert (abs(printed - exact) < 1e-10 * exact) == alike
        assert (abs(printed - exact) < 1e-3 * exact) == alike


def test_blocks_add_up():
    first = block_of(*problem(12, 20, seed=0)[:3])
    second = block_of(*problem(15, 20, seed=1)[:3])
    beta = problem(12, 20)[3]
    both = Variance(first, second).at(beta)
    alone = Variance(first).at(beta), Variance(second).at(beta)
    assert both.value == pytest.approx(sum(point.value for point in alone))
    np.testing.assert_allclose(both.gradient, sum(point.gradient for point in alone))


def test_covered_genes_count_as_if_they_had_the_weight():
    data, graph_matrix, basis, beta = problem(12, 20)
    block = block_of(data, graph_matrix, basis)
    include = np.array([3, 7])
    covered = Variance(block.cover(include, beta[include]))
    rest = beta.copy()
    rest[include] = 0.0
    assert covered.at(rest).value == pytest.approx(Variance(block).at(beta).value)
    assert not covered.squared_norms[include].any()


@pytest.fixture
def genes():
    """More directions than genes of a support, of very different sizes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 20)) * np.geomspace(1.0, 3.0, 30)[:, None]


STIFFNESS = np.diag(np.geomspace(1.0, 50.0, 20))


def points(genes, name, beta, support):
    """The same point twice: the second has a gene of no length, and so more genes than directions.

    Nothing but the number of genes decides how it is evaluated.
    """
    block = OBJECTIVES[name].block(genes, STIFFNESS)
    padded = OBJECTIVES[name].block(np.vstack([genes, np.zeros((30, 20))]), STIFFNESS)
    few = Variance(block).at(beta, support)
    many = np.append(support, np.arange(30, 60))
    return few, Variance(padded).at(np.append(beta, np.zeros(30)), many)


def test_both_ways_agree(genes, name):
    rng = np.random.default_rng(1)
    support = np.sort(rng.choice(30, 12, replace=False))
    beta = rng.uniform(0.1, 5.0, size=12)
    beta[:3] = 0.0
    few, many = points(genes, name, beta, support)
    assert few.value == pytest.approx(many.value, rel=1e-8)
    largest = abs(many.gradient).max()
    np.testing.assert_allclose(few.gradient, many.gradient[:12], rtol=1e-7, atol=1e-8 * largest)
    np.testing.assert_allclose(few.full_gradient(), many.full_gradient()[:30], rtol=1e-7)
    both = (point.hessian(np.arange(12)) for point in (few, many))
    for hessian, expected in zip(*both, strict=True):
        np.testing.assert_allclose(hessian, expected, rtol=1e-6, atol=1e-7 * abs(expected).max())
    step = rng.normal(size=12)
    drop = many.largest_drop(np.append(step, np.zeros(30)))
    assert few.largest_drop(step) == pytest.approx(drop, rel=1e-6)


def test_moved_and_narrowed_are_what_they_say(genes, name):
    rng = np.random.default_rng(2)
    objective = Variance(OBJECTIVES[name].block(genes, STIFFNESS))
    support = np.arange(4, 17)
    beta, elsewhere = rng.uniform(0.1, 2.0, size=(2, 13))
    point = objective.at(beta, support)
    expected = objective.at(elsewhere, support)
    np.testing.assert_allclose(point.moved(elsewhere).gradient, expected.gradient, rtol=1e-12)
    among = np.array([0, 3, 4, 9])
    expected = objective.at(beta[among], support[among])
    narrow = point.narrowed(among)
    np.testing.assert_array_equal(narrow.support, support[among])
    assert narrow.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(narrow.gradient, expected.gradient, rtol=1e-10)


def test_twins_do_not_stop_a_step():
    """Equal genes make the inner products singular."""
    rng = np.random.default_rng(3)
    genes = np.repeat(rng.normal(size=(6, 20)), 2, axis=0)
    point = Variance(Exact.block(genes, STIFFNESS)).at(np.ones(12), np.arange(12))
    step = np.tile([-0.5, 0.5], 6)
    assert point.largest_drop(step) == pytest.approx(0.0, abs=1e-5)


def test_a_thinned_path_ends_where_a_whole_one_does():
    """Different ways to λ, one of them through few genes only: the same solution in the end."""
    rng = np.random.default_rng(4)
    groups = np.repeat(np.eye(3), 20, axis=0)
    data = np.hstack([groups + 0.05 * rng.normal(size=(60, 3)), 0.1 * rng.normal(size=(60, 150))])
    centred = (data - data.mean(axis=0)).T
    means = groups @ groups.T / 20
    objective = Variance(Exact.block(centred, np.eye(60) + 50.0 * (np.eye(60) - means)))
    whole = list(path.walk(objective, least=3))
    thinned = list(path.walk(objective, least=3, most=20))
    assert thinned[0].n_genes <= 20 < whole[0].n_genes
    lam = max(whole[-1].lam, thinned[-1].lam)
    ends = [newton(objective, way[-1].beta, lam, tol=1e-8) for way in (whole, thinned)]
    assert all(end.converged for end in ends)
    assert all(set(np.argsort(-end.beta)[:2]) <= {0, 1, 2} for end in ends)
