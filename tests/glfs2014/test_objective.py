"""The paper's own problem, and objectives against formulas with explicit inverses."""

from __future__ import annotations

import all_panels
import numpy as np
import pytest
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import sparse

from glfs_bio.cells.cells import build_problems
from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.glfs2014 import Exact, objective, path, thinning
from glfs_bio.glfs2014.solvers import newton
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.methods import OBJECTIVES
from glfs_bio.options import Request, StructureSpec
from glfs_bio.selection import rank_genes

PAPER = Request.of(4, objective="exact", n_comps=None)


@pytest.fixture(scope="module")
def noisy(four_among_noise):
    """80 samples, four features of signal among 200 of noise that is nearly as large."""
    adata = four_among_noise(80, 200, sigma=0.3)
    return adata.X, np.flatnonzero(adata.var["informative"])


def test_signal_in_noise_comes_first(noisy):
    """Genes of the solution are ranked by weight, and before all others."""
    values, signal = noisy
    ranking = rank_genes(values, PAPER)
    assert set(ranking.order[:4]) == set(signal)
    assert ranking.info["kkt"] <= 1e-4
    weighed = ranking.weights > 0
    assert ranking.scores[weighed].min() > 1.0 >= ranking.scores[~weighed].max()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_reliability_is_measured_on_the_graph_of_the_support(noisy, container):
    values, signal = noisy
    problems = build_problems(container(values), PAPER.resolved_structure)
    reliability = objective._reliability(problems, signal, PAPER.resolved_structure)
    smoother = laplacian(knn_graph(values[:, signal])).toarray()
    centred = values - values.mean(axis=0)
    residuals = np.einsum("ij,ik,kj->j", centred, smoother, centred) / len(values)
    expected = np.clip(1.0 - residuals / values.var(axis=0), 1e-3, 1.0)
    np.testing.assert_allclose(reliability, expected, atol=1e-10)
    assert reliability[signal].min() > np.delete(reliability, signal).max()


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


EXAMPLES = settings(all_panels.EXAMPLES, max_examples=40)
TOL = 1e-6


@st.composite
def problems(draw):
    """Genes, K and the objective: few or many directions, twins, genes that are zero, units."""
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
    return genes, np.eye(r) + root @ root.T, draw(st.sampled_from(["exact", "printed"]))


def setting(problem):
    """The objective, and where to start."""
    genes, stiffness, name = problem
    objective = Variance(OBJECTIVES[name].block(genes / np.abs(genes).max(), stiffness))
    try:
        return objective, *path.start(objective)
    except path.Collapse:
        reject()


def stationarity(genes, stiffness, name, beta, lam):
    """Largest violation of the conditions, with everything inverted explicitly."""
    m, a = np.linalg.inv(stiffness), (genes.T * beta) @ genes
    e = np.linalg.inv(m + a)
    r = len(m)
    if name == "exact":  # Q = Tr(A Z M Z M) = Tr(M Z M) − Tr(M Z M Z M), Z = (M + A)⁻¹
        kernel = e @ m @ (e @ m + m @ e - np.eye(r)) @ m @ e
    else:  # Tr(A Z² M²) = Tr(Z M²) − Tr(Z² M³)
        turn = e @ e @ m @ m @ m @ e
        kernel = turn + turn.T - e @ m @ m @ e
    rho = 1.0 + np.einsum("ij,jk,ik->i", genes, kernel, genes) / lam
    worst = np.where(beta > 0, np.abs(rho), -rho)
    return max(float(worst.max()), 0.0)


@EXAMPLES
@given(problems())
def test_the_objective_never_increases(problem):
    objective, beta, lam = setting(problem)
    values = []
    for steps in range(12):
        point = newton(objective, beta, lam, tol=TOL, max_iter=steps)
        values.append(point.value + lam * point.beta.sum())
        assert point.n_iter <= steps
    assert (np.diff(values) <= 1e-12 * abs(values[0])).all()


@EXAMPLES
@given(problems(), st.floats(0.01, 3.0))
def test_a_solution_is_stationary_or_said_not_to_be(problem, times):
    objective, beta, lam = setting(problem)
    lam *= times
    point = newton(objective, beta, lam, tol=TOL, max_iter=300)
    assert np.isfinite(point.beta).all()
    assert (point.beta >= 0).all()
    assert point.converged == (point.kkt <= TOL)
    event("converged" if point.converged else "not converged")
    genes, stiffness, name = problem
    genes = genes / np.abs(genes).max()
    true = stationarity(genes, stiffness, name, point.beta, lam)
    assert abs(true - point.kkt) <= 1e-5 * max(1.0, true)


@EXAMPLES
@given(problems(), st.integers(0, 6))
def test_no_step_takes_a_direction_off_its_branch(problem, before):
    objective, beta, lam = setting(problem)
    here = newton(objective, beta, lam, tol=TOL, max_iter=before).beta
    there = newton(objective, here, lam, tol=TOL, max_iter=1).beta
    if (there == here).all():
        return
    point = objective.at(here, np.arange(objective.n_genes))
    assert point.largest_drop(there - here) <= 0.3 + 1e-6


@pytest.fixture
def many():
    """300 genes of eight directions."""
    genes = np.random.default_rng(0).normal(size=(300, 8))
    return Variance(Exact.block(genes, np.diag(np.linspace(1.0, 5.0, 8))))


def test_fixed_points_are_stationary(many):
    """One update leaves a solution of the Newton solver as it is."""
    beta, lam = path.start(many)
    solution = newton(many, beta, lam, tol=1e-10)
    there, balanced = thinning.thin(many, solution.beta, lam, most=300, least=1)
    np.testing.assert_allclose(there, solution.beta, atol=1e-6 * solution.beta.max())
    np.testing.assert_allclose(balanced, lam, rtol=1e-6)


def test_few_genes_are_left_on_the_branch(many, objective):
    """Never beyond the last λ, and back where too few would be left."""
    beta, lam = path.start(many)
    thinned, larger = thinning.thin(many, beta, lam, most=20, least=5)
    assert 5 <= np.count_nonzero(thinned) <= 20
    assert larger > lam
    assert newton(many, thinned, larger).n_genes > 0
    assert thinning.thin(many, beta, lam, most=1, least=1, last=1.5 * lam)[1] <= 1.5 * lam
    beta, lam = path.start(objective)
    thinned, balanced = thinning.thin(objective, beta, lam, most=4, least=29)
    assert np.count_nonzero(thinned) >= 29
    assert 0 < balanced < lam * 1e3


def test_an_avalanche_is_followed_to_its_end(four_among_noise):
    """Directions of noise leave by the hundred within one step of λ: the signals are left."""
    noisy = four_among_noise(200, 500)
    (problem,) = build_problems(noisy.X, StructureSpec(n_comps=None, standardize=None))
    genes = problem.projections / np.linalg.norm(problem.projections, axis=1).max()
    objective = Variance(Exact.block(genes, problem.stiffness))
    beta, lam = path.start(objective)
    thinned, _ = thinning.thin(objective, beta, lam, most=40, least=4)
    left = np.flatnonzero(thinned)
    assert set(left) >= set(np.flatnonzero(noisy.var["informative"]))
    assert len(left) <= 40
