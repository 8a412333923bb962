"""A panel, measured: supports, pairs, substitutes and unexplained axes, by definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.criterion.panel import MeasuredPanel, n_matched
from glfs_bio.options import StructureSpec

PANEL = np.array([7, 0, 3, 5])


def codes_of(criterion, n_labels=3):
    rng = np.random.default_rng(0)
    return [rng.integers(n_labels, size=one.n_cells) for one in criterion.sets]


def test_shares_sum_to_one(criterion):
    shares = MeasuredPanel(criterion, PANEL).supports(codes_of(criterion), 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    sums = sum(part.sum(axis=1) for part in MeasuredPanel(criterion, PANEL).losses_by_axis())
    np.testing.assert_allclose(sums, 1.0)


def test_shares_are_of_the_growth_of_the_error(criterion):
    """Of what the cells of a label lose when the gene leaves, in one set of cells."""
    alone = Criterion(criterion.sets[:1])
    codes = codes_of(alone)
    shares = MeasuredPanel(alone, PANEL).supports(codes, 3)
    for place in range(len(PANEL)):
        without = (
            MeasuredPanel(alone, np.delete(PANEL, place)).unexplained_cells()[0]
            - MeasuredPanel(alone, PANEL).unexplained_cells()[0]
        )
        growth = np.bincount(codes[0], weights=without, minlength=3)
        np.testing.assert_allclose(shares[place], growth / growth.sum(), rtol=1e-6)


def test_cells_without_a_label_serve_nobody(criterion):
    nobody = [np.full(one.n_cells, -1) for one in criterion.sets]
    assert not MeasuredPanel(criterion, PANEL).supports(nobody, 3).any()


def test_a_marker_serves_its_cells():
    """A gene that only one group of cells expresses."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 40)
    markers = np.repeat(np.eye(3), 2, axis=1)[groups]
    data = 4.0 * markers + rng.normal(scale=0.3, size=markers.shape)
    criterion = Criterion(build_problems(data, StructureSpec(n_comps=2, n_neighbors=5)))
    shares = MeasuredPanel(criterion, np.array([0, 2, 4])).supports([groups], 3)
    assert list(shares.argmax(axis=1)) == [0, 1, 2]
    assert shares.max(axis=1) == pytest.approx(0.6, abs=0.3)


