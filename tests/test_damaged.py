"""Damaged sparse matrices are refused wherever they are, before anything compiled sees them."""

from __future__ import annotations

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

#: What is changed: a part of a matrix, a place in it, and the value.
DAMAGES = {
    "beyond": ("indices", 100, 765),
    "negative": ("indices", 3, -7),
    "falling": ("indptr", 5, 10**6),
    "late": ("indptr", -1, 10**6),
    "shifted": ("indptr", 0, 1),
}


@pytest.fixture
def cells(pbmc):
    return ad.AnnData(sparse.csr_matrix(pbmc.X), obs=pbmc.obs[["phase"]], var=pbmc.var[[]])


def damaged(matrix, damage):
    part, place, value = DAMAGES[damage]
    getattr(matrix, part)[place] = value
    return matrix


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_matrix_in_memory(cells, form, damage):
    matrix = damaged(cells.X.asformat(form), damage)
    with refused(InvalidValue, "X"):
        glfs_bio.GLFS(5).fit(matrix)
    with refused(InvalidValue, "X"):
        LapRLSClassifier().fit(matrix, cells.obs["phase"])
    cells.layers["counts"] = matrix
    with refused(InvalidValue, "layer"):
        pp.select_genes(cells, 5, layer="counts")
    assert "glfs" not in cells.uns


def test_counts_graph_and_spaces(cells):
    def random(n_columns):
        return sparse.random(700, n_columns, 0.05, format="csr", random_state=0)

    cells.obsp["connectivities"] = damaged(sparse.csr_matrix(random(700)), "negative")
    cells.uns["neighbors"] = {"connectivities_key": "connectivities"}
    cells.obsm["space"] = damaged(random(30), "beyond")
    cells.layers["counts"] = damaged(cells.X.copy(), "negative")
    limits = Limits(total_counts={"cell": 100.0}, counts_layer="counts")
    for argument, options in {
        "neighbors_key": {"neighbors_key": "neighbors"},
        "use_rep": {"use_rep": "space"},
        "preserve": {"preserve": "space"},
        "counts_layer": {"limits": limits},
    }.items():
        with refused(InvalidValue, argument):
            pp.select_genes(cells, 5, **options)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file(cells, tmp_path, damage):
    """Read, and by blocks; the process would end."""
    path, (part, place, value) = tmp_path / "cells.h5ad", DAMAGES[damage]
    cells.write_h5ad(path)
    with h5py.File(path, "r+") as file:
        file[f"X/{part}"][place] = value
    with refused(InvalidValue, "path"):
        io.read_cells(path)
    if damage != "shifted":
        with pytest.raises(ValueError, match="X"):
            pp.select_genes(ad.read_h5ad(path, backed="r"), 5)


def test_other_formats():
    matrix = sparse.random(20, 30, 0.3, format="csr", random_state=0)
    for form in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        check_indices(matrix.asformat(form), "X")
    for empty in (sparse.csr_matrix((0, 5)), sparse.csr_array((5, 0)), np.zeros((2, 2))):
        check_indices(empty, "X")
    coordinates = matrix.tocoo(copy=True)
    coordinates.coords[1][0] = 30
    with refused(InvalidValue, "X"):
        check_indices(coordinates, "X")
