"""Descriptions of parameters, each written once: filled into docstrings, and read out of them."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Function = TypeVar("Function", bound="Callable[..., Any]")
_PLACEHOLDER = re.compile(r"^( *)(<[a-z, ]+>)(?: (.+))?$", re.MULTILINE)


def documented(shared: Mapping[str, str]) -> Callable[[Function], Function]:
    """Return a decorator that fills shared descriptions into a docstring.

    Parameters
    ----------
    shared : dict of str to str
        Descriptions by their placeholders, such as ``<panel>``.  A line of the docstring that is a
        placeholder is replaced by the description, with the same indentation; text after the
        placeholder takes the place of ``{0}`` in it.
    """

    def text(found: re.Match[str]) -> str:
        indent, name, detail = found.groups()
        return textwrap.indent(shared[name].format(detail), indent)

    def fill(function: Function) -> Function:
        function.__doc__ = _PLACEHOLDER.sub(text, function.__doc__ or "") or None
        return function

    return fill


def described(record: type) -> dict[str, str]:
    """First sentence of each field, from the section "Attributes" of a numpydoc docstring."""
    _, _, section = inspect.getdoc(record).partition("Attributes\n----------\n")  # type: ignore[union-attr]
    names: list[str] = []
    texts: dict[str, str] = {}
    for line in section.partition("\n\n")[0].splitlines():
        if line.startswith(" "):
            texts |= {name: f"{texts[name]} {line.strip()}".strip() for name in names}
        else:
            names = line.partition(" : ")[0].split(", ")
            texts |= dict.fromkeys(names, "")
    first = {name: text.partition(". ")[0].removesuffix(".") for name, text in texts.items()}
    return {name: f"{text.replace('`', '')}." for name, text in first.items()}
