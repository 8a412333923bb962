"""Rows of ``.var`` by what they are called, and what is called alike."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from . import families, selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

_ENSEMBL = re.compile(r"(ENS[A-Z]*G\d{11})(\.\d+)?")


@dataclass(frozen=True)
class Hints:
    """How names that are missing are compared with those that are there.

    Attributes
    ----------
    compared
        So many of the missing names, letter by letter: each takes milliseconds.
    alike
        Similarity of difflib from which a name is a hint: CD8X and CD8A have .75.
    close, shown
        Hints that are looked for, and that the message shows.
    """

    compared: int = 20
    alike: float = 0.75
    close: int = 10
    shown: int = 2


HINTS = Hints()


class Lookup:
    """Names of the rows: ``.var_names``, and a column of symbols where one is given.

    Attributes
    ----------
    places
        Where names are looked up, in words.
    by_name
        Rows by name.  Several rows may have one symbol.

    Raises
    ------
    KeyError
        No such column of symbols.
    """

    def __init__(self, adata: AnnData, symbols: str | None) -> None:
        columns = [selection.names(adata, None)]
        self.places = ["adata.var_names"]
        if symbols is not None:
            columns.append(selection.names(adata, symbols))
            self.places.append(f"adata.var[{symbols!r}]")
        self._var = adata.var
        self.by_name: dict[str, list[int]] = {}
        for column in columns:
            for row, name in enumerate(column):
                if isinstance(name, str):
                    self.by_name.setdefault(name, []).append(row)

    @property
    def n_genes(self) -> int:
        """Number of rows."""
        return len(self._var)

    def rows(self, item: str | re.Pattern[str]) -> Sequence[int] | NDArray[np.intp] | None:
        """Rows of a name, pattern, boolean column or family; None where nothing is found."""
        if isinstance(item, re.Pattern):
            return self._where(lambda name: item.search(name) is not None)
        if item in self.by_name:
            return self.by_name[item]
        if item in self.flags:
            return np.flatnonzero(self._var[item].to_numpy(dtype=bool, na_value=False))
        if item in families.SOURCES:
            return self._where(families.family(item).__contains__)
        return None

    def _where(self, holds: Callable[[str], bool]) -> list[int] | None:
        return [row for name, rows in self.by_name.items() if holds(name) for row in rows] or None

    @cached_property
    def flags(self) -> list[str]:
        """Boolean columns of ``.var``."""
        return [name for name in self._var if pd.api.types.is_bool_dtype(self._var[name])]

    def similar(self, unknown: Iterable[str]) -> str:
        """A question for every name that has another like it, each after a space."""
        plain: dict[str, list[str]] = {}
        for name in [*self.by_name, *self.flags, *families.SOURCES]:
            plain.setdefault(_plain(name), []).append(name)
        asked = []
        for i, name in enumerate(unknown):
            key = _plain(name)
            found = plain.get(key, [])
            if not found and i < HINTS.compared and not _ENSEMBL.fullmatch(name):
                pool = [other for other in plain if other[:1] == key[:1]]
                close = difflib.get_close_matches(key, pool, n=HINTS.close, cutoff=HINTS.alike)
                close.sort(key=lambda other: -_shared(key, other))
                found = [one for other in close for one in plain[other]]
            if found:
                asked.append(f" {name}: did you mean {' or '.join(found[: HINTS.shown])}?")
        return "".join(asked)

    def other_names(self, absent: Iterable[object]) -> str:
        """What to do where symbols are asked for, and the data has ids."""
        have = sum(_ENSEMBL.fullmatch(name) is not None for name in self.by_name)
        asked = all(isinstance(one, str) and _ENSEMBL.fullmatch(one) for one in absent)
        if len(self.places) > 1 or asked or 2 * have <= len(self.by_name):
            return ""
        return (
            " adata.var_names holds Ensembl ids: name the column of adata.var that holds the "
            "symbols with symbols=."
        )


def _plain(name: str) -> str:
    """A name without case, separators and the version of an Ensembl id."""
    ensembl = _ENSEMBL.fullmatch(name)
    return re.sub(r"[-_. ]", "", ensembl[1] if ensembl else name).casefold()


def _shared(one: str, other: str) -> int:
    """Letters at the beginning that two names share."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
