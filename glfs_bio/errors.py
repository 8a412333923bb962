"""Refusals: what is wrong with an argument, and what to do, in the words of whoever called.

The package is entered by three doors: Python, R and the shell.  What they call differently
(``adata.obs``, ``colData(x)``, ``obs``; ``None``, ``NULL``; ``n_genes=5``, ``--n-genes 5``) is
marked in a message, and the :class:`Door` that shows the message replaces the marks.  A message is
an f-string with them::

    f"is not in {OBS}"                                    # a word
    f"is more than {arg('max_genes')}"                    # another argument
    f"pass {arg('missing', 'warn')}"                      # with a value
    f"run {call('pp.structure')} again"                   # a function of the package
    f"choose one of {shown(*choices)}"                    # values, as each door writes them
    f"has genes that are missing: {listed(names)}"        # names from the data
"""

from __future__ import annotations

import json
import logging
import re
import sys
import warnings
from ast import literal_eval
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

#: Longer values are cut in messages.
LONGEST_VALUE = 200
#: So many names of a list are shown.
MOST_NAMES = 8
_PACKAGE = str(Path(__file__).parent)


class _NoValue:
    """Marks a refusal of an argument whose value is not worth showing."""

    def __repr__(self) -> str:
        return "NO_VALUE"

    def __reduce__(self) -> str:
        return "NO_VALUE"


NO_VALUE = _NoValue()


def _mark(kind: str, *content: str) -> str:
    """What a door replaces, between two characters of private use; JSON escapes these inside."""
    return f"\ue000{json.dumps([kind, *content])}\ue001"


_MARK = re.compile("\ue000([^\ue000\ue001]*)\ue001")

#: The object of cells × genes, and its parts.
ADATA = _mark("word", "adata")
MATRIX = _mark("word", "X")
LAYERS = _mark("word", "layers")
OBS = _mark("word", "obs")
OBS_NAMES = _mark("word", "obs_names")
OBSM = _mark("word", "obsm")
OBSP = _mark("word", "obsp")
UNS = _mark("word", "uns")
#: Where graphs of cells are named.
GRAPHS = _mark("word", "graphs")
VAR = _mark("word", "var")
VAR_NAMES = _mark("word", "var_names")
NONE = _mark("word", "none")
TRUE = _mark("word", "true")
FALSE = _mark("word", "false")
#: The type of a logical column, of named values, and how labels get theirs.
BOOLEAN = _mark("word", "boolean")
MAPPING = _mark("word", "mapping")
CATEGORICAL = _mark("word", "categorical")
#: How counts become expression that can be worked on.
LOG_NORMALISE = _mark("word", "log_normalise")
#: How a regular expression is written.
PATTERN = _mark("word", "pattern")
#: How worker processes are started anew, not forked.
SPAWN = _mark("word", "spawn")


def arg(name: str, value: object = NO_VALUE) -> str:
    """Return the mark of an argument, with a value."""
    return _mark("arg", name, *(() if value is NO_VALUE else (shortened(value),)))


def call(name: str) -> str:
    """Return the mark of a function of the package, such as ``pp.structure``."""
    return _mark("call", name)


def shown(*values: object) -> str:
    """Return the marks of values, with commas between them."""
    return ", ".join(_mark("value", shortened(value)) for value in values)


def listed(names: Iterable[object], most: int = MOST_NAMES) -> str:
    """Return the mark of the first names, with commas between them."""
    every = [printable(str(name)) for name in names]
    text = ", ".join(every[:most]) if every else "there is none"
    text = text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
    return _mark("names", text + (", …" if len(every) > most else ""))


