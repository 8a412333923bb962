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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import sparse
from threadpoolctl import threadpool_limits

from glfs_bio.cells import cells as sample
from glfs_bio.cells import pca
from glfs_bio.errors import Caution, InvalidType, InvalidValue
from glfs_bio.pp import select_genes

MANY = 150


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
pytestmark = pytest.mark.filterwarnings("ignore:Writing zarr v2")


@pytest.fixture
def pbmc(pbmc):
    """Half of the cells and of the genes."""
    return pbmc[::2, ::2].copy()


EVERYWHERE = [f"{place} {form}" for place in PLACES for form in FORMS]


@pytest.fixture(params=EVERYWHERE)
def held(request, tmp_path):
    place, form = request.param.split()
    return lambda adata: PLACES[place](adata.copy(), tmp_path, FORMS[form])


@pytest.fixture(params=[None, MANY], ids=["every cell", "sampled"])
def many(request, monkeypatch):
    """Whether the 350 cells of these tests count as many."""
    if request.param:
        monkeypatch.setattr(sample, "MANY_CELLS", request.param)
    return request.param


#: With and without principal components everywhere; what else reads rows, of a file and of dask.
OPTIONS = [
    {},
    {"use_rep": "X"},
    {"batch_key": "half"},
    {"layer": "again", "include": ["HLA-DRA"], "exclude": ["HLA-DRB1"]},
    {"method": "laplacian_score"},
    {"use_rep": "X", "objective": "exact"},
]


@pytest.fixture(scope="module")
def expected():
    """What is selected in memory, once for all places."""
    found = {}

    def of(cells, options, many):
        asked = str(options), many
        if asked not in found:
            found[asked] = select_genes(pbmc_with(cells, options), 12, inplace=False, **options)
        return found[asked]

    return of


@pytest.mark.parametrize(
    ("options", "held"),
    [
        pytest.param(options, place, id=f"{place} {options}")
        for number, options in enumerate(OPTIONS)
        for place in (EVERYWHERE if number < 2 else ["h5ad csr", "dask dense"])
    ],
    indirect=["held"],
)
def test_same_genes(pbmc, held, options, expected, many):
    pbmc.obs["half"] = pd.Categorical(np.arange(350) % 2)
    expected = expected(pbmc.copy(), options, many)
    cells = held(pbmc)
    found = select_genes(pbmc_with(cells, options), 12, inplace=False, **options)
    np.testing.assert_array_equal(found["glfs_selected"], expected["glfs_selected"])
    np.testing.assert_allclose(found["glfs_weight"], expected["glfs_weight"], rtol=1e-5)


def pbmc_with(adata, options):
    if "layer" in options:
        adata.layers["again"] = adata.X if not adata.isbacked else adata.X[:]
    return adata


def test_results_are_written_and_the_rest_is_left_alone(pbmc, held):
    cells = held(pbmc)
    kind = type(cells.X)
    select_genes(cells, 10)
    assert cells.var["glfs_selected"].sum() == 10
    assert isinstance(cells.X, kind)
    dense = cells.X[:] if not hasattr(cells.X, "compute") else cells.X.compute()
    dense = dense.toarray() if sparse.issparse(dense) else np.asarray(dense)
    np.testing.assert_array_equal(dense, pbmc.X.toarray())


def test_backed_file_is_not_written_to(pbmc, tmp_path):
    cells = in_file(pbmc, tmp_path, sparse.csr_matrix)
    before = (tmp_path / "cells.h5ad").read_bytes()
    select_genes(cells, 10)
    assert (tmp_path / "cells.h5ad").read_bytes() == before
    with refused(InvalidValue, "subset"):
        select_genes(cells, 5, subset=True, key_added="other")
    assert "other_selected" not in cells.var
    assert len(select_genes(cells, 5, subset=True, inplace=False)) == 5
    assert cells[:, cells.var["glfs_selected"]].to_memory().shape == (350, 10)


def test_subset_of_zarr_and_dask(pbmc, tmp_path):
    cells = in_dask(pbmc, tmp_path, sparse.csr_matrix)
    select_genes(cells, 10, subset=True)
    assert cells.shape == (350, 10)
    assert cells.X.compute().shape == (350, 10)


def test_bad_values_in_a_file_are_told(pbmc, tmp_path):
    pbmc.X.data[-1] = np.nan
    cells = in_file(pbmc, tmp_path, sparse.csr_matrix)
    with refused(InvalidValue, "X"):
        select_genes(cells, 10)
    assert "glfs" not in cells.uns


def test_counts_in_a_file_are_told(pbmc, tmp_path):
    pbmc.X.data = np.ceil(pbmc.X.data)
    cells = in_file(pbmc, tmp_path, sparse.csr_matrix)
    with pytest.warns(Caution):
        select_genes(cells, 10)


def test_text_in_a_dask_array_is_refused(pbmc):
    pbmc.X = da.from_array(np.full(pbmc.shape, "a"), chunks=(100, -1))
    with refused(InvalidType, "X"):
        select_genes(pbmc, 10)


def test_reading_can_be_followed(pbmc, tmp_path, caplog):
    cells = in_file(pbmc, tmp_path, sparse.csr_matrix)
    with caplog.at_level(logging.INFO, "glfs_bio.data.matrix"):
        select_genes(cells, 10)
    assert caplog.records[0].n_done == caplog.records[0].n_all == 350


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 1000), st.sampled_from([None, 40]))
def test_same_genes_property(tmp_path_factory, seed, many):
    rng = np.random.default_rng(seed)
    groups = rng.integers(4, size=90)
    x = rng.poisson(np.exp(rng.normal(size=(4, 60)))[groups]).astype(np.float32)
    cells = ad.AnnData(sparse.csr_matrix(np.log1p(x / 2)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "MANY_CELLS", many or sample.MANY_CELLS)
        expected = select_genes(cells, 8, n_comps=10, inplace=False)["glfs_selected"]
        for place in PLACES.values():
            for form in FORMS.values():
                held = place(cells.copy(), tmp_path_factory.mktemp("cells"), form)
                found = select_genes(held, 8, n_comps=10, inplace=False)["glfs_selected"]
                np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("many")
def test_threads_do_not_matter(pbmc):
    tables = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            tables.append(select_genes(pbmc, 20, use_rep="X", inplace=False))
    np.testing.assert_array_equal(tables[0]["glfs_selected"], tables[1]["glfs_selected"])


def test_full_rank_says_what_it_would_take(pbmc, monkeypatch):
    monkeypatch.setattr(pca, "_installed", lambda: 10**6)
    with refused(InvalidValue, "n_comps"):
        select_genes(pbmc, 10, n_comps=None)
    monkeypatch.setattr(pca, "_installed", lambda: None)
    pbmc = pbmc[:60].copy()
    select_genes(pbmc, 5, n_comps=None)
