"""Matrices that are made of others, some rows at a time, against the same in memory."""

from __future__ import annotations

import anndata as ad
import dask.array as da
import numpy as np
import pytest
import scanpy as sc
from scipy import sparse

from glfs_bio.data.made import below, logarithms
from glfs_bio.data.matrix import RowMatrix

pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.fixture
def counts():
    return np.random.default_rng(0).poisson(0.6, (90, 12)).astype(np.float32)


def in_file(values, path, form=sparse.csr_matrix):
    ad.AnnData(form(values)).write_h5ad(path)
    return ad.read_h5ad(path, backed="r").X


def test_cells_below_one_another(counts, tmp_path):
    """From a file by cells, one by genes, a dask array, and memory; some cells, some genes."""
    parts = [
        RowMatrix(in_file(counts[:40], tmp_path / "a.h5ad")),
        RowMatrix(in_file(counts[40:60], tmp_path / "b.h5ad", sparse.csc_matrix)),
        RowMatrix(da.from_array(counts[60:80], chunks=(7, -1))),
        RowMatrix(sparse.csr_array(counts[80:, ::-1]), genes=np.arange(12)[::-1]),
    ]
    whole = below(parts)
    assert not whole.in_memory
    assert whole.shape == (90, 12)
    np.testing.assert_array_equal(RowMatrix(whole).loaded().toarray(), counts)
    cells, genes = np.array([3, 39, 40, 59, 60, 85]), np.array([5, 2])
    some = RowMatrix(whole, cells, genes).loaded()
    np.testing.assert_array_equal(some.toarray(), counts[np.ix_(cells, genes)])
    for form in (np.asarray, sparse.csr_array):  # in memory they are one matrix
        whole = below([RowMatrix(form(counts[:50])), RowMatrix(form(counts[50:]))])
        assert whole.in_memory
        np.testing.assert_array_equal(sparse.csr_array(whole.source).toarray(), counts)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_logarithms_are_those_of_scanpy(counts, form, tmp_path):
    counts[0, 0] = 1.0
    totals = counts.sum(axis=1, dtype=np.float64)
    counts, totals = counts[totals > 0], totals[totals > 0]
    expected = ad.AnnData(counts.astype(np.float64))
    sc.pp.normalize_total(expected)
    sc.pp.log1p(expected)
    factors = totals / np.median(totals)
    for source in (form(counts), in_file(counts, tmp_path / "x.h5ad", form)):
        logs = logarithms(RowMatrix(source), factors).loaded()
        np.testing.assert_allclose(sparse.csr_array(logs).toarray(), expected.X, rtol=1e-12)
