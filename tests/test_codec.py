"""What is asked for comes back from a file."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from glfs_bio.options import Limits

TYPES = ["B", "NK/T", "mono"]


@pytest.fixture
def adata():
    """60 cells of three types × 12 genes: 3 markers of each, 3 of none; counts in a layer."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(3), 20)
    rate = np.full((3, 12), 0.5)
    for kind in range(3):
        rate[kind, 3 * kind : 3 * kind + 3] = 5.0
    counts = rng.poisson(rate[kinds])
    counts[:, 9:] += 1
    adata = ad.AnnData(sparse.csr_matrix(np.log1p(counts)), {"kind": np.array(TYPES)[kinds]})
    adata.obs_names = [f"cell{i}" for i in range(60)]
    adata.var_names = [f"g{i}" for i in range(12)]
    adata.layers["counts"] = sparse.csr_matrix(counts)
    adata.var["cost"] = np.arange(12) + 1.0
    adata.var["family"] = pd.Categorical([*"aaabbbccd", None, None, None])
    return adata


def test_a_record_survives_a_file(adata, tmp_path):
    wanted = Limits(
        max_total_per_type={"NK/T": 7.5},
        counts_layer="counts",
        cost={"g0": 1.5},
        budget=np.float64(3.0),
        families={"a/b": ("g0", "g1")},
        per_family=1,
        per_type=2,
        priority={"g3": np.float32(2.0)},
        groupby="kind",
        max_cells=0.5,
    )
    adata.uns["limits"] = wanted.record()
    adata.write_h5ad(tmp_path / "with.h5ad")
    read = Limits.restored(ad.read_h5ad(tmp_path / "with.h5ad").uns["limits"])
    assert read == Limits(
        max_total_per_type={"NK/T": 7.5},
        counts_layer="counts",
        cost={"g0": 1.5},
        budget=np.float64(3.0),
        families={"a/b": ["g0", "g1"]},
        per_family=1,
        per_type=2,
        priority={"g3": 2.0},
        groupby="kind",
        max_cells=0.5,
    )
