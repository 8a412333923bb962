"""Cells out of files of many formats; files that are cut off or changed are refused by name."""

from __future__ import annotations

import bz2
import gzip
import lzma
from io import BytesIO

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import refused
from scipy import io, sparse

from glfs_bio.errors import FileMissing, InvalidValue, NotFound, PackageMissing
from glfs_bio.io import read_cells

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


#: What a matrix of genes × cells is beside, and what it is called, with ids and symbols.
FORMS = {
    "STARsolo": ("matrix.mtx", "features.tsv", "barcodes.tsv", 3),
    "gunzip": ("matrix.mtx.gz", "features.tsv", "barcodes.tsv.gz", 3),
    "Cell Ranger 2": ("matrix.mtx", "genes.tsv", "barcodes.tsv", 2),
    "genes packed": ("matrix.mtx.gz", "genes.tsv.gz", "barcodes.tsv.gz", 2),
    "one column": ("matrix.mtx.gz", "features.tsv.gz", "barcodes.tsv.gz", 1),
    "GEO": ("GSM1_s2_matrix.mtx.gz", "GSM1_s2_features.tsv.gz", "GSM1_s2_barcodes.tsv.gz", 3),
    "GEO, dots": ("GSM1.matrix.mtx.gz", "GSM1.genes.tsv.gz", "GSM1.barcodes.tsv.gz", 2),
    "GEO, behind": ("GSM1_matrix_KO.mtx", "GSM1_features_KO.tsv.gz", "GSM1_barcodes_KO.tsv", 3),
    "counts": ("GSE1_counts.mtx", "GSE1_counts_genes.tsv", "GSE1_counts_barcodes.tsv", 2),
    "kallisto": ("cells_x_genes.mtx", "cells_x_genes.genes.txt", "cells_x_genes.barcodes.txt", 1),
    "kallisto, RNA velocity": (
        *("cells_x_genes.total.mtx", "cells_x_genes.genes.txt", "cells_x_genes.barcodes.txt", 1),
    ),
    "alevin": ("quants_mat.mtx", "quants_mat_cols.txt", "quants_mat_rows.txt", 1),
    "alevin, packed": ("quants_mat.mtx.gz", "quants_mat_cols.txt", "quants_mat_rows.txt", 1),
}


def write_form(folder, form, ids, symbols, counts=COUNTS, kinds=None):
    matrix, genes, cells, n_columns = FORMS[form]
    kinds = ["Gene Expression"] * len(ids) if kinds is None else kinds
    columns = [[*zip(ids, symbols, kinds, strict=True)], [*zip(symbols, strict=True)]]
    lines = [row[:n_columns] for row in columns[n_columns == 1]]
    counts = counts if form.startswith(("kallisto", "alevin")) else counts.T

    def put(name, text):
        packed = gzip.compress if name.endswith(".gz") else bytes
        (folder / name).write_bytes(packed(text))

    with BytesIO() as file:
        io.mmwrite(file, sparse.coo_matrix(counts))
        put(matrix, file.getvalue())
    put(genes, "".join("\t".join(line) + "\n" for line in lines).encode())
    put(cells, "".join(f"{cell}\n" for cell in CELLS).encode())
    return folder / matrix


@pytest.mark.parametrize("form", FORMS)
def test_matrices_with_names_beside_them(tmp_path, form):
    """Fly's gene nan, and numbers of NCBI, are texts."""
    path = write_form(tmp_path, form, ["100", "007"], ["nan", "NA"])
    for given in (path, tmp_path):
        check(read_cells(given), genes=["nan", "NA"])
    ids = read_cells(path, var_names="gene_ids")
    assert list(ids.var_names) == (["nan", "NA"] if FORMS[form][3] == 1 else ["100", "007"])
    if FORMS[form][3] > 1:
        assert list(ids.var["gene_symbols"]) == ["nan", "NA"]
        assert list(read_cells(path).var["gene_ids"]) == ["100", "007"]


@pytest.mark.parametrize("form", FORMS)
def test_a_matrix_of_as_many_cells_as_genes(tmp_path, form):
    ids = ["id0", "id1", "id2"]
    square = np.array([[1, 0, 7], [0, 2, 0], [3, 4, 5]])
    read = read_cells(write_form(tmp_path, form, ids, ids, square))
    np.testing.assert_array_equal(read.X.toarray(), square)


def test_cells_in_the_rows_of_a_matrix_by_their_number(tmp_path):
    path = write_form(tmp_path, "STARsolo", ["i", "j"], ["g1", "g2"])
    io.mmwrite(path, sparse.coo_matrix(COUNTS))
    check(read_cells(path))


