"""Files that are stored by genes, read by cells."""

from __future__ import annotations

import tempfile
from types import SimpleNamespace

import h5py
import numpy as np
from anndata.io import sparse_dataset, write_elem
from refusals import refused
from scipy import sparse

from glfs_bio.data import by_rows as copies
from glfs_bio.data.by_rows import ByRows, pieces
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.errors import InvalidValue


def values(seed, n_cells=23, n_genes=9):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.7, (n_cells, n_genes)) * rng.random(n_genes)


def test_a_file_by_genes_is_copied_once(holders, tmp_path, monkeypatch):
    x, path = values(5), tmp_path / "cells.h5"
    with h5py.File(path, "w") as file:
        write_elem(file, "X", sparse.csc_matrix(x))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(copies, "_PART", 10)
    made = []
    monkeypatch.setattr(copies, "ByRows", lambda matrix: made.append(ByRows(matrix)) or made[-1])
    with h5py.File(path, "r") as file:
        for _ in range(2):
            data = RowMatrix(sparse_dataset(file["X"]))
            np.testing.assert_allclose(data.weighted_sums(np.ones((23, 1)))[:, 0], x.sum(axis=0))
    assert len(made) == 1
    assert len(made[0]._parts) > 1
    assert list(tmp_path.iterdir()) == [path]


def test_no_room_for_a_copy_is_said_before_it_is_made(holders, monkeypatch):
    nothing = SimpleNamespace(free=0)
    monkeypatch.setattr(copies.shutil, "disk_usage", lambda folder: nothing)
    with refused(InvalidValue, "X"):
        RowMatrix(holders["file by genes"](values(6))).weighted_sums(np.ones((23, 1)))


def test_pieces_are_all_and_no_larger_than_they_must_be():
    columns = sparse.csc_matrix(values(7))
    stored = SimpleNamespace(group={"indptr": columns.indptr})
    for most in (1, 10, 1000):
        parts = list(pieces(stored, most))
        assert [begin for begin, _ in parts] == [0, *(end for _, end in parts[:-1])]
        assert parts[-1][1] == 9
        for begin, end in parts:
            assert columns[:, begin:end].nnz <= most or end == begin + 1
