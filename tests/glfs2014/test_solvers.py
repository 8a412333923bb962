"""Solvers against each other, SciPy and the optimality conditions; where a path begins."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import minimize

from glfs_bio import GLFS
from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion.error import inverse
from glfs_bio.errors import InvalidValue
from glfs_bio.glfs2014 import Exact, path, solvers
from glfs_bio.glfs2014.solvers import kkt_residuals, newton, owlqn, solve_bounded_qp
from glfs_bio.glfs2014.variance import Variance, diagonal, root
from glfs_bio.methods import OBJECTIVES
from glfs_bio.options import StructureSpec


@pytest.fixture
def of_cells(clusters):
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
    best = minimize(
        penalised, beta / scale, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return scale * best.x


@pytest.mark.parametrize("steps", [0, 4, 12])
def test_three_solvers_agree_on_a_branch(of_cells, steps):
    solutions = list(path.walk(of_cells))
    nearby = solutions[min(steps, len(solutions) - 1)]
    lam = nearby.lam * 1.01
    first = newton(of_cells, nearby.beta, lam, tol=1e-10)
    second = owlqn(of_cells, nearby.beta, lam, tol=1e-9)
    third = lbfgsb(of_cells, nearby.beta, lam)
    assert first.converged
    assert second.converged
    largest = first.beta.max()
    np.testing.assert_allclose(second.beta, first.beta, atol=1e-6 * largest)
    np.testing.assert_allclose(third, first.beta, atol=1e-6 * largest)


@pytest.mark.parametrize("solver", path.SOLVERS)
def test_every_solution_of_the_path_is_stationary(of_cells, solver):
    solutions = list(path.walk(of_cells, solver=solver))
    assert len(solutions) > 5
    for solution in solutions:
        assert solution.converged
        assert solution.kkt <= 1e-4
        gradient = of_cells.at(solution.beta).full_gradient()
        assert kkt_residuals(solution.beta, gradient, solution.lam).max() <= 1e-4
        assert (solution.beta >= 0).all()


@pytest.mark.parametrize("solver", [newton, owlqn])
def test_steps_are_counted(objective, solver):
    beta, lam = path.start(objective)
    for most in (0, 1, 3):
        solution = solver(objective, beta, lam, max_iter=most, tol=1e-12)
        assert solution.n_iter == most
        assert not solution.converged
        assert solution.kkt > 1e-4
        assert (solution.beta == beta).all() == (most == 0)
    whole = solver(objective, beta, lam)
    assert whole.converged
    assert 1 < whole.n_iter < 100
    beyond = solver(objective, beta, lam, tol=0.0, max_iter=300)  # more than rounding allows
    assert not beyond.converged
    assert beyond.kkt < 1e-12


def test_bounded_qp_against_scipy():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(12, 12))
        hessian, slope = root @ root.T + np.eye(12), rng.normal(size=12) * 5
        lower = np.full(12, -0.3)
        step = solve_bounded_qp(hessian, solvers.cholesky_factor(hessian), slope, lower)
        expected = minimize(
            lambda x, a, b: (0.5 * x @ a @ x + b @ x, a @ x + b),
            np.zeros(12),
            args=(hessian, slope),
            jac=True,
            bounds=[(least, None) for least in lower],
            options={"ftol": 1e-15, "gtol": 1e-12},
        )
        assert (step == lower).any()
        np.testing.assert_allclose(step, expected.x, atol=1e-6)


def test_line_search_ends_near_the_collapse(of_cells):
    last = path.line_search(of_cells)[-1]
    assert last.n_genes > 0
    beta, _ = path.start(of_cells)
    assert newton(of_cells, beta, 2.0 * last.lam).n_genes == 0


def test_walk_to_ends_at_lam_or_says_where_it_collapses(of_cells):
    _, first = path.start(of_cells)
    for lam in (0.5 * first, 3.0 * first):
        solution = path.walk_to(of_cells, lam)[-1]
        assert solution.lam == lam
        assert solution.converged
    with refused(path.Collapse, "lam"):
        path.walk_to(of_cells, 1e9)


def test_inverse_has_no_eigenvalue_above_one():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(6, 9))
    matrix = np.eye(6) + half @ half.T
    np.testing.assert_allclose(inverse(matrix), np.linalg.inv(matrix), rtol=1e-10)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    for smallest in (1.0, -1e3):  # less than 1 by rounding only, beside 1e20
        matrix = (basis * [smallest, 1.0, 2.0, 30.0, 1e20]) @ basis.T
        covariance = inverse((matrix + matrix.T) / 2.0)
        values = np.linalg.eigvalsh(covariance)
        assert values.min() >= -1e-12
        assert values.max() <= 1.0 + 1e-9
        np.testing.assert_allclose(covariance, covariance.T)


def test_roots_and_factors():
    rng = np.random.default_rng(0)
    for size in (3, 6):  # of rank 3 there is no factor
        half = rng.normal(size=(6, size))
        np.testing.assert_allclose(root(half @ half.T) @ root(half @ half.T).T, half @ half.T)
    half, right = rng.normal(size=(6, 9)), np.arange(6.0)
    matrix = half @ half.T
    factor = solvers.cholesky_factor(matrix)
    for solution in (solvers._solve(matrix, right), solvers.solve_with(factor, right)):
        np.testing.assert_allclose(matrix @ solution, right, atol=1e-12)
    assert solvers.cholesky_factor(np.diag([1.0, -2.0])) is None
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        solvers._solve(np.diag([1.0, -1.0]), np.ones(2))
    square = np.zeros((3, 3))
    diagonal(square)[:] += [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(square, np.diag([1.0, 2.0, 3.0]))


def test_two_loops_are_the_updates_of_bfgs():
    """``H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy``, from ``sᵀy/yᵀy`` of the last pair."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(7, 7))
    curved = root @ root.T + np.eye(7)
    steepest = rng.normal(size=7)
    for n_pairs in (0, 1, 2, 6):
        pairs = deque((moved, curved @ moved) for moved in rng.normal(size=(n_pairs, 7)))
        expected = np.eye(7)
        if pairs:
            moved, turned = pairs[-1]
            expected *= (moved @ turned) / (turned @ turned)
        for moved, turned in pairs:
            left = np.eye(7) - np.outer(moved, turned) / (moved @ turned)
            expected = left @ expected @ left.T + np.outer(moved, moved) / (moved @ turned)
        direction = solvers._two_loop(steepest, pairs)
        np.testing.assert_allclose(direction, expected @ steepest, rtol=1e-9)


