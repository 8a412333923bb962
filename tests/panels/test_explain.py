"""Whom a gene serves."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.core.geometry.problem import build_problems
from glfs_bio.core.geometry.reduction import Reduction
from glfs_bio.panels import Criterion
from glfs_bio.panels.explain import axes, served
from glfs_bio.panels.missed import open_cells

PANEL = np.array([7, 0, 3, 5])


def codes_of(criterion, n_labels=3):
    rng = np.random.default_rng(0)
    return [rng.integers(n_labels, size=one.n_cells) for one in criterion.sets]


def test_shares_sum_to_one(criterion):
    shares = served(criterion, PANEL, codes_of(criterion), 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    sums = sum(part.sum(axis=1) for part in axes(criterion, PANEL))
    np.testing.assert_allclose(sums, 1.0)


def test_shares_are_of_the_growth_of_the_error(criterion):
    """Of what the cells of a label lose when the gene leaves, in one set of cells."""
    alone = Criterion(criterion.sets[:1])
    codes = codes_of(alone)
    shares = served(alone, PANEL, codes, 3)
    for place in range(len(PANEL)):
        without = open_cells(alone, np.delete(PANEL, place))[0] - open_cells(alone, PANEL)[0]
        growth = np.bincount(codes[0], weights=without, minlength=3)
        np.testing.assert_allclose(shares[place], growth / growth.sum(), rtol=1e-6)


def test_cells_without_a_label_serve_nobody(criterion):
    nobody = [np.full(one.n_cells, -1) for one in criterion.sets]
    assert not served(criterion, PANEL, nobody, 3).any()


def test_a_marker_serves_its_cells():
    """A gene that only one group of cells expresses."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 40)
    markers = np.repeat(np.eye(3), 2, axis=1)[groups]
    data = 4.0 * markers + rng.normal(scale=0.3, size=markers.shape)
    criterion = Criterion(build_problems(data, Reduction(n_comps=2, n_neighbors=5)))
    shares = served(criterion, np.array([0, 2, 4]), [groups], 3)
    assert list(shares.argmax(axis=1)) == [0, 1, 2]
    assert shares.max(axis=1) == pytest.approx(0.6, abs=0.3)
