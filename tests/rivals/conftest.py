from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def small() -> np.ndarray:
    """30 cells in three groups × 20 genes, of which 6 tell the groups apart; uneven scales."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.eye(3), 10, axis=0)
    signal = np.hstack([groups, 0.5 * groups, np.zeros((30, 14))])
    noise = rng.normal(size=(30, 20)) * rng.uniform(0.1, 0.4, size=20)
    return signal + noise + rng.uniform(0, 3, size=20)


@pytest.fixture
def batch() -> np.ndarray:
    """Two batches with cells of every group in each."""
    return np.tile(["a", "b"], 15)
