"""Descriptions of parameters that several functions have, each written once."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Function = TypeVar("Function", bound="Callable[..., Any]")
_PLACEHOLDER = re.compile(r"^( *)(<[a-z, ]+>)(?: (.+))?$", re.MULTILINE)


def documented(shared: Mapping[str, str]) -> Callable[[Function], Function]:
    """Return a decorator that fills shared descriptions into a docstring.

    A line that is a placeholder, such as ``<panel>``, is replaced by its description, with the same
    indentation; text after it takes the place of ``{0}``.
    """

    def text(found: re.Match[str]) -> str:
        indent, name, detail = found.groups()
        return textwrap.indent(shared[name].format(detail), indent)

    def fill(function: Function) -> Function:
        function.__doc__ = _PLACEHOLDER.sub(text, function.__doc__ or "") or None
        return function

    return fill
