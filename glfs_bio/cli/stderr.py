"""Lines on stderr: errors, warnings and notes."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

from ..errors import NO_VALUE, Caution, Message, Refusal, printable
from . import document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from ..errors import Door
    from .document import Document


@cache
def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


def note(line: str) -> None:
    """Print a line to stderr as it is."""
    document.hear("notes", line)
    _print(line)


def _print(line: str, style: str | None = None) -> None:
    _console().print(printable(line), style=style, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def reported(door: Door, *, debug: bool, found: Document | None = None) -> Iterator[None]:
    """Print errors of a user as one line on stderr, with exit code 1, and warnings as lines.

    A document has all that too, and is printed in the end.
    """

    def warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if isinstance(message, Caution):
            _warn(f"Warning: {message.render(door)}")
        else:
            _warn(f"{category.__name__}: {message}")

    with document.collecting(found), warnings.catch_warnings(), _notes(door):
        warnings.showwarning = warn
        try:
            yield
            if found is not None:
                found.print()
        except BrokenPipeError:  # who reads stdout has seen enough, as `head` does
            raise
        except (typer.Exit, typer.Abort, KeyboardInterrupt):
            raise
        except Exception as error:  # no user should meet a traceback unasked
            if debug:
                raise
            message = _line(_reason(error, door))
            _print(f"glfs-bio: {message}", "red")
            if found is not None:
                found.fail(type(error).__name__, message, **_parts(error, door))
            raise typer.Exit(1) from error


def _parts(error: Exception, door: Door) -> dict[str, str | None]:
    """Return what an error says of an argument."""
    if not isinstance(error, Refusal):
        return {}
    has_value = error.value is not NO_VALUE and error.value is not None
    return {
        "argument": door.argument(error.argument, None),
        "value": door.value(error.value) if has_value else None,
        "problem": door.show(error.problem),
        "remedy": door.show(error.remedy) or None,
    }


def _reason(error: Exception, door: Door) -> object:
    """Return the message of an error."""
    if isinstance(error, Refusal):
        return error.render(door)
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}".rstrip(": ")
    if isinstance(error, KeyError) and error.args:
        return error.args[0]
    if isinstance(error, ValueError | TypeError | KeyError | OSError | ImportError):
        return error
    return f"{type(error).__name__}: {error} (unexpected; --debug shows where)"


@contextmanager
def _notes(door: Door) -> Iterator[None]:
    """Print notes that the package logs."""
    logger, handler = logging.getLogger("glfs_bio"), _Notes(door)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Notes(logging.Handler):
    """Prints log messages like warnings."""

    def __init__(self, door: Door) -> None:
        super().__init__(logging.WARNING)
        self.door = door

    def emit(self, record: logging.LogRecord) -> None:
        message: Any = record.msg
        own = isinstance(message, Message)
        _warn(f"Note: {message.render(self.door) if own else record.getMessage()}")


def _warn(message: str) -> None:
    line = _line(message)
    document.hear("warnings", line)
    _print(f"glfs-bio: {line}", "yellow")


def _line(message: object) -> str:
    return " ".join(str(message).split())
