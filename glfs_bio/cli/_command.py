"""Commands: functions whose records are options, and whose errors are lines on stderr."""

from __future__ import annotations

import inspect
import logging
import warnings
from contextlib import contextmanager
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from .._docs import described
from ..errors import Caution, Message, Refusal
from . import _files as files
from . import _values as values
from . import words
from ._stderr import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..errors import Door

#: Where public records are: one of which nothing is asked is None.
_OPTIONS = "glfs_bio.options"
#: Types that fields of public records name and that are not imported for the help.
_NOT_IMPORTED = {"AnnData": object, "ArrayLike": object}


@dataclass(frozen=True)
class _Option:
    """One option of a command: a field of a record, or a parameter."""

    name: str
    field: str
    kind: Any
    info: OptionInfo | ArgumentInfo
    default: Any
    written: values.As | None
    file: files.Reads | files.Writes | None

    @property
    def parameter(self) -> inspect.Parameter:
        """Parameter from which typer makes an option."""
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=self.default,
            annotation=Annotated[self.kind, self.info],
        )

    @property
    def called(self) -> words.Option:
        """Name of the option in messages."""
        if isinstance(self.info, ArgumentInfo):
            return words.Option((self.info.metavar or self.name).upper())
        declared = [self.info.default, *(self.info.param_decls or ())]  # typer: the first is there
        longest = max((one for one in declared if isinstance(one, str)), key=len, default="")
        positive, _, negative = (longest or f"--{self.name.replace('_', '-')}").partition("/")
        return words.Option(positive, "bool" in str(self.kind), negative or None)

    def read(self, given: Any) -> Any:
        """Return the Python value of a given value."""
        if given is None or given == [] or self.written is None:
            return given if given != [] else None
        return self.written.read(given, self.name)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function: what it takes are options, and of records their fields.

    Files are checked before the function runs.  What goes wrong is one line on stderr and exit code
    1, unless ``--debug``, which every command has, asks for a traceback.
    """
    records: dict[str, Any] = {}
    every: list[_Option] = []
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            records[name] = hints[name]
            every += _of_record(hints[name])
        else:
            every.append(_option(name, hints[name], parameter.default))
    debug = _option("debug", Annotated[bool, "Show tracebacks."], False)
    door = words.door({one.name: one.called for one in every})

    @wraps(function)
    def run(*, debug: bool, **given: Any) -> None:
        with _reported(door, debug=debug):
            named = [(one.name, one.file, given[one.name]) for one in every if one.file is not None]
            files.check(named, overwrite=given.get("overwrite", False))
            for one in every:
                given[one.name] = one.read(given[one.name])
            for name, kind in records.items():
                fields_of = {one.field: given.pop(one.name) for one in _of_record(kind)}
                is_needed = kind.__module__ != _OPTIONS or any(
                    value is not None for value in fields_of.values()
                )
                given[name] = kind(**fields_of) if is_needed else None
            function(**given)

    parameters = [one.parameter for one in (*every, debug)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def given(*records: Any) -> dict[str, Any]:
    """Arguments out of records: the fields that are given, by their names."""
    found = {one.name: getattr(record, one.name) for record in records for one in fields(record)}
    return {name: value for name, value in found.items() if value is not None}


def _of_record(record: type) -> list[_Option]:
    """Options from the fields of a record; for what they are, see :func:`_asked`."""
    hints = get_type_hints(record, localns=_NOT_IMPORTED, include_extras=True)
    help_of_fields = described(record)
    panel = getattr(record, "PANEL", record.__name__ if help_of_fields else None)
    return [
        _option(one.name, hints[one.name], one.default, help_of_fields.get(one.name, ""), panel)
        for one in fields(record)
    ]


def _option(
    name: str, hint: Any, default: Any, help: str = "", panel: str | None = None
) -> _Option:
    """An option from an annotation, whose text is the help; or from a type and a docstring."""
    kind, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    found = {type(one): one for one in about}
    written: values.As | None = found.get(values.As)
    if not about:
        written = values.written(name, kind)
        found[str] = f"{help} {written.help}".strip()
    kind = kind if written is None else written.kind
    info = copy(found.get(OptionInfo, found.get(ArgumentInfo)))
    if info is None:
        info = typer.Option(help=found[str])
        if kind is bool:  # typer would add an option that says no
            info.param_decls = (f"--{name.replace('_', '-')}",)
    info.rich_help_panel = panel
    return _Option(
        name if written is None else written.option or name,
        name,
        kind,
        info,
        inspect.Parameter.empty if default is MISSING else default,
        written,
        found.get(files.Reads, found.get(files.Writes)),
    )


@contextmanager
def _reported(door: Door, *, debug: bool) -> Iterator[None]:
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
