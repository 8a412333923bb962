"""Cells out of files of many formats; files that are cut off or changed are refused by name."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from io import BytesIO
from pathlib import Path

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest
import zarr
from refusals import accepted, refused
from scipy import io, sparse

from glfs_bio import _files
from glfs_bio.errors import FileMissing, InvalidValue, NotFound
from glfs_bio.io import read_cells, read_panel

CELLS, GENES = ["a", "b", "c"], ["g1", "g2"]
COUNTS = np.array([[1, 0], [0, 2], [3, 4]])
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.fixture
def adata() -> ad.AnnData:
    return ad.AnnData(
        sparse.csr_matrix(COUNTS, dtype=np.float32),
        obs=pd.DataFrame(index=CELLS),
        var=pd.DataFrame(index=GENES),
    )


def dense(matrix):
    values = matrix.to_memory() if hasattr(matrix, "to_memory") else matrix[:]
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def check(read, genes=GENES):
    assert list(read.obs_names) == CELLS
    assert list(read.var_names) == genes
    np.testing.assert_array_equal(dense(read.X), COUNTS)


def test_wide_tables(tmp_path):
    """Semicolons are looked for in the first line, which is not made a table of."""
    genes = [f"gene{i}" for i in range(20_000)]
    for separator in ",;":
        lines = [separator.join(["cell", *genes]), separator.join(["a", *(["1"] * 20_000)])]
        for ending, pack in {"": bytes, **PACKED}.items():
            path = tmp_path / f"cells.csv{ending}"
            path.write_bytes(pack("\n".join(lines).encode()))
            assert list(read_cells(path).var_names) == genes


UNREADABLE = [
    *(("cells.xls", ""), ("cells.loom", ""), ("cells", "")),
    *(("cells.h5ad", "no"), ("cells.h5", "no")),
    *(("cells.csv", ""), ("cells.csv", "cell\tg1\na\t1\n"), ("matrix.mtx", "no")),
    *(("cells.csv", "cell,g1,type\na,1,T\n"), ("cells.h5ad.gz", "packed")),
]


def test_what_cannot_be_read(tmp_path):
    def read(case):
        name, content = case
        (tmp_path / name).write_text(content)
        return read_cells(tmp_path / name)

    assert not accepted(read, UNREADABLE)
    (tmp_path / "empty").mkdir()
    with refused(InvalidValue, "path"):
        read_cells(tmp_path / "empty")
    with refused(FileMissing, "path"):
        read_cells(tmp_path / "nowhere.h5ad")
    for call in (read_cells, read_panel, lambda path: _files.check_target(path, overwrite=True)):
        for address in ("https://example.org/cells.csv", Path("s3://bucket/cells.csv")):
            with refused(FileMissing, "path") as caught:
                call(address)
            assert "address" in str(caught.value)


def test_options_of_other_formats(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    (tmp_path / "t.csv").write_text("cell,g1\na,1\n")
    with refused(InvalidValue, "transpose"):
        read_cells(tmp_path / "cells.h5ad", transpose=True)
    for option in ({"modality": "rna"}, {"backed": True}):
        with refused(InvalidValue, next(iter(option))):
            read_cells(tmp_path / "t.csv", **option)


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


#: What a matrix of genes × cells is beside, and what it is called, with ids and symbols.
FORMS = {
    "STARsolo": ("matrix.mtx", "features.tsv", "barcodes.tsv", 3),
    "gunzip": ("matrix.mtx.gz", "features.tsv", "barcodes.tsv.gz", 3),
    "Cell Ranger": ("matrix.mtx.gz", "features.tsv.gz", "barcodes.tsv.gz", 3),
    "Cell Ranger 2": ("matrix.mtx", "genes.tsv", "barcodes.tsv", 2),
    "one column": ("matrix.mtx.gz", "features.tsv.gz", "barcodes.tsv.gz", 1),
    "GEO": ("GSM1_s2_matrix.mtx.gz", "GSM1_s2_features.tsv.gz", "GSM1_s2_barcodes.tsv.gz", 3),
    "GEO, dots": ("GSM1.matrix.mtx.gz", "GSM1.genes.tsv.gz", "GSM1.barcodes.tsv.gz", 2),
    "GEO, behind": ("GSM1_matrix_KO.mtx", "GSM1_features_KO.tsv.gz", "GSM1_barcodes_KO.tsv", 3),
}
IDS = ["i", "j"]


def write_form(folder, form="STARsolo", ids=IDS, symbols=GENES, counts=COUNTS, kinds=None):
    matrix, genes, cells, n_columns = FORMS[form]
    kinds = ["Gene Expression"] * len(ids) if kinds is None else kinds
    columns = [symbols] if n_columns == 1 else [ids, symbols, kinds][:n_columns]

    def put(name, text):
        packed = gzip.compress if name.endswith(".gz") else bytes
        (folder / name).write_bytes(packed(text))

    with BytesIO() as file:
        io.mmwrite(file, sparse.coo_matrix(counts.T))
        put(matrix, file.getvalue())
    lines = ["\t".join(line) + "\n" for line in zip(*columns, strict=True)]
    put(genes, "".join(lines).encode())
    put(cells, "".join(f"{cell}\n" for cell in CELLS).encode())
    return folder / matrix


@pytest.mark.parametrize("form", FORMS)
def test_matrices_with_names_beside_them(tmp_path, form):
    """Fly's gene nan, and numbers of NCBI, are texts."""
    path = write_form(tmp_path, form, ["100", "007"], ["nan", "NA"])
    for given in (path, tmp_path):
        check(read_cells(given), genes=["nan", "NA"])
    assert list(read_cells(path).var.get("gene_ids", ())) == ["100", "007"] * (FORMS[form][3] > 1)
    # of as many cells as genes, genes are still on their side
    square = np.array([[1, 0, 7], [0, 2, 0], [3, 4, 5]])
    read = read_cells(write_form(tmp_path, form, ["i", "j", "k"], ["g1", "g2", "g3"], square))
    np.testing.assert_array_equal(read.X.toarray(), square)


