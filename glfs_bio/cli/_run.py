"""The command that runs now: what its options are called, and whether stdout is in use."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Option:
    """What an option or argument is called.

    Attributes
    ----------
    name
        ``--n-genes``, or ``PANEL``.
    is_flag
        Whether it takes no value.
    opposite
        ``--no-transpose``, of a flag that has one.
    """

    name: str
    is_flag: bool = False
    opposite: str | None = None


class Run:
    """One call of a command."""

    def __init__(self, command: Callable[..., None]) -> None:
        self._command = command
        self.stdout_is_taken = False

    @cached_property
    def options(self) -> dict[str, Option]:
        """Options by the names of the parameters."""
        hints = get_type_hints(self._command, include_extras=True)
        return {
            name: _option(name, hint.__origin__, info)
            for name, hint in hints.items()
            for info in getattr(hint, "__metadata__", ())
        }


_NOW: ContextVar[Run] = ContextVar("command")


def now() -> Run:
    """The command that runs."""
    return _NOW.get()


def known(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command be found by :func:`now` while it runs."""

    @wraps(command)
    def run(**values: Any) -> None:
        token = _NOW.set(Run(command))
        try:
            command(**values)
        finally:
            _NOW.reset(token)

    return run


def _option(name: str, kind: Any, info: ArgumentInfo | OptionInfo) -> Option:
    if isinstance(info, ArgumentInfo):
        return Option((info.metavar or name).upper())
    declared = [info.default, *(info.param_decls or ())]  # typer takes the first for a default
    longest = max((one for one in declared if isinstance(one, str)), key=len, default="")
    positive, _, negative = (longest or f"--{name.replace('_', '-')}").partition("/")
    return Option(positive, "bool" in str(kind), negative or None)
