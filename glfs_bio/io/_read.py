"""Expression matrices, from the files that people have, and in files that are read part by part."""

from __future__ import annotations

import csv
import logging
import re
import warnings
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
import pandas as pd
from anndata.io import read_elem, sparse_dataset

from .. import checks
from .._anndata import read
from .._files import as_path, bad_file, is_zarr, reading
from ..checks import needs
from ..data.matrix import check_indices
from ..errors import FileMissing, InvalidValue, NotFound, listed, quoted, short
from ..vendors import sheets
from ..vendors.names import ANTIBODY, compiled, is_id

if TYPE_CHECKING:
    from pathlib import Path

    from .._typing import Array

log = logging.getLogger(__name__)

_HDF5 = (".h5ad", ".h5", ".h5mu")
_MTX, _MATRIX = ".mtx", re.compile(r".*matrix.*\.mtx(\.gz)?")
#: Groups of a store with several AnnData: of MuData, and of SpatialData, new and old.
_SEVERAL = ("mod", "tables", "table")
#: What files with the names of a matrix have in their name where it has matrix.
_NAMES = {"genes": "(features|genes)", "cells": "barcodes"}
#: What warnings say of names that are made unique here, and of mmread.
_NOISE = "(Variable|Observation) names are not unique|Suffix used"
_NOISE += "|The default value for `spmatrix`"
#: What may separate columns, by the ending.
_SEPARATORS = {".csv": ",;", ".tsv": "\t", ".txt": "\t;,"}
_ENDINGS = (*_HDF5, ".zarr", _MTX, *_SEPARATORS)
#: What lines begin with that are not of the table.
_COMMENTS = ("#", "!")
#: How the first cell is headed above cells and genes, and what numbers, places or describes them.
_HEADED = compiled("matrix")
#: Fewer numbers than these may be in order by chance.
_FEWEST_NUMBERED = 4
#: Numbers of a table that are read at a time.
_AT_ONCE = 4_000_000
#: How two columns of CosMx are headed that name a cell together.
_FIELD_OF_VIEW = "fovcellid"
#: What names of genes and of cells hold, and the share of names that says so: a genome has many
#: genes that no nomenclature names.
_GENES, _CELLS, _SHARE = ("symbols", "ids", "transcripts", "probes"), ("barcodes", "samples"), 0.5
#: The genome before a symbol, and what TCGA and 10x Genomics put behind it.
_AROUND = re.compile(r"^(hg|mm|GRCh|GRCm)\d+_+|\|.*$")
#: What is read into memory.
_IN_MEMORY = ("obs", "var", "uns", "obsm", "varm", "obsp", "varp")


