"""A panel, measured: supports, pairs, substitutes and unexplained axes, by definition."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.criterion.panel import MeasuredPanel, n_matched

PANEL = np.array([7, 0, 3, 5])


@pytest.fixture
def measured(criterion):
    return MeasuredPanel(criterion, PANEL)


def codes_of(criterion, n_labels=3):
    rng = np.random.default_rng(0)
    return [rng.integers(n_labels, size=problem.n_cells) for problem in criterion.sets]


def test_shares_sum_to_one(measured):
    shares = measured.supports(codes_of(measured.criterion), 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    np.testing.assert_allclose(sum(part.sum(axis=1) for part in measured.losses_by_axis()), 1.0)
    nobody = [np.full(problem.n_cells, -1) for problem in measured.criterion.sets]
    assert not measured.supports(nobody, 3).any()


def test_shares_are_of_the_growth_of_the_error(criterion):
    """Of what the cells of a label lose when the gene leaves, in one set of cells."""
    alone = Criterion(criterion.sets[:1])
    (codes,) = codes_of(alone)
    shares = MeasuredPanel(alone, PANEL).supports([codes], 3)
    (before,) = MeasuredPanel(alone, PANEL).unexplained_cells()
    for place in range(len(PANEL)):
        (after,) = MeasuredPanel(alone, np.delete(PANEL, place)).unexplained_cells()
        growth = np.bincount(codes, weights=after - before, minlength=3)
        np.testing.assert_allclose(shares[place], growth / growth.sum(), rtol=1e-6)


def test_pairs_of_labels_are_told_apart(problems, criterion):
    """Against distances of means in Z, with and without each gene."""
    panel = np.array([0, 3, 5])
    labels = np.repeat([0, 1, 2], 20)
    cells = [np.arange(60)] if len(problems) == 1 else [np.arange(60)[::2], np.arange(60)[1::2]]
    pairs = MeasuredPanel(criterion, panel).pairs([labels[part] for part in cells], 3)

    def left(genes):
        total, whole = np.zeros(3), np.zeros(3)
        for number, part in enumerate(cells):
            z, block = criterion.cells(number), criterion.blocks[number]
            means = np.array([z[labels[part] == label].mean(axis=0) for label in range(3)])
            g = block.genes[genes]
            inverse = np.linalg.inv(np.eye(z.shape[1]) + g.T @ g)
            for place, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
                d = means[a] - means[b]
                total[place] += d @ inverse @ d
                whole[place] += d @ d
        return total / whole

    np.testing.assert_allclose(pairs.preserved, 1.0 - left(panel), rtol=1e-8)
    for place in range(3):
        without = left(np.delete(panel, place))
        np.testing.assert_allclose(pairs.work[:, place], without - left(panel), atol=1e-10)
    assert list(zip(pairs.first, pairs.second, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    nobody = [np.zeros(len(part), dtype=int) for part in cells]
    assert np.isnan(MeasuredPanel(criterion, panel).pairs(nobody, 2).preserved).all()


def test_losses_are_differences(measured, by_definition):
    lost, scores = measured.substitutions(PANEL[1:3])
    assert lost.shape == scores.shape == (2, 12)
    assert (lost[:, PANEL] == np.inf).all()
    assert (scores[:, PANEL] == 0.0).all()
    before = by_definition(PANEL)
    for row, out in enumerate(PANEL[1:3]):
        for gene in np.setdiff1d(np.arange(12), PANEL):
            panel = [gene if old == out else old for old in PANEL]
            expected = (by_definition(panel) - before) / measured.criterion.scale
            assert lost[row, gene] == pytest.approx(expected, rel=1e-6, abs=1e-12)
            without = by_definition([old for old in PANEL if old != out]) - before
            beside = by_definition(panel) - by_definition([*PANEL, gene])
            again = before - by_definition([*PANEL, out])
            share = (without - beside) / (without - again)
            assert scores[row, gene] == pytest.approx(share, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("worst", [False, True])
def test_exchanges_are_joined_over_batches_one_by_one(worst):
    data = np.random.default_rng(0).normal(size=(200, 2000)) + np.eye(200, 2000)
    batch = np.arange(200) % 20
    criterion = Criterion(build_cells(data, StructureSpec(n_comps=5), batch=batch), worst=worst)
    panel = MeasuredPanel(criterion, np.arange(50))
    assert (len(panel.posteriors), len(criterion.floors)) == (20, 20)
    tracemalloc.start()
    lost, _ = panel.substitutions()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 15 * lost.nbytes


def test_matching_counts_each_gene_once():
    pairs = sparse.csr_array((6, 6), dtype=bool)
    assert n_matched(np.array([0, 1, 2]), np.array([2, 1, 5]), pairs) == 2
    stand = np.zeros((6, 6), dtype=bool)
    stand[0, 5] = stand[2, 5] = True  # one substitute cannot stand in for two
    pairs = sparse.csr_array(stand)
    assert n_matched(np.array([0, 1, 2]), np.array([1, 5]), pairs) == 2
    assert n_matched(np.array([1, 5]), np.array([0, 1, 2]), pairs) == 2


def test_directions_share_what_is_open(measured):
    """Genes choose by ``g_jᵀ E W E g_j``, of which each direction has a part."""
    criterion, axes = measured.criterion, measured.unexplained_axes(1000)
    shares = [axis.share for axis in axes]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)
    assert len(axes) == sum(problem.n_axes for problem in criterion.sets)
    error = criterion.errors(PANEL)[-1]
    gains = 0.0
    for block in criterion.blocks:
        genes = block.genes[PANEL]
        inverse = np.linalg.inv(np.eye(len(block.weights)) + genes.T @ genes)
        gains = gains + (block.genes @ inverse) ** 2 @ block.weights
    summed = sum(error * axis.share * axis.genes**2 for axis in axes)
    np.testing.assert_allclose(summed, gains, rtol=1e-8)
    for axis in axes[:5]:
        assert axis.genes[np.argmax(np.abs(axis.genes))] > 0
        assert axis.cells.shape == (criterion.sets[axis.block].n_cells,)


def test_a_gene_along_a_direction_closes_it(measured):
    criterion, (worst,) = measured.criterion, measured.unexplained_axes(1)
    larger = np.append(PANEL, np.argmax(np.abs(worst.genes)))
    (left,) = MeasuredPanel(criterion, larger).unexplained_axes(1)
    before, after = criterion.errors(PANEL)[-1], criterion.errors(larger)[-1]
    assert left.share * after < worst.share * before


def test_cells_follow_their_definition(measured, problems):
    """``diag(Z E Zᵀ)`` with E and Z as they are defined, without the rotation of W."""
    larger = MeasuredPanel(measured.criterion, np.append(PANEL, [2, 9])).unexplained_cells()
    for problem, cells, with_more in zip(
        problems, measured.unexplained_cells(), larger, strict=True
    ):
        kappa, basis = np.linalg.eigh(problem.stiffness)
        genes = problem.projections * problem.units[:, None] @ (basis * np.sqrt(kappa))
        lambda2 = 0.2 * problem.n_cells * np.trace(problem.stiffness) / len(kappa)
        genes = genes[PANEL] / np.sqrt(lambda2)
        z = problem.basis @ (basis / np.sqrt(kappa))
        error = np.diag(z @ np.linalg.inv(np.eye(len(kappa)) + genes.T @ genes) @ z.T)
        np.testing.assert_allclose(cells, error / np.mean(np.sum(z**2, axis=1)), rtol=1e-8)
        assert cells.mean() < 1.0
        assert (with_more <= cells + 1e-12).all()
