"""Solvers against each other, against SciPy, and against the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import minimize

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion.error import inverse
from glfs_bio.glfs2014 import Exact, path, solvers
from glfs_bio.glfs2014.solvers import kkt_residuals, newton, owlqn, solve_bounded_qp
from glfs_bio.glfs2014.variance import Variance, diagonal, root
from glfs_bio.options import StructureSpec


@pytest.fixture
def objective(clusters):
    (problem,) = build_problems(clusters, StructureSpec(n_comps=8))
    genes = problem.projections * problem.units[:, None]
    return Variance(Exact.block(genes / abs(genes).max(), problem.stiffness))


def lbfgsb(objective, beta, lam):
    genes = np.arange(objective.n_genes)
    scale = beta.max()

    def penalised(x):
        point = objective.at(scale * x, genes)
        return (point.value + lam * scale * x.sum()) / lam, scale * (point.gradient / lam + 1.0)

    options = {"maxiter": 50_000, "maxfun": 200_000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30}
    bounds = [(0.0, None)] * len(genes)
    found = minimize(
        penalised, beta / scale, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return scale * found.x


@pytest.mark.parametrize("steps", [0, 4, 12])
def test_three_solvers_agree_on_a_branch(objective, steps):
    solutions = list(path.walk(objective))
    nearby = solutions[min(steps, len(solutions) - 1)]
    lam = nearby.lam * 1.01
    first = newton(objective, nearby.beta, lam, tol=1e-10)
    second = owlqn(objective, nearby.beta, lam, tol=1e-9)
    third = lbfgsb(objective, nearby.beta, lam)
    assert first.converged
    assert second.converged
    largest = first.beta.max()
    np.testing.assert_allclose(second.beta, first.beta, atol=1e-6 * largest)
    np.testing.assert_allclose(third, first.beta, atol=1e-6 * largest)


@pytest.mark.parametrize("solver", path.SOLVERS)
def test_every_solution_of_the_path_is_stationary(objective, solver):
    solutions = list(path.walk(objective, solver=solver))
    assert len(solutions) > 5
    for solution in solutions:
        assert solution.converged
        assert solution.kkt <= 1e-4
        gradient = objective.at(solution.beta).full_gradient()
        assert kkt_residuals(solution.beta, gradient, solution.lam).max() <= 1e-4
        assert (solution.beta >= 0).all()


@pytest.mark.parametrize("solver", [newton, owlqn])
def test_objective_never_increases(objective, solver, monkeypatch):
    beta, lam = path.start(objective)
    values = []
    for steps in range(1, 25):
        solution = solver(objective, beta, lam, max_iter=steps)
        values.append(solution.value + lam * solution.beta.sum())
    drops = np.diff(values)
    assert (drops <= 1e-12 * abs(values[0])).all()


def test_running_out_of_steps_is_said(objective):
    beta, lam = path.start(objective)
    solution = newton(objective, beta, lam, max_iter=1)
    assert not solution.converged
    assert solution.kkt > 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_bounded_qp_against_scipy(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(12, 12))
    hessian, slope = root @ root.T + np.eye(12), rng.normal(size=12) * 5
    lower = np.full(12, -0.3)
    found = solve_bounded_qp(hessian, solvers.cholesky_factor(hessian), slope, lower)
    expected = minimize(
        lambda x: (0.5 * x @ hessian @ x + slope @ x, hessian @ x + slope),
        np.zeros(12),
        jac=True,
        bounds=[(least, None) for least in lower],
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    assert (found == lower).any()
    np.testing.assert_allclose(found, expected.x, atol=1e-6)


def test_line_search_ends_near_the_collapse(objective):
    survivors = path.line_search(objective)
    last = survivors[-1]
    assert last.n_genes > 0
    beta, _ = path.start(objective)
    assert newton(objective, beta, 2.0 * last.lam).n_genes == 0


def test_collapse_is_an_error_with_a_number(objective):
    with refused(path.Collapse, "lam"):
        path.walk_to(objective, 1e9)


def test_walk_to_ends_at_lam(objective):
    _, first = path.start(objective)
    for lam in (0.5 * first, 3.0 * first):
        solution = path.walk_to(objective, lam)[-1]
        assert solution.lam == lam
        assert solution.converged


def covering(smallest):
    """``I + A`` whose eigenvalues go from `smallest`, less than 1 by rounding only, to 1e20."""
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    weights = np.array([smallest, 1.0, 2.0, 30.0, 1e20])
    matrix = (basis * weights) @ basis.T
    return (matrix + matrix.T) / 2.0


def test_inverse():
    half = np.random.default_rng(0).normal(size=(6, 9))
    matrix = np.eye(6) + half @ half.T
    np.testing.assert_allclose(inverse(matrix), np.linalg.inv(matrix), rtol=1e-10)


@pytest.mark.parametrize("smallest", [1.0, -1e3])
def test_inverse_has_no_eigenvalue_above_one(smallest):
    found = inverse(covering(smallest))
    values = np.linalg.eigvalsh(found)
    assert values.min() >= -1e-12
    assert values.max() <= 1.0 + 1e-9
    np.testing.assert_allclose(found, found.T)


@pytest.mark.parametrize("size", [3, 6])
def test_root(size):
    half = np.random.default_rng(0).normal(size=(6, size))  # of rank 3 there is no factor
    found = root(half @ half.T)
    np.testing.assert_allclose(found @ found.T, half @ half.T, atol=1e-12)


def test_no_factor_where_not_positive_definite():
    assert solvers.cholesky_factor(np.diag([1.0, 2.0])) is not None
    assert solvers.cholesky_factor(np.diag([1.0, -2.0])) is None


def test_solve():
    half = np.random.default_rng(0).normal(size=(6, 9))
    matrix, right = half @ half.T, np.arange(6.0)
    np.testing.assert_allclose(matrix @ solvers._solve(matrix, right), right, atol=1e-12)
    found = solvers.solve_with(solvers.cholesky_factor(matrix), right)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-12)


def test_solve_refuses_what_has_no_factor():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        solvers._solve(np.diag([1.0, -1.0]), np.ones(2))


def test_diagonal_is_a_view():
    matrix = np.zeros((3, 3))
    diagonal(matrix)[:] += [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(matrix, np.diag([1.0, 2.0, 3.0]))
