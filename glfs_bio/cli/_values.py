"""What the words of a command mean: genes, patterns, panels, and numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from . import _files as files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from anndata import AnnData

#: Patterns may have commas between their slashes.
_PART = re.compile(r"\s*(/(?:[^/\\]|\\.)+/(?=\s*(?:,|$))|[^,\s][^,]*)")


def panel(text: str) -> str | list[str | re.Pattern[str]]:
    """A panel: names out of a file or with commas between them, else a key or a column.

    Raises
    ------
    ValueError, OSError, ImportError
        As :func:`genes`.
    """
    from .._gene_files import ENDINGS

    if "," in text or text[:1] == "@":
        return genes([text]) or text
    if Path(text).suffix.lower() in ENDINGS:
        return [*names(text)]
    return text


def names(text: str) -> list[str]:
    """Names of genes: of a file, with or without ``@``, or with commas between them.

    Raises
    ------
    ValueError, OSError, ImportError
        As :func:`glfs_bio.io.read_panel`.
    """
    from .._gene_files import read_panel

    if "," in text:
        return [name for part in text.split(",") if (name := part.strip())]
    return read_panel(text.removeprefix("@"))


def genes(words: Iterable[str] | None) -> list[str | re.Pattern[str]] | None:
    """Names with commas between them; ``/…/`` is a pattern, ``@…`` a file of names.

    Raises
    ------
    ValueError
        What is no regular expression, or looks like one and has no slashes.
    OSError, ImportError
        As :func:`glfs_bio.io.read_panel`.
    """
    if words is None:
        return None
    return [item for word in words for part in _PART.findall(word) for item in _items(part.strip())]


def _items(part: str) -> list[str | re.Pattern[str]]:
    from .._anndata.names import looks_like_a_pattern

    if part[0] == "@":
        return [*names(part)]
    if len(part) > 2 and part[0] == part[-1] == "/":
        return [_pattern(part)]
    if looks_like_a_pattern(part):
        msg = f"{part} looks like a pattern: write it between slashes, as '/{part}/'."
        raise ValueError(msg)
    return [part]


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text[1:-1])
    except re.error as error:
        msg = f"{text} is not a regular expression: {error}."
        raise ValueError(msg) from error


def number_or(text: str | None, *words: str) -> Any:
    """A number, unless it is one of the words, or nothing."""
    if text is None or text in words:
        return text
    try:
        return float(text)
    except ValueError:
        msg = f"{text!r} must be a number, or {' or '.join(words)}."
        raise ValueError(msg) from None


def number_or_name(text: str) -> float | str:
    """A number, or the name of a column."""
    try:
        return float(text)
    except ValueError:
        return text


def detection(text: str) -> float | str | AnnData:
    """A number, the name of a column, or the cells of a file."""
    if Path(text).suffix.lower() in files.CELLS:
        return files.load(Path(text))
    return number_or_name(text)
