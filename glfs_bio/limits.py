"""What a panel has to stay within."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from . import checks

_SHARES = ("min_cells", "max_cells", "min_cells_in_type", "max_cells_in_type")
_MEANS = ("min_mean", "max_mean", "min_mean_in_type", "max_mean_in_type")
#: Limits that are stated for types of cells.
_OF_TYPES = (
    "min_mean_in_type",
    "max_mean_in_type",
    "min_cells_in_type",
    "max_cells_in_type",
    "max_total_per_type",
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on a panel of genes, for ``glfs_bio.pp.select_genes(..., limits=Limits(...))``.

    Every limit holds exactly, or an error says which of them conflict.  None is no limit.

    Attributes
    ----------
    min_mean, max_mean
        Least and most mean expression of a gene over all cells, in the matrix that genes are
        selected from.
    min_cells, max_cells
        Least and most share of all cells that express a gene, from 0 to 1.
    min_mean_in_type, max_mean_in_type
        Least and most of the largest of a gene's means over the types of cells: a gene must reach
        the one, and must not exceed the other, in any one type.  They need `groupby`.
    min_cells_in_type, max_cells_in_type
        The same for the share of the cells of a type that express it.
    max_total_per_cell
        Most raw counts of the whole panel in a cell, as a mean over all cells.  It needs
        `counts_layer` of ``select_genes``.  Imaging instruments cannot tell molecules apart where
        there are too many.
    max_total_per_type
        The same mean over the cells of each type: one number, or one for some types by name.  It
        needs `groupby` and `counts_layer`.
    families
        Families of genes: name of a column of ``.var`` (a gene without a value is in none), or a
        dict of names of families to lists of genes.
    per_family
        Most genes of one family.
    per_type
        Least number of genes that are markers of each type.  It needs `groupby` or `markers`.  A
        gene is a marker of the type in which its mean is highest, if at least a quarter of the
        cells of that type express it and its mean there is at least twice that in all other cells
        together.  Means are compared as scanpy compares them, after ``expm1`` of their logarithms.
    markers
        Markers of each type instead: a dict of names of types to lists of genes.
    priority
        Factor ≥ 0 by which the gain of a gene is multiplied when genes are chosen: name of a column
        of ``.var``, or a dict of genes to factors, where others have 1.  A gene of factor 0 enters
        last.
    groupby
        Column of ``.obs`` with the type of each cell.  A cell without a type is in none.

    Raises
    ------
    TypeError, ValueError
        A value out of range, or one that needs another.

    Examples
    --------
    >>> from glfs_bio.limits import Limits
    >>> Limits(max_mean=3.0, per_type=2, groupby="bulk_labels").record()
    {'max_mean': 3.0, 'per_type': 2, 'groupby': 'bulk_labels'}
    """

    min_mean: float | None = None
    max_mean: float | None = None
    min_cells: float | None = None
    max_cells: float | None = None
    min_mean_in_type: float | None = None
    max_mean_in_type: float | None = None
    min_cells_in_type: float | None = None
    max_cells_in_type: float | None = None
    max_total_per_cell: float | None = None
    max_total_per_type: float | Mapping[str, float] | None = None
    families: str | Mapping[str, Collection[str]] | None = None
    per_family: int | None = None
    per_type: int | None = None
    markers: Mapping[str, Collection[str]] | None = None
    priority: str | Mapping[str, float] | None = None
    groupby: str | None = None

    def __post_init__(self) -> None:
        for name in (*_MEANS, *_SHARES, "max_total_per_cell"):
            value = getattr(self, name)
            if value is not None:
                checks.number(name, value)
                if name in _SHARES and value > 1:
                    msg = f"{name}={value!r} must be a share of the cells, from 0 to 1."
                    raise ValueError(msg)
        for name in (*_MEANS, *_SHARES):
            upper = "max" + name[3:]
            least, most = getattr(self, name), getattr(self, upper)
            if name.startswith("min") and None not in (least, most) and least > most:
                msg = f"{name}={least!r} is more than {upper}={most!r}: no gene is within both."
                raise ValueError(msg)
        self._check_total_per_type()
        checks.whole_number("per_family", self.per_family, at_least=1, or_none=True)
        checks.whole_number("per_type", self.per_type, at_least=1, or_none=True)
        checks.texts(or_none=True, groupby=self.groupby)
        _names_or_mapping("families", self.families)
        _names_or_mapping("priority", self.priority)
        if self.markers is not None:
            _mapping("markers", self.markers)
        for name in ("families", "markers"):
            if isinstance(value := getattr(self, name), Mapping):
                _check_lists(name, value)
        if isinstance(self.priority, Mapping):
            for gene, factor in self.priority.items():
                checks.number(f"priority[{gene!r}]", factor)
        self._check_partners()

    @property
    def needs_types(self) -> bool:
        """Whether a limit is on types of cells."""
        of_types = any(getattr(self, name) is not None for name in _OF_TYPES)
        return of_types or (self.per_type is not None and self.markers is None)

    @property
    def needs_counts(self) -> bool:
        """Whether a limit is on raw counts."""
        return self.max_total_per_cell is not None or self.max_total_per_type is not None

    def record(self) -> dict[str, str | int | float]:
        """The limits that are set, as ``.uns`` can keep them; dicts and lists as JSON."""
        kept: dict[str, str | int | float] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Mapping):
                value = _JSON + json.dumps(
                    {
                        str(key): item if isinstance(item, Real) else [str(gene) for gene in item]
                        for key, item in value.items()
                    },
                    default=float,
                )
            if value is not None:
                kept[field.name] = value.item() if hasattr(value, "item") else value
        return kept

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Limits:
        """The limits that :meth:`record` kept.

        Raises
        ------
        TypeError
            An entry that is no limit.
        """
        values = {}
        for name, value in record.items():
            plain = value.item() if hasattr(value, "item") else value
            if isinstance(plain, str) and plain.startswith(_JSON):
                plain = json.loads(plain[len(_JSON) :])
            values[name] = plain
        return cls(**values)

    def _check_total_per_type(self) -> None:
        totals = self.max_total_per_type
        if isinstance(totals, Mapping):
            if not totals:
                msg = "max_total_per_type is an empty dict: name a type, or leave it out."
                raise ValueError(msg)
            for kind, total in totals.items():
                checks.number(f"max_total_per_type[{kind!r}]", total)
        elif totals is not None:
            checks.number("max_total_per_type", totals)

    def _check_partners(self) -> None:
        """No limit without what it needs, and nothing that changes nothing."""
        if (self.families is None) != (self.per_family is None):
            msg = "families= and per_family= need each other: give both, or neither."
            raise ValueError(msg)
        if self.markers is not None and self.per_type is None:
            msg = "markers= is for per_type=: say how many of them each type needs."
            raise ValueError(msg)
        if self.needs_types and self.groupby is None:
            names = [name for name in (*_OF_TYPES, "per_type") if getattr(self, name) is not None]
            also = " (or markers=)" if names == ["per_type"] else ""
            msg = f"{names[0]}= is for types of cells: name their column with groupby={also}."
            raise ValueError(msg)
        if self.groupby is not None and not self.needs_types:
            msg = f"groupby={self.groupby!r} changes nothing: no limit is on types of cells."
            raise ValueError(msg)


#: What a text in a record begins with that stands for a dict.
_JSON = "json:"


def _names_or_mapping(name: str, value: object) -> None:
    if value is None or (isinstance(value, str) and value):
        return
    _mapping(name, value, or_column="the name of a column of adata.var, or ")


def _mapping(name: str, value: object, or_column: str = "") -> None:
    if not isinstance(value, Mapping):
        msg = f"{name}={value!r} must be {or_column}a dict, not {type(value).__name__}."
        raise TypeError(msg)
    if not value:
        msg = f"{name} is an empty dict: leave it out."
        raise ValueError(msg)


def _check_lists(name: str, lists: Mapping[Any, Any]) -> None:
    """Refuse families and markers that are not lists of names of genes."""
    for key, genes in lists.items():
        if isinstance(genes, str) or not isinstance(genes, Collection):
            msg = f"{name}[{key!r}]={genes!r} must be a list of names of genes."
            raise TypeError(msg)
        if not len(genes):
            msg = f"{name}[{key!r}] is empty: leave it out."
            raise ValueError(msg)