@dataclass(frozen=True)
class Door:
    """Words of those who enter by one door."""

    #: Those of the marks above.
    words: Mapping[str, str]
    #: Shows an argument from its name and its value as :attr:`value` shows it, or None.
    argument: Callable[[str, str | None], str]
    #: Shows a call of a function from its name.
    call: Callable[[str], str]
    #: Shows a value.
    value: Callable[[object], str]
    #: Shows names that :func:`listed` joined.
    names: Callable[[str], str] = str

    def show(self, text: str) -> str:
        """Return a text with its marks replaced, safe for a terminal, on one line."""
        return printable(_MARK.sub(self._replaced, text))

    def _replaced(self, mark: re.Match[str]) -> str:
        try:
            content = json.loads(mark[1])
        except (ValueError, RecursionError):
            return mark[0]
        match content:
            case ["word", str(word)] if word in self.words:
                return self.words[word]
            case ["arg", str(name)]:
                return self.argument(name, None)
            case ["arg", str(name), str(value)]:
                return self.argument(name, self._read(value))
            case ["call", str(name)]:
                return self.call(name)
            case ["value", str(value)]:
                return self._read(value)
            case ["names", str(names)]:
                return self.names(names)
        return mark[0]  # somebody else's characters

    def _read(self, text: str) -> str:
        """Show a value that Python wrote, or its text where it is no literal."""
        try:
            value = literal_eval(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return text
        return self.value(value)


def shortened(value: object) -> str:
    """Return a value as text of at most :data:`LONGEST_VALUE` characters, on one line.

    Arrays and tables are named by their type and shape: nobody can read them in a message.
    """
    shape = getattr(value, "shape", None)
    if shape:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    plain = value.item() if shape == () and hasattr(value, "item") else value
    text = " ".join(repr(plain).split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def printable(text: str) -> str:
    """Return a text without what a terminal would take for a command, or break a line at."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _python_argument(name: str, value: str | None) -> str:
    return name if value is None else f"{name}={value}"


def _python_call(name: str) -> str:
    return f"glfs_bio.{name}(adata)" if name[:3] in {"pp.", "tl.", "pl."} else f"glfs_bio.{name}"


PYTHON = Door(
    words={
        "adata": "adata",
        **{
            part: f"adata.{part}"
            for part in ("X", "layers", "obs", "obs_names", "obsm", "obsp", "uns", "var")
        },
        "var_names": "adata.var_names",
        "graphs": "adata.uns",
        "none": "None",
        "true": "True",
        "false": "False",
        "boolean": "boolean",
        "mapping": "dict",
        "categorical": ".astype('category')",
        "log_normalise": (
            "run sc.pp.normalize_total and sc.pp.log1p, or name a log-normalised matrix with layer="
        ),
        "pattern": "re.compile(...)",
        "spawn": "multiprocessing.get_context('spawn')",
    },
    argument=_python_argument,
    call=_python_call,
    value=shortened,
)


class Message:
    """A marked text for the log."""

    def __init__(self, text: str) -> None:
        self.text = text

    def render(self, door: Door) -> str:
        """Return the text for one door."""
        return door.show(self.text)

    def __str__(self) -> str:
        return self.render(PYTHON)


class Refusal(Exception):
    """Something that the package cannot work with; the object is as it was.

    Raised as one of the kinds below, each of which is a builtin exception too.
    """

    def __init__(
        self,
        argument: str,
        value: object = NO_VALUE,
        problem: str = "cannot be used",
        remedy: str = "",
    ) -> None:
        super().__init__(argument)
        #: Name of the argument that is refused
        self.argument = argument
        #: Its value, shown shortened; :data:`NO_VALUE` where it would not help
        self.value = value
        #: What is wrong with it: the rest of a sentence whose subject is the argument
        self.problem = problem
        #: What to do: a clause; empty where the problem says it
        self.remedy = remedy
        #: Which of several objects it is about, such as ``dataset 'a'``; empty for the only one.
        self.place = ""

    def render(self, door: Door) -> str:
        """Return the message for one door."""
        text = f"{self.problem}: {self.remedy}" if self.remedy else self.problem
        text = f"{printable(self._subject(door))} {door.show(text)}"
        text = text if text.endswith((".", "?")) else f"{text}."
        return f"In {printable(self.place)}: {text}" if self.place else text

    def _subject(self, door: Door) -> str:
        given = None if self.value is NO_VALUE else door.value(self.value)
        return door.argument(self.argument, given)

    def within(self, place: str) -> Self:
        """Say which of several objects it is about, and return it."""
        self.place = place
        return self

    def __str__(self) -> str:
        return self.render(PYTHON)


@contextmanager
def naming(**arguments: str) -> Iterator[None]:
    """Name arguments of an inner function as the caller's are: ``with naming(y="labels"): …``."""
    try:
        yield
    except Refusal as refusal:
        refusal.argument = arguments.get(refusal.argument, refusal.argument)
        raise


class InvalidValue(Refusal, ValueError):
    """A value out of range, one that conflicts with another, or data that cannot be used."""


class InvalidType(Refusal, TypeError):
    """A value of a type that the argument does not take."""


class NotFound(Refusal, KeyError):
    """A name that is not in the object."""


class FileRefused(Refusal, OSError):
    """A file that cannot be read or written as asked."""


class Unsupported(Refusal, RuntimeError):
    """Work that cannot be done in this process or on this system."""


class FileExists(FileRefused, FileExistsError):
    """A file that is there already and must not be replaced."""


class FileMissing(FileRefused, FileNotFoundError):
    """A file or a folder that does not exist."""


class Unreachable(Refusal, ConnectionError):
    """Something that has to be downloaded, and no way to it."""


class PackageMissing(Refusal, ImportError):
    """A package that is not installed: `argument` is its name, and `value` what needs it."""

    def _subject(self, door: Door) -> str:
        return str(self.value)


class Caution(UserWarning):
    """A warning about data or arguments: a marked text."""

    def render(self, door: Door) -> str:
        """Return the text for one door."""
        return door.show(self.args[0])

    def __str__(self) -> str:
        return self.render(PYTHON)


def note(text: str) -> None:
    """Log a marked text about the data or the arguments."""
    logging.getLogger(__package__).warning(Message(text))


def caution(text: str) -> None:
    """Warn of a marked text on behalf of the line outside of the package that led here."""
    warn(Caution(text))


def warn(caution: Warning) -> None:
    """Warn on behalf of the line outside of the package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(caution, stacklevel=level)


@contextmanager
def without_notes() -> Iterator[None]:
    """Silence notes of repetitions, which a call on all cells shows."""
    logger = logging.getLogger(__name__.partition(".")[0])
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
