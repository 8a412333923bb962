"""Parameters in other forms of the same number."""

from __future__ import annotations

import numpy as np
import pandas as pd

import glfs_bio


def test_numbers_of_numpy(pbmc):
    cells = pbmc[:, :150].copy()
    plain = glfs_bio.pp.select_genes(cells, 5, n_comps=30, inplace=False)
    glfs_bio.pp.select_genes(cells, np.int64(5), n_comps=np.int32(30))
    pd.testing.assert_frame_equal(cells.var[plain.columns], plain)
    recorded = glfs_bio.pp.recorded_parameters(cells)
    assert (recorded["n_genes"], recorded["n_comps"]) == (5, 30)
    assert not any(isinstance(value, np.generic) for value in recorded.values())
