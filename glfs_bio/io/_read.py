"""Expression matrices, from the files that people have, and in files that are read part by part."""

from __future__ import annotations

import logging
import re
import warnings
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
import pandas as pd
from anndata.io import read_elem, sparse_dataset, write_elem

from .. import checks
from .._anndata import read
from .._extras import needs
from .._files import as_path, bad_file, is_zarr, reading
from ..data.matrix import DENSE_BLOCK, check_indices, is_here
from ..errors import FileMissing, InvalidValue, Message, NotFound, arg, listed, shown
from ..vendors import sheets
from ..vendors.names import is_id
from . import _tables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

log = logging.getLogger(__name__)

_HDF5 = (".h5ad", ".h5", ".h5mu")
_MTX = ".mtx"
_SYMBOLS, _IDS = "gene_symbols", "gene_ids"
#: Attributes of a loom file with the names: its own, and those that AnnData writes.
_GENE, _CELL = ("Gene", "var_names"), ("CellID", "obs_names")
#: Groups of a store with several AnnData: of MuData, and of SpatialData, new and old.
_SEVERAL = ("mod", "tables", "table")
#: What files beside a matrix are called, where it is called matrix or behind its name.
_NAMES = {
    "genes": r"(features?|genes?|cols)",
    "symbols": r"genes?\.names",
    "cells": r"(barcodes?|cells?|rows)",
}
#: Matrices that have cells in their rows: of kallisto, and of alevin.
_CELLS_IN_ROWS = re.compile(r"cells_x_|quants_mat")
#: Of files with names, which begin without a header where instruments wrote them, and R's.
_HEADS = {*sheets.ID_HEADS, "genename", "genesymbol", "featurename", "barcode", "cell", "x", "v1"}
_EXPRESSION = "Gene Expression"
#: What else features are, in files without genes.
_OTHERS = {"Antibody Capture", "CRISPR Guide Capture", "Custom", "Multiplexing Capture", "Peaks"}


