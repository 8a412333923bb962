"""How the shell writes what Python has types for: genes, panels, targets, tables and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .._files import existing
from ..errors import VAR, InvalidType, InvalidValue, naming
from . import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: Patterns may have commas between their slashes.
_PART = re.compile(r"\s*(/(?:[^/\\]|\\.)+/(?=\s*(?:,|$))|[^,\s][^,]*)")
_PLAIN: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "Missing": str}
_LISTS: dict[str, Any] = {"str": list[str], "int": list[int], "float": list[float]}


@dataclass(frozen=True)
class As:
    """How a value is written."""

    #: Type of the option: a list where it may be repeated.
    kind: Any
    #: Makes Python's value of what is given and of the name of the option.
    read: Callable[[Any, str], Any] = lambda given, _: given
    #: What the help says of it.
    help: str = ""


def written(name: str, annotation: str) -> As:
    """Return how a parameter of Python is written, from its name or its annotation."""
    parts = [part for part in annotation.split(" | ") if part != "None"]
    if found := AS.get(" | ".join(parts)) or AS.get(name):
        return found
    for part in parts:
        if several := re.fullmatch(r"(?:Sequence|Iterable)\[(\w+)\]", part):
            return As(_LISTS[several[1]])
    for part in parts:
        if part in _PLAIN or part.startswith("Literal["):
            return As(_PLAIN.get(part, str))
    raise InvalidType(
        name, annotation, "is a type that no option can have", "say how it is written"
    )


def panel(text: str, argument: str = "panel") -> str | Sequence[str | re.Pattern[str]]:
    """Return a panel: names out of a file or with commas between them, else a key or a column."""
    from ..vendors.forms import ENDINGS
    from ..vendors.sheets import ending

    if _is_list(text):
        return genes([text], argument) or text
    if ending(Path(text)) in ENDINGS:
        return names(text)
    return text


def panels(words: list[str], argument: str) -> dict[str, Any]:
    """Return panels by their names."""
    named: dict[str, Any] = {}
    for word in words:
        name, _, text = word.partition("=")
        if not name or not text:
            raise InvalidValue(
                argument, word, "has no name", "write ours=glfs, or theirs=catalogue.csv"
            )
        if name in named:
            raise InvalidValue(argument, word, "has the name of another panel", "give it its own")
        named[name] = panel(text)
    if len(named) < 2:
        raise InvalidValue(argument, words, "is one panel", "name at least two")
    return named


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
        try:
            return [re.compile(part[1:-1])]
        except re.error as error:
            raise InvalidValue(argument, part, "is not a regular expression", str(error)) from error
    if looks_like_a_pattern(part):
        raise InvalidValue(
            argument, part, "looks like a pattern", f"write it between slashes, as '/{part}/'"
        )
    return [part]


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
    number = number_or_name(text)
    if isinstance(number, float):
        return number
    if text == "line_search":
        return "line_search"
    raise InvalidValue(argument, text, "must be a number, or line_search")


def _components_or_auto(text: str, argument: str) -> int | Literal["auto"] | None:
    """Return a number of principal components, where 0 is full rank, or ``"auto"``."""
    if text == "auto":
        return "auto"
    try:
        return int(text) or None
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
    value = number_or_name(number)
    if not name or isinstance(value, str):
        raise InvalidValue(argument, word, f"must be {allowed}")
    return name, value


def _ranges(words: list[str], argument: str) -> Any:
    """Return the range of each name, or of all: a maximum, or a minimum and a maximum."""
    ranges: dict[str, Any] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        try:
            bounds = [float(number) if number.strip() else None for number in text.split(":")]
        except ValueError:
            raise InvalidValue(argument, word, "must be NAME=MIN:MAX, or NAME=MAX") from None
        ranges[name] = tuple(bounds) if len(bounds) > 1 else bounds[0]
    return ranges[""] if list(ranges) == [""] else ranges


def _lists(text: str, _: str) -> str | dict[str, list[str]]:
    """Return the name of a column, or lists out of a file, with or without ``@``."""
    from ..vendors.forms import ENDINGS
    from ..vendors.markers import read_markers
    from ..vendors.sheets import ending

    name = text.removeprefix("@")
    return read_markers(name) if name != text or ending(Path(name)) in ENDINGS else text


def preserve(words: list[str], argument: str) -> Any:
    """Return one target as it is, and several with their weights."""
    if len(words) == 1 and "=" not in words[0]:
        return genes(words, argument) if _is_list(words[0]) else words[0]
    weights: dict[str, float] = {}
    for word in words:
        name, weight = _pair(word, argument, "NAME=WEIGHT") if "=" in word else (word, 1.0)
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


def _cells_or_table(text: str, argument: str) -> Any:
    """Return the cells of a file, or its table; None for another text."""
    ending = Path(text).suffix.lower()
    if ending in files.CELLS:
        return files.load(Path(text))
    if ending in files.TABLES:
        import pandas as pd

        with naming(path=argument):
            path = existing(text)
        try:
            return pd.read_csv(path, sep=files.TABLES[ending], index_col=0)
        except ValueError as error:  # those of pandas and of Unicode too
            raise InvalidValue(
                argument, text, f"cannot be read as a table ({error})", "save it again as .csv"
            ) from None
    return None


def _efficiency(text: str, argument: str) -> Any:
    """Return a number, the name of a column, the cells of a file, or a table."""
    found = _cells_or_table(text, argument)
    return number_or_name(text) if found is None else found


def _neighbors(text: str, argument: str) -> Any:
    """Return the cells of a file, or a table of the frequencies of neighbours."""
    found = _cells_or_table(text, argument)
    if found is None:
        raise InvalidValue(
            argument, text, "must be a file of cells, or of a table", "name one that ends so"
        )
    return found


_CELLS_OR_TABLE = "Cells: an .h5ad or .zarr file; a table: .csv or .tsv."
_NUMBERS = "Numbers by name: NAME=NUMBER; may be repeated."
_RANGES = "NAME=MIN:MAX, where one of the two may be missing, or NAME=MAX; may be repeated."
_PANEL = (
    "A file: .txt, .csv, .tsv, .gmt, .xlsx, .json; names: with commas between them, as CD3D,LYZ."
)
#: Parameters by their names, or else types, that the shell writes in its own way.
AS = {
    "panel": As(str, panel, _PANEL),
    "catalogue": As(str, panel, _PANEL),
    "panels": As(list[str], panels, "Each as NAME=PANEL."),
    "Genes": As(
        list[str], genes, "Names with commas between them, /patterns/, @files; may be repeated."
    ),
    "force": As(str, names, "A file, or names with commas between them."),
    "background": As(str, names, "A file, or names with commas between them."),
    "preserve": As(
        list[str],
        preserve,
        "Genes: a file, or names with commas between them. Several targets: repeat the option, "
        "each with its weight as NAME=WEIGHT.",
    ),
    "readings": As(
        list[str],
        lambda words, _: [name.strip() for word in words for name in word.split(",")],
        "With commas between them; may be repeated.",
    ),
    "layer": As(str, help="raw: .raw."),
    "n_comps": As(int, lambda number, _: number or None, "0: full rank."),
    "int | Literal['auto']": As(str, _components_or_auto, "0: full rank."),
    "float | str | Mapping[str, float]": As(str, number_or_name),
    "orderable": As(str),
    "efficiency": As(str, _efficiency, _CELLS_OR_TABLE),
    "spillover_to": As(str, _neighbors, _CELLS_OR_TABLE),
    "codebook": As(str, help="A file, such as .csv or .xlsx."),
    "expression": As(list[str], _ranges, _RANGES),
    "total_counts": As(list[str], _numbers, _NUMBERS),
    "per_group": As(list[str], _ranges, f"{_RANGES} Without NAME=: all groups."),
    "Mapping[str, float]": As(list[str], _numbers, _NUMBERS),
    "str | Mapping[str, float]": As(list[str], _texts, _NUMBERS),
    "str | Mapping[str, Collection[str]]": As(
        str, _lists, "Lists: a file, .csv, .tsv, .txt, .xlsx, .gmt or .json."
    ),
}
