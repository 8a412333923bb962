"""Whom a gene serves."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.criterion.panel import MeasuredPanel
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