def read_cells(
    path: str | Path,
    *,
    transpose: bool | None = None,
    backed: bool = False,
    modality: str | None = None,
    var_names: str = _SYMBOLS,
) -> ad.AnnData:
    r"""Read a matrix of cells × genes from a file.

    Parameters
    ----------
    path : str or path
        File or folder:

        - ``.h5ad``, ``.zarr``: AnnData; a folder of zarr can have any name
        - ``.h5mu``, ``.zarr``: MuData, or the tables of SpatialData
        - ``.loom``: loom, with the package ``loompy``
        - ``.h5`` of 10x Genomics, genes only
        - ``.mtx``, or the folder of one, with the names of genes and cells beside it, as 10x
          Genomics, STARsolo, kallisto, alevin and GEO have it, genes only
        - ``.csv``, ``.tsv``, ``.txt``: a table with names in its first row and column, columns
          separated as its header is; lines above the header are left out.  The ``*_exprMat_file``
          of CosMx has cells ``fov_cell_ID``, without those of number 0, which is no cell

        Tables can be packed (``.gz``, ``.bz2``, ``.xz``), as can ``.mtx`` (``.gz``).
    transpose : bool, default None
        The table has genes in its rows, as bulk data often have.  None: it has cells in its rows,
        or it is refused if its first cell or its names look otherwise, or like nothing.
    backed : bool, default False
        Leave the matrices of an ``.h5ad``, ``.h5mu`` or ``.zarr``, layers too, in the file, from
        which they are read part by part.
    modality : str, default None
        Modality of MuData, or table of SpatialData.  None: the only one.
    var_names : {"gene_symbols", "gene_ids"}, default "gene_symbols"
        Names of genes, of a file of 10x Genomics or ``.mtx`` that has both; the others are in
        ``.var``.

    Returns
    -------
    AnnData
        The cells, with unique gene names: those that occur again get a number, as in
        :meth:`anndata.AnnData.var_names_make_unique`, and the log says which.

    Raises
    ------
    ValueError
        If a table does not show that it has cells in its rows: pass `transpose`.  If it has rows
        or columns without a name, or several cells of one name.

    Notes
    -----
    Names are text: ``001`` and ``NA`` stay what they are, without blanks around them.  A table has
    cells in its rows if its first cell says so (``cell``, ``barcode``; not ``gene``, ``symbol``),
    or if more of its columns than of its rows are ids of genes, and fewer are barcodes, or else
    more are symbols of human or mouse.  It is refused if these disagree.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "cells.csv"
    ...     _ = path.write_text("cell,CD3D,CD79A\na,0,1.5\nb,2,0\n")
    ...     adata = glfs_bio.io.read_cells(path)
    >>> adata.shape, list(adata.var_names)
    ((2, 2), ['CD3D', 'CD79A'])
    """
    path = as_path(path)
    checks.flags(backed=backed, **({} if transpose is None else {"transpose": transpose}))
    checks.texts(modality=modality, or_none=True)
    checks.one_of("var_names", var_names, (_SYMBOLS, _IDS))
    if not path.exists():
        raise FileMissing(
            "path", str(path), "does not exist", "give the file or folder with the cells"
        )
    packed = path.suffix.lower() in sheets.PACKED
    ending = (path.with_suffix("").suffix if packed else path.suffix).lower()
    if path.is_dir() and ending != ".zarr":
        ending = ".zarr" if is_zarr(path) else _MTX
    for argument, value, default, of in (
        ("transpose", transpose, False, _tables.SEPARATORS),
        ("backed", backed, False, (".h5ad", ".h5mu", ".zarr")),
        ("modality", modality, None, (".zarr", *_HDF5)),
        ("var_names", var_names, _SYMBOLS, (".h5", _MTX)),
    ):
        if value not in (None, default) and ending not in of:
            raise InvalidValue(argument, value, f"is for {shown(*of)}, and {path} is none")
    with reading(path, ending or "cells"), warnings.catch_warnings():
        for ours in ("(Variable|Observation) names are not unique", "Suffix used"):
            warnings.filterwarnings("ignore", ours, UserWarning)
        warnings.filterwarnings("ignore", "The default value for `spmatrix`")  # of mmread
        adata = _read(path, ending, transpose, backed, modality, var_names)
    for matrix in (None if backed else adata.X, *map(adata.layers.get, read.layers(adata))):
        check_indices(matrix, "path", str(path))
    if 0 in adata.shape:
        raise bad_file(path, "holds no cells, or no genes")
    make_unique(adata, path)
    twice = adata.obs_names[adata.obs_names.duplicated()].unique()
    if len(twice):
        log.warning(Message(f"{path} has several cells of one name: {listed(twice)}."))
    return adata


def _read(
    path: Path,
    ending: str,
    transpose: bool | None,
    backed: bool,
    modality: str | None,
    var_names: str,
) -> ad.AnnData:
    if ending in _tables.SEPARATORS:
        return _tables.read(path, ending, transpose=transpose)
    if ending == _MTX:
        return _mtx(_matrix_of(path) if path.is_dir() else path, var_names)
    if ending == ".zarr":
        return _zarr(path, backed, modality)
    if ending == ".loom":
        _refuse_external_links(path)
        return _loom(path)
    if ending in _HDF5:
        _refuse_external_links(path)
        return _hdf5(path, backed, modality, var_names)
    raise bad_file(
        path,
        "has an unknown ending",
        f"give a file {shown(*_HDF5, '.zarr', '.loom', _MTX, *_tables.SEPARATORS)}, or a folder "
        "of 10x Genomics",
    )


def make_unique(adata: ad.AnnData, path: Path) -> None:
    """Make gene names unique, and say which were not."""
    doubled = adata.var_names[adata.var_names.duplicated()].unique()
    if not len(doubled):
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Suffix used", UserWarning)
        adata.var_names_make_unique()
    log.warning(
        Message(
            f"{path} has several genes of one name, which are made unique by numbers behind them, "
            f"such as -1: {listed(doubled)}."
        )
    )