def read_cells(
    path: str | Path,
    *,
    transpose: bool | None = None,
    backed: bool = False,
    modality: str | None = None,
) -> ad.AnnData:
    r"""Read a matrix of cells × genes from a file.

    Parameters
    ----------
    path : str or path
        File or folder:

        - ``.h5ad``, ``.zarr``: AnnData; a folder of zarr can have any name
        - ``.h5mu``, ``.zarr``: MuData, or the tables of SpatialData
        - ``.h5`` of 10x Genomics, genes only
        - ``matrix.mtx``, or its folder, with ``features.tsv`` or ``genes.tsv``, and
          ``barcodes.tsv``, genes only; all may be called after a sample, as ``GSM1_matrix.mtx``
        - ``.csv``, ``.tsv``, ``.txt``: a table with names in its first row and column, below
          comments (``#``, ``!``) alone.  Cells of CosMx's ``*_exprMat_file`` are ``fov_cell_ID``

        Tables can be packed (``.gz``, ``.bz2``, ``.xz``), as can ``.mtx`` (``.gz``).
    transpose : bool, default None
        The table has genes in its rows, as bulk data often have.  None: it has cells in its rows,
        or it is refused if its first cell or its names look otherwise, or like nothing.
    backed : bool, default False
        Leave the matrices of an ``.h5ad``, ``.h5mu`` or ``.zarr`` in the file.
    modality : str, default None
        Modality of MuData, or table of SpatialData.  None: the only one.

    Returns
    -------
    AnnData
        The cells; gene names that occur again get a number, and the log says which.  Genes of 10x
        Genomics are called by their symbols, and ``.var["gene_ids"]`` has their ids.

    Raises
    ------
    ValueError
        If a table does not show that it has cells in its rows: pass `transpose`.  If it has rows
        or columns without a name, or several cells of one name.

    Notes
    -----
    Names are text: ``001`` and ``NA`` stay what they are.  A table has cells in its rows if its
    first cell says so (``cell``, ``barcode``), or if its columns are symbols or ids of genes, or
    its rows barcodes or samples.  It is refused if these disagree, or say nothing.

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
    import zarr

    path = as_path(path)
    checks.flags(backed=backed, **({} if transpose is None else {"transpose": transpose}))
    checks.texts(modality=modality, or_none=True)
    if not path.exists():
        raise FileMissing(f"`path={short(path)}` does not exist: give the file or folder")
    ending = sheets.ending(path)
    if ending in (*_HDF5, ".zarr") and path.suffix.lower() in sheets.PACKED:
        raise bad_file(path, "is packed: unpack it first")
    if path.is_dir() and ending != ".zarr":
        ending = ".zarr" if is_zarr(path) else _MTX
    for argument, value, endings in (
        ("transpose", transpose, _SEPARATORS),
        ("backed", backed, (".h5ad", ".h5mu", ".zarr")),
        ("modality", modality, (".zarr", *_HDF5)),
    ):
        if value and ending not in endings:
            raise InvalidValue(f"`{argument}={short(value)}` is for {quoted(*endings)} alone")
    with reading(path, ending or "cells"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NOISE)
        if ending in _SEPARATORS:
            adata = _table(path, ending, transpose=transpose)
        elif ending == _MTX:
            adata = _mtx(_matrix_of(path) if path.is_dir() else path)
        elif ending == ".zarr":
            adata = _store(path, zarr.open_group(path, mode="r"), backed=backed, modality=modality)
        elif ending in _HDF5:
            adata = _hdf5(path, backed=backed, modality=modality)
        else:
            raise bad_file(path, f"must end with one of {quoted(*_ENDINGS)}, or be a folder")
        make_unique(adata, path)
    for matrix in (None if backed else adata.X, *map(adata.layers.get, read.layers(adata))):
        check_indices(matrix, "path", str(path))
    if adata.n_vars == 0:
        raise bad_file(path, "holds no genes")
    twice = adata.obs_names[adata.obs_names.duplicated()].unique()
    if len(twice):
        log.warning(f"{path} has several cells of one name: {listed(twice)}.")
    return adata


def make_unique(adata: ad.AnnData, path: Path) -> None:
    """Make gene names unique, and say which were not."""
    doubled = adata.var_names[adata.var_names.duplicated()].unique()
    if len(doubled):
        adata.var_names_make_unique()
        log.warning(f"{path} has several genes of one name, numbered as -1 now: {listed(doubled)}.")


def _store(path: Path, root: Any, *, backed: bool, modality: str | None) -> ad.AnnData:
    """Return the AnnData that a store is, or the one of several that is asked for."""
    members = [f"{group}/{name}" for group in _SEVERAL if group in root for name in root[group]]
    matching = [member for member in members if modality in (None, member.partition("/")[2])]
    names = listed(sorted(members))
    if modality is not None and not matching:
        raise NotFound(f"`modality={short(modality)}` is not in {path} ({names}): name another")
    if len(matching) > 1:
        raise bad_file(path, f"holds {names}: choose one with `modality`")
    if not matching and (not {"obs", "var"} <= set(root) or {*_SEVERAL} & set(root)):
        raise bad_file(path, "holds no AnnData, MuData or SpatialData with a matrix")
    if backed:
        return _open_backed(root[matching[0]] if matching else root)
    return read_elem(root[matching[0]]) if matching else ad.read_zarr(path)


def _hdf5(path: Path, *, backed: bool, modality: str | None) -> ad.AnnData:
    """Read what the groups of the file say that it is, whatever its ending."""
    import h5py  # type: ignore[import-untyped]

    with h5py.File(path) as file:
        _refuse_external_links(path, file)
        is_anndata = {"obs", "var"} <= set(file)
        if "mod" in file or modality is not None:
            root = h5py.File(path) if backed else file
            return _store(path, root, backed=backed, modality=modality)
        if is_anndata and backed and "encoding-type" in file.attrs:
            return _open_backed(h5py.File(path), path)
    if is_anndata:
        return ad.read_h5ad(path, backed="r" if backed else None)
    needs("A file of 10x Genomics", "scanpy")
    import scanpy as sc

    adata = sc.read_10x_h5(path)
    adata.var_names = np.where(adata.var_names == "", adata.var["gene_ids"], adata.var_names)
    return adata


def _refuse_external_links(path: Path, file: Any) -> None:
    """Refuse an HDF5 file with links to other files, whose contents would come along."""
    import h5py

    def look(name: str, link: Any) -> None:
        if isinstance(link, h5py.ExternalLink):
            raise bad_file(path, f"has {name} in {link.filename}: copy it into the file")

    file.visititems_links(look)


def _matrix_of(folder: Path) -> Path:
    """Return the one matrix in a folder."""
    matrices = sorted(file for file in folder.iterdir() if _MATRIX.fullmatch(file.name))
    if len(matrices) != 1:
        names = listed(file.name for file in matrices)
        raise bad_file(folder, f"must hold one matrix.mtx, or be zarr ({names}): give a file")
    return matrices[0]


def _mtx(path: Path) -> ad.AnnData:
    """Read a matrix of genes × cells with the names of its sides beside it."""
    from scipy import io, sparse

    files = {kind: _file_of_names(path, called) for kind, called in _NAMES.items()}
    matrix = io.mmread(path)
    genes, cells = map(_texts, files.values())
    if cells.shape[1] > 1 and sheets.kind_of([*cells[0], ""]) in ("row numbers", "flags"):
        cells = cells.iloc[:, 1:]
    shape = len(genes), len(cells)
    if matrix.shape not in (shape, shape[::-1]):
        sides = f"{shape[0]} in {files['genes'].name}, {shape[1]} in {files['cells'].name}"
        raise bad_file(path, f"is of size {matrix.shape}, not {sides}: give whole files, no heads")
    matrix = matrix.T if matrix.shape == shape else matrix
    ids, symbols = (genes.iloc[:, min(column, genes.shape[1] - 1)] for column in (0, 1))
    if all(map(is_id, symbols)) and not all(map(is_id, ids)):
        ids, symbols = symbols, ids
    names = symbols.where(symbols != "", ids).to_numpy()
    var = pd.DataFrame({"gene_ids": ids.to_numpy()} if genes.shape[1] > 1 else {}, index=names)
    for side, kind in ((var.index, "genes"), (cells.iloc[:, 0], "cells")):
        if "" in set(side):
            raise bad_file(path, f"has a line without a name in {files[kind].name}")
    obs = pd.DataFrame(index=cells.iloc[:, 0].to_numpy())
    adata = ad.AnnData(sparse.csr_matrix(matrix, dtype=np.float32), obs=obs, var=var)
    kinds = genes[2] if genes.shape[1] > 2 else pd.Series(dtype=object)
    is_gene = (kinds == sheets.EXPRESSION).to_numpy()
    if not is_gene.any():
        return adata[:, :0] if any(map(sheets.NO_GENES.fullmatch, kinds)) else adata
    adata.var["feature_types"] = kinds.to_numpy()
    return adata if is_gene.all() else adata[:, is_gene].copy()


def _file_of_names(path: Path, called: str) -> Path:
    """Return the file with names of one side of a matrix, which is called as it is."""
    start, _, end = path.name.removesuffix(".gz").removesuffix(_MTX).rpartition("matrix")
    pattern = rf"{re.escape(start)}{called}{re.escape(end)}\.(tsv|txt|csv)(\.gz)?"
    matching = [file for file in sorted(path.parent.iterdir()) if re.fullmatch(pattern, file.name)]
    if not matching or "matrix" not in path.name:
        raise bad_file(path, "must be called matrix.mtx, beside features.tsv and barcodes.tsv")
    return matching[0]


def _texts(path: Path) -> pd.DataFrame:
    """Return the columns of a file with the names on one side of a matrix, without a header."""
    separator = sheets.SEPARATORS.get(sheets.ending(path), "\t")
    with reading(path, path.name):
        frame = pd.read_csv(path, sep=separator, header=None, dtype=str, keep_default_na=False)
    frame = frame.map(sheets.clean)
    if any(column.str.contains('"').any() for _, column in frame.iloc[:, :2].items()):
        raise bad_file(path, "has quotes within names: separate its columns by tabs")
    return frame


def _open_backed(group: Any, path: Path | None = None) -> ad.AnnData:
    """Return AnnData whose matrices stay in a group of HDF5 or zarr, or in the ``.h5ad`` `path`."""
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
    """Return a matrix that stays where it is."""
    kind = element.attrs.get("encoding-type")
    if kind in ("csr_matrix", "csc_matrix"):
        return sparse_dataset(element)
    return element if kind == "array" else read_elem(element)


def _table(path: Path, ending: str, *, transpose: bool | None) -> ad.AnnData:
    """Read a table as cells × genes; None: its rows must be known to be cells."""
    corner, columns, rows, matrix = _parsed(path, ending)
    while rows and rows[-1][:1] in ("", *_COMMENTS) and np.isnan(matrix[len(rows) - 1]).all():
        rows = rows[:-1]
    matrix = matrix[: len(rows)]
    for side, texts in (("row", rows), ("column", columns)):
        wrong = [at for at, text in enumerate(texts) if not text or "\n" in text]
        if wrong:
            position = f"{side} {wrong[0] + 1}, behind {listed(texts[: wrong[0]][-1:])}"
            raise bad_file(path, f"has no name, or an open quote, in {position}: mend it")
    if transpose is None:
        check_way_round(path, corner, rows, columns)
    cells, genes = (columns, rows) if transpose else (rows, columns)
    matrix = matrix.T if transpose else matrix
    _check_names(path, genes, cells if transpose else [], matrix)
    is_cosmx = sheets.plain(corner) == _FIELD_OF_VIEW
    is_cell = np.array([not is_cosmx or not cell.endswith("_0") for cell in cells])
    is_gene = np.array([not gene.endswith(ANTIBODY) for gene in genes])
    obs, var = (pd.DataFrame(index=pd.Index(side, dtype=object)) for side in (cells, genes))
    twice = obs.index[obs.index.duplicated() & is_cell].unique()
    if len(twice):
        raise bad_file(path, f"has several cells of one name ({listed(twice)}): give each its own")
    for is_in, text in ((is_cell, "rows of cell_ID 0, outside of cells"), (is_gene, "antibodies")):
        if not is_in.all():
            log.warning(f"{path} has {(~is_in).sum()} {text}, which are left out.")
    adata = ad.AnnData(matrix, obs=obs, var=var)
    return adata if is_cell.all() and is_gene.all() else adata[is_cell, is_gene].copy()


def _parsed(path: Path, ending: str) -> tuple[str, list[str], list[str], Array]:
    """Return how the names of the rows are headed, the other heads, the names, and the numbers.

    The header is the first line that is no comment.  It has a name for every column, or one fewer,
    as R writes it, which is then ``""``.
    """
    rows, blocks = list[str](), list[Any]()
    with sheets.opened(path) as file:
        lines = ((number, line.rstrip("\n")) for number, line in enumerate(file, start=1))
        of_table = (line for line in lines if line[1].strip() and line[1][0] not in _COMMENTS)
        number, header = next(of_table, (0, ""))
        if "\0" in header or header.count('"') % 2:
            raise bad_file(path, f"has an open quote in line {number}, or is no UTF-8: mend it")
        marks = [mark for mark in _SEPARATORS[ending] if len(_fields(header, mark)) > 1]
        names = list(map(sheets.clean, _fields(header, marks[0]))) if marks else [""]
        if not names[-1]:
            text = f"has no header of columns in line {number}: write # before titles"
            raise bad_file(path, f"{text}, and {quoted(*_SEPARATORS[ending])} between columns")
        n_keys = 1 + (sheets.plain("_".join(names[:2])) == _FIELD_OF_VIEW)
        for chunk in pd.read_csv(
            file,
            sep=marks[0],
            header=None,
            converters=dict.fromkeys(range(n_keys), sheets.clean),
            chunksize=max(1, _AT_ONCE // len(names)),
            low_memory=False,  # chunks are small already
        ):
            if len(names) == chunk.shape[1] - 1 and chunk.iloc[:, -1].notna().any():
                names = ["", *names]
            _check_header(path, number, names, chunk.shape[1])
            keys = [chunk.pop(column).astype(object).fillna("") for column in range(n_keys)]
            rows += map("_".join, zip(*keys, strict=True))
            blocks.append(_numbers(path, chunk, names, rows))
    return "_".join(names[:n_keys]), names[n_keys:], rows, np.concatenate(blocks)


def _fields(line: str, separator: str) -> list[str]:
    """Return the fields of a line."""
    return next(csv.reader([line], delimiter=separator), []) if separator in line else [line]


def _check_header(path: Path, number: int, names: list[str], n_columns: int) -> None:
    """Refuse a header of other columns than those below it, or of numbers."""
    if len(names) != n_columns:
        text = f"has {len(names)} names in line {number}, and {n_columns} columns below"
        raise bad_file(path, f"{text}: write # before titles, and end no line with a separator")
    corner, *columns = names
    is_head = not corner or _HEADED["cells"].fullmatch(sheets.plain(corner)) or says_genes(corner)
    if not is_head and (_side([corner]) > 0 or sheets.kind_of(columns) in sheets.NUMERIC):
        raise bad_file(path, f"has no header in line {number}, but {corner}: add one")


def _numbers(path: Path, frame: pd.DataFrame, heads: list[str], rows: list[str]) -> Array:
    """Return the values of a part of a table, whose axes count the columns and the rows."""
    texts = frame.select_dtypes(exclude="number")
    if len(texts.columns) and set(frame.dtypes) != {np.dtype(bool)}:
        first, columns = texts.iloc[:, 0].dropna(), listed(heads[at] for at in texts)
        row = pd.to_numeric(first.astype(str), errors="coerce").isna().idxmax()
        text = f"has texts in columns ({columns}), as {first[row]!r} in row {rows[row]}"
        raise bad_file(path, f"{text}: remove them, or write numbers with points")
    return np.asarray(frame, dtype=np.float64)


def _check_names(path: Path, genes: list[str], cells: list[str], matrix: Array) -> None:
    """Refuse what numbers, places or describes cells or genes."""
    wrong = [name for name in genes if _HEADED["of cells"].fullmatch(sheets.plain(name))]
    wrong += [name for name in cells if _HEADED["of genes"].fullmatch(sheets.plain(name))]
    placed = [name for name in genes if name.casefold() in ("x", "y")]  # either alone may be a gene
    wrong += placed if len(placed) > 1 else []
    if len(matrix) > _FEWEST_NUMBERED:  # 0, 1, 2, … or 1, 2, 3, …
        ends = np.isin(matrix[0], (0, 1)) & (matrix[-1] - matrix[0] == len(matrix) - 1)
        wrong += [genes[at] for at in np.flatnonzero(ends) if (np.diff(matrix[:, at]) == 1).all()]
    if wrong:
        names = listed(dict.fromkeys(wrong))
        raise bad_file(path, f"has columns that are no genes ({names}): remove them")


def check_way_round(path: Path, corner: str, rows: list[str], columns: list[str]) -> None:
    """Refuse a table whose rows are not known to be cells: by its first cell, and by names."""
    by_corner = (_HEADED["cells"].fullmatch(sheets.plain(corner)) is not None) - says_genes(corner)
    by_rows = -_side(rows)
    if by_corner + by_rows > 1 or by_corner + np.sign(_side(columns) + by_rows) > 0:
        return
    text = f"may have genes in its rows ({listed(rows[:4], 3)}), not ({listed(columns[:4], 3)})"
    raise bad_file(path, f"{text}: pass `transpose=True` if so, or else `transpose=False`")


def check_genes_in_rows(rows: list[str], columns: list[str]) -> None:
    """Refuse a matrix whose names say that its rows are cells: one of R has genes there."""
    if _side(columns) > _side(rows):
        raise InvalidValue(f"`adata` has cells in its rows ({listed(rows[:4], 3)}): transpose it")


def says_genes(corner: str) -> bool:
    """Whether a first cell says that genes are below it."""
    return _HEADED["genes"].fullmatch(sheets.plain(corner)) is not None


def _side(names: list[str]) -> int:
    """Return 1 for names of genes, −1 for names of cells, 0 for others."""
    kind = sheets.kind_of((_AROUND.sub("", name) for name in names), _SHARE)
    return (kind in _GENES) - (kind in _CELLS)
