"""What the commands share: options, progress, and how results and errors reach the shell."""

from __future__ import annotations

import logging
import math
import re
import shutil
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

import glfs_bio

from . import _streams as streams
from ._run import now
from ._words import in_words_of_the_shell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import pandas as pd
    from anndata import AnnData

errors = Console(stderr=True)

_CELLS = (".h5ad", ".zarr")
_TABLES = {".csv": ",", ".tsv": "\t"}
#: Patterns may have commas between their slashes.
_PART = re.compile(r"\s*(/(?:[^/\\]|\\.)+/(?=\s*(?:,|$))|[^,\s][^,]*)")
#: Who logs how far the comparison with the best possible panel is.
_BOUND = "glfs_bio.core.solvers.bound"


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
    for option, target, endings in ((cells_are, cells, _CELLS), *every):
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


def called(frame: pd.DataFrame, adata: AnnData, symbols: str | None) -> pd.DataFrame:
    """A table whose genes are called by a column of ``.var``, where it has a name."""
    from .._anndata import selection

    if symbols is None:
        return frame
    names = selection.names(adata, symbols).fillna(adata.var_names.to_series())
    columns = [name for name in ("gene", "substitute") if name in frame]
    return frame.assign(**{name: frame[name].map(names) for name in columns})


def panel(text: str) -> str | list[str | re.Pattern[str]]:
    """A panel: names out of a file or with commas between them, else a key or a column.

    Raises
    ------
    ValueError, OSError, ImportError
        As :func:`genes`.
    """
    from .._gene_files import ENDINGS

    if "," in text or text[:1] == "@":
        return genes([text]) or text
    if Path(text).suffix.lower() in ENDINGS:
        return [*names(text)]
    return text


def names(text: str) -> list[str]:
    """Names of genes: of a file, with or without ``@``, or with commas between them.

    Raises
    ------
    ValueError, OSError, ImportError
        As :func:`glfs_bio.io.read_panel`.
    """
    from .._gene_files import read_panel

    if "," in text:
        return [name for part in text.split(",") if (name := part.strip())]
    return read_panel(text.removeprefix("@"))


def genes(words: Iterable[str] | None) -> list[str | re.Pattern[str]] | None:
    """Names with commas between them; ``/…/`` is a pattern, ``@…`` a file of names.

    Raises
    ------
    ValueError
        What is no regular expression, or looks like one and has no slashes.
    OSError, ImportError
        As :func:`glfs_bio.io.read_panel`.
    """
    if words is None:
        return None
    return [item for word in words for part in _PART.findall(word) for item in _items(part.strip())]


def _items(part: str) -> list[str | re.Pattern[str]]:
    from .._anndata.genes import looks_like_a_pattern

    if part[0] == "@":
        return [*names(part)]
    if len(part) > 2 and part[0] == part[-1] == "/":
        return [_pattern(part)]
    if looks_like_a_pattern(part):
        msg = f"{part} looks like a pattern: write it between slashes, as '/{part}/'."
        raise ValueError(msg)
    return [part]


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text[1:-1])
    except re.error as error:
        msg = f"{text} is not a regular expression: {error}."
        raise ValueError(msg) from error


def number_or(text: str | None, *words: str) -> Any:
    """A number, unless it is one of the words, or nothing."""
    if text is None or text in words:
        return text
    try:
        return float(text)
    except ValueError:
        msg = f"{text!r} must be a number, or {' or '.join(words)}."
        raise ValueError(msg) from None


def number_or_name(text: str) -> float | str:
    """A number, or the name of a column."""
    try:
        return float(text)
    except ValueError:
        return text


def detection(text: str) -> float | str | AnnData:
    """A number, the name of a column, or the cells of a file."""
    if Path(text).suffix.lower() in _CELLS:
        return load(Path(text))
    return number_or_name(text)


def percent(share: float) -> str:
    """A share as text."""
    return f"{100 * share:.0f} %"


