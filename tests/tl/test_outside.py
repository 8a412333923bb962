"""Selections from a file and from memory that tests/test_beyond_memory.py does not have."""

from __future__ import annotations

import anndata as ad
import pandas as pd
import pytest

from glfs_bio import Limits, Platform, pp


@pytest.fixture(scope="module")
def counted(_pbmc):
    """Log expression with counts beside it."""
    adata = _pbmc.copy()
    counts = adata.X.expm1().rint()
    counts.eliminate_zeros()
    adata.layers["counts"] = counts
    return adata


def test_limits_and_an_instrument(counted, outside):
    held = outside(counted)
    before = [*held.uns], [*held.var]
    limits = {"expression": {"counts": 20.0}, "counts_layer": "counts"}
    for options in (
        lambda adata: {"platform": Platform(efficiency=adata)},
        lambda _: {"limits": Limits(**limits, per_type=1, groupby="bulk_labels")},
    ):
        expected, table = (
            pp.select_genes(adata, 12, inplace=False, **options(adata)) for adata in (counted, held)
        )
        columns = ["glfs_rank", "glfs_score"]
        pd.testing.assert_frame_equal(table[columns], expected[columns], rtol=1e-6, atol=1e-9)
    assert ([*held.uns], [*held.var]) == before
    held.file.close()


def test_datasets_of_files_are_selected_from_as_one(counted, tmp_path):
    """Also where one is in memory, and where their genes have another order."""
    other = counted[::2, ::-1].copy()
    other.obs_names = [f"{name}x" for name in other.obs_names]
    files = []
    for adata, name in ((counted, "first.h5ad"), (other, "second.h5ad")):
        adata.write_h5ad(tmp_path / name)
        files.append(ad.read_h5ad(tmp_path / name, backed="r"))
    options = {"n_comps": 10, "inplace": False}
    limits = Limits(expression={"counts": 20.0}, counts_layer="counts")
    for more in ({}, {"limits": limits}):
        expected = pp.select_genes([counted, other], 8, **options, **more)
        for sets in (files, [counted, files[1]]):
            table = pp.select_genes(sets, 8, **options, **more)
            pd.testing.assert_frame_equal(table, expected, rtol=1e-6)
    for file in files:
        file.file.close()
