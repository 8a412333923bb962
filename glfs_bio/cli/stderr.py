"""Lines on stderr: errors, warnings and notes."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

from ..errors import Caution, Message, Refusal, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from ..errors import Door


@cache
def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


def note(line: str, style: str | None = None) -> None:
    """Print a line to stderr as it is."""
    _console().print(printable(line), style=style, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def reported(door: Door, *, debug: bool) -> Iterator[None]:
    """Print errors of a user as one line on stderr, with exit code 1, and warnings as lines."""

    def warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if isinstance(message, Caution):
            _say(f"Warning: {message.render(door)}", "yellow")
        else:
            _say(f"{category.__name__}: {message}", "yellow")

    with warnings.catch_warnings(), _notes(door):
        warnings.showwarning = warn
        try:
            yield
        except BrokenPipeError:  # who reads stdout has seen enough, as `head` does
            raise
        except (typer.Exit, typer.Abort, KeyboardInterrupt):
            raise
        except Exception as error:  # no user should meet a traceback unasked
            if debug:
                raise
            _say(_reason(error, door), "red")
            raise typer.Exit(1) from error


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
        _say(f"Note: {message.render(self.door) if own else record.getMessage()}", "yellow")


def _say(message: object, style: str) -> None:
    note(f"glfs-bio: {' '.join(str(message).split())}", style)