def test_damaged_folders_of_10x(tmp_path):
    write_form(tmp_path, "Cell Ranger")
    for name in FORMS["Cell Ranger"][:3]:
        whole = (tmp_path / name).read_bytes()
        middle = len(whole) // 2
        flipped = bytes(255 - byte for byte in whole[middle : middle + 40])
        for content in (whole[:middle], whole[:5], whole[:middle] + flipped + whole[middle + 40 :]):
            (tmp_path / name).write_bytes(content)
            with refused(InvalidValue, "path"):
                read_cells(tmp_path)
        (tmp_path / name).write_bytes(whole)
    check(read_cells(tmp_path))


def test_files_beside_a_matrix(tmp_path):
    path = write_form(tmp_path)
    with refused(InvalidValue, "path"):  # as kallisto calls it
        read_cells(path.rename(tmp_path / "cells_x_genes.mtx"))
    path = write_form(tmp_path)
    (tmp_path / "UniqueAndMult-EM.mtx").touch()  # of STARsolo, beside its matrix.mtx
    check(read_cells(tmp_path))
    for name in ("features.tsv", "barcodes.tsv"):  # of another matrix
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(f"{text}more\n")
        with refused(InvalidValue, "path") as caught:
            read_cells(path)
        assert name in str(caught.value)
        (tmp_path / name).write_text(text)
    (tmp_path / "features.tsv").unlink()  # as R writes them
    (tmp_path / "genes.csv").write_text('"i","g1"\n"j","g2"\n')
    (tmp_path / "barcodes.tsv").write_text("".join(f'"{cell}"\n' for cell in CELLS))
    check(read_cells(path))
    io.mmwrite(path, sparse.coo_matrix(COUNTS))  # cells are in the rows, by their number
    check(read_cells(path))


