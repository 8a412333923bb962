"""Expression matrices, from the files that people have."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import pandas as pd

from .. import checks
from .._anndata.read import listed
from .._extras import needs
from .._files import as_path
from ._sides import genes_in_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
_PACKED = {".gz", ".bz2", ".xz"}
#: Attributes of a loom file with the names: its own, and those that AnnData writes.
_GENE, _CELL = ("Gene", "var_names"), ("CellID", "obs_names")
_MATRIX = ("matrix.mtx", "matrix.mtx.gz")


def read_cells(
    path: str | Path, *, transpose: bool | None = None, backed: bool = False
) -> ad.AnnData:
    r"""Read a matrix of cells × genes; the ending of `path` says how.

    Parameters
    ----------
    path
        ``.h5ad``; ``.zarr``; ``.loom``, which needs the package ``loompy``; ``.h5`` of 10x Genomics
        (genes only); a folder of 10x Genomics with ``matrix.mtx``, or that file, with or without
        ``.gz`` and a prefix; or a table, ``.csv`` with commas or semicolons, ``.tsv`` or ``.txt``
        with tabs, with or without ``.gz``, whose first row and column are names.  Where semicolons
        stand between columns, a comma may be the decimal point.
    transpose
        Whether the table has genes in its rows, as bulk data often have.  None: it has cells there,
        and a table whose names say otherwise is refused.
    backed
        Leave the matrix of an ``.h5ad`` in the file, which may be larger than memory.

    Returns
    -------
    The cells, in memory unless `backed`.  Gene names of 10x Genomics and of loom files are made
    unique.

    Raises
    ------
    FileNotFoundError
        No such file or folder.
    ImportError
        A loom file without ``loompy``, or a file of 10x Genomics without ``scanpy``.
    ValueError
        A file of another kind, or one that cannot be read; a table that seems to have genes in its
        rows; `transpose` for what is not a table, `backed` for what is not ``.h5ad``.

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
        msg = f"{path} does not exist: give the file or folder with the cells."
        raise FileNotFoundError(msg)
    ending = path.with_suffix("").suffix if path.suffix.lower() in _PACKED else path.suffix
    ending = ending.lower()
    if transpose and ending not in _SEPARATORS:
        msg = f"transpose is for tables ({', '.join(_SEPARATORS)}), and {path} is none."
        raise ValueError(msg)
    if backed and ending != ".h5ad":
        msg = f"backed is for .h5ad, and {path} is none."
        raise ValueError(msg)
    reader = partial(ad.read_h5ad, backed="r") if backed else _reader(path, ending)
    try:
        adata = reader(path)
    except (OSError, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        msg = f"{path} cannot be read as {ending or 'a folder of 10x'}: {error}"
        raise ValueError(msg) from error
    if 0 in adata.shape:
        msg = f"{path} holds no cells, or no genes: it has the shape {adata.shape}."
        raise ValueError(msg)
    if (
        transpose is None
        and ending in _SEPARATORS
        and genes_in_rows(adata.obs_names, adata.var_names)
    ):
        msg = (
            f"{path} seems to have genes in its rows ({listed(adata.obs_names[:3])}) and cells in "
            f"its columns ({listed(adata.var_names[:3])}): pass transpose=True, or transpose=False "
            "if its rows are cells."
        )
        raise ValueError(msg)
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
        msg = (
            f"{path} has an ending that is not known: it must be one of "
            f"{', '.join([*readers, *_MATRIX])}, or a folder of 10x Genomics."
        )
        raise ValueError(msg)
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
        msg = (
            "it has no columns of numbers; .csv is split at commas or semicolons, .tsv and .txt at "
            "tabs"
        )
        raise ValueError(msg)
    if words := _words(frame):
        msg = f"columns that are not numbers: {listed(words)}"
        raise ValueError(msg)
    frame.index, frame.columns = frame.index.astype(str), frame.columns.astype(str)
    return ad.AnnData(
        frame.to_numpy(dtype=np.float64),
        obs=pd.DataFrame(index=frame.index.rename(None)),
        var=pd.DataFrame(index=frame.columns.rename(None)),
    )


def _words(frame: pd.DataFrame) -> list[str]:
    """Columns that are not numbers."""
    return [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]


def _has_semicolons(path: Path) -> bool:
    """Whether the first line is to be split at semicolons, as where commas are decimal points."""
    line = ",".join(pd.read_csv(path, nrows=0).columns)
    return line.count(";") > line.count(",")


def _loom(path: Path) -> ad.AnnData:
    needs(str(path), "loompy", "scanpy")
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
                msg = f"it has no names: neither {' nor '.join(kind)} is there"
                raise ValueError(msg)
            names[argument] = found[0]
    return _unique(sc.read_loom, path, **names)


def _tenx_h5(path: Path) -> ad.AnnData:
    needs(str(path), "scanpy")
    import scanpy as sc

    return _unique(sc.read_10x_h5, path)


def _unique(reader: Callable[..., ad.AnnData], path: Path, **options: str) -> ad.AnnData:
    """What it reads, with names of genes that are unique."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Variable names are not unique", UserWarning)
        adata = reader(path, **options)
    adata.var_names_make_unique()
    return adata


def _mtx_folder(path: Path) -> ad.AnnData:
    found = sorted(file for file in path.iterdir() if file.name.endswith(_MATRIX))
    if len(found) != 1:
        names = listed(file.name for file in found) if found else "none"
        msg = f"it must have one file {' or '.join(_MATRIX)}, and has {names}"
        raise ValueError(msg)
    return _mtx(found[0])


def _mtx(path: Path) -> ad.AnnData:
    needs(str(path), "scanpy")
    import scanpy as sc

    prefix = path.name[: path.name.rindex(_MATRIX[0])]
    return sc.read_10x_mtx(path.parent, prefix=prefix or None)
