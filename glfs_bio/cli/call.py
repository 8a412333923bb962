"""A command that runs: what it reads, writes and says.

Lines on stderr have the words of the shell: Python's ``n_genes=0``, ``adata.obs`` and
``glfs_bio.tl.stability(adata)`` are ``--n-genes 0``, ``obs`` and ``glfs-bio stability`` there.
"""

from __future__ import annotations

import json
import logging
import shlex
import sys
import warnings
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import typer

import glfs_bio

from .. import codec
from .._files import replacing
from ..errors import (
    LOG_NORMALISE,
    Caution,
    Door,
    FileRefused,
    InvalidValue,
    Refusal,
    cut,
    naming,
    printable,
)
from .options import TEXT_TABLES, Command, Option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData

#: Arguments of Python for the cells.
_CELLS = {"adata", "X", "source"}
_PARTS = ("X", "raw", "layers", "obs", "obs_names", "obsm", "obsp", "uns", "var", "var_names")
#: What code of Python is called here.
_WORDS = {f"adata.{name}": name for name in _PARTS} | {
    "graph of adata.uns": "graph of uns",
    "None": "nothing",
    "dict": "file or list of NAME=VALUE",
    ".astype('category')": "a categorical column of the file",
    "re.compile(...)": "/…/",
    "multiprocessing.get_context('spawn')": "a command of its own",
}
#: Columns with names of genes, in all tables.
_OF_GENES = ("gene", "substitute", "replaced_by", "replaces")


def door(options: Mapping[str, Option], commands: Mapping[str, str]) -> Door:
    """Return the words of a command, from options and commands by their names in Python."""
    normalise = "what makes logarithms of normalised counts"
    return Door(
        words=_WORDS | {LOG_NORMALISE: "with --log1p" if "log1p" in options else normalise},
        argument=partial(_argument, options),
        call=lambda function: commands.get(function, f"glfs_bio.{function} in Python"),
        value=_value,
    )


def _argument(options: Mapping[str, Option], name: str, value: str | None) -> str:
    """Return an argument, or an item of it, with its value as the line has it."""
    name, _, key = name.partition("[")
    text = value or ""
    if key:
        text = (key.strip("'\"]") + f"={text}").removesuffix("=")
    option = options.get("source" if name in _CELLS else name)
    if option is None:
        subject = "IN" if name in _CELLS else name
        return text if text and name == "path" else f"{subject} {text}".strip()
    if option.type is bool:
        opposite = option.flags.partition("/")[2]  # such as --no-transpose
        return opposite if text == "false" and opposite else option.spelling
    if text == "nothing":
        return f"{option.spelling} 0" if name == "n_comps" else f"no {option.spelling}"
    return f"{option.spelling} {text}".strip()


def _value(value: object) -> str:
    """Return a value as the line has it, shortened."""
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple):
        value = ",".join(map(_value, value))
    elif isinstance(value, Mapping):
        value = ",".join(f"{name}={_value(item)}" for name, item in value.items())
    return shlex.quote(cut(str(value)))


