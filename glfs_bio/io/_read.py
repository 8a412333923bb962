"""Expression matrices, from the files that people have."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import warnings
from functools import cache, partial
from io import BufferedReader, FileIO
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
import pandas as pd

from .. import checks
from .._anndata import names
from .._extras import needs
from .._files import as_path, reading
from ..data.matrix import check_indices
from ..errors import FileMissing, InvalidValue, arg, listed, shown
from ..vendors.sheets import SEPARATORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_SEPARATORS = {**SEPARATORS, ".txt": "\t"}
_PACKED: dict[str, Any] = {".gz": gzip.GzipFile, ".bz2": bz2.BZ2File, ".xz": lzma.LZMAFile}
_HDF5 = {".h5ad", ".h5", ".loom"}
#: Attributes of a loom file with the names: its own, and those that AnnData writes.
_GENE, _CELL = ("Gene", "var_names"), ("CellID", "obs_names")
_MATRIX = ("matrix.mtx", "matrix.mtx.gz")
#: Ids of Ensembl, of NCBI without a symbol, and of probe sets; names that say what they are.
_LIKE_A_GENE = re.compile(
    r"ENS[A-Z]*G\d{11}(\.\d+)?|LOC\d{5,}|(AFFX-)?\w+_at|ILMN_\d+|gene[-_. ]?\d+", re.IGNORECASE
)
#: Barcodes, with what is put around them; accessions of samples; names that say what they are.
_LIKE_A_CELL = re.compile(
    r"(.*[^A-Za-z])?[ACGT]{10,}([^A-Za-z].*)?|(GSM|SRR|ERR|SAMN|TCGA-).+"
    r"|(cell|sample|barcode|patient)[-_. ]?\d+",
    re.IGNORECASE,
)
#: Genes of families, on one side and none on the other, that are no chance.
_FEWEST = 3


def read_cells(
    path: str | Path, *, transpose: bool | None = None, backed: bool = False
) -> ad.AnnData:
    r"""Read a matrix of cells × genes from a file.

    Parameters
    ----------
    path : str or path
        File or folder; its ending is the format:

        - ``.h5ad``, ``.zarr``: AnnData
        - ``.loom``: loom, with the package ``loompy``
        - ``.h5``, or a folder or file ``matrix.mtx``, with or without a prefix and ``.gz``: 10x
          Genomics, genes only
        - ``.csv``, ``.tsv``, ``.txt``, with or without ``.gz``: a table with names in its first row
          and column; with semicolons between columns, a comma can be the decimal point
    transpose : bool, default None
        The table has genes in its rows, as bulk data often have.  None: it has cells in its rows,
        or it is refused if the names look otherwise.
    backed : bool, default False
        Leave the matrix of an ``.h5ad`` in the file.

    Returns
    -------
    AnnData
        The cells, with unique gene names.

    Raises
    ------
    ValueError
        If a table seems to have genes in its rows: pass `transpose`.

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
    if not path.exists():
        raise FileMissing(
            "path", str(path), "does not exist", "give the file or folder with the cells"
        )
    ending = path.with_suffix("").suffix if path.suffix.lower() in _PACKED else path.suffix
    ending = ending.lower()
    if transpose and ending not in _SEPARATORS:
        raise InvalidValue(
            "transpose", transpose, f"is for tables ({shown(*_SEPARATORS)}), and {path} is none"
        )
    if backed and ending != ".h5ad":
        raise InvalidValue("backed", backed, f"is for .h5ad, and {path} is none")
    reader = partial(ad.read_h5ad, backed="r") if backed else _reader(path, ending)
    with reading(path, ending or "a folder of 10x"):
        if ending in _HDF5 and path.is_file():
            _refuse_external_links(path)
        adata = reader(path)
    for matrix in (None if backed else adata.X, *adata.layers.values()):
        check_indices(matrix, "path", str(path))
    if 0 in adata.shape:
        raise InvalidValue("path", str(path), "holds no cells, or no genes")
    if (
        transpose is None
        and ending in _SEPARATORS
        and genes_in_rows(adata.obs_names, adata.var_names)
    ):
        raise InvalidValue(
            "path",
            str(path),
            f"seems to have genes in its rows ({listed(adata.obs_names, 3)}) and cells in its "
            f"columns ({listed(adata.var_names, 3)})",
            f"pass {arg('transpose', True)}, or {arg('transpose', False)} if its rows are cells",
        )
    return adata.T if transpose else adata


