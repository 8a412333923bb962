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

from .errors import InvalidType, printable, stage_bar
from .options import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

log = logging.getLogger(__name__)
#: The module of who runs a notebook.
_KERNEL = "ipykernel"
#: scanpy's verbosity: as it is by default, and from which results are said everywhere.
_USUAL, _INFO = 1, 2
#: Where lines go instead of the screen: to a door that shows them in its own way.
_lines: ContextVar[list[str] | None] = ContextVar("lines", default=None)


def _setting(name: str, default: Any) -> Any:
    """Return a setting of scanpy, the default where scanpy is not imported."""
    return getattr(getattr(sys.modules.get("scanpy"), "settings", None), name, default)


@contextmanager
def progress(name: str) -> Iterator[None]:
    """Show a bar with a name, and then with the stages of a call; it is gone in the end.

    Notebooks without ipywidgets have none, where rich would warn at every change, or print it anew.
    """
    console = Console(stderr=True)
    in_kernel = console.is_jupyter or _KERNEL in sys.modules  # Spyder's is no Jupyter to rich
    is_seen = find_spec("ipywidgets") if in_kernel else console.is_terminal
    if not is_seen or _setting("verbosity", _USUAL) <= 0 or stage_bar.get() is not None:
        yield
        return
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(name, total=None)

        def show(stage: str, n_done: int, n_all: int | None) -> None:
            if n_done < bar.tasks[0].completed:  # another stage has another speed
                bar.reset(task)
            bar.tasks[0].total = n_all  # None, a moving bar, is no change to update()
            bar.update(task, description=stage, completed=n_done)

        token = stage_bar.set(show)
        try:
            yield
        finally:
            stage_bar.reset(token)


def with_bar(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Show a bar while a function runs, and refuse arguments that belong elsewhere."""
    parameters = signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())

    @wraps(function)
    def shown(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for name in () if takes_all else kwargs.keys() - parameters.keys():
            remedy = place_of(name, kwargs[name], parameters) or "leave it out"
            raise InvalidType(f"`{name}` is no argument of {function.__name__}: {remedy}")
        if not _is_watched():
            return function(*args, **kwargs)
        with collected() as lines, progress(function.__name__.replace("_", " ")):
            result = function(*args, **kwargs)
        tell(lambda: lines)
        return result

    return shown


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
    """Say the lines of a result: on the screen, or in the log of who asked that for information."""
    collecting = _lines.get()
    if collecting is not None:
        collecting += summary()
    elif log.isEnabledFor(logging.INFO):
        for line in summary():
            log.info("%s", line)
    elif _setting("verbosity", _USUAL) >= (_USUAL if _is_watched() else _INFO):
        screen = sys.stdout if _KERNEL in sys.modules else sys.stderr
        file = screen if _setting("logpath", None) is None else _setting("logfile", screen)
        for line in summary():
            print(printable(line), file=file)


def _is_watched() -> bool:
    """Return whether somebody may look: in a notebook, or at a terminal."""
    return _KERNEL in sys.modules or Console(stderr=True).is_terminal
