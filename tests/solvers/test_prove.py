"""Proofs and certificates against all panels."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from all_panels import EVERY, N_GENES, OfBlocks, as_panel, feasible, random_limits

from glfs_bio.criterion.error import Block
from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.constrained import select_within
from glfs_bio.solvers.constraints import Rows
from glfs_bio.solvers.prove import Search, best

#: Random problems, of which each of so many tests has a part.
PROBLEMS, PARTS = 300, 4
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
        blocks.append(Block.of(genes, root @ root.T / np.sum(root**2) / n_blocks))
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
        choose = partial(
            best,
            *(OfBlocks(problem.blocks), problem.size),
            nested=partial(select_within, rows=problem.rows),
            rows=problem.rows,
            include=problem.include,
            candidates=EVERY,
            tolerance=(0.05, 0.3)[problem.seed // PARTS % 2],
        )
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
