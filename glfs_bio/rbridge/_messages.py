"""What Python says while it works, for R to say: warnings, and what is logged."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOR_DEVELOPERS = (
    DeprecationWarning,
    FutureWarning,
    ImportWarning,
    PendingDeprecationWarning,
    ResourceWarning,
)


@dataclass
class Said:
    """Texts in their order."""

    warnings: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


@contextmanager
def caught() -> Iterator[Said]:
    """Keep what would go to stderr, where R could neither suppress nor show it."""
    said = Said()
    handler = _Handler(said.messages)
    root = logging.getLogger()
    root.addHandler(handler)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        try:
            yield said
        finally:
            root.removeHandler(handler)
            said.warnings += [
                str(one.message) for one in told if not issubclass(one.category, _FOR_DEVELOPERS)
            ]


class _Handler(logging.Handler):
    """As Python's own of last resort: what is a warning or worse."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.texts = texts

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