def test_other_features_than_genes(tmp_path):
    kinds = ["Antibody Capture", "Gene Expression"]
    read = read_cells(write_form(tmp_path, "gunzip", ["i", "j"], ["g1", "g2"], kinds=kinds))
    assert list(read.var_names) == ["g2"]
    np.testing.assert_array_equal(read.X.toarray(), COUNTS[:, 1:])
    with refused(InvalidValue, "path"):
        read_cells(write_form(tmp_path, "gunzip", ["i", "j"], ["1", "2"], kinds=["Peaks"] * 2))
    kinds = ["protein_coding", "lncRNA"]  # of no kind that is known
    check(read_cells(write_form(tmp_path, "gunzip", ["i", "j"], ["g1", "g2"], kinds=kinds)))


def test_names_of_genes_without_a_symbol(tmp_path):
    path = write_form(tmp_path, "Cell Ranger 2", ["ENSG1", "ENSG2"], ["g1", ""])
    check(read_cells(path), genes=["g1", "ENSG2"])
    with refused(InvalidValue, "path"):
        read_cells(write_form(tmp_path, "Cell Ranger 2", ["ENSG1", ""], ["g1", ""]))


def test_symbols_before_ids(tmp_path):
    ids = ["ENSG00000167286", "ENSG00000105369"]
    path = write_form(tmp_path, "Cell Ranger 2", GENES, ids)
    check(read_cells(path))
    check(read_cells(path, var_names="gene_ids"), genes=ids)


@pytest.mark.parametrize("start", [0, 1])
def test_numbers_of_lines_are_no_cells(tmp_path, start):
    path = write_form(tmp_path, "STARsolo", ["i", "j"], GENES)
    lines = (f"{number}\t{cell}\n" for number, cell in enumerate(CELLS, start))
    (tmp_path / "barcodes.tsv").write_text("".join(lines))
    check(read_cells(path))


def test_quotes_within_names(tmp_path):
    path = write_form(tmp_path, "STARsolo", ["i", "j"], GENES)
    (tmp_path / "barcodes.tsv").write_text('"1" "a"\n"2" "b"\n"3" "c"\n')
    with refused(InvalidValue, "path") as caught:
        read_cells(path)
    assert "barcodes.tsv" in str(caught.value)


def test_cells_of_one_name_are_said(tmp_path, caplog):
    path = write_form(tmp_path, "STARsolo", ["i", "j"], GENES)
    (tmp_path / "barcodes.tsv").write_text("a\nb\na\n")
    assert list(read_cells(path).obs_names) == ["a", "b", "a"]
    (record,) = caplog.records
    assert record.levelname == "WARNING"


def test_kallisto_with_ids_and_symbols(tmp_path):
    path = write_form(tmp_path, "kallisto", ["", ""], ["ENSG1", "ENSG2"])
    (tmp_path / "cells_x_genes.genes.names.txt").write_text("g1\ng2\n")
    check(read_cells(path))
    check(read_cells(path, var_names="gene_ids"), genes=["ENSG1", "ENSG2"])


def test_names_beside_a_matrix_as_r_writes_them(tmp_path):
    path = write_form(tmp_path, "STARsolo", ["i", "j"], ["g1", "g2"])
    (tmp_path / "features.tsv").unlink()
    (tmp_path / "genes.csv").write_text('"gene_id","gene_name"\n"i","g1"\n"j","g2"\n')
    (tmp_path / "barcodes.tsv").write_text("x\n" + "".join(f'"{cell}"\n' for cell in CELLS))
    check(read_cells(path))


@pytest.mark.parametrize("name", ["features.tsv", "barcodes.tsv"])
def test_names_of_another_matrix(tmp_path, name):
    path = write_form(tmp_path, "STARsolo", ["i", "j"], ["g1", "g2"])
    with (tmp_path / name).open("a") as file:
        file.write("more\n")
    with refused(InvalidValue, "path") as caught:
        read_cells(path)
    assert name in str(caught.value)


def test_several_samples_in_a_folder(tmp_path):
    write_form(tmp_path, "GEO", ["i", "j"], ["g1", "g2"])
    path = write_form(tmp_path, "GEO, dots", ["k", "l"], ["h1", "h2"])
    with refused(InvalidValue, "path") as caught:
        read_cells(tmp_path)
    assert path.name in str(caught.value)
    check(read_cells(path), genes=["h1", "h2"])
    (tmp_path / "GSM1.genes.tsv.gz").unlink()
    with refused(InvalidValue, "path"):
        read_cells(path)


def test_ids_and_symbols_of_10x_h5(tmp_path):
    write_h5(tmp_path / "cells.h5", ["g1", "g2"])
    read = read_cells(tmp_path / "cells.h5", var_names="gene_ids")
    check(read, genes=["id0", "id1"])
    assert list(read.var["gene_symbols"]) == GENES
    write_h5(tmp_path / "cells.h5", ["g1", ""])
    check(read_cells(tmp_path / "cells.h5"), genes=["g1", "id1"])


