"""The one JSON document that a command prints with ``--json``, and its schema."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import glfs_bio

from .. import codec
from .._signatures import section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Types of the sections "Returns" in JSON; a number that is none is null.
_TYPES = {
    "float": ["number", "null"],
    "int": "integer",
    "bool": "boolean",
    "str": "string",
    "dict": "object",
}
_TEXT, _MAYBE_TEXT = {"type": "string"}, {"type": ["string", "null"]}
_TEXTS, _NUMBER = {"type": "array", "items": _TEXT}, {"type": "integer"}
_TABLE, _RECORD = {"type": "array", "items": {"type": "object"}}, {"type": "object"}
#: Parts of all records, and the table that a command prints.
_OF_ALL: dict[str, Any] = {
    "table": _TABLE,
    "kind": _TEXT,
    **dict.fromkeys(("params", "versions", "made_of", "structure"), _RECORD),
    "written": _NUMBER,
}
#: Parts of an error, where it is about an argument.
_OF_ERROR = ("argument", "value", "problem", "remedy")
#: Parts of a document.
_PARTS: dict[str, Any] = {
    "command": _MAYBE_TEXT | {"description": "The command."},
    "version": _TEXT | {"description": "Version of glfs_bio."},
    "key": _MAYBE_TEXT
    | {"description": "Key of the result among the cells, by which later commands find it."},
    "result": {"description": "The record of the result.", "type": "object"},
    "files": {
        "description": "Files that were written, and the options that named them.",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["option", "path"],
            "properties": {"option": _TEXT, "path": _TEXT},
            "additionalProperties": False,
        },
    },
    "notes": _TEXTS | {"description": "Summary of the result, as on stderr."},
    "warnings": _TEXTS | {"description": "Warnings, as on stderr."},
    "error": {
        "description": "What was refused, and what to do, with exit code 1 or 2.",
        "type": "object",
        "required": ["kind", "message", *_OF_ERROR],
        "properties": {"kind": _TEXT, "message": _TEXT, **dict.fromkeys(_OF_ERROR, _MAYBE_TEXT)},
        "additionalProperties": False,
    },
}


@dataclass
class Document:
    """What a command has to say."""

    command: str | None
    key: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    files: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: dict[str, str | None] | None = None

    def fail(self, kind: str, message: str, **parts: str | None) -> None:
        """Print an error in place of a result, where anybody listens."""
        self.error = dict.fromkeys(_OF_ERROR) | parts | {"kind": kind, "message": message}
        if sys.stdout is not None and not sys.stdout.closed:
            with suppress(OSError):
                self.print()

    def print(self) -> None:
        """Print the document on one line of ASCII."""
        found: dict[str, Any] = {"command": self.command, "version": glfs_bio.__version__}
        if self.error is None:
            result = codec.plain(self.result)
            found |= {"key": self.key, "result": result, "files": self.files}
        else:
            found |= {"error": self.error}
        found |= {"notes": self.notes, "warnings": self.warnings}
        sys.stdout.write(json.dumps(found, allow_nan=False) + "\n")


#: That of the command that runs; None without ``--json``.
_open: ContextVar[Document | None] = ContextVar("document", default=None)


@contextmanager
def collecting(document: Document | None) -> Iterator[None]:
    """Collect what a command says in a document."""
    before = _open.set(document)
    try:
        yield
    finally:
        _open.reset(before)


def hear(part: str, line: str) -> None:
    """Collect a line of the notes or warnings."""
    if (document := _open.get()) is not None:
        getattr(document, part).append(line)


def keep(record: Mapping[str, Any], key: str | None = None) -> bool:
    """Keep parts of the result; return whether there is a document, where nothing else is printed.

    A part that is None is in a file.
    """
    document = _open.get()
    if document is None:
        return False
    document.key = key or document.key
    document.result = {
        name: value for name, value in (document.result | {**record}).items() if value is not None
    }
    return True


def wrote(option: str, *paths: object) -> None:
    """Name files that were written, and the option that named them."""
    if (document := _open.get()) is not None:
        document.files += [{"option": option, "path": str(path)} for path in paths]


def schema(functions: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON Schema of the documents of commands, of which each has a function."""
    results = {name: {"properties": _properties(function)} for name, function in functions.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "glfs-bio COMMAND --json",
        "type": "object",
        "properties": _PARTS,
        "additionalProperties": False,
        "required": ["command", "version", "notes", "warnings"],
        "oneOf": [{"required": ["key", "result", "files"]}, {"required": ["error"]}],
        "allOf": [
            {
                "if": {"properties": {"command": {"const": name}}},
                "then": {"properties": {"result": {"$ref": f"#/$defs/{name}"}}},
            }
            for name in functions
        ],
        "$defs": results,
    }


def _properties(function: str) -> dict[str, Any]:
    """Return what a function writes into its record, as its docstring says."""
    found = dict(_OF_ALL)
    entries = section(attrgetter(function)(glfs_bio), "Returns") if function else []
    for other in re.findall(r":func:`~glfs_bio\.([\w.]+)`", " ".join(one[0] for one in entries)):
        found |= _properties(other)
    for names, kind, _ in entries:
        if "[key_added][" in names:
            called = re.findall(r'\["(\w+)"\]', names)
            kinds = kind.split(", ") if "shape" not in kind else []
            if len(kinds) != len(called):
                kinds = [kind] * len(called)
            found |= {name: _typed(one) for name, one in zip(called, kinds, strict=True)}
    return found


def _typed(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a type in a docstring, such as ``int, or int of shape (n,)``."""
    if kind.startswith("DataFrame"):
        return _TABLE
    word = re.match(r"\w+", kind)
    if word is None or word[0] not in _TYPES:
        return {}
    one: dict[str, Any] = {"type": _TYPES[word[0]]}
    shape = re.search(r"shape \((.*?)\)", kind)
    if shape is None:
        return one
    array = one
    for _ in filter(None, shape[1].split(",")):
        array = {"type": "array", "items": array}
    return {"anyOf": [one, array]} if ", or " in kind.partition("shape")[0] else array