def _zarr(path: Path, backed: bool, modality: str | None) -> ad.AnnData:
    import zarr

    group: Any = zarr.open_group(path, mode="r")
    where = _group_of(
        path, {name: set(group[name]) for name in _SEVERAL if name in group}, modality
    )
    if where is not None:
        return open_backed(group[where]) if backed else _element(group[where])
    if "obs" not in group or "var" not in group:
        raise bad_file(path, "holds no AnnData, MuData or SpatialData")
    return open_backed(group) if backed else ad.read_zarr(path)


def _hdf5(path: Path, backed: bool, modality: str | None, var_names: str) -> ad.AnnData:
    """Read what the groups of the file say that it is, whatever its ending."""
    import h5py  # type: ignore[import-untyped]

    if not h5py.is_hdf5(path):
        raise bad_file(path, "is no HDF5 file, whatever its ending", "give it the ending it needs")
    with h5py.File(path, "r") as file:
        of_mudata = {name: set(file[name]) for name in _SEVERAL[:1] if name in file}
        where = _group_of(path, of_mudata, modality)
        if where is not None:
            return open_backed(h5py.File(path)[where]) if backed else _element(file[where])
        is_anndata = "obs" in file and "var" in file
        if is_anndata and backed and "encoding-type" in file.attrs and var_names == _SYMBOLS:
            return open_backed(h5py.File(path), path)
        genomes = [
            name for name, member in file.items() if "barcodes" in getattr(member, "keys", set)()
        ]
    if is_anndata:
        if var_names != _SYMBOLS:
            raise InvalidValue(
                "var_names", var_names, f"is for 10x Genomics, and {path} is AnnData"
            )
        return ad.read_h5ad(path, backed="r" if backed else None)
    if len(genomes) > 1:
        raise bad_file(
            path,
            f"holds several genomes ({listed(genomes)})",
            "write one of them, read with scanpy.read_10x_h5(..., genome=...), to an .h5ad",
        )
    if not genomes:
        raise bad_file(path, "holds no AnnData, MuData or matrix of 10x Genomics")
    return _tenx_h5(path, var_names)


def _group_of(
    path: Path, several: Mapping[str, Collection[str]], modality: str | None
) -> str | None:
    """Return the group of the one AnnData that is asked for; None: the file is one itself."""
    groups = {name: f"{group}/{name}" for group, names in several.items() for name in names}
    if modality is not None and modality not in groups:
        raise NotFound(
            "modality",
            modality,
            f"is not in {path}",
            f"choose from {listed(sorted(groups))}" if groups else "leave it out",
        )
    if len(groups) > 1 and modality is None:
        first, *_ = sorted(groups)
        raise bad_file(
            path,
            f"holds several matrices ({listed(sorted(groups))})",
            f"choose one, such as {arg('modality', first)}",
        )
    if several and not groups:
        raise bad_file(path, "holds no matrix of cells × genes")
    return groups[modality or next(iter(groups))] if groups else None


def _element(group: Any) -> ad.AnnData:
    adata = ad.io.read_elem(group)
    if not isinstance(adata, ad.AnnData):
        raise TypeError(f"{group.name} is no AnnData")
    return adata


def _refuse_external_links(path: Path) -> None:
    """Refuse an HDF5 file with links to other files, whose contents would come along."""
    import h5py

    def look(name: str, link: Any) -> None:
        if isinstance(link, h5py.ExternalLink):
            raise bad_file(
                path,
                f"has a link to another file ({name} to {link.filename})",
                "copy what is meant into the file",
            )

    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as file:
            file.visititems_links(look)


def _loom(path: Path) -> ad.AnnData:
    needs("A loom file", "loompy", "scanpy")
    import loompy
    import scanpy as sc

    names = {}
    with loompy.connect(path, "r") as file:
        for argument, kind, present in (
            ("var_names", _GENE, file.ra),
            ("obs_names", _CELL, file.ca),
        ):
            attributes = [name for name in kind if name in present.keys()]  # noqa: SIM118 - no mapping
            if not attributes:
                raise bad_file(path, "has no names", f"add one of the attributes {shown(*kind)}")
            names[argument] = attributes[0]
    return sc.read_loom(path, **names)


