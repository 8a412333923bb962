"""Descriptions of parameters that several functions have, each written once."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Function = TypeVar("Function", bound="Callable[..., Any]")


def documented(shared: Mapping[str, str]) -> Callable[[Function], Function]:
    """Return a decorator that fills shared descriptions into a docstring.

    Parameters
    ----------
    shared : dict of str to str
        Descriptions by their placeholders, such as ``<panel>``.  A line of the docstring that is a
        placeholder is replaced by the description, with the same indentation.
    """

    def fill(function: Function) -> Function:
        lines = []
        for line in (function.__doc__ or "").splitlines(keepends=True):
            text = shared.get(line.strip())
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(line if text is None else textwrap.indent(f"{text}\n", indent))
        function.__doc__ = "".join(lines) or None
        return function

    return fill
