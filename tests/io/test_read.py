"""Cells out of files of many formats; files that are cut off or changed are refused by name."""

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
from scipy import io, sparse

from glfs_bio.errors import FileMissing, InvalidValue, PackageMissing
from glfs_bio.io import read_cells
from glfs_bio.io._read import genes_in_rows

CELLS, GENES = ["a", "b", "c"], ["g1", "g2"]


COUNTS = np.array([[1, 0], [0, 2], [3, 4]])


@pytest.fixture
def adata() -> ad.AnnData:
    return ad.AnnData(
        sparse.csr_matrix(COUNTS, dtype=np.float32),
        obs=pd.DataFrame(index=CELLS),
        var=pd.DataFrame(index=GENES),
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(COUNTS, index=CELLS, columns=GENES)


def check(read, genes=GENES):
    assert list(read.obs_names) == CELLS
    assert list(read.var_names) == genes
    dense = read.X.toarray() if sparse.issparse(read.X) else read.X
    np.testing.assert_array_equal(dense, COUNTS)


def write_mtx(folder, prefix="", packed=True, symbols=("g1", "g2")):
    """As Cell Ranger 3 and later: genes in rows, and three packed files."""
    folder.mkdir()
    ending = ".gz" if packed else ""
    opened = gzip.open if packed else open
    with opened(folder / f"{prefix}matrix.mtx{ending}", "wb") as file:
        io.mmwrite(file, sparse.coo_matrix(COUNTS.T))
    with opened(folder / f"{prefix}barcodes.tsv{ending}", "wt") as file:
        file.write("".join(f"{cell}\n" for cell in CELLS))
    name = "features" if packed else "genes"
    with opened(folder / f"{prefix}{name}.tsv{ending}", "wt") as file:
        lines = (f"id{i}\t{symbol}\tGene Expression\n" for i, symbol in enumerate(symbols))
        file.write("".join(lines))


def write_h5(path, symbols):
    with h5py.File(path, "w") as file:
        matrix, group = sparse.csr_matrix(COUNTS), file.create_group("matrix")
        group["data"], group["indices"], group["indptr"] = (
            matrix.data,
            matrix.indices,
            matrix.indptr,
        )
        group["shape"], group["barcodes"] = COUNTS.T.shape, np.array(CELLS, dtype="S")
        features = group.create_group("features")
        features["id"] = np.array(["id0", "id1"], dtype="S")
        features["name"] = np.array(symbols, dtype="S")
        features["feature_type"] = np.array(["Gene Expression"] * 2, dtype="S")
        features["genome"] = np.array(["hg38"] * 2, dtype="S")


def test_h5ad_and_zarr(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    adata.write_zarr(tmp_path / "cells.zarr")
    check(read_cells(tmp_path / "cells.h5ad"))
    check(read_cells(str(tmp_path / "cells.zarr")))


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "T.TSV"])
def test_tables(frame, tmp_path, name):
    separator = "," if ".csv" in name else "\t"
    frame.to_csv(tmp_path / name, sep=separator)
    check(read_cells(tmp_path / name))
    frame.T.to_csv(tmp_path / name, sep=separator)
    check(read_cells(tmp_path / name, transpose=True))


def test_semicolons_and_decimal_commas(tmp_path):
    (tmp_path / "t.csv").write_text("cell;g1;g2\na;1,5;0\nb;0;2\n")
    read = read_cells(tmp_path / "t.csv")
    assert list(read.var_names) == ["g1", "g2"]
    np.testing.assert_array_equal(read.X, [[1.5, 0], [0, 2]])
    (tmp_path / "t.csv").write_text("cell;g1;g2\na;1.5;0\nb;0;2\n")
    np.testing.assert_array_equal(read_cells(tmp_path / "t.csv").X, [[1.5, 0], [0, 2]])


SYMBOLS = ["MT-CO1", "RPL3", "RPS6", "CD3D", "LYZ", "GNLY"]


BARCODES = ["AAACATACAACCAC-1", "AAACATTGAGCTAC-1", "AAACATTGATCAGC-1"]


@pytest.mark.parametrize(
    ("rows", "columns", "asked"),
    [
        (SYMBOLS, BARCODES, True),
        (SYMBOLS, ["one", "two"], True),
        ([name.title() for name in SYMBOLS], ["m1", "m2"], True),
        (["ENSG00000000003.14", "ENSG00000000005"], ["x", "y"], True),
        (["1007_s_at", "AFFX-BioB-5_at"], ["GSM1", "GSM2"], True),
        (["a", "b", "c"], BARCODES, True),
        (["a", "b"], ["pbmc_AAACATACAACCAC", "pbmc_AAACATTGAGCTAC"], True),
        (["gene1", "gene2"], ["sample1", "sample2"], True),
        (BARCODES, SYMBOLS, False),
        (["one", "two"], SYMBOLS, False),
        (["sample1", "sample2"], ["gene1", "gene2"], False),
        (["GSM1", "GSM2"], ["1007_s_at", "AFFX-BioB-5_at"], False),
        (["a", "b", "c"], ["g1", "g2"], False),
        (["a", "b", "c"], ["CD3D", "LYZ"], False),
    ],
)
def test_genes_in_rows_are_asked_about(tmp_path, rows, columns, asked):
    path = tmp_path / "t.tsv"
    pd.DataFrame(1.5, index=rows, columns=columns).to_csv(path, sep="\t")
    assert genes_in_rows(rows, columns) == asked
    if asked:
        with refused(InvalidValue, "path"):
            read_cells(path)
    else:
        assert list(read_cells(path).var_names) == columns
    assert list(read_cells(path, transpose=True).var_names) == rows
    assert list(read_cells(path, transpose=False).var_names) == columns


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("prefix", ["", "GSM1_"])
def test_folder_of_10x(tmp_path, packed, prefix):
    write_mtx(tmp_path / "10x", prefix, packed)
    check(read_cells(tmp_path / "10x"))
    (matrix,) = (tmp_path / "10x").glob("*matrix.mtx*")
    check(read_cells(matrix))


