"""The boundary at which R calls Python: all that Python has to say becomes conditions of R."""

from __future__ import annotations

import logging
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import Caution, Message, Refusal
from . import _carriers, _session, _values, words
from ._targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOR_DEVELOPERS = (
    DeprecationWarning,
    FutureWarning,
    ImportWarning,
    PendingDeprecationWarning,
    ResourceWarning,
)


def answer(target: str, arguments: Any) -> Any:
    """Call a function for R (:data:`._targets.TARGETS`), with plain values.

    A plain list with ``ok``, ``warnings`` and ``messages``, and ``value`` or the fields of a
    condition.  Nothing is ever raised: rpy2 would print it and give R a NULL.
    """
    said = _Said()
    try:
        values = _values.read(arguments)
        with _session.interruptible(), _caught(said):
            value = TARGETS[target](**values)
        # Here, so that what has no plain form is an error as any other.
        return _values.write({"ok": True, "value": value} | said.plain())
    except BaseException as error:  # noqa: BLE001 — an exception that gets out aborts the process
        return _values.write({"ok": False} | _condition(error) | said.plain())


def answer_rpy2(target: Any, arguments: Any) -> Any:
    """The same for rpy2."""
    return _carriers.for_rpy2(answer(target[0], _carriers.from_rpy2(arguments)))


def answer_reticulate(target: str, arguments: Any) -> Any:
    """The same for reticulate."""
    return _carriers.for_reticulate(answer(target, _carriers.from_reticulate(arguments)))


def _condition(error: BaseException) -> dict[str, Any]:
    """Fields of the condition; a refusal has its argument and its kind, too."""
    fields = {
        "classes": _values.strings([kind.__name__ for kind in type(error).__mro__[:-1]]),
        "traceback": "".join(traceback.format_exception(error)),
    }
    if isinstance(error, Refusal):
        return fields | {
            "message": error.render(words.R),
            "argument": words.argument(error.argument),
            "kind": type(error).__name__,
        }
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    return fields | {"message": str(text)}


@dataclass
class _Said:
    """What Python said while it worked, in its order: warnings, and what was logged."""

    warnings: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        return {
            "warnings": _values.strings(self.warnings),
            "messages": _values.strings(self.messages),
        }


@contextmanager
def _caught(said: _Said) -> Iterator[None]:
    """Keep what would go to stderr, where R could neither suppress nor show it."""
    handler = _Handler(said.messages)
    root = logging.getLogger()
    root.addHandler(handler)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield
        finally:
            root.removeHandler(handler)
            said.warnings += [
                one.message.render(words.R)
                if isinstance(one.message, Caution)
                else str(one.message)
                for one in caught
                if not issubclass(one.category, _FOR_DEVELOPERS)
            ]


class _Handler(logging.Handler):
    """As Python's own of last resort: what is a warning or worse."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.texts = texts

    def emit(self, record: logging.LogRecord) -> None:
        said: object = record.msg
        self.texts.append(
            said.render(words.R) if isinstance(said, Message) else record.getMessage()
        )
