"""Files that are cut off or changed: refused by their name, whatever a library raises."""

from __future__ import annotations

import bz2
import gzip
import lzma

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import refused
from scipy import io as scipy_io
from scipy import sparse

from glfs_bio import io
from glfs_bio.errors import InvalidValue

PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
ROWS = ["cell,CD3D,CD79A", *(f"c{i},{i % 7},{i % 5}" for i in range(4000))]


def changes(whole):
    middle = len(whole) // 2
    flipped = bytes(255 - byte for byte in whole[middle : middle + 40])
    return {
        "cut": whole[:middle],
        "short": whole[:-3],
        "flipped": whole[:middle] + flipped + whole[middle + 40 :],
        "head": whole[:5],
    }


def read(path):
    """What is in the file; None where it is refused by its name."""
    try:
        return io.read_cells(path)
    except InvalidValue as refusal:
        if refusal.argument == "path" and str(path) in str(refusal):
            return None
        raise


@pytest.mark.parametrize("change", ["cut", "short", "flipped", "head"])
@pytest.mark.parametrize("ending", PACKED)
def test_tables(tmp_path, ending, change):
    path = tmp_path / f"cells.csv{ending}"
    path.write_bytes(changes(PACKED[ending]("\n".join(ROWS).encode()))[change])
    found = read(path)
    # the last bytes of some formats are no part of the content
    assert found is None or found.shape == (4000, 2)


@pytest.fixture
def tenx(tmp_path):
    counts = sparse.random(50, 30, 0.4, format="coo", random_state=0)
    counts.data = np.ceil(10 * counts.data)
    scipy_io.mmwrite(tmp_path / "matrix.mtx", counts.astype(int))
    features = pd.DataFrame({0: range(50), 1: [f"g{i}" for i in range(50)], 2: "Gene Expression"})
    tables = {
        "features.tsv": features,
        "barcodes.tsv": pd.DataFrame({0: [f"cell{i}" for i in range(30)]}),
    }
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.gz", sep="\t", header=False, index=False)
    whole = (tmp_path / "matrix.mtx").read_bytes()
    (tmp_path / "matrix.mtx").unlink()
    (tmp_path / "matrix.mtx.gz").write_bytes(gzip.compress(whole))
    return tmp_path


@pytest.mark.parametrize("change", ["cut", "flipped", "head"])
@pytest.mark.parametrize("name", ["matrix.mtx.gz", "features.tsv.gz", "barcodes.tsv.gz"])
def test_folders_of_10x(tenx, name, change):
    assert io.read_cells(tenx).shape == (30, 50)
    path = tenx / name
    path.write_bytes(changes(path.read_bytes())[change])
    with refused(InvalidValue, "path"):
        io.read_cells(tenx)


def test_hdf5_of_any_change(pbmc, tmp_path):
    """Read as it was, or refused by name; seeded bytes, one file each."""
    path = tmp_path / "cells.h5ad"
    ad.AnnData(pbmc.X, obs=pbmc.obs[["phase"]], var=pbmc.var[[]]).write_h5ad(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(30):
        bytes_ = bytearray(whole)
        for place in rng.integers(0, 20_000, size=3):
            bytes_[place] = rng.integers(256)
        path.write_bytes(bytes(bytes_))
        read(path)


def test_no_other_file_comes_along(pbmc, tmp_path):
    secret, path = tmp_path / "secret.h5", tmp_path / "cells.h5ad"
    with h5py.File(secret, "w") as file:
        file["password"] = "1234"
    ad.AnnData(pbmc.X, var=pbmc.var[[]], uns={"note": "a"}).write_h5ad(path)
    assert io.read_cells(path).uns["note"] == "a"
    with h5py.File(path, "r+") as file:
        file["uns/stolen"] = h5py.ExternalLink(str(secret), "/password")
    for backed in (False, True):
        with refused(InvalidValue, "path"):
            io.read_cells(path, backed=backed)


def test_classifiers(tmp_path):
    model = {"format": "glfs_bio classifier", "format_version": 1}
    for text in ("[" * 100_000, "{", '{"format": ' + "9" * 5000 + "}", str(model)):
        (tmp_path / "model.json").write_text(text)
        with refused(InvalidValue, "path"):
            io.read_classifier(tmp_path / "model.json")


def test_wide_tables(tmp_path):
    """Semicolons are looked for in the first line, which is not made a table of."""
    names = [f"gene{i}" for i in range(3000)]
    for separator in ",;":
        lines = [separator.join(["cell", *names]), separator.join(["a", *(["1"] * 3000)])]
        for ending, pack in {"": bytes, **PACKED}.items():
            path = tmp_path / f"cells.csv{ending}"
            path.write_bytes(pack("\n".join(lines).encode()))
            assert list(io.read_cells(path).var_names) == names


def test_files_that_scanpy_wrote_are_read(pbmc, tmp_path):
    sc.pp.pca(pbmc, n_comps=5)
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    assert io.read_cells(tmp_path / "cells.h5ad").shape == pbmc.shape