def _reader(path: Path, ending: str) -> Callable[[Path], ad.AnnData]:
    if path.is_dir() and ending != ".zarr":
        return _mtx_folder
    if path.name.endswith(_MATRIX):
        return _mtx
    readers: dict[str, Callable[[Path], ad.AnnData]] = {
        ".h5ad": ad.read_h5ad,
        ".zarr": ad.read_zarr,
        ".loom": _loom,
        ".h5": _tenx_h5,
    }
    readers |= dict.fromkeys(_SEPARATORS, _table)
    if ending not in readers:
        raise InvalidValue(
            "path",
            str(path),
            "has an unknown ending",
            f"give a file {shown(*readers, *_MATRIX)}, or a folder of 10x Genomics",
        )
    return readers[ending]


def _table(path: Path) -> ad.AnnData:
    ending = next(ending for ending in reversed(path.suffixes) if ending.lower() in _SEPARATORS)
    separator = _SEPARATORS[ending.lower()]
    if separator == "," and _has_semicolons(path):
        separator = ";"
    frame = pd.read_csv(path, sep=separator, index_col=0)
    if separator == ";" and _words(frame):
        frame = pd.read_csv(path, sep=separator, decimal=",", index_col=0)
    if frame.empty:
        raise InvalidValue(
            "path",
            str(path),
            "has no columns of numbers",
            "separate columns of .csv by commas or semicolons, of .tsv and .txt by tabs",
        )
    if words := _words(frame):
        raise InvalidValue(
            "path", str(path), "has columns that are not numeric", f"remove {listed(words)}"
        )
    frame.index, frame.columns = frame.index.astype(str), frame.columns.astype(str)
    return ad.AnnData(
        frame.to_numpy(dtype=np.float64),
        obs=pd.DataFrame(index=frame.index.rename(None)),
        var=pd.DataFrame(index=frame.columns.rename(None)),
    )


def _words(frame: pd.DataFrame) -> list[str]:
    """Return the columns that are not numeric."""
    return list(frame.select_dtypes(exclude=["number", "bool"]))


def _has_semicolons(path: Path) -> bool:
    """Return whether the first line has more semicolons than commas."""
    opened = _PACKED.get(path.suffix.lower(), FileIO)
    with BufferedReader(opened(path, "rb")) as file:
        line = file.readline()
    return line.count(b";") > line.count(b",")


def _refuse_external_links(path: Path) -> None:
    """Refuse an HDF5 file with links to other files, whose contents would come along."""
    import h5py  # type: ignore[import-untyped]

    def look(name: str, link: Any) -> None:
        if isinstance(link, h5py.ExternalLink):
            raise InvalidValue(
                "path",
                str(path),
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
            found = [name for name in kind if name in present.keys()]  # noqa: SIM118 - no mapping
            if not found:
                raise InvalidValue(
                    "path", str(path), "has no names", f"add one of the attributes {shown(*kind)}"
                )
            names[argument] = found[0]
    return _unique(sc.read_loom, path, **names)


def _tenx_h5(path: Path) -> ad.AnnData:
    needs("A file of 10x Genomics", "scanpy")
    import scanpy as sc

    return _unique(sc.read_10x_h5, path)


def _unique(reader: Callable[..., ad.AnnData], path: Path, **options: str) -> ad.AnnData:
    """Read a file, and make gene names unique."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Variable names are not unique", UserWarning)
        adata = reader(path, **options)
    adata.var_names_make_unique()
    return adata


def _mtx_folder(path: Path) -> ad.AnnData:
    found = sorted(file for file in path.iterdir() if file.name.endswith(_MATRIX))
    if len(found) != 1:
        raise InvalidValue(
            "path",
            str(path),
            f"must be a folder with one of {shown(*_MATRIX)}, and has {len(found)} of them",
        )
    return _mtx(found[0])


def _mtx(path: Path) -> ad.AnnData:
    needs("A file of 10x Genomics", "scanpy")
    import scanpy as sc

    prefix = path.name[: path.name.rindex(_MATRIX[0])]
    return sc.read_10x_mtx(path.parent, prefix=prefix or None)


def genes_in_rows(rows: Iterable[str], columns: Iterable[str]) -> bool:
    """Return whether row names look like genes, or column names like cells.

    Names of neither kind do not count.
    """
    rows, columns = list(rows), list(columns)
    genes = _share(rows, _LIKE_A_GENE), _share(columns, _LIKE_A_GENE)
    cells = _share(rows, _LIKE_A_CELL), _share(columns, _LIKE_A_CELL)
    if max(genes) > 0.5 or max(cells) > 0.5:
        return genes[0] + cells[1] > genes[1] + cells[0]
    return _members(rows) >= _FEWEST and _members(columns) == 0


def _share(names: list[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.fullmatch(name) is not None for name in names) / max(len(names), 1)


def _members(names: list[str]) -> int:
    """How many are in families of genes, of which every genome has some hundred."""
    return sum(name.upper() in _symbols() for name in names)


@cache
def _symbols() -> frozenset[str]:
    return frozenset().union(*(names.family(name).symbols for name in names.SOURCES))
