"""The objectives against brute force and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.cells.pca import full_rank, orthonormal, project
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


CASES = [
    pytest.param((12, 30), {}, id="d>n"),
    pytest.param((30, 12), {}, id="d<n"),
    pytest.param((20, 30), {"r": 5}, id="reduced"),
    pytest.param((20, 15), {"connected": False}, id="disconnected"),
]


def block_of(data, graph_matrix, basis, name):
    return OBJECTIVES[name].block(project(data, basis), basis.T @ graph_matrix @ basis)


def brute_force(data, graph_matrix, beta, name, lambda2=1.0):
    """The definitions, with explicit inverses: X is genes × cells as in the paper."""
    x = np.sqrt(beta)[:, None] * data.T
    if name == "exact":
        z = np.linalg.inv(x @ graph_matrix @ x.T + lambda2 * np.eye(len(x)))
        return lambda2**2 * np.trace(z @ x @ x.T @ z)
    m = lambda2 * np.linalg.inv(graph_matrix)
    a = x.T @ x
    f = np.linalg.inv(m + a)
    return np.trace(a @ f @ f @ m @ m)


@pytest.mark.parametrize("name", ["exact", "printed"])
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_value_is_the_definition(shape, options, name):
    data, graph_matrix, basis, beta = problem(*shape, **options)
    value = Variance(block_of(data, graph_matrix, basis, name)).at(beta).value
    if options.get("r"):
        data = basis @ (basis.T @ data)
        stiffness = basis.T @ graph_matrix @ basis
        data, graph_matrix = data.T @ basis, stiffness
        expected = brute_force(data.T, graph_matrix, beta, name)
    else:
        expected = brute_force(data, graph_matrix, beta, name)
    assert value == pytest.approx(expected, rel=1e-10)


def test_row_space_is_enough_for_the_exact_objective():
    data, graph_matrix, _, beta = problem(30, 12)
    basis = full_rank(data)
    assert basis.shape == (30, 12)
    value = Variance(block_of(data, graph_matrix, basis, "exact")).at(beta).value
    assert value == pytest.approx(brute_force(data, graph_matrix, beta, "exact"), rel=1e-10)


def test_reduced_problem_is_the_projected_matrix():
    data, graph_matrix, basis, beta = problem(20, 30, r=5)
    reduced = Variance(block_of(data, graph_matrix, basis, "exact")).at(beta).value
    projected = basis @ (basis.T @ data)
    assert reduced == pytest.approx(brute_force(projected, graph_matrix, beta, "exact"), rel=1e-10)


@pytest.mark.parametrize("name", ["exact", "printed"])
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_derivatives_are_finite_differences(shape, options, name):
    data, graph_matrix, basis, beta = problem(*shape, **options)
    objective = Variance(block_of(data, graph_matrix, basis, name))
    genes = np.arange(len(beta))
    point = objective.at(beta, genes)
    step = 1e-6
    ways = np.eye(len(beta)) * step
    ahead = [objective.at(beta + way, genes) for way in ways]
    behind = [objective.at(beta - way, genes) for way in ways]
    slopes = np.array(
        [(a.value - b.value) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    )
    curves = np.array(
        [(a.gradient - b.gradient) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    )
    np.testing.assert_allclose(point.gradient, slopes, rtol=1e-6, atol=1e-6 * abs(slopes).max())
    exact, convex = point.hessian(genes)
    np.testing.assert_allclose(exact, curves, rtol=1e-5, atol=1e-6 * abs(curves).max())
    assert np.linalg.eigvalsh(convex)[0] >= -1e-10 * abs(convex).max()


def by_definition(block, beta):
    """E, in the eigenbasis of K."""
    return np.linalg.inv(np.eye(block.genes.shape[1]) + (block.genes.T * beta) @ block.genes)


@pytest.mark.parametrize("name", ["exact", "printed"])
@pytest.mark.parametrize("among", [slice(None), slice(3, 9)])
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_convex_part_of_the_hessian(shape, options, name, among):
    """``2 (g_iᵀEg_j)(g_iᵀENEg_j)``, what is added where the whole is not positive definite."""
    data, graph_matrix, basis, beta = problem(*shape, **options)
    block = block_of(data, graph_matrix, basis, name)
    genes = np.arange(len(beta))
    _, convex = Variance(block).at(beta, genes).hessian(genes[among])
    e, g = by_definition(block, beta), block.genes[among]
    expected = 2.0 * (g @ e @ g.T) * (g @ (e * block.outer) @ e @ g.T)
    np.testing.assert_allclose(convex, expected, rtol=1e-8, atol=1e-10 * expected.max())


@pytest.mark.parametrize("name", ["exact", "printed"])
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_largest_drop(shape, options, name):
    """``−λ_min`` of ``E^½ ΔA E^½``, whose eigenvalues are those of ``E ΔA``; not all genes move."""
    data, graph_matrix, basis, beta = problem(*shape, **options)
    block = block_of(data, graph_matrix, basis, name)
    step = -0.5 * beta
    step[::3], step[1], step[2] = 0.0, 1.0, 3.0
    moved = Variance(block).at(beta, np.arange(len(beta))).largest_drop(step)
    change = by_definition(block, beta) @ (block.genes.T * step) @ block.genes
    assert moved == pytest.approx(-np.linalg.eigvals(change).real.min(), rel=1e-8)


def test_printed_differs_from_exact_unless_matrices_commute():
    data, graph_matrix, basis, beta = problem(30, 20)
    exact, printed = (
        Variance(block_of(data, graph_matrix, basis, name)).at(beta).value
        for name in ("exact", "printed")
    )
    assert abs(printed - exact) > 1e-3 * exact
    flat = np.eye(30)
    exact, printed = (
        Variance(block_of(data, flat, basis, name)).at(beta).value for name in ("exact", "printed")
    )
    assert printed == pytest.approx(exact, rel=1e-10)


def test_lambda2_only_sets_the_scale():
    data, graph_matrix, _, beta = problem(12, 20)
    one = brute_force(data, graph_matrix, beta, "exact", lambda2=1.0)
    seven = brute_force(data, graph_matrix, 7.0 * beta, "exact", lambda2=7.0)
    assert seven == pytest.approx(7.0 * one, rel=1e-10)


def test_blocks_add_up():
    first = block_of(*problem(12, 20, seed=0)[:3], "exact")
    second = block_of(*problem(15, 20, seed=1)[:3], "exact")
    beta = problem(12, 20)[3]
    both = Variance(first, second).at(beta)
    alone = Variance(first).at(beta), Variance(second).at(beta)
    assert both.value == pytest.approx(sum(point.value for point in alone))
    np.testing.assert_allclose(both.gradient, sum(point.gradient for point in alone))


def test_covered_genes_count_as_if_they_had_the_weight():
    data, graph_matrix, basis, beta = problem(12, 20)
    block = block_of(data, graph_matrix, basis, "exact")
    include = np.array([3, 7])
    covered = Variance(block.cover(include, beta[include]))
    rest = beta.copy()
    rest[include] = 0.0
    assert covered.at(rest).value == pytest.approx(Variance(block).at(beta).value)
    assert not covered.squared_norms[include].any()