def test_the_first_step_moves_a_tenth_of_the_weight(objective):
    """Nothing is known of the curvature then; λ is so large that the gradient alone goes far."""
    beta, lam = path.start(objective)
    moved = owlqn(objective, beta, 1e3 * lam, max_iter=1).beta - beta
    assert np.abs(moved).sum() == pytest.approx(0.1 * beta.sum())


def test_a_path_loses_no_direction_that_newton_keeps():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.eye(3), 30, axis=0) @ np.hstack([np.eye(3), np.eye(3)[::-1]])
        cells = np.hstack([3.0 * groups, np.zeros((90, 34))])
        cells += rng.normal(scale=0.3, size=(90, 40))
        panels = []
        for solver in ("owlqn", "newton"):
            model = GLFS(n_genes=3, objective=Exact(solver=solver)).fit(cells)
            panels.append(model.get_support())
        np.testing.assert_array_equal(*panels)


@pytest.mark.parametrize("name", ["exact", "printed"])
def test_the_start_is_in_balance(name):
    genes = np.random.default_rng(0).normal(size=(40, 5))
    objective = Variance(OBJECTIVES[name].block(genes, np.diag(np.arange(1.0, 6))))
    beta, lam = path.start(objective)
    assert np.count_nonzero(beta) == path.START_GENES * 5
    assert len(np.unique(beta[beta > 0])) == 1
    slopes = objective.at(beta).full_gradient()
    assert lam == pytest.approx(-(beta @ slopes) / beta.sum(), rel=1e-9)
    assert lam > 0


def test_weights_double_until_directions_of_noise_are_balanced():
    """Many directions far below the median one outweigh the others at first."""
    sizes = np.r_[np.ones(3), np.full(2, 0.05)]
    genes = np.eye(5) * sizes[:, None]
    objective = Variance(OBJECTIVES["printed"].block(genes, np.diag(np.r_[np.ones(3), 1e-4, 1e-4])))
    beta, lam = path.start(objective)
    assert lam > 0
    doublings = np.log2(beta.max() / path.MEDIAN_WEIGHT)
    assert doublings >= 10
    assert doublings == pytest.approx(round(doublings))


def test_sizes_that_no_lambda_balances():
    """Genes and directions so unlike that the printed formula has no start."""
    rng = np.random.default_rng(1)
    genes = rng.normal(size=(8, 4)) * 10.0 ** rng.uniform(-2, 2, size=(8, 1))
    genes[4:] *= 0.01
    root = 100.0 * rng.normal(size=(4, 4))
    with refused(path.Collapse, "X"):
        path.start(Variance(OBJECTIVES["printed"].block(genes, np.eye(4) + root @ root.T)))


def test_lambda_below_rounding_or_so_large_that_all_collapses(objective, monkeypatch):
    with refused(InvalidValue, "lam"):
        path.walk_to(objective, 1e-40)
    beta, _ = path.start(objective)
    monkeypatch.setattr(path, "start", lambda *_: (beta, 1e30))
    with refused(path.Collapse, "X"):
        path.line_search(objective)


def test_faces_at_full_rank_by_the_printed_formula(real):
    """Pixels that hardly vary reach directions that must not end the path where it starts."""
    faces = real("orl400").X / 255.0
    selection = GLFS(100, objective="printed", n_comps=None, n_neighbors=5).fit(faces)
    assert selection.n_selected_ == 100
    assert selection.lambda_ > 0
