"""A bar for what takes minutes."""

from __future__ import annotations

from importlib.util import find_spec

from rich.console import Console
from rich.progress import Progress


def progress(*, show: bool | None = None) -> Progress:
    """Return a bar on stderr that is gone in the end; None: it is seen where that is a terminal.

    In Jupyter without ipywidgets rich would warn at every change of a bar: there is none then.
    """
    widgets = None if find_spec("ipywidgets") else False
    console = Console(stderr=True, force_jupyter=widgets)
    shown = console.is_terminal if show is None else show
    console.quiet = not shown  # rich before 14.3 ends a bar that is not seen with an empty line
    return Progress(console=console, transient=True, disable=not shown)
