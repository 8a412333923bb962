from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def two_classes():
    """60 samples of 2 classes, 50 genes, 3 of which differ."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 50))
    X[:, [4, 9, 31]] += 3.0 * y[:, None]
    return X, y
