"""Proofs and certificates against all panels."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from all_panels import EVERY, N_GENES, PANELS, as_panel

from glfs_bio.criterion.criterion import along
from glfs_bio.criterion.error import Block
from glfs_bio.errors import InvalidValue
from glfs_bio.solvers.constrained import select_within
from glfs_bio.solvers.constraints import ALONE, Row, Rows
from glfs_bio.solvers.prove import Search, best

if TYPE_CHECKING:
    from glfs_bio.solvers.certificate import Certificates

#: Random problems, of which each of so many tests has a part.
PROBLEMS, PARTS = 300, 10
TOLERANCES = (0.0, 0.02, 0.05, 0.2, 0.3)
FOREVER = np.inf


def problem(seed):
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
    rows, groups = [], None
    if seed % 3:
        for name in ("cost", "total")[: rng.integers(0, 3)]:
            values = rng.integers(1, 9, size=N_GENES) / 10.0
            upper = float(values.sum() * rng.uniform(0.2, 0.7))
            rows.append(Row(name, name, EVERY, values, upper=upper))
        if rng.uniform() < 0.5:
            family = np.flatnonzero(rng.uniform(size=N_GENES) < 0.5)
            rows.append(Row("family", "family", family, np.ones(len(family)), upper=1.0))
        for name in ("a", "b")[: rng.integers(0, 3)]:
            genes = np.flatnonzero(rng.uniform(size=N_GENES) < 0.5)
            rows.append(Row("types", name, genes, np.ones(len(genes)), lower=1.0))
        if rng.uniform() < 0.3:
            groups = np.full(N_GENES, ALONE)
            groups[rng.choice(N_GENES, 2, replace=False)] = 0
    rows = Rows.of(rows, N_GENES, groups=groups)
    sums = PANELS @ rows.matrix.toarray().T
    fine = (sums <= rows.upper * (1 + 1e-9)).all(axis=1) & (sums >= rows.lower).all(axis=1)
    fine &= (PANELS.sum(axis=1) <= size) & (PANELS[:, include] == 1).all(axis=1)
    if groups is not None:
        tied = np.flatnonzero(groups == 0)
        fine &= PANELS[:, tied[0]] == PANELS[:, tied[1]]
    return SimpleNamespace(
        blocks=blocks, rows=rows, size=size, include=include, panels=PANELS[fine], rng=rng
    )


def check(found: Certificates, panels, errors, start):
    """No certificate is wrong."""
    for tolerance in TOLERANCES:
        near = panels[errors <= found.error + tolerance * (start - found.error) + 1e-12]
        states = found.of(tolerance)
        assert (near[:, states == "every"] == 1).all()
        assert (near[:, states == "none"] == 0).all()


@pytest.mark.parametrize("part", range(PARTS))
def test_no_wrong_optimum_and_no_wrong_certificate(by_inverse, part):
    """With limits, genes to include, groups, several sets of cells, copies of genes."""
    asked = 0
    for seed in range(part, PROBLEMS, PARTS):
        one = problem(seed)
        if not len(one.panels):
            continue
        asked += 1
        errors = by_inverse(one.blocks, one.panels)
        first = one.panels[one.rng.integers(len(one.panels))]
        fixed = one.rows.with_partners(one.include)
        search = Search(one.blocks, one.rows, one.size, fixed, np.flatnonzero(first))
        start = by_inverse(one.blocks, np.zeros(N_GENES))
        if seed % 2:  # what is known before the end holds too
            search._branch(search._waiting.pop())
            assert search.lower <= errors.min() + 1e-12
            check(search.certificates(), one.panels, errors, start)
        search.run(FOREVER)
        assert search.lower >= search.error - search.safe
        np.testing.assert_allclose(search.error, errors.min(), rtol=0, atol=2e-9)
        assert (one.panels == as_panel(search.panel)).all(axis=1).any()
        check(search.certificates(), one.panels, errors, start)
        search.tighten(search.lacking, 0.02, FOREVER)
        check(search.certificates(), one.panels, errors, start)
    assert asked > PROBLEMS // PARTS // 2


def by_best(one, n_genes, tolerance):
    """What :func:`best` says, of all genes, from a greedy choice within the limits."""
    criterion = SimpleNamespace(
        n_genes=N_GENES,
        on=lambda genes: [block.only(genes) for block in one.blocks],
        blocks=one.blocks,
        errors=lambda order: np.sum([along(block.only(order)) for block in one.blocks], axis=0),
        across=lambda: None,
        bounding=lambda _: (one.blocks, 0.0),
    )
    criterion.preserved = lambda order: 1.0 - criterion.errors(order)[1:]
    return best(
        *(criterion, n_genes),
        nested=partial(select_within, rows=one.rows),
        rows=one.rows,
        include=one.include,
        candidates=EVERY,
        tolerance=tolerance,
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_left_out_of_a_proof_counts_within_a_tolerance(by_inverse, part):
    """Genes that are in no best panel may be in one that is nearly as good; partners count."""
    asked = 0
    for seed in range(part, PROBLEMS, PARTS):
        one = problem(seed)
        try:
            panel = by_best(one, one.size, tolerance=(0.05, 0.3)[seed // PARTS % 2])
        except InvalidValue:
            continue
        if panel.proof is None:
            continue
        asked += 1
        errors = by_inverse(one.blocks, one.panels)
        start = by_inverse(one.blocks, np.zeros(N_GENES))
        assert panel.proof.proven
        np.testing.assert_allclose(panel.proof.error, errors.min(), rtol=0, atol=2e-9)
        chosen = panel.order[: panel.n_selected]
        assert (one.panels == as_panel(chosen)).all(axis=1).any()
        check(panel.certificates, one.panels, errors, start)
    assert asked > PROBLEMS // PARTS // 3
