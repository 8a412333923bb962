"""Scores rank every gene, and no two alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glfs_bio.panel import by_value, in_order, without_ties

SCORES = st.lists(st.sampled_from([0.0, 1.0, 1e-300, -2.5, 1e300, 3.0]), min_size=1, max_size=30)


@given(SCORES)
def test_ties_are_spread_in_the_order_of_the_genes(scores):
    values = np.array(scores)
    spread = without_ties(values)
    assert len(np.unique(spread)) == len(spread)
    order = np.argsort(-spread, kind="stable")
    np.testing.assert_array_equal(order, np.argsort(-values, kind="stable"))
    assert (spread <= values).all()


def test_picked_genes_come_before_those_that_wait():
    scores = in_order([3, 0], np.array([9.0, 0.2, 0.1, 9.0, 0.3]))
    np.testing.assert_array_equal(np.argsort(-scores), [3, 0, 4, 1, 2])
    assert scores[4] == 1.0


def test_included_genes_are_lifted_above_all_others():
    panel = by_value(np.array([1.0, 5.0, 2.0, 0.0]), 3, np.array([0, 3]))
    np.testing.assert_array_equal(panel.order, [0, 3, 1, 2])
    np.testing.assert_array_equal(panel.ranks, [1, 3, 4, 2])