def _tenx_h5(path: Path, var_names: str) -> ad.AnnData:
    needs("A file of 10x Genomics", "scanpy")
    import scanpy as sc

    adata = sc.read_10x_h5(path)
    symbols = adata.var_names.to_numpy()
    adata.var_names = np.where(symbols == "", adata.var[_IDS], symbols)
    if var_names == _IDS:
        adata.var.insert(0, _SYMBOLS, adata.var_names.to_numpy())
        adata.var_names = adata.var.pop(_IDS).to_numpy()
    return adata


def _matrix_of(folder: Path) -> Path:
    """Return the one matrix in a folder; of several, that which is named so."""
    matrices = sorted(file for file in folder.iterdir() if _stem(file) is not None)
    called_matrix = [file for file in matrices if "matrix" in file.name]
    candidates = called_matrix or matrices
    if len(candidates) != 1:
        raise bad_file(
            folder,
            f"must hold one matrix ({shown(_MTX, f'{_MTX}.gz')}) or be a store of zarr, and holds "
            f"{listed([file.name for file in candidates]) if candidates else 'neither'}",
            "give the path of a file",
        )
    return candidates[0]


def _stem(path: Path) -> str | None:
    """Return the name of a matrix without its endings; None: it is none."""
    name = path.name.removesuffix(".gz")
    return name.removesuffix(_MTX) if name.endswith(_MTX) else None


def _mtx(path: Path, var_names: str) -> ad.AnnData:
    from scipy import io, sparse

    files = _files_of_names(path)
    matrix = io.mmread(path)
    texts = {kind: _texts(file, matrix.shape) for kind, file in files.items()}
    genes, cells = texts["genes"], texts["cells"]
    numbers = [str(number) for number in range(len(cells) + 1)]
    if cells.shape[1] > 1 and list(cells.iloc[:, 0]) in (numbers[:-1], numbers[1:]):
        cells = cells.iloc[:, 1:]
    if "symbols" in texts:
        genes = pd.concat([genes.iloc[:, :1], texts["symbols"]], axis=1, ignore_index=True)
    n_genes, n_cells = len(genes), len(cells)
    in_rows = matrix.shape == (n_cells, n_genes) and (
        n_cells != n_genes or _CELLS_IN_ROWS.match(str(_stem(path))) is not None
    )
    if not in_rows and matrix.shape != (n_genes, n_cells):
        raise bad_file(
            path,
            f"is a matrix of {matrix.shape[0]} × {matrix.shape[1]}, with {n_genes} genes in "
            f"{files['genes'].name} and {n_cells} cells in {files['cells'].name}",
            "give files that belong together, and are whole",
        )
    matrix = sparse.csr_matrix(matrix if in_rows else matrix.T, dtype=np.float32)
    ids, symbols = (genes.iloc[:, min(column, genes.shape[1] - 1)] for column in (0, 1))
    if all(map(is_id, symbols)) and not all(map(is_id, ids)):
        ids, symbols = symbols, ids
    symbols = symbols.where(symbols != "", ids)
    index, further = (ids, (_SYMBOLS, symbols)) if var_names == _IDS else (symbols, (_IDS, ids))
    var = pd.DataFrame(index=index.to_numpy())
    if genes.shape[1] > 1:
        var[further[0]] = further[1].to_numpy()
    for side, kind in ((var.index, "genes"), (cells.iloc[:, 0], "cells")):
        if "" in set(side):
            raise bad_file(path, f"has a line without a name in {files[kind].name}")
    adata = ad.AnnData(matrix, obs=pd.DataFrame(index=cells.iloc[:, 0].to_numpy()), var=var)
    if genes.shape[1] > 2:
        kinds = genes.iloc[:, 2].to_numpy()
        if (kinds == _EXPRESSION).any() or set(kinds) & _OTHERS:
            adata.var["feature_types"] = kinds
            adata = adata if (kinds == _EXPRESSION).all() else adata[:, kinds == _EXPRESSION].copy()
    return adata


