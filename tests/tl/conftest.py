"""The same cells in memory and outside it."""

from __future__ import annotations

import anndata as ad
import pytest
from anndata.io import sparse_dataset

from glfs_bio import pp


@pytest.fixture(scope="session")
def _structured(_pbmc):
    adata = _pbmc.copy()
    pp.structure(adata)
    return adata


@pytest.fixture
def cells(_structured):
    """Blood cells with the structure of all their genes."""
    return _structured.copy()


@pytest.fixture
def outside(tmp_path):
    """How an object of the same cells is made whose matrix stays in a file, of h5ad or zarr.

    tests/test_beyond_memory.py has other containers.
    """

    def opened(adata, form="h5ad"):
        path = tmp_path / f"cells.{form}"
        if form == "h5ad":
            adata.write_h5ad(path)
            return ad.read_h5ad(path, backed="r")
        zarr = pytest.importorskip("zarr")
        held = adata.copy()
        held.write_zarr(path)
        held.X = sparse_dataset(zarr.open(path, mode="r")["X"])
        return held

    return opened
