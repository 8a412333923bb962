"""What a panel leaves open, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.criterion.panel import MeasuredPanel

PANEL = np.array([7, 0, 3])


def test_directions_share_what_is_open(criterion):
    found = MeasuredPanel(criterion, PANEL).unexplained_axes(1000)
    shares = [one.share for one in found]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)
    assert len(found) == sum(one.n_axes for one in criterion.sets)


def test_gains_of_genes_are_sums_over_directions(criterion):
    """``g_jᵀ E W E g_j``, from which greedy chooses."""
    error = criterion.errors(PANEL)[-1]
    summed = sum(
        error * one.share * one.genes**2
        for one in MeasuredPanel(criterion, PANEL).unexplained_axes(1000)
    )
    expected = 0.0
    for block in criterion.blocks:
        inverse = np.linalg.inv(
            np.eye(len(block.weights)) + block.genes[PANEL].T @ block.genes[PANEL]
        )
        seen = block.genes @ inverse
        expected = expected + seen**2 @ block.weights
    np.testing.assert_allclose(summed, expected, rtol=1e-8)


def test_the_gene_that_varies_most_is_up(criterion):
    for one in MeasuredPanel(criterion, PANEL).unexplained_axes(5):
        assert one.genes[np.argmax(np.abs(one.genes))] > 0
        assert one.cells.shape == (criterion.sets[one.block].n_cells,)


def test_a_gene_along_a_direction_closes_it(criterion):
    worst = MeasuredPanel(criterion, PANEL).unexplained_axes(1)[0]
    gene = int(np.argmax(np.abs(worst.genes)))
    after = criterion.errors(np.append(PANEL, gene))[-1]
    before = criterion.errors(PANEL)[-1]
    assert (
        MeasuredPanel(criterion, np.append(PANEL, gene)).unexplained_axes(1)[0].share * after
        < worst.share * before
    )


def test_cells_follow_their_definition(criterion, problems):
    """``diag(Z E Zᵀ)`` with E and Z as they are defined, without the rotation of W."""
    for problem, found in zip(
        problems, MeasuredPanel(criterion, PANEL).unexplained_cells(), strict=True
    ):
        kappa, basis = np.linalg.eigh(problem.stiffness)
        genes = problem.projections * problem.units[:, None] @ (basis * np.sqrt(kappa))
        lambda2 = 0.2 * problem.n_cells * np.trace(problem.stiffness) / len(kappa)
        genes = genes[PANEL] / np.sqrt(lambda2)
        z = problem.basis @ (basis / np.sqrt(kappa))
        error = np.diag(z @ np.linalg.inv(np.eye(len(kappa)) + genes.T @ genes) @ z.T)
        np.testing.assert_allclose(found, error / np.mean(np.sum(z**2, axis=1)), rtol=1e-8)
        assert found.mean() < 1.0


def test_less_is_open_with_more_genes(criterion):
    few, more = (
        MeasuredPanel(criterion, PANEL).unexplained_cells(),
        MeasuredPanel(criterion, np.append(PANEL, [5, 9])).unexplained_cells(),
    )
    for before, after in zip(few, more, strict=True):
        assert (after <= before + 1e-12).all()
