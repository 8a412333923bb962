"""Solvers against each other, against SciPy, and against the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import minimize

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion import cholesky
from glfs_bio.glfs2014 import Exact, newton, owlqn, path
from glfs_bio.glfs2014.descent import kkt_residuals
from glfs_bio.glfs2014.newton import solve_bounded_qp
from glfs_bio.glfs2014.variance import Variance
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
    first = newton.minimise(objective, nearby.beta, lam, tol=1e-10)
    second = owlqn.minimise(objective, nearby.beta, lam, tol=1e-9)
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
        solution = solver.minimise(objective, beta, lam, max_iter=steps)
        values.append(solution.value + lam * solution.beta.sum())
    drops = np.diff(values)
    assert (drops <= 1e-12 * abs(values[0])).all()


def test_running_out_of_steps_is_said(objective):
    beta, lam = path.start(objective)
    solution = newton.minimise(objective, beta, lam, max_iter=1)
    assert not solution.converged
    assert solution.kkt > 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_bounded_qp_against_scipy(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(12, 12))
    hessian, slope = root @ root.T + np.eye(12), rng.normal(size=12) * 5
    lower = np.full(12, -0.3)
    found = solve_bounded_qp(hessian, cholesky.factor(hessian), slope, lower)
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
    assert newton.minimise(objective, beta, 2.0 * last.lam).n_genes == 0


def test_collapse_is_an_error_with_a_number(objective):
    with refused(path.Collapse, "lam"):
        path.walk_to(objective, 1e9)


def test_walk_to_ends_at_lam(objective):
    _, first = path.start(objective)
    for lam in (0.5 * first, 3.0 * first):
        solution = path.walk_to(objective, lam)[-1]
        assert solution.lam == lam
        assert solution.converged
