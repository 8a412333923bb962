"""A bar for what takes minutes."""

from __future__ import annotations

from importlib.util import find_spec

from rich.console import Console
from rich.progress import Progress


def progress(*, show: bool) -> Progress:
    """A bar on stderr that is gone in the end, or one that is never seen.

    In Jupyter without ipywidgets rich would warn at every change of a bar: there is none then.
    """
    widgets = None if find_spec("ipywidgets") else False
    console = Console(stderr=True, force_jupyter=widgets)
    return Progress(console=console, transient=True, disable=not show)
