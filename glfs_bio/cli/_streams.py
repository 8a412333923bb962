"""stdin and stdout as files: ``-`` on the command line."""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import glfs_bio

from ._run import now

if TYPE_CHECKING:
    from collections.abc import Iterator

_HDF5 = b"\x89HDF\r\n\x1a\n"
_GZIP = b"\x1f\x8b"


def is_one(path: Path | None) -> bool:
    """Whether ``-`` was given in place of a file."""
    return path is not None and str(path) == "-"


@contextmanager
def file_of(source: Path) -> Iterator[Path]:
    """The file itself; for stdin one that holds it, with the ending of what it looks like.

    Raises
    ------
    ValueError
        What is raised of the file, with stdin in the place of its name.
    """
    if not is_one(source):
        yield source
        return
    with tempfile.TemporaryDirectory() as folder:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as copied:
            shutil.copyfileobj(sys.stdin.buffer, copied)
            named = Path(folder) / f"stdin{_ending(copied)}"
        Path(copied.name).rename(named)
        try:
            yield named
        except ValueError as error:
            msg = str(error).replace(str(named), "stdin")
            raise ValueError(msg) from error


def _ending(file: IO[bytes]) -> str:
    """Of HDF5 whether it is of AnnData or of 10x Genomics, of a table what is between columns."""
    file.seek(0)
    head = file.read(len(_HDF5))
    file.seek(0)
    if head == _HDF5:
        import h5py  # type: ignore[import-untyped]

        with h5py.File(file, "r") as groups:
            return ".h5" if "matrix" in groups else ".h5ad"
    packed = head[: len(_GZIP)] == _GZIP
    line = (gzip.GzipFile(fileobj=file) if packed else file).readline()
    return (".tsv" if b"\t" in line else ".csv") + (".gz" if packed else "")


@contextmanager
def replacing(target: Path, ending: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield a name to write to, of what takes the place of the file, or goes to stdout alone."""
    if not is_one(target):
        with glfs_bio.io.replacing(target, overwrite=overwrite) as name:
            yield name
        return
    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / f"stdout{ending}"
        yield name
        sys.stdout.buffer.write(name.read_bytes())
    now().stdout_is_taken = True
