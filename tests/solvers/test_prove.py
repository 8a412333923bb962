"""Proofs, and bounds of single genes, against all panels."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from all_panels import (
    N_GENES,
    PANELS,
    OfBlocks,
    as_panel,
    block_of,
    feasible,
    problem_of,
    random_limits,
)

from glfs_bio.criterion.error import Linear
from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.constraints import Rows
from glfs_bio.solvers.panel import ROUNDING, Certificates
from glfs_bio.solvers.prove import Search, best
from glfs_bio.solvers.relaxation import Polytope, relaxed

#: Random problems, of which each of so many tests has a part.
PROBLEMS, PARTS = 150, 2
TOLERANCES = (0.0, 0.02, 0.05, 0.2, 0.3)
FOREVER = np.inf


@pytest.fixture
def problems(by_inverse):
    """Maker of a part of the random problems."""

    def make(part):
        for seed in range(part, PROBLEMS, PARTS):
            problem = random_problem(seed)
            problem.errors = by_inverse(problem.blocks, problem.panels)
            problem.start = by_inverse(problem.blocks, np.zeros(N_GENES))
            yield problem

    return make


def random_problem(seed):
    """Blocks, limits, a number of genes, genes to include, and the panels that are allowed.

    A third has no limits, and a half several sets of cells.
    """
    rng = np.random.default_rng(seed)
    rank, n_blocks = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    blocks = []
    for _ in range(n_blocks):
        genes = rng.uniform(0.2, 1.5, size=(N_GENES, 1)) * rng.normal(size=(N_GENES, rank))
        if rng.uniform() < 0.3:  # genes that are nearly alike, or nothing
            genes[1] = genes[0] * rng.choice([1.0, 1.0 + 1e-4])
            genes[2] *= rng.choice([0.0, 1.0])
        root = rng.normal(size=(rank, rng.integers(1, rank + 1)))
        blocks.append(block_of(genes, root @ root.T / np.sum(root**2) / n_blocks))
    size = int(rng.integers(1, 7))
    include = np.sort(rng.choice(N_GENES, int(rng.integers(0, min(size, 3))), replace=False))
    rows = random_limits(rng) if seed % 3 else Rows.of((), N_GENES)
    panels = feasible(rows, size, include)
    return SimpleNamespace(
        seed=seed, blocks=blocks, rows=rows, size=size, include=include, panels=panels
    )


def check(problem, certificates):
    """No certificate is wrong."""
    for tolerance in TOLERANCES:
        most = certificates.error + tolerance * (problem.start - certificates.error)
        near = problem.panels[problem.errors <= most + 1e-12]
        states = certificates.of(tolerance)
        assert (near[:, states == "every"] == 1).all()
        assert (near[:, states == "none"] == 0).all()


def check_best(problem, error, genes):
    """It is the error of the best panel, and that of a panel that is allowed."""
    np.testing.assert_allclose(error, problem.errors.min(), rtol=0, atol=2e-9)
    assert (problem.panels == as_panel(genes)).all(axis=1).any()


@pytest.mark.parametrize("part", range(PARTS))
def test_no_wrong_optimum_and_no_wrong_certificate(problems, part):
    """With limits, genes to include, several sets of cells, copies of genes."""
    n_searched = 0
    for problem in problems(part):
        if not len(problem.panels):
            continue
        n_searched += 1
        first = problem.panels[problem.seed % len(problem.panels)]
        search = Search(
            problem.blocks,
            problem.rows,
            problem.size,
            problem.include,
            np.flatnonzero(first),
        )
        if problem.seed // PARTS % 2:  # what is known before the end holds too
            search._branch(search._waiting.pop())
            assert search.lower <= problem.errors.min() + 1e-12
            check(problem, search.certificates())
        search.run(FOREVER)
        assert search.lower >= search.error - search.safe
        check_best(problem, search.error, search.panel)
        check(problem, search.certificates())
        search.tighten(search.lacking, 0.02, FOREVER)
        check(problem, search.certificates())
    assert n_searched > PROBLEMS // PARTS // 2


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_left_out_of_a_proof_counts_within_a_tolerance(problems, part):
    """Genes that are in no best panel may be in one that is nearly as good."""
    n_proven = 0
    for problem in problems(part):
        limited = problem_of(
            OfBlocks(problem.blocks), problem.size, problem.rows, include=problem.include
        )
        tolerance = (0.05, 0.3)[problem.seed // PARTS % 2]
        choose = partial(best, replace(limited, tolerance=tolerance))
        if not len(problem.panels):
            with pytest.raises(InvalidValue):
                choose()
            continue
        panel = choose()
        if panel.proof is None:
            continue
        n_proven += 1
        assert panel.proof.proven
        check_best(problem, panel.proof.error, panel.order[: panel.n_selected])
        check(problem, panel.certificates)
    assert n_proven > PROBLEMS // PARTS // 3


@pytest.mark.parametrize("seed", range(4))
def test_the_bounds_of_genes_are_those_of_the_linear_programme(seed):
    """Also where some genes would make it worse, and where slopes are alike."""
    slopes = -np.random.default_rng(seed).gamma(1.0, size=N_GENES) + (seed % 2) * 0.7
    slopes[1] = slopes[0]
    bound = Linear(0.3, slopes)
    for size in (1, 2, 5, N_GENES - 1, N_GENES, N_GENES + 3):
        panels = PANELS[PANELS.sum(axis=1) <= size]
        values = bound.level + panels @ slopes
        holding, lacking = bound.of_genes(size)
        assert bound.least(size) == pytest.approx(values.min())
        for gene in range(N_GENES):
            held = panels[:, gene] == 1
            assert holding[gene] == pytest.approx(values[held].min())
            assert lacking[gene] == pytest.approx(values[~held].min())


def test_the_bounds_of_all_sizes_are_those_of_each():
    bound = Linear(0.3, -np.random.default_rng(0).gamma(1.0, size=500))
    for most in (1, 2, 100, 499, 500):
        each = [bound.least(size) for size in range(1, most + 1)]
        np.testing.assert_allclose(bound.along(most), each)


def test_a_certificate_holds_by_more_than_rounding():
    """Genes that are as good but for rounding stay open."""
    error, start = 0.4, 2.0
    beyond = error + ROUNDING * start * np.array([0.5, 2.0])
    for tolerance in (0.0, 0.1):
        above = beyond + tolerance * (start - error)
        for holding, lacking, states in (
            (above, np.full(2, -np.inf), ["open", "none"]),
            (np.full(2, -np.inf), above, ["open", "every"]),
        ):
            assert Certificates(holding, lacking, error, start).of(tolerance).tolist() == states


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs an extended precision")
def test_rounding_is_far_below_what_is_left_for_it(random_errors):
    """The bound anew, from the same weights, in extended precision."""
    (block,) = random_errors(0, n_genes=80, rank=20)
    size = 10
    choice = relaxed([block], Polytope.of(Rows.of((), 80), size), np.zeros(80), gap=1e-9)
    genes, beta = block.genes.astype(np.longdouble), choice.beta.astype(np.longdouble)
    covariance = inverse(np.eye(20) + (genes.T * beta) @ genes)
    value = block.weights @ np.diag(covariance)
    curved = (covariance * block.weights) @ covariance
    gradient = -np.einsum("ij,jk,ik->i", genes, curved, genes)
    exact = Linear(value - gradient @ beta, gradient)
    first = np.argsort(gradient)[:size]
    assert abs(exact.level + gradient[first].sum() - choice.bound.least(size)) < 1e-5 * ROUNDING


def inverse(matrix):
    """By Gauss's elimination, in the precision of the matrix, which needs no pivots."""
    rank = len(matrix)
    both = np.concatenate([matrix, np.eye(rank)], axis=1)
    for row in range(rank):
        both[row] /= both[row, row]
        others = np.arange(rank) != row
        both[others] -= np.outer(both[others, row], both[row])
    return both[:, rank:]
