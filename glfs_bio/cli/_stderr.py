"""Lines on stderr, and a progress bar from what the package logs."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from ..errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress

#: Logger of the progress of the bound on optimality.
_BOUND = "glfs_bio.solvers.bound"


@cache
def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


def is_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return _console().is_terminal


def note(line: str, style: str | None = None) -> None:
    """Print a line to stderr as it is."""
    _console().print(printable(line), style=style, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress() -> Iterator[None]:
    """Show the stage of the selection, with a bar if its length is known."""
    if not is_terminal():  # into a file it would draw an empty line
        yield
        return
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    logger = logging.getLogger("glfs_bio")
    with Progress(*columns, console=_console(), transient=True) as bar:
        handler = _Stages(bar)
        before = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


class _Stages(logging.Handler):
    """Moves a progress bar by what the core logs: one stage after the other.

    The paper's path begins with many genes and leaves them behind.  The bound takes genes in, and
    does not say how many there will be.
    """

    def __init__(self, bar: Progress) -> None:
        super().__init__()
        self.bar = bar
        self.task = bar.add_task("principal components and graph", total=None)
        self.most: int | None = None

    def emit(self, record: logging.LogRecord) -> None:
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
