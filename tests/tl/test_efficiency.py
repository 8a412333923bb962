"""Efficiencies of a platform, estimated from cells that it measured."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.tl import estimate_efficiency

LABELS = "bulk_labels"
LAYERS = {"counts_layer": "counts", "spatial_layer": "counts"}


@pytest.fixture
def counted(pbmc):
    pbmc.layers["counts"] = np.round(np.expm1(pbmc.X.toarray()))
    return pbmc


@pytest.fixture
def thinned(counted):
    """A fifth of the molecules of some genes."""
    cells = counted[:, :500].copy()
    counts = cells.layers["counts"].astype(int)
    cells.layers["counts"] = np.random.default_rng(0).binomial(counts, 0.2).astype(float)
    return cells


def test_a_share_of_the_molecules_is_the_efficiency(counted, thinned):
    same = estimate_efficiency(counted, counted, LABELS, **LAYERS)
    np.testing.assert_allclose(same["efficiency"], 1.0, rtol=1e-6)
    table = estimate_efficiency(counted, thinned, LABELS, **LAYERS)
    assert list(table.index) == list(counted.var_names)
    assert table["efficiency"].median() == pytest.approx(0.2, rel=0.2)
    assert table["measured"].sum() == 500
    assert (table["low"] < table["efficiency"]).all()
    assert (table["efficiency"] < table["high"]).all()
    assert table.loc[~table["measured"], "efficiency"].nunique() == 1
    assert table["off_target"].between(0.0, 1.0).all()
    assert "off_target" not in estimate_efficiency(counted, thinned, **LAYERS)


def test_cells_that_cannot_be_compared(counted, thinned):
    with refused(InvalidValue, "counts_layer"):
        estimate_efficiency(counted, thinned, LABELS)
    with refused(InvalidValue, "spatial"):
        estimate_efficiency(counted, thinned[:, :2].copy(), **LAYERS)
    thinned.obs[LABELS] = "none of these"
    with refused(InvalidValue, "labels"):
        estimate_efficiency(counted, thinned, LABELS, **LAYERS)
