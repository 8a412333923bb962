"""Files of a command: what is checked before anything is loaded, read, and written.

``-`` on the command line is stdin or stdout.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import glfs_bio

from .. import _files
from .._files import existing, reading, reason
from ..errors import (
    FileRefused,
    InvalidValue,
    Refusal,
    naming,
    printable,
    short,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from anndata import AnnData

#: Endings of files of cells, and of tables with what is between their columns.
CELLS = (".h5ad", ".zarr")
TABLES = {".csv": ",", ".tsv": "\t"}
#: Endings of what stdin holds, by its first two bytes: HDF5, or a table, packed or not.
_BY_BYTES = {b"\x89H": ".h5", b"\x1f\x8b": ".txt.gz"}


def is_stream(path: Path | None) -> bool:
    """Return whether ``-`` stands for a file."""
    return path is not None and str(path) == "-"


def load(source: Path, *, log1p: bool = False, backed: bool = False, **options: Any) -> AnnData:
    """Read the cells, and make logarithms of counts where that was asked for."""
    if backed and (log1p or is_stream(source)):
        text = "`backed` leaves the matrix in its file, which stdin is not and `log1p` would change"
        raise InvalidValue(f"{text}: leave one out")
    with _file_of(source) as file:
        adata = glfs_bio.io.read_cells(file, backed=backed, **options)
    if log1p:
        import scanpy as sc

        from .._anndata import read

        if not read.may_be_counts(read.row_matrix(adata)):
            text = "`log1p` is for counts, and `adata.X` has values like logarithms, or below 0"
            raise InvalidValue(f"{text}: leave `log1p` out")
        sc.pp.normalize_total(adata)
        sc.pp.log1p(adata)
    return adata


@contextmanager
def _file_of(source: Path) -> Iterator[Path]:
    """Yield the file; for stdin one that holds it, with the ending of what it looks like."""
    if not is_stream(source):
        yield source
        return
    with tempfile.TemporaryDirectory() as folder:
        first = sys.stdin.buffer.read(2)
        path = Path(folder) / f"stdin{_BY_BYTES.get(first, '.txt')}"
        with _files.replacing(path) as name, name.open("wb") as file:
            file.write(first)
            shutil.copyfileobj(sys.stdin.buffer, file)
        with _naming_stream(path, "stdin"):
            yield path


@contextmanager
def _naming_stream(path: Path, stream: str) -> Iterator[None]:
    """Name the stream in refusals of the file that holds what it has."""
    try:
        yield
    except Refusal as refusal:
        refusal.args = (str(refusal).replace(str(path), stream),)
        raise


def cells_or_table(text: str, argument: str) -> Any:
    """Return the cells of a file, or its table; another text as it is."""
    ending = Path(text).suffix.lower()
    if ending in CELLS:
        return load(Path(text))
    if ending not in TABLES:
        return text
    import pandas as pd

    with naming(path=argument), reading(text, "a table", argument):
        return pd.read_csv(existing(text), sep=TABLES[ending], index_col=0)


@contextmanager
def replacing(target: Path, ending: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield a name to write to, of what takes the place of the file, or goes to stdout."""
    if not is_stream(target):
        with _files.replacing(target, overwrite=overwrite) as name:
            yield name
        return
    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / f"stdout{ending}"
        with _naming_stream(name, "stdout"):
            yield name
        with name.open("rb") as content:
            shutil.copyfileobj(content, stdout().buffer)


def stdout() -> Any:
    """Return stdout, or say that there is none, as after ``>&-``."""
    if sys.stdout is None or sys.stdout.closed:
        raise FileRefused("`output='-'` is stdout, which is closed: name a file")
    return sys.stdout


def put_cells(adata: AnnData, target: Path, *, overwrite: bool) -> None:
    """Write the annotated cells to a file, or as h5ad to stdout."""
    with replacing(target, ".h5ad", overwrite=overwrite) as name:
        write = adata.write_zarr if name.suffix.lower() == ".zarr" else adata.write_h5ad
        try:
            write(name)
        except (OSError, RuntimeError) as error:  # HDF5 raises either where the disk fills up
            text = f"`output={short(target)}` cannot be written: {reason(error)}"
            raise FileRefused(text) from error


def put_table(frame: pd.DataFrame, target: Path, *, overwrite: bool) -> None:
    """Write a table to a file, or with tabs to stdout, with seven digits."""
    separator = TABLES.get(target.suffix.lower(), "\t")
    frame = frame.map(lambda value: printable(value) if isinstance(value, str) else value)
    content = frame.to_csv(sep=separator, index=False, lineterminator="\n", float_format="%.7g")
    with replacing(target, ".tsv", overwrite=overwrite) as name:
        name.write_text(content, encoding="utf-8")
