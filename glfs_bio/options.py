"""Options of a selection that users make: limits, the target platform, and what to preserve.

Each is a frozen record that refuses a wrong value when it is made.  The command line and R take
their options from these records: a new field is an option there too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from . import checks
from .errors import NO_VALUE, InvalidType, InvalidValue

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
    """Constraints on a panel, for ``glfs_bio.pp.select_genes(..., limits=Limits(...))``.

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
        `counts_layer`.  Imaging instruments cannot tell molecules apart where there are too many.
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
    counts_layer
        Layer of raw counts, for limits on totals; ``"X"`` for ``.X``.
    cost
        What a gene costs: one number, the name of a column of ``.var``, or a dict of genes to
        numbers.  It needs `budget`.
    budget
        What the panel may cost.  With ``n_genes=None`` as many genes are selected as it affords and
        as gain something.  It needs `cost`.

    Raises
    ------
    TypeError, ValueError
        A value out of range, or one that needs another.

    Examples
    --------
    >>> from glfs_bio import Limits
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
    counts_layer: str | None = None
    cost: float | str | Mapping[str, float] | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        for name in (*_MEANS, *_SHARES, "max_total_per_cell"):
            value = getattr(self, name)
            if value is not None:
                checks.number(name, value)
                if name in _SHARES and value > 1:
                    raise InvalidValue(name, value, "must be a share of the cells, from 0 to 1")
        for name in (*_MEANS, *_SHARES):
            upper = "max" + name[3:]
            least, most = getattr(self, name), getattr(self, upper)
            if name.startswith("min") and None not in (least, most) and least > most:
                raise InvalidValue(
                    name, least, "is more than {most}, the value of {upper}", upper=upper, most=most
                )
        self._check_total_per_type()
        checks.whole_number("per_family", self.per_family, at_least=1, or_none=True)
        checks.whole_number("per_type", self.per_type, at_least=1, or_none=True)
        checks.texts(or_none=True, groupby=self.groupby, counts_layer=self.counts_layer)
        if self.budget is not None:
            checks.number("budget", self.budget)
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
                raise InvalidValue(
                    "max_total_per_type", totals, "is empty", "name a type, or leave it out"
                )
            for kind, total in totals.items():
                checks.number(f"max_total_per_type[{kind!r}]", total)
        elif totals is not None:
            checks.number("max_total_per_type", totals)

    def _check_partners(self) -> None:
        """No limit without what it needs, and nothing that changes nothing."""
        for one, other in (("families", "per_family"), ("cost", "budget")):
            for name, partner in ((one, other), (other, one)):
                if getattr(self, name) is not None and getattr(self, partner) is None:
                    raise InvalidValue(
                        name,
                        getattr(self, name),
                        "needs {partner}",
                        "give both, or neither",
                        partner=partner,
                    )
        if self.markers is not None and self.per_type is None:
            raise InvalidValue(
                "markers", self.markers, "is for {arg:per_type}", "say how many each type needs"
            )
        if self.needs_counts and self.counts_layer is None:
            raise InvalidValue(
                "counts_layer",
                None,
                "is needed for limits on totals, which are on raw counts",
                'name their layer, or "X" where {X} holds them',
            )
        if self.counts_layer is not None and not self.needs_counts:
            raise InvalidValue(
                "counts_layer",
                self.counts_layer,
                "changes nothing: it is for limits on totals (max_total_per_cell, "
                "max_total_per_type)",
            )
        if self.needs_types and self.groupby is None:
            names = [name for name in (*_OF_TYPES, "per_type") if getattr(self, name) is not None]
            raise InvalidValue(
                names[0],
                getattr(self, names[0]),
                "is for types of cells",
                "name their column with {arg:groupby}",
            )
        if self.groupby is not None and not self.needs_types:
            raise InvalidValue(
                "groupby", self.groupby, "changes nothing: no limit is on types of cells"
            )


@dataclass(frozen=True)
class Platform:
    """The assay that will measure the panel, for ``select_genes(..., platform=Platform(...))``.

    Attributes
    ----------
    detection
        Relative detection efficiency of each gene, from 0 to 1: what the assay detects, as a share
        of what is detected in the reference.  One number, the name of a column of ``.var``, or a
        dict of genes to numbers.  Or cells that were measured by that assay, an AnnData object: the
        efficiencies are then estimated from how many cells express each gene there and here, which
        should be cells of the same kinds.  The noise of a gene grows accordingly; what is to be
        preserved stays.
    failure
        Probability that a gene fails: one number, the name of a column of ``.var``, or a dict of
        genes to numbers (other genes do not fail).  The panel is chosen that preserves most in the
        mean over failures, of which 20 sets are drawn.

    Raises
    ------
    InvalidValue
        Neither is given: such a platform would change nothing.

    Examples
    --------
    >>> from glfs_bio import Platform
    >>> Platform(detection=0.3, failure=0.05)
    Platform(detection=0.3, failure=0.05)
    """

    detection: Any = None
    failure: float | str | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if self.detection is None and self.failure is None:
            raise InvalidValue(
                "platform", NO_VALUE, "has neither detection nor failure", "give one of them"
            )


@dataclass(frozen=True)
class Preserve:
    """What a panel should preserve, of which cells and which structure, in one argument.

    For ``preserve=`` of the functions of :mod:`glfs_bio.tl`, where what a selection was made for
    does not say it.

    Attributes
    ----------
    target
        What `preserve` of :func:`~glfs_bio.pp.select_genes` takes.
    cell_weights
        Column of ``.obs``: how much each cell counts.
    use_rep
        Key of a structure that :func:`~glfs_bio.pp.structure` kept, or of ``.obsm``.  None: the
        structure comes from the matrix.

    Examples
    --------
    >>> from glfs_bio import Preserve
    >>> Preserve("cell_type", cell_weights="cell_type").use_rep is None
    True
    """

    target: Any = "structure"
    cell_weights: str | None = None
    use_rep: str | None = None

    def __post_init__(self) -> None:
        checks.texts(or_none=True, cell_weights=self.cell_weights, use_rep=self.use_rep)


#: What a text in a record begins with that stands for a dict.
_JSON = "json:"


def _names_or_mapping(name: str, value: object) -> None:
    if value is None or (isinstance(value, str) and value):
        return
    if not isinstance(value, Mapping):
        raise InvalidType(name, value, "must be the name of a column of {var}, or a {mapping}")
    _mapping(name, value)


def _mapping(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise InvalidType(name, value, "must be a {mapping}")
    if not value:
        raise InvalidValue(name, value, "is empty", "leave it out")


def _check_lists(name: str, lists: Mapping[Any, Any]) -> None:
    """Refuse families and markers that are not lists of names of genes."""
    for key, genes in lists.items():
        if isinstance(genes, str) or not isinstance(genes, Collection):
            raise InvalidType(
                name, genes, "must hold lists of names of genes: see {key}", key=str(key)
            )
        if not len(genes):
            raise InvalidValue(name, lists, "has no gene for {key}", "leave it out", key=str(key))
