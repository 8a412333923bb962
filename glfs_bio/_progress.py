"""A bar for what takes minutes."""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress


def progress(*, show: bool) -> Progress:
    """A bar on stderr that is gone in the end, or one that is never seen."""
    return Progress(console=Console(stderr=True), transient=True, disable=not show)
