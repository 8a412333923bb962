"""Files of a command: what is checked before anything is loaded, read, and written.

``-`` on the command line is stdin or stdout.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import glfs_bio

from .. import _files
from .._signatures import kept
from ..errors import (
    MATRIX,
    NO_VALUE,
    FileMissing,
    FileRefused,
    InvalidValue,
    Refusal,
    arg,
    naming,
    printable,
)
from . import document
from .stderr import note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd
    from anndata import AnnData

#: Endings of files of cells, and of tables with what is between their columns.
CELLS = (".h5ad", ".zarr")
TABLES = {".csv": ",", ".tsv": "\t"}
_HDF5 = b"\x89HDF\r\n\x1a\n"
_GZIP = b"\x1f\x8b"
_READ = kept("io.read_cells")


@dataclass(frozen=True)
class File:
    """Marks an option that is a file."""

    #: ``"r"``: it must be there; ``"w"``: it is written.
    mode: Literal["r", "w"]
    #: Endings that a file to write may have; of a file to read, those of which it must be there.
    endings: tuple[str, ...] = ()


Source = Annotated[
    Path,
    "IN",
    "Cells × genes: .h5ad, .h5mu, .zarr, .loom, .csv, .tsv, .txt, .mtx, 10x .h5 or folder; - for "
    "stdin.",
    File("r"),
]
Table = Annotated[Path | None, "File for the table: .csv or .tsv.", File("w", tuple(TABLES))]
Backed = Annotated[bool, _READ["backed"]]
Overwrite = Annotated[bool, "Replace existing files."]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Cells that a command has written, with results."""

    source: Source
    backed: Backed = False

    def load(self) -> AnnData:
        """Read them."""
        return load(self.source, backed=self.backed)


@dataclass(frozen=True, kw_only=True)
class Cells(Stored):
    """Cells, and their preparation."""

    transpose: Annotated[bool | None, "--transpose/--no-transpose", _READ["transpose"]] = None
    modality: Annotated[str | None, _READ["modality"]] = None
    var_names: Annotated[str | None, _READ["var_names"]] = None
    log1p: Annotated[bool, "Log-normalise the counts in X."] = False

    def load(self) -> AnnData:
        """Read them."""
        given = {name: value for name, value in vars(self).items() if name in _READ}
        return load(self.source, log1p=self.log1p, **given)


@dataclass(frozen=True, kw_only=True)
class Written:
    """Files for annotated cells and a table; the table goes to stdout without a file."""

    output: Annotated[
        Path | None,
        "-o --output",
        "File for the annotated cells: .h5ad or .zarr; - for .h5ad on stdout.",
        File("w", CELLS),
    ] = None
    table: Table = None
    overwrite: Overwrite = False

    def put(
        self,
        adata: AnnData,
        table: pd.DataFrame,
        *summary: str,
        beside: dict[Path | None, pd.DataFrame] | None = None,
    ) -> None:
        """Write the cells, print the summary to stderr, and write the tables."""
        if self.output is not None:
            put_cells(adata, self.output, overwrite=self.overwrite)
        for line in summary:
            note(line)
        for file, frame in (beside or {}).items():
            if file is not None:
                _write_table(frame, file, overwrite=self.overwrite)
        if self.table is not None or not is_one(self.output):
            put_table(table, self.table, overwrite=self.overwrite)


def check(files: Iterable[tuple[str, File, Any]], *, overwrite: bool, json: bool = False) -> None:
    """Refuse, before anything is loaded, what cannot be read or written.

    `files` are the name of the argument, what is done with it, and a file or several.  With `json`
    stdout has the document.
    """
    every = [
        (name, use, Path(one))
        for name, use, value in files
        for one in (value if isinstance(value, list) else [value])
        if one is not None
    ]
    to_stdout = [name for name, use, file in every if use.mode == "w" and is_one(file)]
    if json:
        _stdout()
        to_stdout.append("json")
    every = [(name, use, file) for name, use, file in every if not is_one(file)]
    for name, use, file in every:
        named_so = not use.endings or file.suffix.lower() in use.endings
        if use.mode == "r":
            if named_so and not file.exists():
                raise FileMissing(
                    name, file, "does not exist", "name a file or folder that is there"
                )
        elif not named_so:
            allowed = " or ".join(use.endings)
            raise InvalidValue(name, file, f"must end with {allowed}")
    if len(to_stdout) > 1:
        raise InvalidValue(
            to_stdout[0],
            NO_VALUE,
            f"and {arg(to_stdout[1])} are both written to stdout",
            "write one to a file",
        )
    for name, use, file in every:
        if use.mode == "w":
            with naming(path=name):
                _files.check_target(file, overwrite=overwrite)


def is_one(path: Path | None) -> bool:
    """Return whether ``-`` stands for a file."""
    return path is not None and str(path) == "-"


def load(source: Path, *, log1p: bool = False, backed: bool = False, **options: Any) -> AnnData:
    """Read the cells, and make logarithms of counts where that was asked for."""
    if log1p and backed:
        raise InvalidValue(
            "log1p",
            log1p,
            f"changes the matrix, which {arg('backed')} leaves in the file",
            "choose one",
        )
    if backed and is_one(source):
        raise InvalidValue(
            "backed", backed, "leaves the matrix in its file, and stdin is none", "name the file"
        )
    with _file_of(source) as file:
        given = {name: value for name, value in options.items() if value is not None}
        adata = glfs_bio.io.read_cells(file, backed=backed, **given)
    if log1p:
        _take_logarithms(adata)
    return adata