def test_pairs_of_labels_are_told_apart(problems, criterion):
    """Against distances of means in Z, with and without each gene."""
    panel = np.array([0, 3, 5])
    labels = np.repeat([0, 1, 2], 20)
    cells = [np.arange(60)] if len(problems) == 1 else [np.arange(60)[::2], np.arange(60)[1::2]]
    found = MeasuredPanel(criterion, panel).pairs([labels[own] for own in cells], 3)

    def left(genes):
        total, whole = np.zeros(3), np.zeros(3)
        for number, own in enumerate(cells):
            z, block = criterion.cells(number), criterion.blocks[number]
            means = np.array([z[labels[own] == label].mean(axis=0) for label in range(3)])
            g = block.genes[genes]
            inverse = np.linalg.inv(np.eye(z.shape[1]) + g.T @ g)
            for place, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
                d = means[a] - means[b]
                total[place] += d @ inverse @ d
                whole[place] += d @ d
        return total / whole

    np.testing.assert_allclose(found.preserved, 1.0 - left(panel), rtol=1e-8)
    for place in range(3):
        without = left(np.delete(panel, place))
        np.testing.assert_allclose(found.work[:, place], without - left(panel), atol=1e-10)
    assert list(zip(found.first, found.second, strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_a_label_of_no_cell_has_no_distance(criterion):
    codes = [np.full(len(one.basis), 0) for one in criterion.sets]
    found = MeasuredPanel(criterion, np.array([0, 1])).pairs(codes, 2)
    assert np.isnan(found.preserved).all()


def test_losses_are_differences(criterion, by_definition):
    lost, substitution_score = MeasuredPanel(criterion, PANEL).substitutions(PANEL[1:3])
    assert lost.shape == substitution_score.shape == (2, 12)
    before = by_definition(PANEL)
    for row, out in enumerate(PANEL[1:3]):
        for gene in range(12):
            if gene in PANEL:
                assert lost[row, gene] == np.inf
                assert substitution_score[row, gene] == 0.0
            else:
                panel = [gene if old == out else old for old in PANEL]
                expected = (by_definition(panel) - before) / criterion.scale
                assert lost[row, gene] == pytest.approx(expected, rel=1e-6, abs=1e-12)
                without = by_definition([old for old in PANEL if old != out]) - before
                beside = by_definition(panel) - by_definition([*PANEL, gene])
                again = before - by_definition([*PANEL, out])
                share = (without - beside) / (without - again)
                assert substitution_score[row, gene] == pytest.approx(share, rel=1e-5, abs=1e-9)


def test_a_copy_replaces_its_original(clusters):
    data = np.hstack([clusters[:, :12], clusters[:, :1]])
    criterion = Criterion(build_problems(data, StructureSpec(n_comps=6, n_neighbors=5)))
    panel = np.array([0, 4, 8])
    lost, substitution_score = MeasuredPanel(criterion, panel).substitutions(panel)
    assert lost[0, 12] == pytest.approx(0.0, abs=1e-9)
    assert lost[0].argmin() == 12
    assert substitution_score[0].argmax() == 12
    assert substitution_score[0, 12] == pytest.approx(1.0)


def test_matching_counts_each_gene_once():
    pairs = sparse.csr_array((6, 6), dtype=bool)
    assert n_matched(np.array([0, 1, 2]), np.array([2, 1, 5]), pairs) == 2
    stand = np.zeros((6, 6), dtype=bool)
    stand[0, 5] = stand[2, 5] = True  # one substitute cannot stand in for two
    pairs = sparse.csr_array(stand)
    assert n_matched(np.array([0, 1, 2]), np.array([1, 5]), pairs) == 2
    assert n_matched(np.array([1, 5]), np.array([0, 1, 2]), pairs) == 2


FEW = np.array([7, 0, 3])


def test_directions_share_what_is_open(criterion):
    found = MeasuredPanel(criterion, FEW).unexplained_axes(1000)
    shares = [one.share for one in found]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)
    assert len(found) == sum(one.n_axes for one in criterion.sets)


def test_gains_of_genes_are_sums_over_directions(criterion):
    """``g_jᵀ E W E g_j``, from which greedy chooses."""
    error = criterion.errors(FEW)[-1]
    summed = sum(
        error * one.share * one.genes**2
        for one in MeasuredPanel(criterion, FEW).unexplained_axes(1000)
    )
    expected = 0.0
    for block in criterion.blocks:
        inverse = np.linalg.inv(np.eye(len(block.weights)) + block.genes[FEW].T @ block.genes[FEW])
        seen = block.genes @ inverse
        expected = expected + seen**2 @ block.weights
    np.testing.assert_allclose(summed, expected, rtol=1e-8)


def test_the_gene_that_varies_most_is_up(criterion):
    for one in MeasuredPanel(criterion, FEW).unexplained_axes(5):
        assert one.genes[np.argmax(np.abs(one.genes))] > 0
        assert one.cells.shape == (criterion.sets[one.block].n_cells,)


def test_a_gene_along_a_direction_closes_it(criterion):
    worst = MeasuredPanel(criterion, FEW).unexplained_axes(1)[0]
    gene = int(np.argmax(np.abs(worst.genes)))
    after = criterion.errors(np.append(FEW, gene))[-1]
    before = criterion.errors(FEW)[-1]
    assert (
        MeasuredPanel(criterion, np.append(FEW, gene)).unexplained_axes(1)[0].share * after
        < worst.share * before
    )


def test_cells_follow_their_definition(criterion, problems):
    """``diag(Z E Zᵀ)`` with E and Z as they are defined, without the rotation of W."""
    for problem, found in zip(
        problems, MeasuredPanel(criterion, FEW).unexplained_cells(), strict=True
    ):
        kappa, basis = np.linalg.eigh(problem.stiffness)
        genes = problem.projections * problem.units[:, None] @ (basis * np.sqrt(kappa))
        lambda2 = 0.2 * problem.n_cells * np.trace(problem.stiffness) / len(kappa)
        genes = genes[FEW] / np.sqrt(lambda2)
        z = problem.basis @ (basis / np.sqrt(kappa))
        error = np.diag(z @ np.linalg.inv(np.eye(len(kappa)) + genes.T @ genes) @ z.T)
        np.testing.assert_allclose(found, error / np.mean(np.sum(z**2, axis=1)), rtol=1e-8)
        assert found.mean() < 1.0


def test_less_is_open_with_more_genes(criterion):
    few, more = (
        MeasuredPanel(criterion, FEW).unexplained_cells(),
        MeasuredPanel(criterion, np.append(FEW, [5, 9])).unexplained_cells(),
    )
    for before, after in zip(few, more, strict=True):
        assert (after <= before + 1e-12).all()
