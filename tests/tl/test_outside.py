"""What is said of a panel in memory, and of the same cells in a file."""

from __future__ import annotations

import zipfile

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc

from glfs_bio import Limits, Platform, io, pp

LABELS = "bulk_labels"


@pytest.fixture(scope="module")
def cells():
    """Log expression with counts beside it."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    counts = adata.X.expm1().rint()
    counts.eliminate_zeros()
    adata.layers["counts"] = counts
    adata.var["id"] = [f"ENSG{place:011d}" for place in range(adata.n_vars)]
    return adata


@pytest.fixture(scope="module")
def both(cells, tmp_path_factory):
    """The cells in memory and in a file, with the same selection."""
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    cells.write_h5ad(path)
    held = ad.read_h5ad(path, backed="r")
    for adata in (cells, held):
        pp.select_genes(adata, 12)
    np.testing.assert_array_equal(held.var["glfs_rank"], cells.var["glfs_rank"])
    yield cells, held
    held.file.close()


def reference(adata, folder):
    path = folder / "reference.zip"
    io.write_reference(adata, path, LABELS, ids="id", max_bytes=6e4)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def selected(adata, folder, **options):
    frame = pp.select_genes(adata, 12, inplace=False, **options)
    return frame[["glfs_rank", "glfs_score"]]


#: What tests/test_beyond_memory.py does not call.
CALLS = {
    "cells of an instrument": lambda a, _: selected(a, _, platform=Platform(efficiency=a)),
    "limits": lambda a, _: selected(
        a, _, limits=Limits(max_counts=20.0, counts_layer="counts", groupby=LABELS, per_type=1)
    ),
    "write_reference": reference,
}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_said_of_a_file_too(both, name, tmp_path):
    cells, held = both
    before = [*held.uns], [*held.var]
    found = []
    for adata, place in ((cells, "memory"), (held, "file")):
        (tmp_path / place).mkdir()
        found.append(CALLS[name](adata, tmp_path / place))
    if isinstance(found[0], pd.DataFrame):
        pd.testing.assert_frame_equal(found[1], found[0], rtol=1e-6, atol=1e-9)
    else:
        assert found[1] == found[0]
    assert ([*held.uns], [*held.var]) == before


def test_datasets_of_files_are_selected_from_as_one(cells, tmp_path):
    """Also where one is in memory, and where their genes have another order."""
    other = cells[::2, ::-1].copy()
    other.obs_names = [f"{name}x" for name in other.obs_names]
    paths = [tmp_path / "one.h5ad", tmp_path / "other.h5ad"]
    for adata, path in zip((cells, other), paths, strict=True):
        adata.write_h5ad(path)
    files = [ad.read_h5ad(path, backed="r") for path in paths]
    options = {"n_comps": 10, "inplace": False}
    limits = Limits(max_counts=20.0, counts_layer="counts")
    for more in ({}, {"limits": limits}):
        expected = pp.select_genes([cells, other], 8, **options, **more)
        for sets in (files, [cells, files[1]]):
            found = pp.select_genes(sets, 8, **options, **more)
            pd.testing.assert_frame_equal(found, expected, rtol=1e-6)
    for one in files:
        one.file.close()