def _files_of_names(path: Path) -> dict[str, Path]:
    """Return the files with the names of a matrix, which are called as it is."""
    stem = str(_stem(path))
    start, _, ending = stem.rpartition("matrix") if "matrix" in stem else (stem, "", "")
    files = sorted(path.parent.iterdir())
    paths: dict[str, Path] = {}
    for begin, end in ((start, ending), (stem, ""), (stem.partition(".")[0], "")):
        for kind, called in _NAMES.items():
            pattern = rf"{re.escape(begin)}[._-]?{called}{re.escape(end)}\.(tsv|txt|csv)(\.gz)?"
            matching = [file for file in files if re.fullmatch(pattern, file.name)]
            if matching:
                paths.setdefault(kind, matching[0])
    if missing := {"genes", "cells"} - paths.keys():
        raise bad_file(
            path,
            f"has no file with the names of its {' and '.join(sorted(missing))} beside it",
            "put features.tsv, or genes.tsv, and barcodes.tsv there, named as it is",
        )
    return paths


def _texts(path: Path, shape: tuple[int, int]) -> pd.DataFrame:
    """Return the columns of a file with the names on one side of a matrix, without a header."""
    separator = sheets.SEPARATORS.get(sheets.ending(path), "\t")
    with reading(path, path.name):
        frame = pd.read_csv(path, sep=separator, header=None, dtype=str, keep_default_na=False)
    frame = frame.map(sheets.stripped)
    if any(column.str.contains('"').any() for _, column in frame.iloc[:, :2].items()):
        raise bad_file(path, "has quotes within names", "separate its columns by tabs")
    is_headed = len(frame) - 1 in shape and sheets.plain(frame.iat[0, 0]) in _HEADS
    return frame[1:].reset_index(drop=True) if is_headed else frame


#: Stored values of a part of a sparse matrix.
_PART = 2**24
#: What is read into memory.
_IN_MEMORY = ("obs", "var", "uns", "obsm", "varm", "obsp", "varp")
_SPARSE = ("csr_matrix", "csc_matrix")


def open_backed(group: Any, path: Path | None = None) -> ad.AnnData:
    """Return the AnnData of a group of HDF5 or zarr, whose matrices are read as they are used.

    With the `path` of an ``.h5ad`` it is backed by this file.
    """
    content = {name: read_elem(group[name]) for name in _IN_MEMORY if name in group}
    layers = group.get("layers", {})
    content["layers"] = {name: _stored(layers[name]) for name in layers}
    raw_group = group.get("raw")
    if hasattr(raw_group, "keys"):  # and not written as none
        raw = {name: read_elem(raw_group[name]) for name in ("var", "varm") if name in raw_group}
        content["raw"] = raw if path else raw | {"X": _stored(raw_group["X"])}
    if path is not None:
        return ad.AnnData(**content, filename=path, filemode="r")
    return ad.AnnData(_stored(group["X"]) if "X" in group else None, **content)


def _stored(element: Any) -> Any:
    """A matrix where it is."""
    kind = element.attrs.get("encoding-type")
    if kind in _SPARSE:
        return sparse_dataset(element)
    return element if kind == "array" else read_elem(element)


def n_bytes(adata: ad.AnnData) -> int:
    """Bytes of the cells with what is not in memory, before a file packs it."""
    return int(adata.__sizeof__()) + sum(map(_size, _matrices(adata).values()))


def are_in_memory(adata: ad.AnnData) -> bool:
    """Whether all matrices are, so that anndata writes them."""
    return all(map(is_here, _matrices(adata).values()))


def write_in_parts(adata: ad.AnnData, path: Path) -> None:
    """Write cells to ``.h5ad`` or ``.zarr``, with matrices that are not in memory part by part."""
    adata.strings_to_categoricals()  # as anndata does
    if path.suffix.lower() == ".zarr":
        import zarr

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the setting goes with anndata 0.14
            version: Any = getattr(ad.settings, "zarr_write_format", 3)
        _fill(zarr.open_group(path, mode="w", zarr_format=version), adata)
        return
    import h5py

    with h5py.File(path, "w") as file:
        _fill(file, adata)


