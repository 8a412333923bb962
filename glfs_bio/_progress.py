"""What is seen of a call: a bar while it runs, and its result in a line or two.

Both are for terminals and notebooks, and off where ``scanpy.settings.verbosity`` is 0.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .errors import printable, stage_bar, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

log = logging.getLogger(__name__)
#: The module of who runs a notebook.
KERNEL = "ipykernel"
#: scanpy's verbosity: as it is by default, and from which results are said everywhere.
_USUAL, INFO = 1, 2


def _setting(name: str, default: Any) -> Any:
    """Return a setting of scanpy, the default where scanpy is not imported."""
    return getattr(getattr(sys.modules.get("scanpy"), "settings", None), name, default)


@contextmanager
def progress(name: str) -> Iterator[None]:
    """Show a bar with a name, and then with the stages of a call; it is gone in the end.

    Notebooks without ipywidgets have none, where rich would warn at every change, or print it anew.
    """
    console = Console(stderr=True)
    in_kernel = console.is_jupyter or KERNEL in sys.modules  # Spyder's is no Jupyter to rich
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


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the lines that are told, for who shows them otherwise, or not at all."""
    lines: list[str] = []
    token = told.set(lines)
    try:
        yield lines
    finally:
        told.reset(token)


def tell(lines: Iterable[str]) -> None:
    """Say lines to who looks or listens: on the screen, or in the log that was asked for them."""
    collecting = told.get()
    if collecting is not None:
        collecting += lines
    elif log.isEnabledFor(logging.INFO):
        for line in lines:
            log.info("%s", line)
    elif _setting("verbosity", _USUAL) >= _USUAL:
        screen = sys.stdout if KERNEL in sys.modules else sys.stderr
        file = screen if _setting("logpath", None) is None else _setting("logfile", screen)
        for line in lines:
            print(printable(line), file=file)
