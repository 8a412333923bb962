"""The parts of the paper's solver."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from glfs_bio import GLFS
from glfs_bio.glfs2014 import Exact, path, solvers
from glfs_bio.glfs2014.solvers import owlqn


def test_two_loops_are_the_updates_of_bfgs():
    """``H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy``, from ``sᵀy/yᵀy`` of the last pair."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(7, 7))
    curved = root @ root.T + np.eye(7)
    steepest = rng.normal(size=7)
    for n_pairs in (0, 1, 2, 6):
        pairs = deque((moved, curved @ moved) for moved in rng.normal(size=(n_pairs, 7)))
        expected = np.eye(7)
        if pairs:
            moved, turned = pairs[-1]
            expected *= (moved @ turned) / (turned @ turned)
        for moved, turned in pairs:
            left = np.eye(7) - np.outer(moved, turned) / (moved @ turned)
            expected = left @ expected @ left.T + np.outer(moved, moved) / (moved @ turned)
        direction = solvers._two_loop(steepest, pairs)
        np.testing.assert_allclose(direction, expected @ steepest, rtol=1e-9)


def test_the_first_step_moves_a_tenth_of_the_weight(objective):
    """Nothing is known of the curvature then; λ is so large that the gradient alone goes far."""
    beta, lam = path.start(objective)
    moved = owlqn(objective, beta, 1e3 * lam, max_iter=1).beta - beta
    assert np.abs(moved).sum() == pytest.approx(0.1 * beta.sum())


def test_a_path_loses_no_direction_that_newton_keeps():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.eye(3), 30, axis=0) @ np.hstack([np.eye(3), np.eye(3)[::-1]])
        cells = np.hstack([3.0 * groups, np.zeros((90, 34))])
        cells += rng.normal(scale=0.3, size=(90, 40))
        panels = []
        for solver in ("owlqn", "newton"):
            model = GLFS(n_genes=3, objective=Exact(solver=solver)).fit(cells)
            panels.append(model.get_support())
        np.testing.assert_array_equal(*panels)
