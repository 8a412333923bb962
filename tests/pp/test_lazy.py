"""The same genes from whatever holds the matrix: memory, files, dask, two processes."""

from __future__ import annotations

import logging

import anndata as ad
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import zarr
from anndata.io import sparse_dataset
from refusals import refused
from scipy import sparse

from glfs_bio.cells import cells as sample
from glfs_bio.errors import Caution, InvalidType, InvalidValue
from glfs_bio.pp import select_genes


def in_file(adata, folder, matrix):
    adata.X = matrix(adata.X.toarray())
    path = folder / "cells.h5ad"
    adata.write_h5ad(path)
    return ad.read_h5ad(path, backed="r")


def in_zarr(adata, folder, matrix):
    adata.X = matrix(adata.X.toarray())
    adata.write_zarr(folder / "cells.zarr")
    stored = zarr.open(folder / "cells.zarr", mode="r")["X"]
    adata.X = sparse_dataset(stored) if isinstance(stored, zarr.Group) else stored
    return adata


def in_dask(adata, folder, matrix):
    blocks = da.from_array(adata.X.toarray(), chunks=(60, -1))
    adata.X = blocks if matrix is np.asarray else blocks.map_blocks(matrix, dtype=blocks.dtype)
    return adata


def in_memory(adata, folder, matrix):
    adata.X = matrix(adata.X.toarray())
    return adata


PLACES = {"memory": in_memory, "h5ad": in_file, "zarr": in_zarr, "dask": in_dask}
FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix}
IN_MEMORY = ("memory", "csr")
pytestmark = pytest.mark.filterwarnings("ignore:Writing zarr v2")


@pytest.fixture
def pbmc(pbmc):
    """A quarter of the cells and of the genes."""
    return pbmc[::4, ::4].copy()


#: In memory as CSR they are compared with.
EVERYWHERE = [(place, form) for place in PLACES for form in FORMS if (place, form) != IN_MEMORY]


def held(adata, folder, place, form):
    folder = folder / f"{place} {form}"
    folder.mkdir(exist_ok=True)
    return PLACES[place](adata.copy(), folder, FORMS[form])


def test_a_backed_file_is_not_written_to_and_its_reading_followed(pbmc, tmp_path, caplog):
    cells = in_file(pbmc, tmp_path, sparse.csr_matrix)
    before = (tmp_path / "cells.h5ad").read_bytes()
    with caplog.at_level(logging.INFO, "glfs_bio"):
        select_genes(cells, 10)
    assert "reading cells: 175 of 175" in caplog.messages
    assert (tmp_path / "cells.h5ad").read_bytes() == before
    with refused(InvalidValue, "subset"):
        select_genes(cells, 5, subset=True, key_added="other")
    assert "other_selected" not in cells.var
    assert len(select_genes(cells, 5, subset=True, inplace=False)) == 5
    assert cells[:, cells.var["glfs_selected"]].to_memory().shape == (175, 10)


def test_a_subset_of_dask_and_texts_in_it(pbmc, tmp_path):
    cells = in_dask(pbmc, tmp_path, sparse.csr_matrix)
    select_genes(cells, 10, subset=True)
    assert cells.shape == (175, 10)
    assert cells.X.compute().shape == (175, 10)
    pbmc.X = da.from_array(np.full(pbmc.shape, "a"), chunks=(100, -1))
    with refused(InvalidType, "X"):
        select_genes(pbmc, 10)


def test_bad_values_and_counts_in_a_file_are_told(pbmc, tmp_path):
    bad = pbmc.copy()
    bad.X.data[-1] = np.nan
    cells = held(bad, tmp_path, "h5ad", "csr")
    with refused(InvalidValue, "X"):
        select_genes(cells, 10)
    assert "glfs" not in cells.uns
    pbmc.X.data = np.ceil(pbmc.X.data)
    with pytest.warns(Caution):
        select_genes(in_file(pbmc, tmp_path, sparse.csr_matrix), 10)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_key": "half"},
        {"method": "laplacian_score"},
        {"use_rep": "X", "objective": "exact"},
    ],
    ids=str,
)
def test_same_genes_everywhere(tmp_path, monkeypatch, options):
    """Where all cells are looked at, and where they count as many."""
    rng = np.random.default_rng(0)
    groups = rng.integers(4, size=90)
    x = rng.poisson(np.exp(rng.normal(size=(4, 30)))[groups]).astype(np.float32)
    cells = ad.AnnData(sparse.csr_matrix(np.log1p(x / 2)))
    cells.obs["half"] = pd.Categorical(np.arange(90) % 2)
    options = options | {"n_genes": 8, "n_comps": 10}
    for many in (sample.MANY_CELLS, 40):
        monkeypatch.setattr(sample, "MANY_CELLS", many)
        expected = select_genes(cells, **options, inplace=False)
        for place in EVERYWHERE:
            stored = held(cells, tmp_path, *place)
            kind = type(stored.X)
            select_genes(stored, **options)
            selected, weights = stored.var["glfs_selected"], stored.var["glfs_weight"]
            np.testing.assert_array_equal(selected, expected["glfs_selected"])
            np.testing.assert_allclose(weights, expected["glfs_weight"], rtol=1e-5)
            assert isinstance(stored.X, kind)
            values = stored.X.compute() if place[0] == "dask" else stored.X[:]
            values = values.toarray() if sparse.issparse(values) else np.asarray(values)
            np.testing.assert_array_equal(values, cells.X.toarray())
