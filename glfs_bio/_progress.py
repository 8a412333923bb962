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
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Given = ParamSpec("Given")
Found = TypeVar("Found")

log = logging.getLogger(__name__)
#: Logger of the whole package, and of the progress of the bound on optimality.
_PACKAGE = logging.getLogger("glfs_bio")
_BOUND = "glfs_bio.solvers.bound"
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


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


def progress(*, show: bool | None = None, columns: tuple[Any, ...] = ()) -> Progress:
    """Return a bar that is gone in the end; None: it is seen on terminals and in notebooks.

    In Jupyter without ipywidgets there is none: rich would warn at every change of it, or print it
    anew, since ipykernel asks for colours as terminals have them.  Within another bar there is
    none either.
    """
    widgets = None if find_spec("ipywidgets") else False
    plain = widgets is False and _in_notebook()
    console = Console(stderr=True, force_jupyter=widgets, force_terminal=False if plain else None)
    watched = console.is_terminal or console.is_jupyter
    shown = watched and verbosity() > 0 if show is None else show
    shown &= not _busy.get()
    console.quiet = not shown  # rich before 14.3 ends a bar that is not seen with an empty line
    return _Bar(*columns, console=console, transient=True, disable=not shown)


class _Bar(Progress):
    """A bar that is alone on the screen."""

    def __enter__(self) -> _Bar:
        self._before = _busy.set(_busy.get() or not self.disable)
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        _busy.reset(self._before)
        super().__exit__(*error)


def with_bar(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Show the stages of a function, as the package logs them; what it tells comes afterwards."""

    @wraps(function)
    def shown(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        with collected() as lines, _stages(function.__name__.replace("_", " ")):
            found = function(*args, **kwargs)
        tell(*lines)
        return found

    return shown


@contextmanager
def _stages(what: str) -> Iterator[None]:
    """Follow what the package logs with a bar, where one is seen; at first it says `what`."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with progress(columns=columns) as bar:
        if bar.disable:
            yield
            return
        handler = _Stages(bar, what)
        before = _PACKAGE.level, _PACKAGE.propagate
        _PACKAGE.addHandler(handler)
        _PACKAGE.setLevel(min(handler.usual, logging.INFO))
        _PACKAGE.propagate = False  # the handler hands on what was heard before
        try:
            yield
        finally:
            _PACKAGE.setLevel(before[0])
            _PACKAGE.propagate = before[1]
            _PACKAGE.removeHandler(handler)


class _Stages(logging.Handler):
    """Moves a progress bar by what the core logs: one stage after the other.

    The paper's path begins with many genes and leaves them behind.  The bound takes genes in, and
    does not say how many there will be.
    """

    def __init__(self, bar: Progress, what: str) -> None:
        super().__init__()
        self.bar = bar
        self.task = bar.add_task(what, total=None)
        self.most: int | None = None
        self.usual = _PACKAGE.getEffectiveLevel()

    def emit(self, record: logging.LogRecord) -> None:
        above = None if _PACKAGE.propagate else _PACKAGE.parent
        if above is not None and record.levelno >= self.usual:
            above.callHandlers(record)
        fields = vars(record)
        if "stage" in fields:
            self._show(fields["stage"], fields["n_done"], fields["n_all"])
        elif record.name == _BOUND:
            self._show(f"computing the bound on optimality: {fields['n_genes']} genes", 0, None)
        elif "n_genes" in fields:
            self._left(fields["n_genes"])

    def _left(self, left: int) -> None:
        self.most = self.most or left
        self._show(f"{left} genes left", self.most - left, self.most)

    def _show(self, what: str, completed: int, total: int | None) -> None:
        shown = self.bar.tasks[self.task]
        if completed < shown.completed:  # another stage has another speed
            self.bar.reset(self.task)
        shown.total = total  # None, a moving bar, is no change to update()
        self.bar.update(self.task, description=what, completed=completed)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the lines that are told, for who shows them otherwise, or not at all."""
    found: list[str] = []
    before = _lines.set(found)
    try:
        yield found
    finally:
        _lines.reset(before)


def tell(*lines: str) -> None:
    """Say a result: on the screen, or in the log of who asked that for information."""
    found = _lines.get()
    if found is not None:
        found += lines
        return
    for line in lines:
        if log.isEnabledFor(logging.INFO):
            log.info("%s", line)
        elif verbosity() >= (_USUAL if _is_watched() else _INFO):
            print(printable(line), file=_screen())


def _is_watched() -> bool:
    return _in_notebook() or Console(stderr=True).is_terminal


def _screen() -> Any:
    """Where scanpy writes its messages: a file of the user, stdout in a notebook, else stderr."""
    settings = getattr(sys.modules.get("scanpy"), "settings", None)
    if settings is not None and settings.logpath is not None:
        return settings.logfile
    return sys.stdout if _in_notebook() else sys.stderr
