"""The same cells in memory and outside it."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
from anndata.io import sparse_dataset
from scipy import sparse

FORMS = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "dense": np.asarray}


def in_h5ad(form):
    def made(adata, path):
        adata.X = FORMS[form](adata.X.toarray() if sparse.issparse(adata.X) else adata.X)
        adata.write_h5ad(path.with_suffix(".h5ad"))
        return ad.read_h5ad(path.with_suffix(".h5ad"), backed="r")

    return made


def in_zarr(adata, path):
    zarr = pytest.importorskip("zarr")
    adata.write_zarr(path.with_suffix(".zarr"))
    adata.X = sparse_dataset(zarr.open(path.with_suffix(".zarr"), mode="r")["X"])
    return adata


def in_dask(adata, path):
    da = pytest.importorskip("dask.array")
    blocks = da.from_array(adata.X.toarray(), chunks=(60, -1))
    adata.X = blocks.map_blocks(sparse.csr_matrix, dtype=blocks.dtype)
    return adata


def lazy(adata, path):
    adata.write_h5ad(path.with_suffix(".h5ad"))
    return ad.experimental.read_lazy(path.with_suffix(".h5ad"))


PLACES = {form: in_h5ad(form) for form in FORMS} | {"zarr": in_zarr, "dask": in_dask}


@pytest.fixture(params=["csc", "zarr", "dask"])
def outside(request, tmp_path):
    """How an object of the same cells is made whose matrix is not in memory.

    tests/test_beyond_memory.py has files by cells and dense ones.
    """
    count = iter(range(9))

    def made(adata):
        if request.param == "dense":
            adata.X = adata.X.toarray() if sparse.issparse(adata.X) else adata.X
        return PLACES[request.param](adata.copy(), tmp_path / str(next(count)))

    return made
