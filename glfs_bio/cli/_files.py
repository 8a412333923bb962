"""Files of a command: what is checked before anything is loaded, read, and written."""

from __future__ import annotations

import re
import shutil
import sys
from typing import TYPE_CHECKING

import glfs_bio

from . import _streams as streams
from ._run import now

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData

#: Endings of files of cells.
CELLS = (".h5ad", ".zarr")
_TABLES = {".csv": ",", ".tsv": "\t"}


def check_files(
    *sources: Path,
    overwrite: bool,
    cells: Path | None = None,
    cells_are: str = "--output",
    table: Path | None = None,
    text: Path | None = None,
    **tables: Path | None,
) -> None:
    """Refuse, before anything is loaded, what cannot be read or written; `tables` by their options.

    Raises
    ------
    OSError, ValueError
        A source that is not there; a target that must not be replaced, has another ending or no
        folder; several targets that are stdout.
    """
    from .._files import check_target

    for source in sources:
        if not streams.is_one(source) and not source.exists():
            msg = f"{source} does not exist: name a file or folder that is there."
            raise FileNotFoundError(msg)
    tables = {"table": table, **tables}
    every = [(f"--{name.replace('_', '-')}", target, _TABLES) for name, target in tables.items()]
    to_stdout = ["--genes"] if streams.is_one(text) else []
    for option, target, endings in ((cells_are, cells, CELLS), *every):
        if streams.is_one(target):
            to_stdout.append(option)
        elif target is not None and target.suffix.lower() not in endings:
            msg = f"{option} {target} must end with {' or '.join(endings)}."
            raise ValueError(msg)
    if len(to_stdout) > 1:
        msg = f"{' and '.join(to_stdout)} are both -, which is stdout: write one to a file."
        raise ValueError(msg)
    for target in (cells, *tables.values(), text):
        if target is not None and not streams.is_one(target):
            check_target(target, overwrite=overwrite)


def load(
    source: Path, *, transpose: bool | None = False, log1p: bool = False, backed: bool = False
) -> AnnData:
    """Read the cells, and make logarithms of counts where that was asked for.

    Raises
    ------
    OSError, ImportError, ValueError
        As :func:`glfs_bio.io.read_cells`; logarithms of what holds logarithms already, or is to
        stay in a file; stdin that is to stay in a file.
    """
    if log1p and backed:
        msg = "--log1p changes the matrix, which --backed leaves in the file: choose one."
        raise ValueError(msg)
    if backed and streams.is_one(source):
        msg = "--backed leaves the matrix in its file, and stdin is none: name the file."
        raise ValueError(msg)
    with streams.file_of(source) as file:
        adata = glfs_bio.io.read_cells(file, transpose=transpose, backed=backed)
    if log1p:
        _take_logarithms(adata)
    return adata


def _take_logarithms(adata: AnnData) -> None:
    """Normalise the totals of counts, and take logarithms.

    Raises
    ------
    ValueError
        Negative values, or what looks like logarithms.
    """
    import scanpy as sc

    from .._anndata import read

    if not read.may_be_counts(read.matrix(adata)):
        msg = (
            "--log1p is for counts, and X holds negative values, or decimal numbers that are as "
            "small as logarithms: leave --log1p out."
        )
        raise ValueError(msg)
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)


def put_cells(adata: AnnData, target: Path, *, overwrite: bool) -> None:
    """Write the annotated cells to a file, or as h5ad to stdout, where then nothing else goes.

    Raises
    ------
    OSError
        There is no room, which is told beforehand where it is known; or the writing failed.
    """
    room = shutil.disk_usage(target.parent).free
    if room < adata.__sizeof__():
        msg = f"{target} needs {adata.__sizeof__():.3g} bytes, and there is room for {room:.3g}."
        raise OSError(msg)
    with streams.replacing(target, ".h5ad", overwrite=overwrite) as name:
        write = adata.write_zarr if name.suffix.lower() == ".zarr" else adata.write_h5ad
        try:
            write(name)
        except (OSError, RuntimeError) as error:  # HDF5 raises either where the disk fills up
            said = re.search("error message = '([^']+)'", str(error))
            msg = f"{target} cannot be written: {said[1] if said else error}"
            raise OSError(msg) from error


def put_table(frame: pd.DataFrame, target: Path | None, *, overwrite: bool) -> None:
    """Write a table to a file, or to stdout with tabs."""
    if target is None or streams.is_one(target):
        if not now().stdout_is_taken:
            frame.to_csv(sys.stdout, sep="\t", index=False)
        return
    with glfs_bio.io.replacing(target, overwrite=overwrite) as name:
        separator = _TABLES[target.suffix.lower()]
        frame.to_csv(name, sep=separator, index=False, encoding="utf-8")


def put_names(names: Iterable[str], target: Path | None, *, overwrite: bool) -> None:
    """Write names of genes to a file or to stdout, one a line."""
    listing = "".join(f"{name}\n" for name in names)
    if target is None or streams.is_one(target):
        if not now().stdout_is_taken:
            sys.stdout.write(listing)
        return
    with glfs_bio.io.replacing(target, overwrite=overwrite) as name:
        name.write_text(listing, encoding="utf-8")
