"""The largest of several errors against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from glfs_bio.criterion.across import Largest

LEVELS = np.array([1.0, 0.7, 0.9])


def phi(levels, sharpness):
    return logsumexp(sharpness * levels, axis=0) / sharpness


@pytest.mark.parametrize("sharpness", [1.0, 100.0, 3000.0])
def test_it_moves_as_it_is_defined(sharpness):
    changes = np.random.default_rng(0).uniform(-0.2, 0.1, size=(3, 8))
    largest = Largest(LEVELS, sharpness)
    expected = phi(LEVELS[:, None] + changes, sharpness) - phi(LEVELS, sharpness)
    assert_allclose(largest.moved(changes), expected, atol=1e-12)
    assert_allclose(largest.move(changes[:, 0]), expected[0], atol=1e-12)
    assert_allclose(largest.levels, LEVELS + changes[:, 0])
    assert_allclose(LEVELS, [1.0, 0.7, 0.9])  # what was given is left as it was


def test_blocks_of_one_set_add_up():
    """Draws of failures: every third block is of the same set."""
    changes = np.random.default_rng(0).normal(scale=0.01, size=(6, 4))
    once = Largest(LEVELS, 30.0).moved(changes[:3] + changes[3:])
    assert_allclose(Largest(LEVELS, 30.0).moved(changes), once)
