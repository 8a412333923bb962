"""Both solvers on random objectives, against formulas with explicit inverses."""

from __future__ import annotations

import all_panels
import numpy as np
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as st

from glfs_bio.glfs2014 import path
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.methods import OBJECTIVES

EXAMPLES = settings(all_panels.EXAMPLES, max_examples=40)
SOLVERS = st.sampled_from(list(path.SOLVERS))
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
@given(problems(), SOLVERS)
def test_the_objective_never_increases(problem, solver):
    objective, beta, lam = setting(problem)
    values = []
    for steps in range(12):
        point = path.SOLVERS[solver](objective, beta, lam, tol=TOL, max_iter=steps)
        values.append(point.value + lam * point.beta.sum())
        assert point.n_iter <= steps
    assert (np.diff(values) <= 1e-12 * abs(values[0])).all()


@EXAMPLES
@given(problems(), SOLVERS, st.floats(0.01, 3.0))
def test_a_solution_is_stationary_or_said_not_to_be(problem, solver, times):
    objective, beta, lam = setting(problem)
    lam *= times
    point = path.SOLVERS[solver](objective, beta, lam, tol=TOL, max_iter=300)
    assert np.isfinite(point.beta).all()
    assert (point.beta >= 0).all()
    assert point.converged == (point.kkt <= TOL)
    event("converged" if point.converged else "not converged")
    genes, stiffness, name = problem
    genes = genes / np.abs(genes).max()
    true = stationarity(genes, stiffness, name, point.beta, lam)
    assert abs(true - point.kkt) <= 1e-5 * max(1.0, true)


@EXAMPLES
@given(problems(), SOLVERS, st.integers(0, 6))
def test_no_step_takes_a_direction_off_its_branch(problem, solver, before):
    objective, beta, lam = setting(problem)
    solve = path.SOLVERS[solver]
    here = solve(objective, beta, lam, tol=TOL, max_iter=before).beta
    there = solve(objective, here, lam, tol=TOL, max_iter=1).beta
    if (there == here).all():
        return
    point = objective.at(here, np.arange(objective.n_genes))
    assert point.largest_drop(there - here) <= 0.3 + 1e-6