def _matrices(adata: ad.AnnData) -> dict[str, Any]:
    """Matrices of all cells by their places in a file."""
    matrices = {f"layers/{name}": adata.layers[name] for name in read.layers(adata)}
    if adata.X is not None:
        matrices["X"] = adata.X
    if adata.raw is not None:
        matrices["raw/X"] = adata.raw.X
    return matrices


def _size(matrix: Any) -> int:
    if is_here(matrix):
        return 0
    group = getattr(matrix, "group", None)
    if group is None:
        return int(np.prod(matrix.shape, dtype=np.int64) * matrix.dtype.itemsize)
    arrays = (group[name] for name in ("data", "indices", "indptr"))
    return sum(int(name.shape[0]) * int(name.dtype.itemsize) for name in arrays)


def _fill(root: Any, adata: ad.AnnData) -> None:
    """Write all parts to an empty file."""
    root.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
    for name in _IN_MEMORY:
        content = getattr(adata, name)
        write_elem(root, name, content if name in ("obs", "var") else dict(content))
    write_elem(root, "layers", {})
    if adata.raw is not None:
        write_elem(root, "raw", {"var": adata.raw.var, "varm": dict(adata.raw.varm)})
        root["raw"].attrs.update({"encoding-type": "raw", "encoding-version": "0.1.0"})
    for location, matrix in _matrices(adata).items():
        folder, _, name = location.rpartition("/")
        _put(root[folder] if folder else root, name, matrix)


def _put(root: Any, name: str, matrix: Any) -> None:
    """Write a matrix: HDF5 copies its own, anndata what is in memory or of dask."""
    stored = getattr(matrix, "group", matrix)
    if _is_hdf5(stored) and _is_hdf5(root):
        root.copy(stored, root, name)
    elif is_here(matrix) or hasattr(matrix, "dask"):
        write_elem(root, name, matrix)
    elif hasattr(matrix, "format"):
        blocks = _blocks(matrix)
        write_elem(root, name, next(blocks), dataset_kwargs={"indptr_dtype": np.int64})
        for block in blocks:
            sparse_dataset(root[name]).append(block)
    else:
        _put_dense(root, name, matrix)


def _is_hdf5(element: Any) -> bool:
    return type(element).__module__.partition(".")[0] == "h5py"


def _blocks(matrix: Any) -> Iterator[Any]:
    """A sparse matrix in a file, some rows or columns at a time."""
    by_rows = matrix.format == "csr"
    n_all = matrix.shape[0 if by_rows else 1]
    for begin, end in _pieces(matrix):
        yield matrix[begin:end] if by_rows else matrix[:, begin:end]
        progress = {"stage": "writing cells", "n_done": end, "n_all": n_all}
        log.info("%d of %d written", end, n_all, extra=progress)


def _pieces(stored: Any) -> Iterator[tuple[int, int]]:
    """Successive rows of a CSR in a file, or columns of a CSC: one, or many with few values."""
    pointers = np.asarray(stored.group["indptr"][:])
    begin, end = 0, len(pointers) - 1
    while begin < end:
        full = int(np.searchsorted(pointers, pointers[begin] + _PART, side="right")) - 1
        last = min(max(begin + 1, full), end)
        yield begin, last
        begin = last


def _put_dense(root: Any, name: str, matrix: Any) -> None:
    rows = max(1, DENSE_BLOCK // max(1, matrix.shape[1]))
    chunks = (min(rows, matrix.shape[0]), matrix.shape[1])
    create = root.create_array if hasattr(root, "create_array") else root.create_dataset
    array = create(name, shape=matrix.shape, dtype=matrix.dtype, chunks=chunks)
    array.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    for begin in range(0, matrix.shape[0], rows):
        array[begin : begin + rows] = matrix[begin : begin + rows]
