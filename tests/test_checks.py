"""What a value may be."""

from __future__ import annotations

import numpy as np
from refusals import refused

from glfs_bio import checks
from glfs_bio.errors import InvalidType, InvalidValue


def test_a_generator_is_a_seed_for_estimators_only():
    state = np.random.RandomState(0)
    checks.seed(state, state_too=True)
    checks.seed(None)
    with refused(InvalidType, "random_state"):
        checks.seed(state)


def test_keys_of_scanpy_stay_its_own():
    for key in ("neighbors", "pca", "umap", "X_pca", "louvain", "log1p"):
        checks.keys(key_added="glfs", key=f"my_{key}")
        with refused(InvalidValue, "key_added"):
            checks.keys(key_added=key)


def test_numbers_of_numpy_are_numbers():
    for kind in (np.float16, np.float32, np.float64, np.longdouble, np.int8):
        checks.number("lambda1", kind(3))
        with refused(InvalidValue, "lambda1"):
            checks.number("lambda1", kind(-3))
    with refused(InvalidValue, "lambda1"):
        checks.number("lambda1", np.float16("inf"))
