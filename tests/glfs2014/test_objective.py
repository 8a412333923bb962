"""Objectives, the solver and the path of λ, as properties; their figures are in the other file."""

from __future__ import annotations

from collections import deque

import all_panels
import numpy as np
import pytest
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as st
from refusals import refused

from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.glfs2014 import Exact, path
from glfs_bio.glfs2014.path import minimise, two_loop
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.options import Request
from glfs_bio.selection import rank_genes
from glfs_bio.solvers.panel import method_of

EXAMPLES = settings(all_panels.EXAMPLES, max_examples=40)
TOL = 1e-6


def objective_of(genes, stiffness, name="exact"):
    """Of reduced genes, (n_genes, r), with ``K = VᵀBV``, (r, r)."""
    kappa, basis = np.linalg.eigh(stiffness)
    return Variance(
        (method_of("objective", name).whitened(genes @ (basis * np.sqrt(kappa)), kappa),)
    )


@pytest.fixture
def objective():
    """The exact objective of 30 genes in five directions."""
    genes = np.random.default_rng(0).normal(size=(30, 5))
    return objective_of(genes, np.diag(np.linspace(1.0, 5.0, 5)))


@pytest.fixture
def of_cells(clusters):
    (problem,) = build_cells(clusters, StructureSpec(n_comps=8))
    genes = problem.projections * problem.units[:, None]
    return objective_of(genes / abs(genes).max(), problem.stiffness)


def test_signal_in_noise_comes_first(four_among_noise):
    """Genes of the solution are ranked by weight, and before all others."""
    adata = four_among_noise(80, 200, sigma=0.3)
    ranking = rank_genes(adata.X, Request.of(4, objective="exact", n_comps=None))
    assert set(ranking.order[:4]) == set(np.flatnonzero(adata.var["informative"]))
    assert ranking.info["kkt"] <= 1e-4
    n_weighed = np.count_nonzero(ranking.weights)
    np.testing.assert_array_equal(
        ranking.order[:n_weighed], np.argsort(-ranking.weights)[:n_weighed]
    )


def test_fewer_weights_than_asked_for_are_said(clusters, caplog):
    """Six genes are asked for, and λ leaves three."""
    clusters[:, 3:6] = 0.0
    request = Request.of(20, objective="exact", n_comps=3)
    ranking = rank_genes(clusters, request)
    n_weighed = np.count_nonzero(ranking.weights)
    assert n_weighed < 20
    assert any(f"Only {n_weighed} genes" in message for message in caplog.messages)


def test_options_are_checked():
    for kind, argument, values in (
        (InvalidValue, "lam", [0.0, "largest"]),
        (InvalidType, "lam", [[1.0]]),
        (InvalidValue, "tol", [0.0]),
        (InvalidType, "tol", ["small"]),
    ):
        for value in values:
            with refused(kind, argument):
                Exact(**{argument: value})


@st.composite
def settings_of_problems(draw):
    """An objective and its start: few or many directions, twins, genes that are zero, units."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    d, r = draw(st.integers(2, 30)), draw(st.integers(1, 6))
    genes = rng.normal(size=(d, r))
    kind = draw(st.sampled_from(["plain", "twins", "near twins", "zero", "one direction", "sizes"]))
    if kind == "twins":
        genes[d // 2 :] = genes[: d - d // 2]
    elif kind == "near twins":
        genes[d // 2 :] = genes[: d - d // 2] + 1e-9 * rng.normal(size=(d - d // 2, r))
    elif kind == "zero":
        genes[rng.uniform(size=d) < 0.5] = 0.0
    elif kind == "one direction":
        genes = genes[:, :1] @ rng.normal(size=(1, r))
    elif kind == "sizes":
        genes *= 10.0 ** rng.uniform(-3, 3, size=(d, 1))
    assume(genes.any())
    root = rng.normal(size=(r, r)) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    event(kind)
    name = draw(st.sampled_from(["exact", "printed"]))
    objective = objective_of(genes / np.abs(genes).max(), np.eye(r) + root @ root.T, name)
    try:
        return objective, *path.start(objective)
    except InvalidValue:
        reject()


@EXAMPLES
@given(settings_of_problems(), st.floats(0.01, 3.0))
def test_a_descent_ends_at_a_stationary_point_or_says_so(setting, times):
    """The objective never increases, and no step takes a direction off its branch."""
    objective, beta, lam = setting
    lam *= times
    before = objective.at(beta)
    for steps in range(1, 8):
        solution = minimise(objective, beta, lam, tol=TOL, max_iter=steps)
        after = objective.at(solution.beta)
        rounding = 1e-12 * abs(before.value + lam * before.beta.sum())
        assert after.value + lam * after.beta.sum() <= (
            before.value + lam * before.beta.sum() + rounding
        )
        assert solution.n_iter <= steps
        if solution.n_iter < steps:
            break
    solution = minimise(objective, beta, lam, tol=TOL, max_iter=300)
    assert np.isfinite(solution.beta).all()
    assert (solution.beta >= 0).all()
    assert solution.converged == (solution.kkt <= TOL)
    event("converged" if solution.converged else "not converged")


def test_no_step_takes_a_direction_off_its_branch(objective):
    """The weights 1 + a of its axes fall by 30 % at most, by which a step is checked."""
    beta, lam = path.start(objective)
    for _ in range(20):
        point = objective.at(beta)
        beta = minimise(objective, beta, 30.0 * lam, max_iter=1).beta
        assert point.keeps_branches(objective.at(beta))
        change = np.linalg.solve(point.precisions[0], objective.at(beta).precisions[0])
        assert np.linalg.eigvals(change).real.min() >= 0.7 - 1e-9
    assert not point.keeps_branches(objective.at(0.1 * beta))


def test_steps_are_counted(objective):
    beta, lam = path.start(objective)
    for most in (0, 1, 3):
        solution = minimise(objective, beta, lam, max_iter=most, tol=1e-12)
        assert solution.n_iter == most
        assert not solution.converged
        assert (solution.beta == beta).all() == (most == 0)
    assert minimise(objective, beta, lam).converged
    beyond = minimise(objective, beta, lam, tol=0.0, max_iter=300)  # more than rounding allows
    assert not beyond.converged
    assert beyond.kkt < 1e-12


def test_two_loops_are_the_updates_of_bfgs():
    """``H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy``, from units in proportion to the last."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(7, 7))
    curved, units = root @ root.T + np.eye(7), rng.uniform(0.5, 2.0, size=7)
    steepest = rng.normal(size=7)
    for n_pairs in (0, 1, 2, 6):
        pairs = deque((moved, curved @ moved) for moved in rng.normal(size=(n_pairs, 7)))
        expected = np.diag(units)
        if pairs:
            moved, turned = pairs[-1]
            expected *= (moved @ turned) / (turned @ (units * turned))
        for moved, turned in pairs:
            left = np.eye(7) - np.outer(moved, turned) / (moved @ turned)
            expected = left @ expected @ left.T + np.outer(moved, moved) / (moved @ turned)
        np.testing.assert_allclose(two_loop(steepest, pairs, units), expected @ steepest, rtol=1e-9)


