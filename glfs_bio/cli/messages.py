"""What a command says: lines on stderr in the words of the shell, and its JSON document.

Python's ``n_genes=0``, ``adata.obs`` and ``glfs_bio.tl.stability(adata)`` are ``--n-genes 0``,
``obs`` and ``glfs-bio stability`` here.
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
from typing import TYPE_CHECKING, Any

import typer

import glfs_bio

from .. import codec
from ..errors import LOG_NORMALISE, Caution, Door, Refusal, cut, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .options import Option

#: Arguments of Python for the cells.
_CELLS = {"adata", "X", "source"}
_PARTS = ("X", "raw", "layers", "obs", "obs_names", "obsm", "obsp", "uns", "var", "var_names")
#: What code of Python is called here.
_WORDS = {f"adata.{name}": name for name in _PARTS} | {
    "adata": "IN",
    "graph of adata.uns": "graph of uns",
    "None": "nothing",
    "boolean": "boolean",
    "dict": "file or list of NAME=VALUE",
    ".astype('category')": "a categorical column of the file",
    "re.compile(...)": "/…/",
    "multiprocessing.get_context('spawn')": "a command of its own",
}


def door(options: Mapping[str, Option], commands: Mapping[str, str]) -> Door:
    """Return the words of a command.

    Its options have the names of Python's arguments, and commands those of Python's functions.
    """
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
    return f"no {option.spelling}" if text == "nothing" else f"{option.spelling} {text}".strip()


def _value(value: object) -> str:
    """Return a value as the line has it, shortened."""
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple):
        value = ",".join(map(_value, value))
    elif isinstance(value, Mapping):
        value = ",".join(f"{name}={_value(item)}" for name, item in value.items())
    return shlex.quote(cut(str(value)))


class Messages:
    """Lines of one command on stderr, and with ``--json`` its document on stdout."""

    def __init__(self, command: str | None, door: Door, *, as_json: bool) -> None:
        self.command, self.door, self.as_json = command, door, as_json
        self.content: dict[str, Any] = {"key": None, "result": {}, "files": []}
        self.lines: dict[str, list[str]] = {"notes": [], "warnings": []}

    def note(self, line: str) -> None:
        """Print a line of a summary."""
        self.lines["notes"].append(line)
        _print(line)

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
        except (BrokenPipeError, typer.Exit, typer.Abort, KeyboardInterrupt):
            raise  # a broken pipe: who reads stdout has seen enough, as `head` does
        except Exception as error:  # no user should meet a traceback unasked
            if debug:
                raise
            message = " ".join(self._reason(error).split())
            _print(f"glfs-bio: {message}", "red")
            self.fail(error, message)
            raise typer.Exit(1) from error
        finally:
            logger.removeHandler(handler)

    def fail(self, error: Exception, message: str) -> None:
        """Print the document of an error, where anybody listens."""
        name = error.argument if isinstance(error, Refusal) else None
        argument = None if name is None else self.door.argument(name, None)
        content = {"kind": type(error).__name__, "message": message, "argument": argument}
        if sys.stdout is not None and not sys.stdout.closed:
            with suppress(OSError):
                self._print_document({"error": content})

    def _print_document(self, content: dict[str, Any]) -> None:
        if self.as_json:
            head = {"command": self.command, "version": glfs_bio.__version__}
            document = codec.plain(head | content | self.lines)
            sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")

    def _show_warning(self, message: Warning | str, category: Any, *_: Any, **__: Any) -> None:
        is_ours = isinstance(message, Caution)
        text = self.door.show(str(message)) if is_ours else message
        self.warn(f"{'Warning' if is_ours else category.__name__}: {text}")

    def _reason(self, error: Exception) -> str:
        """Return the message of an error."""
        if isinstance(error, Refusal):
            return self.door.show(str(error))
        if isinstance(error, MemoryError):
            return f"there is not enough memory: {error}".rstrip(": ")
        return f"{type(error).__name__}: {error} (unexpected; --debug shows where)"


def _print(line: str, colour: str | None = None) -> None:
    typer.secho(printable(line), fg=colour, err=True)