class Call:
    """A command that runs: lines on stderr, and with ``--json`` a document on stdout."""

    def __init__(self, name: str, command: Command, door: Door, *, as_json: bool) -> None:
        self.name, self.command, self.door, self.as_json = name, command, door, as_json
        #: Values of the options by name, where the line has them.
        self.values: dict[str, Any] = {}
        self.content: dict[str, Any] = {"key": None, "result": {}, "files": []}
        self.lines: dict[str, list[str]] = {"notes": [], "warnings": []}

    @property
    def arguments(self) -> dict[str, Any]:
        """The values that are arguments of the function."""
        return {name: self.values[name] for name in self.command.arguments if name in self.values}

    @property
    def overwrite(self) -> bool:
        """Whether files may be replaced."""
        return "overwrite" in self.values

    @property
    def function(self) -> Any:
        """The function of Python."""
        return attrgetter(self.command.function)(glfs_bio)

    def cells(self, source: Path) -> AnnData:
        """Read cells, and make logarithms of counts, as the options say."""
        names = ("transpose", "modality", "backed")
        options = {name: self.values[name] for name in names if name in self.values}
        if "log1p" not in self.values:
            return glfs_bio.io.read_cells(source, **options)
        if "backed" in options:
            raise InvalidValue("`backed` conflicts with `log1p`: leave one out")
        import scanpy as sc

        from .._anndata import read

        adata = glfs_bio.io.read_cells(source, **options)
        if read.unit_of_logarithms(adata, read.row_matrix(adata)):
            raise InvalidValue("`log1p` is for counts, which `adata.X` has not: leave `log1p` out")
        adata.layers.setdefault("counts", adata.X.copy())
        sc.pp.normalize_total(adata)
        sc.pp.log1p(adata)
        return adata

    def result(self, cells: Any, **arguments: Any) -> tuple[AnnData, str]:
        """Call the function, say what it says of its result, and return where that is, by key."""
        from .._anndata import results
        from .._progress import collected

        with collected() as lines:
            self.function(cells, **self.arguments | arguments)
        for line in lines:
            self.lines["notes"].append(line)
            _print(line)
        adata = next(iter(cells.values())) if isinstance(cells, dict) else cells
        key = results.last(adata)
        self.content |= {"key": key, "result": dict(adata.uns[key])}
        return adata, key

    def names(self, adata: AnnData) -> pd.Series:
        """Return what genes are called, by their names in the data."""
        from .._anndata import read

        return read.symbols(adata, self.values.get("symbols")).fillna(adata.var_names.to_series())

    def put(self, adata: AnnData) -> None:
        """Write the panel, the annotated cells, and all tables of the result."""
        if "genes_file" in self.values:
            options: Any = {"symbols": self.values.get("symbols"), "overwrite": self.overwrite}
            path, key = self.values["genes_file"], self.content["key"]
            glfs_bio.io.write_genes(adata, path, key=key, **options)
        if "output" in self.values:
            write_cells(adata, self.values["output"], overwrite=self.overwrite)
        if "tables" not in self.values:
            return
        folder, result = self.values["tables"], self.content["result"]
        tables = {name: value for name, value in result.items() if hasattr(value, "columns")}
        forecast = result.get("forecast", {})
        tables |= {f"forecast_{name}": table for name, table in forecast.items()}
        folder.mkdir(exist_ok=True)
        for name, table in tables.items():
            path = folder / f"{name}.csv"
            _write_table(_with_index(table), path, overwrite=self.overwrite)
            self.wrote("--tables", path)

    def put_table(self, adata: AnnData, table: pd.DataFrame) -> None:
        """Write a table to its file, or print it; the document has it too."""
        table = _with_index(table)
        if "symbols" in self.values:
            names = self.names(adata)
            genes = {name: table[name].map(names) for name in _OF_GENES if name in table}
            table = table.assign(**genes)
        self.content["result"]["table"] = table
        if "table" in self.values:
            _write_table(table, self.values["table"], overwrite=self.overwrite)
        elif not self.as_json:
            print_text(_text_of(table, "\t"))

    def warn(self, message: str) -> None:
        """Print a warning."""
        message = " ".join(message.split())
        self.lines["warnings"].append(message)
        _print(f"glfs-bio: {message}", "yellow")

    def wrote(self, option: str, path: Path) -> None:
        """Name a file that was written, and the option that named it."""
        self.content["files"].append({"option": option, "path": str(path)})

    @contextmanager
    def reporting(self, *, debug: bool) -> Iterator[None]:
        """Print errors of a user as one line, with exit code 1, and warnings as lines."""
        logger, handler = logging.getLogger("glfs_bio"), logging.Handler(logging.WARNING)
        handler.emit = lambda record: self.warn(  # type: ignore[method-assign]
            f"Note: {self.door.show(record.getMessage())}"
        )
        logger.addHandler(handler)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = self._show_warning
                yield
            self._print_document(self.content)
        except Exception as error:  # no user should meet a traceback unasked
            if debug or isinstance(error, BrokenPipeError):  # `head` has seen enough
                raise
            argument, text = None, f"{type(error).__name__}: {error}"
            text = f"{text} (unexpected; --debug shows where)"
            if isinstance(error, Refusal):
                text = self.door.show(str(error))
                argument = self.door.argument(error.argument, None)
            elif isinstance(error, MemoryError):
                text = f"there is not enough memory: {error}".rstrip(": ")
            message = " ".join(text.split())
            _print(f"glfs-bio: {message}", "red")
            content = {"kind": type(error).__name__, "message": message, "argument": argument}
            with suppress(OSError):  # where nobody listens
                self._print_document({"error": content})
            raise typer.Exit(1) from error
        finally:
            logger.removeHandler(handler)

    def _print_document(self, content: dict[str, Any]) -> None:
        if self.as_json:
            head = {"command": self.name, "version": glfs_bio.__version__}
            document = codec.plain(head | content | self.lines)
            print_text(json.dumps(document, allow_nan=False) + "\n")

    def _show_warning(self, message: Warning | str, category: Any, *_: Any, **__: Any) -> None:
        is_ours = isinstance(message, Caution)
        text = self.door.show(str(message)) if is_ours else message
        self.warn(f"{'Warning' if is_ours else category.__name__}: {text}")


def _print(line: str, colour: str | None = None) -> None:
    typer.secho(printable(line), fg=colour, err=True)


def print_text(text: str) -> None:
    """Print to stdout, or refuse to where there is none, as after ``>&-``."""
    if sys.stdout is None or sys.stdout.closed:
        raise FileRefused("`stdout` is closed: name a file")
    typer.echo(text.encode(), nl=False)


def write_cells(adata: AnnData, target: Path, *, overwrite: bool) -> None:
    """Write annotated cells to a file."""
    with naming(path="output"), replacing(target, overwrite=overwrite) as name:
        write = adata.write_zarr if name.suffix.lower() == ".zarr" else adata.write_h5ad
        write(name)


def _write_table(table: pd.DataFrame, target: Path, *, overwrite: bool) -> None:
    from ..vendors.sheets import without_formulas

    table = without_formulas(table)
    with replacing(target, overwrite=overwrite) as name:
        name.write_text(_text_of(table, TEXT_TABLES[target.suffix.lower()]), encoding="utf-8")


def _text_of(table: pd.DataFrame, separator: str) -> str:
    """Return a table as text, with seven digits."""
    table = table.map(_printable).rename(columns=_printable)
    options: Any = {"index": False, "lineterminator": "\n", "float_format": "%.7g"}
    return str(table.to_csv(sep=separator, **options))


def _printable(value: Any) -> Any:
    return printable(value) if isinstance(value, str) else value


def _with_index(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its index as a column, where that has a name."""
    return table if table.index.name is None else table.reset_index()
