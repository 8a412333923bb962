"""Parameters and outputs of functions, from their signatures and numpydoc docstrings.

The shell, R and the page of outputs are made of them.  The help of the shell must not wait for
NumPy: ``make signatures`` keeps what it has to know of functions in ``_signatures.json``.
"""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The default of a parameter without one.
REQUIRED = inspect.Parameter.empty
KEPT = Path(__file__).with_suffix(".json")
#: The next heading of a docstring.
_HEADING = re.compile(r"\n\n[^\n]+\n-+\n")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function, or a field of a record."""

    name: str
    #: The annotation, and the type as the docstring has it.
    type: str
    kind: str
    text: str
    default: Any = REQUIRED
    is_positional: bool = False

    @property
    def summary(self) -> str:
        """The first sentence of the text, without its point, before any list."""
        first = re.split(r"(?:^|\n)- ", self.text)[0]
        return " ".join(first.split()).partition(". ")[0].removesuffix(".")


def parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of a function, or the fields of a record, by name."""
    described = section(function, "Parameters") or section(function, "Attributes")
    found = {name: (kind, text) for names, kind, text in described for name in names.split(", ")}
    return {
        name: Parameter(
            name,
            str(one.annotation),
            *found.get(name, ("", "")),
            one.default,
            one.kind is one.POSITIONAL_OR_KEYWORD,
        )
        for name, one in inspect.signature(function).parameters.items()
        if one.kind is not one.VAR_KEYWORD
    }


def section(function: Callable[..., Any], title: str) -> list[tuple[str, str, str]]:
    """Return head, type and text of each entry of a section of a docstring."""
    _, _, text = (inspect.getdoc(function) or "").partition(f"\n{title}\n{'-' * len(title)}\n")
    entries: list[tuple[str, str, str]] = []
    for line in _HEADING.split(text, maxsplit=1)[0].splitlines():
        if line and not line.startswith(" "):
            head, _, kind = line.partition(" : ")
            entries.append((head, kind, ""))
        elif entries:
            head, kind, text = entries.pop()
            entries.append((head, kind, f"{text}\n{line[4:]}".strip("\n")))
    return entries


def written(described: Mapping[str, Mapping[str, Parameter]]) -> str:
    """Return the text of ``_signatures.json`` for the parameters of functions by their names."""
    texts = []
    for name, every in described.items():
        rows = [
            [one.name, one.type, one.kind, one.text, *([one.default] * (one.default != REQUIRED))]
            for one in every.values()
        ]
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        texts.append(f'"{name}": [\n{lines}\n]')
    return "{\n" + ",\n".join(texts) + "\n}\n"


@cache
def kept(name: str) -> dict[str, Parameter]:
    """Return the parameters of a function by its name, without importing it."""
    rows = json.loads(KEPT.read_text("utf-8"))[name]
    return {row[0]: Parameter(*row) for row in rows}
