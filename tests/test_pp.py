"""Parameters in other forms of the same number."""

from __future__ import annotations

import re

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


def test_names_and_patterns_come_back(pbmc):
    cells = pbmc[:, :150].copy()
    one, other, out = cells.var_names[[3, 5, 7]]
    given = {"include": [one, re.compile(f"^{other}$")], "exclude": re.compile(f"^{out}$")}
    glfs_bio.pp.select_genes(cells, 5, **given)
    recorded = glfs_bio.pp.recorded_parameters(cells)
    assert {name: recorded[name] for name in given} == given
    assert recorded["limits"] is None
    first = cells.var["glfs_rank"].copy()
    glfs_bio.pp.select_genes(cells, **recorded)
    pd.testing.assert_series_equal(cells.var["glfs_rank"], first)


def test_symbols_and_what_is_missing_come_back(pbmc):
    cells = pbmc[:, :150].copy()
    cells.var["symbol"] = cells.var_names.str.lower()
    given = {"include": cells.var["symbol"].iloc[3], "exclude": ["nope"], "symbols": "symbol"}
    glfs_bio.pp.select_genes(cells, 5, missing="ignore", **given)
    recorded = glfs_bio.pp.recorded_parameters(cells)
    assert {name: recorded[name] for name in given} == given
    assert recorded["missing"] == "ignore"
    first = cells.var["glfs_rank"].copy()
    glfs_bio.pp.select_genes(cells, **recorded)
    pd.testing.assert_series_equal(cells.var["glfs_rank"], first)