def test_several_genomes(tmp_path):
    path = tmp_path / "cells.h5"
    matrix = sparse.csr_matrix(COUNTS)
    with h5py.File(path, "w") as file:
        for genome in ("hg19", "mm10"):
            group = file.create_group(genome)
            for name in ("data", "indices", "indptr"):
                group[name] = getattr(matrix, name)
            group["shape"], group["barcodes"] = COUNTS.T.shape, np.array(CELLS, dtype="S")
            group["genes"] = group["gene_names"] = np.array(GENES, dtype="S")
    with refused(InvalidValue, "path") as caught:
        read_cells(path)
    assert "hg19, mm10" in str(caught.value)
    with h5py.File(path, "r+") as file:
        del file["mm10"]
    check(read_cells(path))


def test_the_content_says_what_hdf5_is(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5")
    check(read_cells(tmp_path / "cells.h5"))
    with refused(InvalidValue, "var_names"):
        read_cells(tmp_path / "cells.h5", var_names="gene_ids")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["a"] = 1
    with refused(InvalidValue, "path"):
        read_cells(tmp_path / "other.h5")


@pytest.fixture
def store(adata, tmp_path):
    """Write AnnData as groups of a store, as MuData and SpatialData do, and return its path."""

    def write(name, group, *names):
        path = tmp_path / name
        if ".h5" in name:
            with h5py.File(path, "w") as file:
                for one in ("obs", "var", group):
                    file.create_group(one)
                for one in names:
                    ad.io.write_elem(file[group], one, adata)
            return path
        for one in names:
            (path / group).mkdir(parents=True, exist_ok=True)
            adata.write_zarr(path / group / one)
        name, content = ".zgroup", '{"zarr_format": 2}'
        if (path / group / one / "zarr.json").exists():
            name, content = (
                "zarr.json",
                '{"zarr_format": 3, "node_type": "group", "attributes": {}}',
            )
        for folder in (path, path / group):
            (folder / name).write_text(content)
        return path

    return write


STORES = [
    ("cells.h5mu", "mod"),
    ("cells.zarr", "mod"),
    ("cells.zarr", "tables"),
    ("cells.zarr", "table"),
    ("cells", "tables"),
    ("cells.h5", "mod"),
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


def test_a_table_of_spatialdata_by_its_path(store):
    check(read_cells(store("cells.zarr", "tables", "cells") / "tables" / "cells"))


def test_zarr_of_any_name(adata, tmp_path):
    adata.write_zarr(tmp_path / "cells")
    check(read_cells(tmp_path / "cells"))
    with refused(NotFound, "modality"):
        read_cells(tmp_path / "cells", modality="rna")


def test_zarr_without_cells(tmp_path):
    import zarr

    zarr.open_group(tmp_path / "cells", mode="w").create_group("images")
    with refused(InvalidValue, "path"):
        read_cells(tmp_path / "cells")


def test_names_of_every_format_are_unique(adata, tmp_path, caplog):
    adata.var_names = ["g", "g"]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    adata.write_zarr(tmp_path / "cells.zarr")
    for name in ("cells.h5ad", "cells.zarr"):
        for backed in (False, True):
            caplog.clear()
            assert list(read_cells(tmp_path / name, backed=backed).var_names) == ["g", "g-1"]
            assert len(caplog.records) == 1


def whole(matrix):
    found = matrix.to_memory() if hasattr(matrix, "to_memory") else matrix[:]
    return found.toarray() if sparse.issparse(found) else np.asarray(found)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, np.asarray])
def test_matrices_stay_in_their_file(adata, tmp_path, form):
    adata.X = form(adata.X.toarray())
    adata.layers["counts"] = adata.X.copy()
    adata.raw = adata.copy()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    adata.write_zarr(tmp_path / "cells.zarr")
    for name in ("cells.h5ad", "cells.zarr"):
        read = read_cells(tmp_path / name, backed=True)
        assert read.isbacked == (name == "cells.h5ad")
        assert list(read.obs_names) == CELLS
        for matrix in (read.X, read.layers["counts"], read.raw.X):
            assert not isinstance(matrix, np.ndarray)
            assert not sparse.issparse(matrix)
            np.testing.assert_array_equal(whole(matrix), COUNTS)


@pytest.mark.parametrize(("name", "group"), [STORES[0], STORES[2]])
def test_a_modality_stays_in_its_file(store, name, group):
    read = read_cells(store(name, group, "rna", "protein"), modality="rna", backed=True)
    assert not sparse.issparse(read.X)
    np.testing.assert_array_equal(whole(read.X), COUNTS)


def test_what_cannot_stay_in_its_file(put_table):
    with refused(InvalidValue, "backed"):
        read_cells(put_table, backed=True)


@pytest.mark.parametrize("option", [{"modality": "rna"}, {"var_names": "gene_ids"}])
def test_options_of_other_formats(put_table, option):
    with refused(InvalidValue, next(iter(option))):
        read_cells(put_table, **option)


@pytest.fixture
def put_table(tmp_path):
    (tmp_path / "t.csv").write_text("cell,g1\na,1\n")
    return tmp_path / "t.csv"
