"""What a value may be."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio import checks


def test_a_generator_is_a_seed_for_estimators_only():
    state = np.random.RandomState(0)
    checks.seed(state, state_too=True)
    checks.seed(None)
    with pytest.raises(TypeError, match="must be an integer from 0"):
        checks.seed(state)


@pytest.mark.parametrize("key", ["neighbors", "pca", "umap", "X_pca", "louvain", "log1p"])
def test_keys_of_scanpy_stay_its_own(key):
    checks.keys(key_added="glfs", key=f"my_{key}")
    with pytest.raises(ValueError, match=f"key_added='{key}' is where scanpy keeps results"):
        checks.keys(key_added=key)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int8])
def test_numbers_of_numpy_are_numbers(kind):
    checks.number("lambda1", kind(3))
    with pytest.raises(ValueError, match=r"lambda1=.* must be a finite number"):
        checks.number("lambda1", kind(-3))
    if kind is not np.int8:
        with pytest.raises(ValueError, match=r"lambda1=.* must be a finite number"):
            checks.number("lambda1", kind("inf"))