def recorded_parameters(adata: AnnData, panel: object) -> dict[str, Any]:
    """Arguments that a selection was made with; none of a panel that is no selection."""
    if not isinstance(panel, str) or panel not in adata.uns or f"{panel}_selected" not in adata.var:
        return {}
    return glfs_bio.pp.recorded_parameters(adata, panel)


def kept(entry: dict[str, Any], share: float) -> str:
    """How much of what was to be kept, in words."""
    from .._anndata import preserve

    return f"{percent(share)} of {preserve.told(entry)}"


def summary(entry: dict[str, Any]) -> str:
    """How a selection went, in one line."""
    told = [f"{entry['n_genes']} of {entry['n_tested']} genes"]
    told.append(f"{kept(entry, entry['kept'][-1])} kept")
    if "of_best_possible" in entry and not math.isnan(best := entry["of_best_possible"][-1]):
        told.append(f"at least {percent(best)} of the best possible")
    if "lam" in entry:
        told.append(f"λ = {entry['lam']:.4g}")
    if "converged" in entry:
        told.append("converged" if entry["converged"] else "NOT converged")
    return ", ".join(told)


@contextmanager
def told_in_one_line(*, debug: bool) -> Iterator[None]:
    """Turn what a user can cause into one line on stderr and exit code 1; warnings likewise."""
    with warnings.catch_warnings(), _notes():
        warnings.showwarning = _warn
        try:
            yield
        except BrokenPipeError:  # who reads stdout has seen enough, as `head` does
            raise
        except (typer.Exit, typer.Abort, KeyboardInterrupt):
            raise
        except Exception as error:  # no user should meet a traceback unasked
            if debug:
                raise
            _say(_reason(error), "red")
            raise typer.Exit(1) from error


def _reason(error: Exception) -> object:
    """What went wrong, in the words of the error."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}".rstrip(": ")
    if isinstance(error, KeyError) and error.args:
        return error.args[0]
    if isinstance(error, ValueError | TypeError | KeyError | OSError | ImportError):
        return error
    return f"{type(error).__name__}: {error} (unexpected; --debug shows where)"


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    _say(f"{category.__name__}: {message}", "yellow")


@contextmanager
def _notes() -> Iterator[None]:
    """Tell what the package logs as worth a note."""
    logger, handler = logging.getLogger("glfs_bio"), _Notes(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Notes(logging.Handler):
    """Says what is logged, as warnings are said."""

    def emit(self, record: logging.LogRecord) -> None:
        _say(f"Note: {record.getMessage()}", "yellow")


def _say(told: object, style: str) -> None:
    text = in_words_of_the_shell(" ".join(str(told).split()), now().options)
    note(f"glfs-bio: {text}", style)


def note(line: str, style: str | None = None) -> None:
    """Print a line to stderr as it is."""
    errors.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress() -> Iterator[None]:
    """Show what the selection is at, with a bar where it is known how much is left."""
    if not errors.is_terminal:  # into a file it would draw an empty line
        yield
        return
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    logger = logging.getLogger("glfs_bio.core")
    with Progress(*columns, console=errors, transient=True) as bar:
        handler = _Stages(bar)
        before = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


class _Stages(logging.Handler):
    """Moves a progress bar by what the core logs.

    The paper's path begins with many genes and leaves them behind.  The bound takes genes in, and
    does not say how many there will be.
    """

    def __init__(self, bar: Progress) -> None:
        super().__init__()
        self.bar = bar
        self.task = bar.add_task("principal components and graph", total=None)
        self.most: int | None = None

    def emit(self, record: logging.LogRecord) -> None:
        told = vars(record)
        if "n_read" in told:
            self._show("reading cells", told["n_read"], told["n_cells"])
        elif record.name == _BOUND:
            self._show(f"comparing with the best possible: {told['n_genes']} genes", 0, None)
        elif "n_genes" in told:
            self._left(told["n_genes"])

    def _left(self, left: int) -> None:
        self.most = self.most or left
        self._show(f"{left} genes left", self.most - left, self.most)

    def _show(self, what: str, completed: int, total: int | None) -> None:
        self.bar.tasks[self.task].total = total  # None, a moving bar, is no change to update()
        self.bar.update(self.task, description=what, completed=completed)
