"""Maximin over batches: the worst set of cells, and Ψ, by which genes are chosen for it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from all_panels import greedy_panel
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.criterion.criterion import Criterion, OnPlatform, Target, TermOfCells, label_matrix
from glfs_bio.criterion.error import Largest
from glfs_bio.criterion.platform import Detection


@pytest.fixture(scope="module")
def problems():
    """Batches whose groups differ in other genes."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.eye(6), 10, axis=0)
    genes = rng.gamma(1.0, 1.0, size=(6, 12)) * np.repeat([[2.0, 0.3]], 6, axis=1).ravel()
    first = groups @ genes + rng.normal(scale=0.3, size=(60, 12))
    second = groups @ genes[:, ::-1] + rng.normal(scale=0.3, size=(60, 12))
    batch, options = np.repeat(["a", "b"], 60), StructureSpec(n_comps=6, n_neighbors=5)
    return build_cells(np.vstack([first, second]), options, batch=batch)


def worst_by_definition(problems, panel):
    return min(Criterion([cells]).preserved(np.array(panel))[-1] for cells in problems)


def test_it_is_the_least_share(problems):
    worst = Criterion(problems, worst=True)
    order = np.array([3, 0, 7, 9])
    expected = [worst_by_definition(problems, order[:k]) for k in (1, 2, 3, 4)]
    assert_allclose(worst.preserved(order), expected, rtol=1e-9)
    each = [Criterion([cells]).preserved(order) for cells in problems]
    assert_allclose(worst.preserved_in_sets(order).T, each, rtol=1e-9)
    assert_allclose(Criterion(problems).preserved_in_sets(order).T, each, rtol=1e-9)
    without = [worst_by_definition(problems, np.delete(order, k)) for k in range(4)]
    assert_allclose(worst.losses(order), expected[-1] - np.array(without), atol=1e-12)


def test_it_is_bounded_by_brute_force(problems):
    worst = Criterion(problems, worst=True)
    panel = greedy_panel(worst, 4)
    for size in (1, 2, 3, 4):
        best = max(worst_by_definition(problems, some) for some in combinations(range(12), size))
        share = panel.optimality[size - 1]
        assert panel.preserved[size - 1] <= best + 1e-12
        assert share <= panel.preserved[size - 1] / best + 1e-9
    assert panel.optimality[-1] > 0.5


def test_a_batch_without_anything_of_it_does_not_count(problems):
    """Labels that one batch has not: the other alone is looked at."""
    known = Target(((TermOfCells(np.repeat([0, 1, 2], 20), label_matrix), 1.0),))
    unknown = Target(((TermOfCells(np.full(60, -1), label_matrix), 1.0),))
    both = Criterion(problems, [known, unknown], worst=True)
    alone = Criterion(problems[:1], [known])
    order = np.array([3, 0, 7])
    assert_allclose(both.preserved(order), alone.preserved(order), rtol=1e-9)
    assert np.isnan(both.preserved_in_sets(order)[:, 1]).all()
    panels = (greedy_panel(criterion, 10) for criterion in (both, alone))
    np.testing.assert_array_equal(*(panel.order for panel in panels))


def test_failures_are_averaged_in_each_batch(problems):
    """Genes that never fail: the same as without."""
    worst = Criterion(problems, worst=True)
    failing = OnPlatform(worst, Detection(failure=np.zeros(12)), n_draws=3)
    order = np.array([3, 0, 7])
    assert_allclose(failing.preserved(order), worst.preserved(order), rtol=1e-9)
    panels = [greedy_panel(criterion, 3) for criterion in (failing, worst)]
    assert_allclose(*(panel.optimality for panel in panels), rtol=1e-6)
    np.testing.assert_array_equal(*(panel.order for panel in panels))


LEVELS = np.array([1.0, 0.7, 0.9])


def phi(levels, sharpness):
    return logsumexp(sharpness * levels, axis=0) / sharpness


def test_it_moves_as_it_is_defined():
    changes = np.random.default_rng(0).uniform(-0.2, 0.1, size=(3, 8))
    for sharpness in (1.0, 100.0, 3000.0):
        largest = Largest(LEVELS, sharpness)
        expected = phi(LEVELS[:, None] + changes, sharpness) - phi(LEVELS, sharpness)
        assert_allclose(largest.moved(changes), expected, atol=1e-12)
        assert_allclose(largest.move(changes[:, 0]), expected[0], atol=1e-12)
        assert_allclose(largest.levels, LEVELS + changes[:, 0])
        assert_allclose(LEVELS, [1.0, 0.7, 0.9])  # what was given is left as it was
        # draws of failures: every third block is of the same set
        drawn = Largest(LEVELS, sharpness).moved(np.vstack([0.4 * changes, 0.6 * changes]))
        assert_allclose(drawn, expected, atol=1e-12)
