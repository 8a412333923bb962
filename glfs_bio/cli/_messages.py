"""Errors, warnings and notes as lines on stderr."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from ._run import now
from ._words import in_words_of_the_shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

errors = Console(stderr=True)


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
