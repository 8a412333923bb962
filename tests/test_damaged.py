"""Damaged sparse matrices are refused wherever they are, before anything compiled sees them."""

from __future__ import annotations

import subprocess
import sys

import anndata as ad
import h5py
import numpy as np
import pytest
from refusals import refused
from scipy import sparse

import glfs_bio
from glfs_bio import LapRLSClassifier, io, pp
from glfs_bio.data.indices import check_indices
from glfs_bio.errors import InvalidValue
from glfs_bio.options import Limits


@pytest.fixture
def cells(pbmc):
    return ad.AnnData(sparse.csr_matrix(pbmc.X), obs=pbmc.obs[["phase"]], var=pbmc.var[[]])


def beyond(matrix):
    matrix.indices[100] = matrix.shape[1] if matrix.format == "csr" else matrix.shape[0]


def negative(matrix):
    matrix.indices[3] = -7


def falling(matrix):
    matrix.indptr[5] = matrix.indptr[6] + 9


def late(matrix):
    matrix.indptr[-1] += 50


def shifted(matrix):
    matrix.indptr[0] = 1


DAMAGES = (beyond, negative, falling, late, shifted)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_matrix_in_memory(cells, form, damage):
    matrix = cells.X.asformat(form)
    damage(matrix)
    with refused(InvalidValue, "X"):
        glfs_bio.GLFS(5).fit(matrix)
    with refused(InvalidValue, "X"):
        LapRLSClassifier().fit(matrix, cells.obs["phase"])
    cells.layers["counts"] = matrix
    with refused(InvalidValue, "layer"):
        pp.select_genes(cells, 5, layer="counts")
    assert "glfs" not in cells.uns


@pytest.mark.parametrize("damage", [beyond, negative])
def test_counts_graph_and_spaces(cells, damage):
    pp.select_genes(cells, 5)
    pair = sparse.random(700, 700, 0.05, format="csr", random_state=0)
    pair = sparse.csr_matrix(pair + pair.T)
    damage(pair)
    cells.obsp["connectivities"] = pair
    cells.uns["neighbors"] = {"connectivities_key": "connectivities"}
    with refused(InvalidValue, "neighbors_key"):
        pp.select_genes(cells, 5, neighbors_key="neighbors", key_added="other")
    cells.obsm["space"] = sparse.random(700, 30, 0.5, format="csr", random_state=0)
    damage(cells.obsm["space"])
    with refused(InvalidValue, "use_rep"):
        pp.select_genes(cells, 5, use_rep="space", key_added="other")
    with refused(InvalidValue, "preserve"):
        pp.select_genes(cells, 5, preserve="space", key_added="other")
    cells.layers["counts"] = sparse.csr_matrix(np.round(np.expm1(cells.X.toarray())))
    damage(cells.layers["counts"])
    limits = Limits(max_total_per_cell=100.0, counts_layer="counts")
    with refused(InvalidValue, "counts_layer"):
        pp.select_genes(cells, 5, limits=limits, key_added="other")


#: What is changed in a file: a part of X, a place in it, and the value.
CHANGES = [("indices", 100, 765), ("indices", 3, -7), ("indptr", 5, 10**6), ("indptr", -1, 3)]


def test_files(cells, tmp_path):
    """Read, and by blocks; the process would end."""
    for number, (part, place, value) in enumerate(CHANGES):
        path = tmp_path / f"cells{number}.h5ad"
        cells.write_h5ad(path)
        with h5py.File(path, "r+") as file:
            file[f"X/{part}"][place] = value
        with refused(InvalidValue, "path"):
            io.read_cells(path)
    code = f"""
import anndata
from glfs_bio import errors, pp
for number in range({len(CHANGES)}):
    try:
        pp.select_genes(anndata.read_h5ad(f"cells{{number}}.h5ad", backed="r"), 5)
    except (errors.InvalidValue, ValueError) as error:
        print(number, flush=True)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    refusals = "".join(f"{number}\n" for number in range(len(CHANGES)))
    assert done.stdout == refusals, (done.returncode, done.stderr)


def test_other_formats():
    matrix = sparse.random(20, 30, 0.3, format="csr", random_state=0)
    for form in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        check_indices(matrix.asformat(form), "X")
    for empty in (sparse.csr_matrix((0, 5)), sparse.csr_array((5, 0))):
        check_indices(empty, "X")
    check_indices(np.zeros((2, 2)), "X")
    damaged = matrix.tocoo(copy=True)
    damaged.coords[1][0] = 30
    with refused(InvalidValue, "X"):
        check_indices(damaged, "X")
