from __future__ import annotations

import numpy as np
import pytest
from refusals import not_refused

from glfs_bio.datasets import simulate
from glfs_bio.errors import InvalidType, InvalidValue


@pytest.mark.parametrize("shape", ["clusters", "moons", "uniform"])
def test_what_is_generated(shape):
    adata = simulate(n_noise=300, sigma=0.3, shape=shape)
    assert adata.shape == (400, 304)
    informative = adata.var["informative"].to_numpy()
    assert informative.sum() == 4
    assert all(adata.var_names[informative].str.startswith("signal_"))
    signal, noise = adata.X[:, informative], adata.X[:, ~informative]
    np.testing.assert_allclose([signal.min(), signal.max()], [0, 1], atol=0.02)
    assert noise.std() == pytest.approx(0.3, rel=0.02)
    assert ("label" in adata.obs) == (shape != "uniform")
    if shape == "clusters":
        assert (adata.obs["label"].value_counts() == 100).all()
        np.testing.assert_array_equal(signal.sum(axis=1), 1)


def test_the_seed_decides():
    first, again = simulate(n_noise=9), simulate(n_noise=9)
    other = simulate(n_noise=9, random_state=1)
    np.testing.assert_array_equal(first.X, again.X)
    assert list(first.var_names) == list(again.var_names) != list(other.var_names)
    assert simulate(n_noise=0).shape == (400, 4)


def test_bad_parameters():
    cases = [
        ({"n_samples": 3}, InvalidValue, "n_samples"),
        ({"n_noise": -1}, InvalidValue, "n_noise"),
        ({"sigma": -0.1}, InvalidValue, "sigma"),
        ({"sigma": "x"}, InvalidType, "sigma"),
        ({"shape": "ring"}, InvalidValue, "shape"),
        ({"random_state": 0.5}, InvalidType, "random_state"),
    ]
    assert not_refused(simulate, cases) == []
