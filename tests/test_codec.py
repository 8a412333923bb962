"""Values of Python come back from a file."""

from __future__ import annotations

import re

import anndata as ad
import numpy as np
import pytest

from glfs_bio import codec
from glfs_bio.options import Limits


@pytest.fixture
def through_a_file(tmp_path):
    """What a file makes of values in ``.uns``."""

    def there_and_back(values):
        adata = ad.AnnData(np.ones((3, 2)), uns={"kept": values})
        adata.write_h5ad(tmp_path / "with.h5ad")
        return ad.read_h5ad(tmp_path / "with.h5ad").uns["kept"]

    return there_and_back


def test_limits_survive_a_file(through_a_file):
    given = {
        "max_total_per_type": {"NK/T": 7.5},
        "counts_layer": "counts",
        "cost": {"g0": 1.5},
        "budget": np.float64(3.0),
        "families": {"a/b": ("g0", "g1")},
        "per_family": 1,
        "per_type": 2,
        "priority": {"g3": np.float32(2.0)},
        "groupby": "kind",
        "max_cells": 0.5,
    }
    read = Limits.restored(through_a_file(Limits(**given).record()))
    assert read == Limits(**(given | {"families": {"a/b": ["g0", "g1"]}, "priority": {"g3": 2.0}}))


@pytest.mark.parametrize(
    "value", [None, "name", 5, 0.5, True, ["A", "B"], [3, 1], {"a": 1.0, "b/c": 2.0}]
)
def test_values_survive_a_file(through_a_file, value):
    assert codec.restored(through_a_file({"value": codec.storable(value)})["value"]) == value


def test_patterns_survive_a_file_with_their_flags(through_a_file):
    given = ["CD3D", re.compile("^mt-", re.IGNORECASE), re.compile("^RP[SL]")]
    kept = codec.restored(through_a_file({"value": codec.storable(given)})["value"])
    name, loose, strict = codec.with_patterns(kept)
    assert name == "CD3D"
    assert loose.match("MT-ND1")
    assert strict == given[2]
    assert not strict.match("rps3")
