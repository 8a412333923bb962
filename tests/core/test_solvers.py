"""Solvers against each other, against SciPy, and against the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from glfs_bio.core import cholesky, newton, owlqn, path
from glfs_bio.core.block import Block
from glfs_bio.core.box_qp import solve_box_qp
from glfs_bio.core.descent import kkt_residuals
from glfs_bio.core.problem import build_problem
from glfs_bio.core.variance import Variance


@pytest.fixture
def variance(clusters):
    reduced = build_problem(clusters, n_comps=8).reduced()
    return Variance(Block.of(reduced.genes / abs(reduced.genes).max(), reduced.stiffness))


def lbfgsb(variance, beta, lam, upper=np.inf):
    genes = np.arange(variance.n_genes)
    scale = beta.max()

    def penalised(x):
        point = variance.at(scale * x, genes)
        return (point.value + lam * scale * x.sum()) / lam, scale * (point.gradient / lam + 1.0)

    options = {"maxiter": 50_000, "maxfun": 200_000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30}
    bounds = [(0.0, upper / scale)] * len(genes)
    found = minimize(
        penalised, beta / scale, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return scale * found.x


@pytest.mark.parametrize("steps", [0, 4, 12])
def test_three_solvers_agree_on_a_branch(variance, steps):
    solutions = list(path.walk(variance))
    nearby = solutions[min(steps, len(solutions) - 1)]
    lam = nearby.lam * 1.01
    first = newton.minimise(variance, nearby.beta, lam, tol=1e-10)
    second = owlqn.minimise(variance, nearby.beta, lam, tol=1e-9)
    third = lbfgsb(variance, nearby.beta, lam)
    assert first.converged
    assert second.converged
    largest = first.beta.max()
    np.testing.assert_allclose(second.beta, first.beta, atol=1e-6 * largest)
    np.testing.assert_allclose(third, first.beta, atol=1e-6 * largest)


def test_box_is_kept_by_all(variance):
    beta = np.full(variance.n_genes, 0.5)
    lam = 1e-3
    mse = Variance(
        *(Block.of(block.genes, np.eye(block.genes.shape[1]), "mse") for block in variance.blocks)
    )
    first = newton.minimise(mse, beta, lam, upper=1.0, tol=1e-10)
    second = owlqn.minimise(mse, beta, lam, upper=1.0, tol=1e-9)
    assert first.beta.max() == 1.0
    np.testing.assert_allclose(second.beta, first.beta, atol=1e-6)
    np.testing.assert_allclose(lbfgsb(mse, beta, lam, upper=1.0), first.beta, atol=1e-6)


@pytest.mark.parametrize("solver", path.SOLVERS)
def test_every_solution_of_the_path_is_stationary(variance, solver):
    solutions = list(path.walk(variance, solver=solver))
    assert len(solutions) > 5
    for solution in solutions:
        assert solution.converged
        assert solution.kkt <= 1e-4
        gradient = variance.at(solution.beta).full_gradient()
        assert kkt_residuals(solution.beta, gradient, solution.lam).max() <= 1e-4
        assert (solution.beta >= 0).all()


@pytest.mark.parametrize("solver", [newton, owlqn])
def test_objective_never_increases(variance, solver, monkeypatch):
    beta, lam = path.start(variance)
    values = []
    for steps in range(1, 25):
        solution = solver.minimise(variance, beta, lam, max_iter=steps)
        values.append(solution.value + lam * solution.beta.sum())
    drops = np.diff(values)
    assert (drops <= 1e-12 * abs(values[0])).all()


def test_running_out_of_steps_is_said(variance):
    beta, lam = path.start(variance)
    solution = newton.minimise(variance, beta, lam, max_iter=1)
    assert not solution.converged
    assert solution.kkt > 1e-4


def test_box_qp_against_scipy():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(12, 12))
    hessian, slope = root @ root.T + np.eye(12), rng.normal(size=12) * 5
    lower, upper = np.full(12, -0.3), np.full(12, 0.4)
    found = solve_box_qp(hessian, cholesky.factor(hessian), slope, lower, upper)
    expected = minimize(
        lambda x: (0.5 * x @ hessian @ x + slope @ x, hessian @ x + slope),
        np.zeros(12),
        jac=True,
        bounds=list(zip(lower, upper, strict=True)),
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    np.testing.assert_allclose(found, expected.x, atol=1e-6)


def test_line_search_ends_near_the_collapse(variance):
    survivors = path.line_search(variance)
    last = survivors[-1]
    assert last.n_genes > 0
    beta, _ = path.start(variance)
    assert newton.minimise(variance, beta, 2.0 * last.lam).n_genes == 0


def test_collapse_is_an_error_with_a_number(variance):
    with pytest.raises(path.Collapse, match="collapses above"):
        path.walk_to(variance, 1e9)


def test_walk_to_ends_at_lam(variance):
    _, first = path.start(variance)
    for lam in (0.5 * first, 3.0 * first):
        solution = path.walk_to(variance, lam)[-1]
        assert solution.lam == lam
        assert solution.converged