def test_other_features_than_genes(tmp_path):
    kinds = ["Antibody Capture", "Gene Expression"]
    read = read_cells(write_form(tmp_path, "gunzip", kinds=kinds))
    assert list(read.var_names) == ["g2"]
    np.testing.assert_array_equal(read.X.toarray(), COUNTS[:, 1:])
    with refused(InvalidValue, "path"):
        read_cells(write_form(tmp_path, "gunzip", kinds=["Peaks"] * 2))
    kinds = ["protein_coding", "lncRNA"]  # of no kind that is known
    check(read_cells(write_form(tmp_path, "gunzip", kinds=kinds)))


def test_names_of_genes(tmp_path):
    """Symbols, made unique, or ids, whatever stands first."""
    path = write_form(tmp_path, "Cell Ranger 2", symbols=["g", "g"])
    check(read_cells(path), genes=["g", "g-1"])
    path = write_form(tmp_path, "Cell Ranger 2", ["ENSG1", "ENSG2"], ["g1", ""])
    check(read_cells(path), genes=["g1", "ENSG2"])
    with refused(InvalidValue, "path"):
        read_cells(write_form(tmp_path, "Cell Ranger 2", ["ENSG1", ""], ["g1", ""]))
    ids = ["ENSG00000167286", "ENSG00000105369"]
    read = read_cells(write_form(tmp_path, "Cell Ranger 2", GENES, ids))
    check(read)
    assert list(read.var["gene_ids"]) == ids


def test_names_of_cells(tmp_path, caplog):
    path, barcodes = write_form(tmp_path), tmp_path / "barcodes.tsv"
    for start in (0, 1):  # numbers of lines are no cells
        lines = (f"{number}\t{cell}\n" for number, cell in enumerate(CELLS, start))
        barcodes.write_text("".join(lines))
        check(read_cells(path))
    barcodes.write_text('"1" "a"\n"2" "b"\n"3" "c"\n')
    with refused(InvalidValue, "path") as caught:
        read_cells(path)
    assert "barcodes.tsv" in str(caught.value)
    caplog.clear()
    barcodes.write_text("a\nb\na\n")
    assert list(read_cells(path).obs_names) == ["a", "b", "a"]
    (record,) = caplog.records
    assert record.levelname == "WARNING"


def test_several_samples_in_a_folder(tmp_path):
    write_form(tmp_path, "GEO")
    path = write_form(tmp_path, "GEO, dots", symbols=["h1", "h2"])
    with refused(InvalidValue, "path") as caught:
        read_cells(tmp_path)
    assert path.name in str(caught.value)
    check(read_cells(path), genes=["h1", "h2"])
    (tmp_path / "GSM1.genes.tsv.gz").unlink()
    with refused(InvalidValue, "path"):
        read_cells(path)


def write_h5(path, symbols=GENES, group="matrix"):
    """As Cell Ranger does, which had a group for each genome once."""
    matrix = sparse.csr_matrix(COUNTS)
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    parts |= {"shape": COUNTS.T.shape, "barcodes": np.array(CELLS, dtype="S")}
    names = np.array(symbols, dtype="S")
    if group == "matrix":
        parts |= {"features/id": np.array(["id0", "id1"], dtype="S"), "features/name": names}
        parts["features/feature_type"] = np.array(["Gene Expression"] * 2, dtype="S")
        parts["features/genome"] = np.array(["hg38"] * 2, dtype="S")
    else:
        parts |= {"genes": names, "gene_names": names}
    with h5py.File(path, "a") as file:
        for name, values in parts.items():
            file[f"{group}/{name}"] = values
    return path


def test_h5_of_10x(tmp_path):
    read = read_cells(write_h5(tmp_path / "a.h5"))
    check(read)
    assert list(read.var["gene_ids"]) == ["id0", "id1"]
    check(read_cells(write_h5(tmp_path / "b.h5", ["g1", ""])), genes=["g1", "id1"])
    check(read_cells(write_h5(tmp_path / "c.h5", ["g", "g"])), genes=["g", "g-1"])
    path = write_h5(tmp_path / "d.h5", group="hg19")
    check(read_cells(path))
    write_h5(path, group="mm10")
    with refused(InvalidValue, "path"):
        read_cells(path)


