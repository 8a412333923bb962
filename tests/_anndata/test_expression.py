"""Where genes are on, and which are markers of a type."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio._anndata.expression import Profiles, Types, marked
from glfs_bio.data.matrix import RowMatrix

#: What 40 cells of a type, 40 of another, and two of a third have of a gene; what it marks.
MARKS = {
    "off elsewhere": ([[5] * 40, [0] * 40, [0] * 2], "a"),
    "on everywhere": ([[9] * 40, [3] * 40, [3] * 2], None),
    "ambient": ([[99] * 40, [2] * 40, [2] * 2], "a"),
    "in half as many": ([[9] * 40, [0, 4] * 20, [0] * 2], "a"),
    "in more": ([[9] * 40, [0, 4, 4, 4] * 10, [0] * 2], None),
    "noise of two cells": ([[0] * 40, [0] * 40, [7] * 2], None),
    "signs of logarithms": ([[2] * 40, [0] * 30 + [30] * 10, [0] * 2], None),
}


@pytest.mark.parametrize("unlog", [False, True])
def test_a_marker_is_on_in_its_type_and_off_elsewhere(unlog):
    counts = np.array([np.concatenate(of_types) for of_types, _ in MARKS.values()], dtype=float).T
    types = Types.of(np.repeat(range(3), [40, 40, 2]), ["a", "b", "c"])
    for values in (counts, sparse.csr_array(counts)):
        data = RowMatrix(np.log1p(values) if unlog else values)
        marks = marked(Profiles.of(data, types, unlog=unlog), types)
        named = [types.names[place] if place >= 0 else None for place in marks]
        assert dict(zip(MARKS, named, strict=True)) == {name: of for name, (_, of) in MARKS.items()}
