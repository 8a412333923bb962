"""Refusals and notes: what is wrong, and what to do, in the words of whoever called.

The package is entered by three doors: Python, R and the shell.  A message is an f-string in the
words of Python, with code between backticks::

    raise InvalidValue(f"`n_genes={n_genes}` is more than the genes of `adata`: ask for fewer")

The two others call some things differently (``colData(x)`` for ``adata.obs``, ``--n-genes 5``), and
their :class:`Door` replaces what stands between backticks.  A refusal begins with its argument.
"""

from __future__ import annotations

import logging
import re
import sys
import warnings
from ast import literal_eval
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    ShowStage = Callable[[str, int, int | None], None]

#: Longer values are cut in messages.
LONGEST_VALUE = 200
#: So many names of a list are shown.
MOST_NAMES = 8
_PACKAGE = str(Path(__file__).parent)
#: Shows the stages of a call, see :func:`._progress.progress`.
stage_bar: ContextVar[ShowStage | None] = ContextVar("stage_bar", default=None)
#: Collects the lines of results where somebody hears them, see :func:`._progress.collected`.
told: ContextVar[list[str] | None] = ContextVar("told", default=None)

#: How counts become expression that can be worked on.
LOG_NORMALISE = "sc.pp.normalize_total, sc.pp.log1p"

_CODE = re.compile("`([^`]*)`")
_CALL = re.compile(r"glfs_bio\.([\w.]+)(?:\(adata\))?")
_ARGUMENT = re.compile(r"(?P<name>[A-Za-z_]\w*(?:\[.*?\])?)(?:=(?P<value>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Door:
    """The words of those who enter by one door."""

    #: What code of Python is called, such as ``adata.obs`` and ``None``.
    words: Mapping[str, str]
    #: Shows an argument from its name, and its value as :attr:`value` shows it, or None.
    argument: Callable[[str, str | None], str]
    #: Shows a call of a function of the package, such as ``pp.structure``.
    call: Callable[[str], str]
    #: Shows a value.
    value: Callable[[object], str]

    def show(self, text: str) -> str:
        """Return a message in the words of this door, safe for a terminal."""
        return printable(_CODE.sub(lambda code: self._translate(code[1]), text))

    def _translate(self, code: str) -> str:
        if code in self.words:
            return self.words[code]
        if call := _CALL.fullmatch(code):
            return self.call(call[1])
        argument = _ARGUMENT.fullmatch(code)
        if argument and code not in {"True", "False"}:
            value = argument["value"]
            return self.argument(argument["name"], None if value is None else self._literal(value))
        return self._literal(code)

    def _literal(self, code: str) -> str:
        """Show a value that Python wrote, or the text where it is no literal."""
        try:
            value = literal_eval(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return code
        return self.value(value)


def short(value: object) -> str:
    """Return a value as text of at most :data:`LONGEST_VALUE` characters, on one line.

    Arrays and tables are named by their type and shape: nobody can read them in a message.
    """
    shape = getattr(value, "shape", None)
    if shape:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    plain = value.item() if shape == () and hasattr(value, "item") else value
    plain = str(plain) if isinstance(plain, Path) else plain
    return cut(" ".join(repr(plain).replace("`", "'").split()))


def subject(argument: str, value: object = None) -> str:
    """Return an argument as code, with its value unless that is None."""
    return f"`{argument}`" if value is None else f"`{argument}={short(value)}`"


def quoted(*values: object) -> str:
    """Return values as code, with commas between them."""
    return ", ".join(f"`{short(value)}`" for value in values)


def listed(names: Iterable[object], most: int = MOST_NAMES) -> str:
    """Return the first names, with commas between them."""
    texts = [printable(str(name)).replace("`", "'") for name in names]
    first = cut(", ".join(texts[:most])) if texts else "there is none"
    return first + (", …" if len(texts) > most else "")


def cut(text: str) -> str:
    """Return a text of at most :data:`LONGEST_VALUE` characters."""
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def printable(text: str) -> str:
    """Return a text without what a terminal would take for a command, or break a line at."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


class Refusal(Exception):
    """Something that the package cannot work with; the object is as it was.

    The kinds below are builtin exceptions too.
    """

    def __init__(self, text: str) -> None:
        super().__init__(printable(text if text.endswith((".", "?")) else f"{text}."))

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it

    @property
    def argument(self) -> str:
        """Name of the argument that is refused, with its item, such as ``limits['families']``."""
        code = _CODE.search(str(self))
        subject = _ARGUMENT.fullmatch(code[1]) if code else None
        return subject["name"] if subject else ""


@contextmanager
def within(subset: str) -> Iterator[None]:
    """Say which of several objects a refusal of an inner function is about."""
    try:
        yield
    except Refusal as refusal:
        refusal.args = (f"In {printable(subset)}: {refusal}",)
        raise


@contextmanager
def naming(**arguments: str) -> Iterator[None]:
    """Name arguments of an inner function as the caller's are: ``with naming(y="labels"): …``."""
    try:
        yield
    except Refusal as refusal:
        name = refusal.argument
        if name in arguments:
            refusal.args = (str(refusal).replace(f"`{name}", f"`{arguments[name]}", 1),)
        raise


class InvalidValue(Refusal, ValueError):
    """A value out of range, one that conflicts with another, or data that cannot be used."""


class InvalidType(Refusal, TypeError):
    """A value of a type that the argument does not take."""


class NotFound(Refusal, KeyError):
    """A name that is not in the object."""


class FileRefused(Refusal, OSError):
    """A file that cannot be read or written as asked."""


class FileExists(FileRefused, FileExistsError):
    """A file that is there already and must not be replaced."""


class FileMissing(FileRefused, FileNotFoundError):
    """A file or a folder that does not exist."""


class Unreachable(Refusal, ConnectionError):
    """Something that has to be downloaded, and no way to it."""


class PackageMissing(Refusal, ImportError):
    """A package that is not installed: the argument is its name."""


class Caution(UserWarning):
    """A warning about data or arguments."""


def note(text: str) -> None:
    """Log a message about the data or the arguments."""
    logging.getLogger(__package__).warning(text)


def show_stage(stage: str, n_done: int = 0, n_all: int | None = None) -> None:
    """Log how far a call is, and move its bar, if there is one; None: nobody knows the end."""
    text = stage if n_all is None else f"{stage}: {n_done} of {n_all}"
    logging.getLogger(__package__).info(text)
    bar = stage_bar.get()
    if bar is not None:
        bar(stage, n_done, n_all)


def caution(text: str) -> None:
    """Warn on behalf of the line outside of the package that led here."""
    warn(Caution(text))


def warn(caution: Warning) -> None:
    """Warn on behalf of the line outside of the package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(caution, stacklevel=level)


@contextmanager
def without_notes() -> Iterator[None]:
    """Silence notes and stages of repetitions, which a call on all cells shows."""
    logger = logging.getLogger(__name__.partition(".")[0])
    level = logger.level
    if level == logging.ERROR:  # another thread has silenced it, and ends that
        yield
        return
    logger.setLevel(logging.ERROR)
    token = stage_bar.set(lambda *_: None)
    try:
        yield
    finally:
        stage_bar.reset(token)
        logger.setLevel(level)