def test_the_content_says_what_hdf5_is(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5")
    check(read_cells(tmp_path / "cells.h5"))
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["a"] = 1
    with refused(InvalidValue, "path"):
        read_cells(tmp_path / "other.h5")


@pytest.fixture
def store(adata, tmp_path):
    """Write AnnData as groups of a store, as MuData and SpatialData do, and return its path."""

    def write(name, group, *modalities):
        path = tmp_path / name
        if ".h5" in name:
            with h5py.File(path, "w") as file:
                for part in ("obs", "var", group):
                    file.create_group(part)
                for modality in modalities:
                    ad.io.write_elem(file[group], modality, adata)
            return path
        for modality in modalities:
            (path / group).mkdir(parents=True, exist_ok=True)
            adata.write_zarr(path / group / modality)
        name, content = ".zgroup", {"zarr_format": 2}
        if (path / group / modalities[0] / "zarr.json").exists():
            name, content = "zarr.json", {"zarr_format": 3, "node_type": "group", "attributes": {}}
        for folder in (path, path / group):
            (folder / name).write_text(json.dumps(content))
        return path

    return write


STORES = [
    *(("cells.h5mu", "mod"), ("cells.h5", "mod"), ("cells.zarr", "mod")),
    *(("cells.zarr", "tables"), ("cells.zarr", "table"), ("cells", "tables")),
]


@pytest.mark.parametrize(("name", "group"), STORES)
def test_stores_of_several(store, name, group):
    path = store(name, group, "rna")
    check(read_cells(path))
    check(read_cells(path, modality="rna"))
    with refused(NotFound, "modality"):
        read_cells(path, modality="atac")
    path = store(name, group, "rna", "protein")
    with refused(InvalidValue, "path") as caught:
        read_cells(path)
    assert "rna" in str(caught.value)
    check(read_cells(path, modality="rna"))
    if ".h5" not in name:  # by its path
        check(read_cells(path / group / "rna"))
    if name != "cells.h5":
        read = read_cells(path, modality="rna", backed=True)
        assert not sparse.issparse(read.X)
        np.testing.assert_array_equal(dense(read.X), COUNTS)


def test_zarr_of_any_name(adata, tmp_path):
    adata.write_zarr(tmp_path / "cells")
    check(read_cells(tmp_path / "cells"))
    with refused(NotFound, "modality"):
        read_cells(tmp_path / "cells", modality="rna")
    zarr.open_group(tmp_path / "others", mode="w").create_group("images")
    with refused(InvalidValue, "path"):
        read_cells(tmp_path / "others")


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, np.asarray])
def test_files_of_anndata(adata, tmp_path, form, caplog):
    """Read into memory, or left in their files; names are made unique in both."""
    adata.X = form(adata.X.toarray())
    adata.layers["counts"] = adata.X.copy()
    adata.raw = adata.copy()
    adata.var_names = ["g", "g"]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    adata.write_zarr(tmp_path / "cells.zarr")
    for name in ("cells.h5ad", "cells.zarr"):
        caplog.clear()
        check(read_cells(str(tmp_path / name)), genes=["g", "g-1"])
        assert len(caplog.records) == 1
        read = read_cells(tmp_path / name, backed=True)
        assert len(caplog.records) == 2
        assert read.isbacked == (name == "cells.h5ad")
        assert (list(read.obs_names), list(read.var_names)) == (CELLS, ["g", "g-1"])
        for matrix in (read.X, read.layers["counts"], read.raw.X):
            assert not isinstance(matrix, np.ndarray)
            assert not sparse.issparse(matrix)
            np.testing.assert_array_equal(dense(matrix), COUNTS)
