"""Values of options: genes, patterns, panels, targets and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from ..errors import VAR, InvalidType, InvalidValue

#: Patterns may have commas between their slashes.
_PART = re.compile(r"\s*(/(?:[^/\\]|\\.)+/(?=\s*(?:,|$))|[^,\s][^,]*)")


@dataclass(frozen=True)
class As:
    """How the shell writes an argument that it cannot write as Python does."""

    #: Type of the option: text, or a list of texts where it may be repeated
    kind: Any
    #: Makes the value of what is given and of the argument's name
    read: Callable[[Any, str], Any]
    help: str = ""
    #: Name of the option, where it is not that of the argument
    option: str = ""


def written(name: str, hint: Any) -> As:
    """Return how a field of a public record is written, from its name or its type."""
    if name in _OTHERWISE:
        return _OTHERWISE[name]
    kinds = {one for one in get_args(hint) or (hint,) if one is not NoneType}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return As(hint, lambda given, _: given)
    if kinds == {str, float}:
        return As(str | None, number_or_name)
    values = {get_args(kind)[1] for kind in kinds if get_origin(kind) is Mapping}
    if float in values:
        help = "Numbers by name: NAME=NUMBER, may be repeated."
        return As(list[str] | None, _texts if str in kinds else _numbers, help)
    if any(get_origin(value) is Collection for value in values):
        return As(str | None, _lists if str in kinds else _file_of_lists, "Lists: a .gmt file.")
    raise InvalidType(name, hint, "is a type that no option can have", "say how it is written")


def panel(text: str, argument: str = "panel") -> str | Sequence[str | re.Pattern[str]]:
    """Return a panel: names out of a file or with commas between them, else a key or a column."""
    from ..vendors.forms import ENDINGS
    from ..vendors.sheets import ending

    if _is_list(text):
        return genes([text], argument) or text
    if ending(Path(text)) in ENDINGS:
        return names(text)
    return text


def names(text: str, _: str = "") -> list[str]:
    """Return names of genes: of a file, with or without ``@``, or with commas between them."""
    from ..vendors.forms import read_panel

    if "," in text:
        return [name for part in text.split(",") if (name := part.strip())]
    return read_panel(text.removeprefix("@"))


def genes(words: Iterable[str], argument: str) -> list[str | re.Pattern[str]]:
    """Return names with commas between them; ``/…/`` is a pattern, ``@…`` a file of names."""
    parts = [part.strip() for word in words for part in _PART.findall(word)]
    return [item for part in parts for item in _items(part, argument)]


def _items(part: str, argument: str) -> list[str | re.Pattern[str]]:
    from .._anndata.names import looks_like_a_pattern

    if part[0] == "@":
        return [*names(part)]
    if len(part) > 2 and part[0] == part[-1] == "/":
        return [_pattern(part, argument)]
    if looks_like_a_pattern(part):
        raise InvalidValue(
            argument, part, "looks like a pattern", f"write it between slashes, as '/{part}/'"
        )
    return [part]


def _pattern(text: str, argument: str) -> re.Pattern[str]:
    try:
        return re.compile(text[1:-1])
    except re.error as error:
        raise InvalidValue(argument, text, "is not a regular expression", str(error)) from error


def _is_list(text: str) -> bool:
    """Return whether a text is a list of names separated by commas, or ``@`` and a file."""
    return "," in text or text[:1] == "@"


def number_or_name(text: str, _: str = "") -> float | str:
    """Return a number, or the name of a column."""
    try:
        return float(text)
    except ValueError:
        return text


def number_or_search(text: str, argument: str) -> float | Literal["line_search"]:
    """Return a value of λ, unless it is to be searched for."""
    if text == "line_search":
        return "line_search"
    try:
        return float(text)
    except ValueError:
        raise InvalidValue(argument, text, "must be a number, or line_search") from None


def whole_or_auto(text: str, argument: str) -> int | Literal["auto"]:
    """Return a whole number, or ``"auto"``."""
    if text == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError:
        raise InvalidValue(argument, text, "must be a whole number, or auto") from None


def _numbers(words: list[str], argument: str) -> float | dict[str, float]:
    """Return one number, or numbers by name."""
    if len(words) == 1 and isinstance(number := number_or_name(words[0]), float):
        return number
    return dict(_pair(word, argument, "a number, or NAME=NUMBER for some names") for word in words)


def _texts(words: list[str], argument: str) -> str | dict[str, float]:
    """Return the name of a column, or numbers by name."""
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    return dict(_pair(word, argument, "one column of var, or NAME=NUMBER") for word in words)


def _pair(word: str, argument: str, allowed: str) -> tuple[str, float]:
    name, _, number = word.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        name, value = "", 0.0
    if not name:
        raise InvalidValue(argument, word, f"must be {allowed}")
    return name, value


def _lists(text: str, argument: str) -> str | dict[str, list[str]]:
    """Return the name of a column, or lists out of a file."""
    return _file_of_lists(text, argument) if text.lower().endswith(".gmt") else text


def _file_of_lists(text: str, _: str) -> dict[str, list[str]]:
    from ..vendors.sheets import read_gmt

    return read_gmt(text)


def preserve(words: list[str], argument: str) -> Any:
    """Return one target as it is, and several with their weights."""
    if len(words) == 1 and "=" not in words[0]:
        return genes(words, argument) if _is_list(words[0]) else words[0]
    weights: dict[str, float] = {}
    for word in words:
        weighed = "=" in word
        name, weight = _pair(word, argument, "NAME=WEIGHT") if weighed else (word, 1.0)
        if _is_list(name):
            raise InvalidValue(
                argument,
                word,
                "is a list of genes, which stands alone and without a weight",
                f"name a file of them, or a boolean column of {VAR}",
            )
        if name in weights:
            raise InvalidValue(argument, word, "is there twice", "give it once, as NAME=WEIGHT")
        weights[name] = weight
    return weights


def efficiency(text: str, _: str) -> Any:
    """Return a number, the name of a column, the cells of a file, or a table."""
    from . import _files as files

    ending = Path(text).suffix.lower()
    if ending in files.CELLS:
        return files.load(Path(text))
    if ending in files.TABLES:
        import pandas as pd

        return pd.read_csv(text, sep=files.TABLES[ending], index_col=0)
    return number_or_name(text)


def groups(words: list[str], _: str) -> list[list[str]]:
    """Return lists of genes with commas between them."""
    return [names(word) for word in words]


def as_it_is(text: str, _: str) -> str:
    """Return the text."""
    return text


#: Fields of public records that the shell writes otherwise than their types say.
_OTHERWISE = {
    "cost": As(str | None, number_or_name),
    "failure": As(str | None, number_or_name),
    "name": As(str | None, as_it_is, option="platform"),
    "genes": As(str | None, as_it_is, "A file of genes, or a column of var.", "orderable"),
    "efficiency": As(
        str | None, efficiency, "Cells: an .h5ad or .zarr file; a table: .csv or .tsv."
    ),
    "spread": As(str | None, number_or_name),
    "off_target": As(str | None, number_or_name),
    "case": As(str | None, as_it_is, "mean or worst."),
    "codebook": As(str | None, as_it_is, "A .csv file."),
    "together": As(list[str] | None, groups, "Names with commas between them; repeated."),
    "preserve": As(
        list[str] | None,
        preserve,
        "Genes: a file, or names separated by commas. Several targets: repeat the option, each "
        "with its weight as NAME=WEIGHT.",
    ),
}