def test_line_search_ends_near_the_collapse_after_few_solutions(of_cells, monkeypatch):
    solves = []

    def counted(*problem, **options):
        solves.append(minimise(*problem, **options))
        return solves[-1]

    monkeypatch.setattr(path, "minimise", counted)
    last = path.line_search(of_cells)[-1]
    assert last.n_genes > 0
    assert len(solves) <= 12
    beta, _ = path.start(of_cells)
    assert minimise(of_cells, beta, 2.0 * last.lam).n_genes == 0


def test_a_walk_ends_at_lam_or_says_where_it_collapses(of_cells, monkeypatch):
    beta, first = path.start(of_cells)
    for lam in (0.5 * first, 3.0 * first):
        solution = path.walk(of_cells, last=lam)[-1]
        assert solution.lam == lam
        assert solution.converged
    with refused(InvalidValue, "lam"):
        path.walk(of_cells, last=1e9)
    with refused(InvalidValue, "lam"):
        path.walk(of_cells, last=1e-40)
    monkeypatch.setattr(path, "start", lambda *_: (beta, 1e30))
    for walk in (path.walk, path.line_search):
        with refused(InvalidValue, "X"):
            walk(of_cells)


@pytest.mark.parametrize("name", ["exact", "printed"])
def test_the_start_is_in_balance(name):
    genes = np.random.default_rng(0).normal(size=(40, 5))
    objective = objective_of(genes, np.diag(np.arange(1.0, 6)), name)
    beta, lam = path.start(objective)
    assert np.count_nonzero(beta) == path.START_GENES * 5
    assert len(np.unique(beta[beta > 0])) == 1
    assert lam == pytest.approx(-(beta @ objective.at(beta).gradient) / beta.sum(), rel=1e-9)
    assert lam > 0


def test_weights_double_until_directions_of_noise_are_balanced():
    """Many directions far below the median one outweigh the others at first."""
    genes = np.diag(np.r_[np.ones(3), np.full(2, 0.05)])
    stiffness = np.diag(np.r_[np.ones(3), 1e-4, 1e-4])
    beta, lam = path.start(objective_of(genes, stiffness, "printed"))
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
    with refused(InvalidValue, "X"):
        path.start(objective_of(genes, np.eye(4) + root @ root.T, "printed"))


def test_printed_differs_from_exact_unless_matrices_commute():
    rng = np.random.default_rng(0)
    genes, half, beta = rng.normal(size=(20, 8)), rng.normal(size=(8, 8)), rng.uniform(size=20)
    for stiffness, alike in ((np.eye(8) + half @ half.T, False), (3.0 * np.eye(8), True)):
        exact, printed = (
            objective_of(genes, stiffness, name).at(beta).value for name in ("exact", "printed")
        )
        assert (abs(printed - exact) < 1e-3 * exact) == alike


def test_blocks_add_up_and_covered_genes_count_as_if_they_had_the_weight():
    rng = np.random.default_rng(0)
    beta, include = rng.uniform(size=20), np.array([3, 7])
    parts = [
        objective_of(rng.normal(size=(20, r)), np.diag(np.linspace(1.0, 9.0, r))) for r in (6, 9)
    ]
    blocks = [block for part in parts for block in part.blocks]
    both, alone = Variance(tuple(blocks)).at(beta), [part.at(beta) for part in parts]
    assert both.value == pytest.approx(sum(point.value for point in alone))
    np.testing.assert_allclose(both.gradient, sum(point.gradient for point in alone))
    covered = Variance(tuple(block.cover(include, beta[include]) for block in blocks))
    rest = beta.copy()
    rest[include] = 0.0
    assert covered.at(rest).value == pytest.approx(both.value)
    assert not covered.squared_norms[include].any()
