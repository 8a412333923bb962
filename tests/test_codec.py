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
    """What a file makes of a value in ``.uns``."""

    def there_and_back(value):
        path = tmp_path / "with.h5ad"
        ad.AnnData(np.ones((3, 2)), uns={"values": {"value": value}}).write_h5ad(path)
        return ad.read_h5ad(path).uns["values"]["value"]

    return there_and_back


def test_limits_survive_a_file(through_a_file):
    given = {
        "max_total_per_type": {"NK/T": 7.5},
        "counts_layer": "counts",
        "cost": {"g0": 1.5},
        "budget": np.float64(3.0),
        "families": {"a/b": ("g0", "g1")},
        "per_family": 1,
        "priority": {"g3": np.float32(2.0)},
        "groupby": "kind",
    }
    read = Limits.restored(through_a_file(Limits(**given).record()))
    assert read == Limits(**(given | {"families": {"a/b": ["g0", "g1"]}, "priority": {"g3": 2.0}}))


def test_values_survive_a_file(through_a_file):
    for value in (None, "name", 5, 0.5, True, ["A", "B"], [3, 1], {"a": 1.0, "b/c": 2.0}):
        assert codec.restored(through_a_file(codec.storable(value))) == value


def test_patterns_survive_a_file_with_their_flags(through_a_file):
    given = ["CD3D", re.compile("^mt-", re.IGNORECASE), re.compile("^RP[SL]")]
    read = codec.restored(through_a_file(codec.storable(given)))
    name, loose, strict = codec.with_patterns(read)
    assert (name, strict) == ("CD3D", given[2])
    assert loose.match("MT-ND1")
    assert not strict.match("rps3")
