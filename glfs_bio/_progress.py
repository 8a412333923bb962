"""What is seen of a call: a bar while it runs, and its result in a line or two.

Both are for terminals and notebooks, and off where ``scanpy.settings.verbosity`` is 0.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from importlib.util import find_spec
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .errors import InvalidType, printable
from .options import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

log = logging.getLogger(__name__)
#: Logger of the whole package.
_PACKAGE = logging.getLogger("glfs_bio")
#: The module of who runs a notebook.
_KERNEL = "ipykernel"
#: scanpy's verbosity: as it is by default, and from which results are said everywhere.
_USUAL, _INFO = 1, 2
#: Where lines go instead of the screen: to a door that shows them in its own way.
_lines: ContextVar[list[str] | None] = ContextVar("lines", default=None)
#: Whether a bar is seen; a second one would be drawn over it.
_busy: ContextVar[bool] = ContextVar("busy", default=False)


def verbosity() -> int:
    """Return scanpy's verbosity, its default where scanpy is not imported."""
    settings = getattr(sys.modules.get("scanpy"), "settings", None)
    return _USUAL if settings is None else int(settings.verbosity)


@contextmanager
def progress() -> Iterator[Progress]:
    """Show a bar on terminals and in notebooks, which is gone in the end, and one at a time.

    In Jupyter without ipywidgets there is none: rich would warn at every change of it, or print it
    anew, since ipykernel asks for colours as terminals have them.
    """
    widgets = None if find_spec("ipywidgets") else False
    plain = widgets is False and _KERNEL in sys.modules
    console = Console(stderr=True, force_jupyter=widgets, force_terminal=False if plain else None)
    watched = console.is_terminal or console.is_jupyter
    visible = watched and verbosity() > 0 and not _busy.get()
    console.quiet = not visible  # rich before 14.3 ends a bar that is not seen with an empty line
    token = _busy.set(_busy.get() or visible)
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    try:
        with Progress(*columns, console=console, transient=True, disable=not visible) as bar:
            yield bar
    finally:
        _busy.reset(token)


def with_bar(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Show the stages of a function, as the package logs them; what it tells comes afterwards.

    An argument that it does not take is refused, with where it belongs.
    """
    parameters = signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())

    @wraps(function)
    def shown(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for name in () if takes_all else kwargs.keys() - parameters.keys():
            remedy = place_of(name, kwargs[name], parameters) or "leave it out"
            raise InvalidType(f"`{name}` is no argument of {function.__name__}: {remedy}")
        if not _is_watched():
            return function(*args, **kwargs)
        with collected() as lines, progress() as bar, _stages(bar, function.__name__):
            result = function(*args, **kwargs)
        tell(lambda: lines)
        return result

    return shown


@contextmanager
def _stages(bar: Progress, name: str) -> Iterator[None]:
    """Follow what the package logs with a bar that is seen; at first it says the name."""
    if bar.disable:
        yield
        return
    handler = _Stages(bar, name.replace("_", " "))
    settings = _PACKAGE.level, _PACKAGE.propagate
    _PACKAGE.addHandler(handler)
    _PACKAGE.setLevel(min(handler.usual, logging.INFO))
    _PACKAGE.propagate = False  # the handler hands on what was heard before
    try:
        yield
    finally:
        _PACKAGE.setLevel(settings[0])
        _PACKAGE.propagate = settings[1]
        _PACKAGE.removeHandler(handler)


class _Stages(logging.Handler):
    """Moves a progress bar by what the core logs: one stage after the other."""

    def __init__(self, bar: Progress, name: str) -> None:
        super().__init__()
        self.bar = bar
        self.task = bar.add_task(name, total=None)
        self.usual = _PACKAGE.getEffectiveLevel()

    def emit(self, record: logging.LogRecord) -> None:
        above = None if _PACKAGE.propagate else _PACKAGE.parent
        if above is not None and record.levelno >= self.usual:
            above.callHandlers(record)
        fields = vars(record)
        if "stage" in fields:
            self._show(fields["stage"], fields["n_done"], fields["n_all"])
        elif "n_genes" in fields:  # of a path, whose end nobody knows
            self._show(record.getMessage(), 0, None)

    def _show(self, stage: str, n_done: int, n_all: int | None) -> None:
        task = self.bar.tasks[self.task]
        if n_done < task.completed:  # another stage has another speed
            self.bar.reset(self.task)
        task.total = n_all  # None, a moving bar, is no change to update()
        self.bar.update(self.task, description=stage, completed=n_done)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the lines that are told, for who shows them otherwise, or not at all."""
    lines: list[str] = []
    token = _lines.set(lines)
    try:
        yield lines
    finally:
        _lines.reset(token)


def tell(summary: Callable[[], Iterable[str]]) -> None:
    """Say the lines of a result: on the screen, or in the log of who asked that for information.

    Where nobody looks, `summary` is not called.
    """
    collecting = _lines.get()
    if collecting is not None:
        collecting += summary()
    elif log.isEnabledFor(logging.INFO):
        for line in summary():
            log.info("%s", line)
    elif verbosity() >= (_USUAL if _is_watched() else _INFO):
        for line in summary():
            print(printable(line), file=_screen())


def _is_watched() -> bool:
    """Return whether somebody may look: in a notebook, or at a terminal."""
    return _KERNEL in sys.modules or Console(stderr=True).is_terminal


def _screen() -> Any:
    """Where scanpy writes its messages: a file of the user, stdout in a notebook, else stderr."""
    settings = getattr(sys.modules.get("scanpy"), "settings", None)
    if settings is not None and settings.logpath is not None:
        return settings.logfile
    return sys.stdout if _KERNEL in sys.modules else sys.stderr
