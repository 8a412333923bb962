"""A bar for what takes minutes."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from rich.console import Console
from rich.progress import Progress


def progress(*, show: bool | None = None) -> Progress:
    """Return a bar on stderr that is gone in the end; None: it is seen where that is a terminal.

    In Jupyter without ipywidgets there is none: rich would warn at every change of it, or print it
    anew, since ipykernel asks for colours as terminals have them.
    """
    widgets = None if find_spec("ipywidgets") else False
    plain = widgets is False and "ipykernel" in sys.modules
    console = Console(stderr=True, force_jupyter=widgets, force_terminal=False if plain else None)
    shown = console.is_terminal if show is None else show
    console.quiet = not shown  # rich before 14.3 ends a bar that is not seen with an empty line
    return Progress(console=console, transient=True, disable=not shown)
