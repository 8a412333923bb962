"""Refusals: what is wrong with an argument, and what to do, in the words of whoever called.

The package is entered by three doors: Python, R and the shell.  What they call differently
(``adata.obs``, ``colData(x)``, ``obs``; ``None``, ``NULL``; ``n_genes=5``, ``--n-genes 5``) stands
in a message as a token in braces, and the :class:`Door` that shows the message fills it in:

======================  ==========================================================
token                   what it stands for
======================  ==========================================================
``{adata}``             the object of cells × genes
``{obs}`` ``{var}``     its parts: also ``{obsm}``, ``{obsp}``, ``{uns}``, ``{layers}``, ``{X}``,
                        ``{obs_names}``, ``{var_names}``
``{none}``              no value: also ``{true}``, ``{false}``
``{boolean}``           the type of a logical column: also ``{mapping}``, ``{categorical}``
``{arg:n_genes}``       another argument; ``{arg:n_genes=5}`` with a value
``{call:pp.structure}``  a function of the package
``{log_normalise}``     how counts become expression that can be worked on
``{pattern}``           how a regular expression is written
``{spawn}``             how worker processes are started anew, not forked
======================  ==========================================================

All other names in braces are fields of the message: texts and numbers as they are, messages in
the words of the door, the values of a tuple with commas between them, other values shortened.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

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


@dataclass(frozen=True)
class Door:
    """Words of those who enter by one door."""

    #: Texts for the tokens without an argument, by name
    words: Mapping[str, str]
    #: Shows an argument from its name and, unless it is :data:`NO_VALUE`, its value
    argument: Callable[[str, Any], str]
    #: Shows a function from its name, such as ``"pp.structure"``
    call: Callable[[str], str]
    value: Callable[[object], str]
    #: Shows a text that is filled in, such as names from :func:`listed`
    text: Callable[[str], str] = str

    def fill(self, template: str, fields: Mapping[str, object]) -> str:
        """Return a template with its tokens and fields filled in."""
        shown = {name: self._shown(field) for name, field in fields.items()}
        return template.format_map(
            {**self.words, "arg": _Given(self), "call": _Called(self), **shown}
        )

    def _shown(self, field: object) -> object:
        if isinstance(field, Message):
            return field.render(self)
        if isinstance(field, str):
            return self.text(field)
        if isinstance(field, Number):
            return field
        if isinstance(field, tuple):
            return ", ".join(
                item.render(self) if isinstance(item, Message) else self.value(item)
                for item in field
            )
        return self.value(field)


class _Given:
    """``{arg:name}`` and ``{arg:name=value}``."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def __format__(self, spec: str) -> str:
        name, given, value = spec.partition("=")
        return self._door.argument(name, value if given else NO_VALUE)


class _Called:
    """``{call:module.function}``."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def __format__(self, spec: str) -> str:
        return self._door.call(spec)


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


def listed(names: Iterable[object], most: int = MOST_NAMES) -> str:
    """Return the first names with commas between them, for a message."""
    every = [printable(str(name)) for name in names]
    shown = ", ".join(every[:most]) if every else "there is none"
    shown = shown if len(shown) <= LONGEST_VALUE else f"{shown[: LONGEST_VALUE - 1]}…"
    return shown + (", …" if len(every) > most else "")


def _python_argument(name: str, value: object) -> str:
    return name if value is NO_VALUE else f"{name}={value}"


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
        "none": "None",
        "true": "True",
        "false": "False",
        "boolean": "boolean",
        "mapping": "dict",
        "categorical": ".astype('category')",
        "log_normalise": (
            "run sc.pp.normalize_total and sc.pp.log1p, or name a log-normalised layer with layer="
        ),
        "pattern": "re.compile(...)",
        "spawn": "multiprocessing.get_context('spawn')",
    },
    argument=_python_argument,
    call=_python_call,
    value=shortened,
)


class Message:
    """A sentence, or several, that each door shows in its own words."""

    def __init__(self, template: str, **fields: object) -> None:
        #: Text with tokens and names of fields in braces
        self.template = template
        self.fields = fields

    def render(self, door: Door) -> str:
        """Return the text for one door."""
        return door.fill(self.template, self.fields)

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
        **fields: object,
    ) -> None:
        super().__init__(argument)
        #: Its name
        self.argument = argument
        #: Shown shortened; :data:`NO_VALUE` where it would not help
        self.value = value
        #: The rest of a sentence whose subject is the argument
        self.problem = problem
        #: A clause; empty where the problem says it
        self.remedy = remedy
        #: Filled into both, with the tokens of this module
        self.fields = fields
        #: Object among several, such as ``dataset 'a'``; empty for the only one
        self.place = ""

    def render(self, door: Door) -> str:
        """Return the message for one door."""
        text = f"{self._subject(door)} {door.fill(self.problem, self.fields)}"
        if self.remedy:
            text += f": {door.fill(self.remedy, self.fields)}"
        text = text if text.endswith((".", "?")) else f"{text}."
        return f"In {self.place}: {text}" if self.place else text

    def _subject(self, door: Door) -> str:
        shown = NO_VALUE if self.value is NO_VALUE else door.value(self.value)
        return door.argument(self.argument, shown)

    def within(self, place: str) -> Self:
        """Say which of several objects it is about, and return it."""
        self.place = place
        return self

    def __str__(self) -> str:
        return self.render(PYTHON)

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self.__dict__)


def _rebuilt(kind: type[Refusal], state: dict[str, Any]) -> Refusal:
    """Return a refusal that came from another process."""
    refusal = kind(state["argument"])
    refusal.__dict__.update(state)
    return refusal


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
    """A package that is not installed: `argument` is its name, and ``what`` needs it."""

    def _subject(self, door: Door) -> str:
        return door.fill("{what}", self.fields)


class Caution(UserWarning):
    """A warning about data or arguments, with a :class:`Message` for each door."""

    def __init__(self, template: str, **fields: object) -> None:
        super().__init__(template)
        self.message = Message(template, **fields)

    def render(self, door: Door) -> str:
        """Return the text for one door."""
        return self.message.render(door)

    def __str__(self) -> str:
        return str(self.message)


def warn(caution: Warning) -> None:
    """Warn on behalf of the line outside of the package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(caution, stacklevel=level)