def test_gene_names_of_10x_are_made_unique(tmp_path):
    write_mtx(tmp_path / "10x", symbols=("g", "g"))
    check(read_cells(tmp_path / "10x"), genes=["g", "g-1"])
    write_h5(tmp_path / "cells.h5", ["g", "g"])
    check(read_cells(tmp_path / "cells.h5"), genes=["g", "g-1"])


#: What loompy does of old, and that anndata 0.13 would rather have other formats.
OLD = pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")


LOOM = pytest.mark.filterwarnings("ignore:.*in favor of other formats:FutureWarning")


@LOOM
@OLD
@pytest.mark.parametrize(
    ("field", "names", "read"),
    [
        ("Gene", GENES, GENES),
        ("var_names", GENES, GENES),
        ("Gene", ["g", "g"], ["g", "g-1"]),
        ("Accession", GENES, None),
    ],
)
def test_loom(tmp_path, field, names, read):
    loompy = pytest.importorskip("loompy")
    path = tmp_path / "cells.loom"
    columns = {"CellID": np.array(CELLS)}
    loompy.create(str(path), COUNTS.T.astype(float), {field: np.array(names)}, columns)
    if read:
        check(read_cells(path), genes=read)
    else:
        with refused(InvalidValue, "path"):
            read_cells(path)


def test_loom_without_loompy(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "loompy", None)
    (tmp_path / "cells.loom").touch()
    with refused(PackageMissing, "loompy"):
        read_cells(tmp_path / "cells.loom")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cells.xls", ""),
        ("cells", ""),
        ("cells.h5ad", "no"),
        ("cells.h5", "no"),
        ("cells.csv", ""),
        ("cells.csv", "cell\tg1\na\t1\n"),
        ("cells.csv", "cell,g1,type\na,1,T\n"),
        ("matrix.mtx", "no"),
    ],
)
def test_what_cannot_be_read(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with refused(InvalidValue, "path"):
        read_cells(tmp_path / name)


def test_what_is_not_there(tmp_path):
    with refused(FileMissing, "path"):
        read_cells(tmp_path / "nowhere.h5ad")
    with refused(InvalidValue, "path"):
        read_cells(tmp_path)


def test_only_tables_are_transposed(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    with refused(InvalidValue, "transpose"):
        read_cells(tmp_path / "cells.h5ad", transpose=True)


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


def or_refused(path):
    """What is in the file; None where it is refused by its name."""
    try:
        return read_cells(path)
    except InvalidValue as refusal:
        if refusal.argument == "path" and str(path) in str(refusal):
            return None
        raise


@pytest.mark.parametrize("change", ["cut", "short", "flipped", "head"])
@pytest.mark.parametrize("ending", PACKED)
def test_packed_tables(tmp_path, ending, change):
    path = tmp_path / f"cells.csv{ending}"
    path.write_bytes(changes(PACKED[ending]("\n".join(ROWS).encode()))[change])
    found = or_refused(path)
    # the last bytes of some formats are no part of the content
    assert found is None or found.shape == (4000, 2)


@pytest.fixture
def tenx(tmp_path):
    counts = sparse.random(50, 30, 0.4, format="coo", random_state=0)
    counts.data = np.ceil(10 * counts.data)
    io.mmwrite(tmp_path / "matrix.mtx", counts.astype(int))
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
def test_damaged_folders_of_10x(tenx, name, change):
    assert read_cells(tenx).shape == (30, 50)
    path = tenx / name
    path.write_bytes(changes(path.read_bytes())[change])
    with refused(InvalidValue, "path"):
        read_cells(tenx)


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
        or_refused(path)


def test_no_other_file_comes_along(pbmc, tmp_path):
    secret, path = tmp_path / "secret.h5", tmp_path / "cells.h5ad"
    with h5py.File(secret, "w") as file:
        file["password"] = "1234"
    ad.AnnData(pbmc.X, var=pbmc.var[[]], uns={"note": "a"}).write_h5ad(path)
    assert read_cells(path).uns["note"] == "a"
    with h5py.File(path, "r+") as file:
        file["uns/stolen"] = h5py.ExternalLink(str(secret), "/password")
    for backed in (False, True):
        with refused(InvalidValue, "path"):
            read_cells(path, backed=backed)


def test_wide_tables(tmp_path):
    """Semicolons are looked for in the first line, which is not made a table of."""
    names = [f"gene{i}" for i in range(3000)]
    for separator in ",;":
        lines = [separator.join(["cell", *names]), separator.join(["a", *(["1"] * 3000)])]
        for ending, pack in {"": bytes, **PACKED}.items():
            path = tmp_path / f"cells.csv{ending}"
            path.write_bytes(pack("\n".join(lines).encode()))
            assert list(read_cells(path).var_names) == names


def test_files_that_scanpy_wrote_are_read(pbmc, tmp_path):
    sc.pp.pca(pbmc, n_comps=5)
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    assert read_cells(tmp_path / "cells.h5ad").shape == pbmc.shape