def _take_logarithms(adata: AnnData) -> None:
    """Normalise the totals of counts, and take logarithms."""
    import scanpy as sc

    from .._anndata import read

    if not read.may_be_counts(read.matrix(adata)):
        raise InvalidValue(
            "log1p",
            NO_VALUE,
            f"is for counts, and {MATRIX} holds negative values, or decimal numbers that are as "
            "small as logarithms",
            f"leave {arg('log1p')} out",
        )
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)


@contextmanager
def _file_of(source: Path) -> Iterator[Path]:
    """The file itself; for stdin one that holds it, with the ending of what it looks like."""
    if not is_one(source):
        yield source
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as copied:
            shutil.copyfileobj(sys.stdin.buffer, copied)
            named = Path(folder) / f"stdin{_ending(copied)}"
        Path(copied.name).rename(named)
        try:
            yield named
        except Refusal as refusal:
            if str(refusal.value) == str(named):
                refusal.value = "stdin"
            refusal.problem = refusal.problem.replace(str(named), "stdin")
            raise


def _ending(file: IO[bytes]) -> str:
    """Of HDF5 whether it is of AnnData or of 10x Genomics; of a table what is between columns."""
    file.seek(0)
    head = file.read(len(_HDF5))
    file.seek(0)
    if head == _HDF5:
        import h5py  # type: ignore[import-untyped]

        with h5py.File(file, "r") as groups:
            return ".h5ad" if "obs" in groups else ".h5"
    import gzip

    packed = head[: len(_GZIP)] == _GZIP
    line = (gzip.GzipFile(fileobj=file) if packed else file).readline()
    return (".tsv" if b"\t" in line else ".csv") + (".gz" if packed else "")


@contextmanager
def replacing(target: Path, ending: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield a name to write to, of what takes the place of the file, or goes to stdout."""
    if not is_one(target):
        with _files.replacing(target, overwrite=overwrite) as name:
            yield name
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / f"stdout{ending}"
        yield name
        with name.open("rb") as written:
            shutil.copyfileobj(written, _stdout().buffer)


def _digits(value: float) -> str:
    """A number with seven digits, which is a decimal one whatever it is."""
    return repr(float(f"{value:.7g}"))


def _stdout() -> Any:
    """Return stdout, or say that there is none, as after ``>&-``."""
    if sys.stdout is None or sys.stdout.closed:
        raise FileRefused("output", "-", "is stdout, which is closed", "name a file")
    return sys.stdout


def put_cells(adata: AnnData, target: Path, *, overwrite: bool) -> None:
    """Write the annotated cells to a file, or as h5ad to stdout."""
    from ..io import _read

    room = shutil.disk_usage(target.parent).free
    if room < (needed := _read.n_bytes(adata)):
        raise FileRefused(
            "output", target, f"needs {needed:.3g} bytes, and there is room for {room:.3g}"
        )
    with replacing(target, ".h5ad", overwrite=overwrite) as name:
        anndatas = adata.write_zarr if name.suffix.lower() == ".zarr" else adata.write_h5ad
        try:
            if _read.are_in_memory(adata):
                anndatas(name)
            else:
                _read.write_in_parts(adata, name)
        except (OSError, RuntimeError) as error:  # HDF5 raises either where the disk fills up
            _, _, said = str(error).partition("error message = '")
            said = said.partition("'")[0] or str(error)
            raise FileRefused("output", target, "cannot be written", said) from error


def put_table(frame: pd.DataFrame, target: Path | None, *, overwrite: bool) -> None:
    """Write a table to a file, to the document, or to stdout with tabs."""
    to_file = target is not None and not is_one(target)
    kept = document.keep({"table": None if to_file else frame.reset_index(drop=True)})
    if target is not None and to_file:
        _write_table(frame, target, overwrite=overwrite)
    elif not kept:
        _printable(frame).to_csv(_stdout(), sep="\t", index=False, float_format=_digits)


def _printable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.map(lambda value: printable(value) if isinstance(value, str) else value)


def _write_table(frame: pd.DataFrame, target: Path, *, overwrite: bool) -> None:
    frame = _printable(frame)
    with _files.replacing(target, overwrite=overwrite) as name:
        separator = TABLES[target.suffix.lower()]
        frame.to_csv(name, sep=separator, index=False, encoding="utf-8", float_format=_digits)


def put_names(names: Sequence[str], target: Path | None, *, overwrite: bool) -> None:
    """Write names of genes to a file, to the document, or to stdout, one a line."""
    if target is None or is_one(target):
        import pandas as pd

        if not document.keep({"table": pd.DataFrame({"gene": [*names]})}):
            _stdout().write("".join(f"{printable(name)}\n" for name in names))
        return
    from ..vendors.sheets import check_names

    with naming(path="genes"):
        check_names(names, target)
    listing = "".join(f"{name}\n" for name in names)
    with _files.replacing(target, overwrite=overwrite) as name:
        name.write_text(listing, encoding="utf-8")
