"""Checksums differ where values differ, and nowhere else."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
import zarr
from anndata.io import sparse_dataset
from scipy import sparse

from glfs_bio._anndata import read, stale


def told(adata, layer=None):
    return stale.checksum_of_matrix(adata, read.row_matrix(adata, layer), layer)


def test_one_value_changes_it(pbmc):
    before = told(pbmc)
    assert told(pbmc.copy()) == before
    pbmc.X.data[1000] = np.nextafter(pbmc.X.data[1000], 9)
    assert told(pbmc) != before


@pytest.mark.parametrize(
    "other",
    [lambda x: x[::-1], lambda x: x.reshape(6, 2), lambda x: x[:-1], lambda x: x + 1e-12],
)
def test_order_and_shape_count(other):
    values = np.arange(12.0).reshape(4, 3)
    assert stale.checksum_of(values) == stale.checksum_of(np.asfortranarray(values))
    assert stale.checksum_of(values) != stale.checksum_of(other(values))


def test_places_of_a_sparse_matrix_count():
    graph = sparse.csr_array(np.diag([1.0, 1.0, 0.0]))
    moved = sparse.csr_array(np.diag([1.0, 0.0, 1.0]))
    assert stale.checksum_of(graph) == stale.checksum_of(graph.copy())
    assert stale.checksum_of(graph) != stale.checksum_of(moved)
    assert stale.checksum_of(None) == "None"


def test_layers_differ(pbmc):
    pbmc.layers["same"] = pbmc.X.copy()
    assert told(pbmc) != told(pbmc, "same")


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_a_matrix_that_is_read_as_it_goes(pbmc, tmp_path):
    """Two stores of the same form are two matrices."""
    found = []
    for factor in (1.0, 2.0):
        some = ad.AnnData(factor * pbmc.X)
        some.write_zarr(tmp_path / f"{factor}.zarr")
        some.X = sparse_dataset(zarr.open(tmp_path / f"{factor}.zarr", mode="r")["X"])
        found.append(told(some))
    assert found[0] != found[1]
