"""Descriptions of parameters, each written once: filled into docstrings, and read out of them.

Those that several functions share are in ``_docs.txt``.  R and the page of outputs read functions.
The help of the shell must not wait for NumPy, and reads their source.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")
#: The default of a parameter without one.
REQUIRED = inspect.Parameter.empty
_PACKAGE = Path(__file__).parent
#: The next heading of a docstring.
_HEADING = re.compile(r"\n\n[^\n]+\n-+\n")
_PLACEHOLDER = re.compile(r"^( *)(<[a-z_, ]+>)(?: (.+))?$", re.MULTILINE)


@cache
def shared() -> dict[str, str]:
    """Return the descriptions of ``_docs.txt`` by placeholder; ``{0}`` is the text behind one."""
    entries = _PACKAGE.joinpath("_docs.txt").read_text("utf-8").rstrip().split("\n\n")
    return {name: text for name, _, text in (entry.partition("\n") for entry in entries)}


def filled(text: str) -> str:
    """Return a docstring with shared descriptions in place of the names that stand for them."""

    def description(name: re.Match[str]) -> str:
        indent, placeholder, detail = name.groups()
        return textwrap.indent(shared()[placeholder].format(detail), indent)

    return _PLACEHOLDER.sub(description, text)


def documented(function: Function) -> Function:
    """Fill shared descriptions into the docstring of a function, with the indentation there."""
    function.__doc__ = filled(function.__doc__ or "") or None
    return function


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
        first = f"\n{self.text}".split("\n- ")[0]
        return " ".join(first.split()).partition(". ")[0].removesuffix(".")


def parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of a function, or the fields of a record, by name."""
    described = _described(inspect.getdoc(function) or "")
    return {
        name: Parameter(
            name,
            str(parameter.annotation),
            *described.get(name, ("", "")),
            parameter.default,
            parameter.kind is parameter.POSITIONAL_OR_KEYWORD,
        )
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }


def section(function: Callable[..., Any] | str, title: str) -> list[tuple[str, str, str]]:
    """Return head, type and text of each entry of a section of a function, or of a docstring."""
    docstring = function if isinstance(function, str) else inspect.getdoc(function) or ""
    _, _, text = docstring.partition(f"\n{title}\n{'-' * len(title)}\n")
    entries: list[tuple[str, str, str]] = []
    for line in _HEADING.split(text, maxsplit=1)[0].splitlines():
        if line and not line.startswith(" "):
            head, _, kind = line.partition(" : ")
            entries.append((head, kind, ""))
        elif entries:
            head, kind, text = entries.pop()
            entries.append((head, kind, f"{text}\n{line[4:]}".strip("\n")))
    return entries


def summary_in_source(name: str) -> str:
    """Return the first sentence of a public function's docstring, not importing it."""
    return " ".join((ast.get_docstring(_definition(name)) or "").partition("\n\n")[0].split())


@cache
def parameters_in_source(name: str) -> dict[str, Parameter]:
    """Return the parameters of a public function with the texts of defaults, not importing it."""
    definition = _definition(name)
    described = _described(filled(ast.get_docstring(definition) or ""))
    arguments: Any = definition.args
    missing = [None] * (len(arguments.args) - len(arguments.defaults))
    defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
    return {
        parameter.arg: Parameter(
            parameter.arg,
            ast.unparse(parameter.annotation),
            *described.get(parameter.arg, ("", "")),
            REQUIRED if default is None else ast.unparse(default),
        )
        for parameter, default in zip(arguments.args + arguments.kwonlyargs, defaults, strict=True)
    }


def _described(docstring: str) -> dict[str, tuple[str, str]]:
    """Return the types and texts of parameters, or of fields, that a docstring has."""
    entries = section(docstring, "Parameters") or section(docstring, "Attributes")
    return {name: (kind, text) for names, kind, text in entries for name in names.split(", ")}


@cache
def _definition(name: str) -> ast.FunctionDef:
    """Return the definition of a public function, where its module has it from."""
    module, _, function = name.rpartition(".")
    path = _PACKAGE.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = path.read_text("utf-8")
    # up to a line that is not indented, and does not end the signature
    block = re.search(rf"(?ms)^def {function}\b.*?(?=^[^\s)]|\Z)", text)
    if block is not None:
        (definition,) = cast("list[ast.FunctionDef]", ast.parse(block[0]).body)
        return definition
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and function in {alias.name for alias in node.names}:
            source = resolve_name("." * node.level + (node.module or ""), f"glfs_bio.{module}")
            return _definition(f"{source.removeprefix('glfs_bio.')}.{function}")
    raise LookupError(name)
