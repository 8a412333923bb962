"""Overlap of panels, and their consensus."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from glfs_bio.measures.stability import consensus, jaccard


@given(arrays(bool, (3, 8)))
@settings(max_examples=30, deadline=None)
def test_jaccard_by_sets(chosen):
    chosen[:, 0] = True
    sets = [set(np.flatnonzero(row)) for row in chosen]
    expected = [[len(a & b) / len(a | b) for b in sets] for a in sets]
    assert jaccard(chosen) == pytest.approx(np.array(expected))
    assert np.isnan(jaccard(np.zeros((2, 4), dtype=bool))).all()


@given(st.permutations(range(6)), st.integers(1, 5))
@settings(max_examples=20, deadline=None)
def test_ties_go_to_the_best_rank(order, size):
    ranks = np.array([order, order], dtype=float)
    chosen = np.ones((2, 6), dtype=bool)
    assert set(ranks[0][consensus(chosen, ranks, size)]) == set(range(size))


def test_frequency_comes_before_rank_and_untested_genes_last():
    chosen = np.array([[True, False, True, False], [True, False, False, False]])
    ranks = np.array([[3.0, 1.0, 2.0, np.nan], [3.0, 1.0, 2.0, np.nan]])
    assert list(consensus(chosen, ranks, 1)) == [True, False, False, False]
    assert list(consensus(chosen, ranks, 3)) == [True, True, True, False]
