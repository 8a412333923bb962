"""What is asked for: a structure of the cells, a panel, its limits, its platform, its target.

Each is a frozen record that refuses invalid values.  The command line and R take their options from
these records: a new field is an option there too.  By :func:`public` functions refuse a field that
is passed as an argument of its own, and name the record.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cached_property, wraps
from inspect import signature
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NoReturn, ParamSpec, TypeVar

from rich.console import Console

from . import _progress, checks, codec
from .cells.cells import StructureSpec
from .errors import InvalidType, InvalidValue, short
from .solvers.panel import method_of

if TYPE_CHECKING:
    from .solvers.panel import Method

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

#: Platforms that orders have a form of.
PLATFORMS = ("xenium_v1", "xenium_prime", "merscope", "cosmx", "sheet")
#: Minimum and maximum, or a maximum, of a number and of a number of genes.
Bounds = float | tuple[float | None, float | None]
Counts = int | tuple[int | None, int | None]
_Check = Callable[[str, Any], Any]


def canonical_name(platform: Any) -> Any:
    """Return the name of a platform, in lower case where orders have a form of it."""
    name = getattr(platform, "name", platform)
    has_form = isinstance(name, str) and name.casefold() in PLATFORMS
    return name.casefold() if has_form else name


def _names(record: Any) -> list[str]:
    """Return the names of the fields of a record."""
    return [item.name for item in fields(record)]


#: What `expression` bounds of each gene: ``"mean"`` expression, the share of ``"cells"`` that
#: express it, or mean raw ``"counts"``; and whether in the cell type where it is largest, otherwise
#: over all cells.  In the order of the rows of a panel's limits.
MEASURES = {
    "counts": ("counts", False),
    "counts_in_type": ("counts", True),
    "mean": ("mean", False),
    "mean_in_type": ("mean", True),
    "cells": ("cells", False),
    "cells_in_type": ("cells", True),
}
#: Fields that each limit needs.
_NEEDS = {
    "expression['counts']": ("counts_layer",),
    "expression['counts_in_type']": ("groupby", "counts_layer"),
    "expression['mean_in_type']": ("groupby",),
    "expression['cells_in_type']": ("groupby",),
    "total_counts['cell']": ("counts_layer",),
    "total_counts['type']": ("groupby", "counts_layer"),
    "total_counts['bit']": ("counts_layer",),
    "groups": ("per_group",),
    "per_group": ("groups",),
    "per_type": ("groupby",),
    "cost": ("budget",),
    "budget": ("cost",),
}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Constraints on a panel, for ``glfs_bio.pp.select_genes(..., limits=Limits(...))``.

    All constraints hold exactly; infeasible constraints raise an error that names them.  None is no
    constraint.  A range is a minimum and a maximum, each a number or None; one number is a maximum.

    Attributes
    ----------
    expression : dict of str to pair of float, default None
        Ranges of what is measured of each gene, by the keys below.  An example is ``{"mean": (None,
        3.0), "cells_in_type": (0.1, None)}``.

        - ``"mean"``: mean expression over all cells, in the matrix of the selection (of
          logarithms);
        - ``"cells"``: share of all cells that express the gene, from 0 to 1;
        - ``"counts"``: mean raw counts in a cell, over all cells, as a `platform` detects them by
          its efficiency.  It needs `counts_layer`;
        - ``"mean_in_type"``, ``"cells_in_type"``, ``"counts_in_type"``: the same over the cells of
          the cell type where it is largest: at least one type reaches the minimum, and none is
          above the maximum.  They need `groupby`.
    total_counts : dict of str to float, default None
        Maximum raw counts of the whole panel in a cell, by the keys below.  In imaging, crowded
        molecules cannot be resolved.  It needs `counts_layer`.

        - ``"cell"``: as a mean over all cells;
        - ``"type"``: as a mean over the cells of each type; one number, or a dict of numbers by
          type.  It needs `groupby`;
        - ``"bit"``: of the genes whose codewords share a bit, as a mean over all cells.  It needs a
          platform with a codebook.
    expected_counts : dict of str to float, default None
        Expected counts in a cell, as a mean over all cells, of genes whose counts the data cannot
        tell, such as markers of missing cell types.  They replace the means of these genes over all
        cells in limits on counts.
    groups : str or dict of str to list, default None
        Sets of genes, such as gene families, lineages of a panel sheet, or markers of cell types:
        column of ``.var``, missing for genes without a group, lists of genes by name, or a file of
        them (see :func:`~glfs_bio.io.read_markers`).  It needs `per_group`.
    per_group : int, pair of int, or dict of str to int or pair of int, default None
        Range of the number of genes of each group: one for all groups, as in ``1`` for at most one
        gene and ``(2, None)`` for at least two, or ranges of some groups by name, as in ``{"T
        cells": (2, 10), "HLA": 1}``.  It needs `groups`.
    nearly_identical : bool, default None
        Select genes of nearly one sequence together, such as HBA1 and HBA2.  None: once one of them
        is in, others enter only if they are included by name, since probes cannot tell them apart.
        Sets of your own are `groups` with a `per_group` of 1.
    per_type : int, default None
        Minimum number of markers of each cell type.  It needs `groupby`.  A gene is a marker of a
        type if at least a quarter of its cells, and three, express the gene; if its mean there, of
        ``expm1`` of logarithms, is at least twice that in each other type; and if it is off
        elsewhere: all other cells express it at most half as often, or their mean is at most a
        tenth (ambient RNA).  A type with fewer markers needs what it has, as a warning says.
        Markers of your own are `groups` with a minimum.
    priority : str or dict of str to float, default None
        Factor ≥ 0 of the gain of a gene during selection: column of ``.var``, or numbers by gene,
        otherwise 1.  A gene with the factor 0 enters last.
    groupby : str, default None
        Column of ``.obs`` with the cell types.
    counts_layer : str, default None
        Layer of raw counts for limits on counts; ``"X"`` for ``.X``.
    cost : float, str or dict of str to float, default None
        Cost of a gene: one number, a column of ``.var``, or numbers by gene.  It needs `budget`.
    budget : float, default None
        Maximum cost of the panel.  With ``n_genes=None`` as many genes are selected as it affords
        and as gain something.  It needs `cost`.

    Examples
    --------
    >>> from glfs_bio import Limits
    >>> limits = Limits(expression={"mean": (None, 3.0)}, per_type=2, groupby="bulk_labels")
    >>> limits.expression
    {'mean': (None, 3.0)}
    """

    expression: Mapping[str, Bounds] | None = None
    total_counts: Mapping[str, float | Mapping[str, float]] | None = None
    expected_counts: Mapping[str, float] | None = None
    groups: str | Mapping[str, Collection[str]] | None = None
    per_group: Counts | Mapping[str, Counts] | None = None
    nearly_identical: bool | None = None
    per_type: int | None = None
    priority: str | Mapping[str, float] | None = None
    groupby: str | None = None
    counts_layer: str | None = None
    cost: float | str | Mapping[str, float] | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        for name, (check, check_other) in _DICTS.items():
            value = getattr(self, name)
            if isinstance(value, Mapping):
                value = _checked(name, value, check)
            elif value is not None:
                value = check_other(name, value)
            object.__setattr__(self, name, value)
        ranges: Mapping[str, Any] = self.expression or {}
        for name, (least, most) in ranges.items():
            checks.one_of("expression", name, MEASURES)
            largest = max(least or 0, most or 0)
            if MEASURES[name][0] == "cells" and largest > 1:
                raise InvalidValue(f"`expression[{name!r}]={short(largest)}` must be a share, ≤ 1")
        for name in self.total_counts or ():
            checks.one_of("total_counts", name, ("cell", "type", "bit"))
        checks.whole_number("per_type", self.per_type, at_least=1, or_none=True)
        if self.nearly_identical is not None:
            checks.flags(nearly_identical=self.nearly_identical)
        checks.texts(or_none=True, groupby=self.groupby, counts_layer=self.counts_layer)
        checks.number("budget", self.budget, or_none=True)
        self._check_needs()

    def _check_needs(self) -> None:
        """Refuse limits without the fields they need, and fields that no limit needs."""
        stated = [name for name in _names(Limits) if getattr(self, name) is not None]
        for name in ("expression", "total_counts"):
            stated += [f"{name}[{key!r}]" for key in getattr(self, name) or ()]
        needs = [(name, partner) for name in stated for partner in _NEEDS.get(name, ())]
        for name, partner in needs:
            if partner not in stated:
                raise InvalidValue(f"`{name}` needs `{partner}`: give both, or neither")
        needed = {partner for _, partner in needs}
        if "counts_layer" in needed:
            needed.add("expected_counts")
        for name in ("groupby", "counts_layer", "expected_counts"):
            if name in stated and name not in needed:
                raise InvalidValue(f"`{name}` has no effect, as no limit needs it: leave it out")


@dataclass(frozen=True)
class Platform:
    """Target platform of a panel, for ``glfs_bio.pp.select_genes(..., platform=Platform(...))``.

    Attributes
    ----------
    name : str, default None
        Name of the platform, such as ``"xenium_v1"``, which :func:`~glfs_bio.tl.order_panel` takes
        the form of the order from.  A platform with a name, or with efficiencies, is an instrument
        other than the assay of the reference: every gene has the mean noise there.  If no cells of
        it are given, labels as the target count by the logarithm of the evidence for each pair.
    genes : list, str or dict of str to int, default None
        Genes that can be ordered: names, a file, or a boolean column of ``.var``.  Or numbers of
        probes by gene, or a column of them, with `min_probes`.
    min_probes : int, default None
        Minimum number of probes of a gene.
    efficiency : float, str, dict of str to float, DataFrame or AnnData, default None
        Relative detection efficiency of each gene, as a share of the detection in the reference:
        one number, a column of ``.var``, numbers by gene, or the table of
        :func:`~glfs_bio.tl.estimate_efficiency`, which also holds `spread`, `off_target` and
        `signal`.  A gene of small efficiency shows its structure in proportion to it, relative to
        the median; a median below 1 is more noise.  An AnnData object has similar cells that the
        platform measured, better 1,000 than 200: from 200 on `signal` is measured in them, and the
        efficiency is estimated from the shares of cells that express each gene.
    spread : float, str or dict of str to float, default None
        Standard deviation of the natural logarithm of `efficiency`: one number, a column of
        ``.var``, or numbers by gene, otherwise 0.
    failure : float, str or dict of str to float, default None
        Probability that a gene fails: one number, a column of ``.var``, or numbers by gene,
        otherwise 0.  With it, or with `spread`, the panel is optimised for the mean over 20 draws.
    off_target : float, str or dict of str to float, default None
        Share of the counts of a gene that comes from other genes, such as paralogs, from 0 to 1:
        one number, a column of ``.var``, or numbers by gene, otherwise 0.  The efficiency of a gene
        is reduced by this share.
    max_off_target : float, default None
        Maximum off-target share of a gene.
    signal : str or dict of str to float, default None
        Structure of each gene in cells that the platform measured, in units of its noise there: a
        column of ``.var``, or numbers by gene, otherwise 0.  It takes the place of `efficiency` in
        the selection.
    codebook : DataFrame, str or dict of str to str, default None
        Codeword of each gene: a table of genes and bits of 0 and 1, texts such as ``"0110"`` by
        gene, or the name of a codebook file (see :func:`~glfs_bio.io.read_panel`).  Only genes with
        a codeword can be ordered.
    spillover : float, default None
        Share of the molecules of each cell that are assigned to neighbouring cells, from 0 to below
        1.  It is part of the forecast of :func:`~glfs_bio.tl.evaluate_panel` and does not change
        the selection.
    spillover_to : AnnData, DataFrame or dict of str to dict, default None
        Types of the neighbouring cells.  Cells × genes with positions in ``.obsm["spatial"]``, or
        with squidpy's graph, ``.uns["spatial_neighbors"]``, and with the same column of labels as
        the evaluation; neighbours are of one section, by a column ``"library_id"``, ``"section"``
        or ``"sample"`` of ``.obs``.  A selection records only their number, and an evaluation needs
        them again.  Or a table with the frequencies of the types of neighbours (columns) of each
        type (rows), such as squidpy's interaction matrix, which is recorded.  None: neighbours are
        random cells of the reference.

    Examples
    --------
    >>> from glfs_bio import Platform
    >>> Platform("xenium_v1", efficiency=0.3, failure=0.05).failure
    0.05
    """

    name: str | None = None
    genes: Any = None
    min_probes: int | None = None
    efficiency: Any = None
    spread: float | str | Mapping[str, float] | None = None
    failure: float | str | Mapping[str, float] | None = None
    off_target: float | str | Mapping[str, float] | None = None
    max_off_target: float | None = None
    signal: str | Mapping[str, float] | None = None
    codebook: Any = None
    spillover: float | None = None
    spillover_to: Any = None

    def __post_init__(self) -> None:
        if all(getattr(self, name) is None for name in _names(Platform)):
            raise InvalidValue("`platform` says nothing of the platform: give its efficiency, say")
        checks.texts(or_none=True, name=self.name)
        object.__setattr__(self, "name", canonical_name(self.name))
        if str(self.name).casefold() == "xenium":  # which of the two?
            checks.one_of("name", self.name, PLATFORMS)
        checks.whole_number("min_probes", self.min_probes, at_least=1, or_none=True)
        checks.number("max_off_target", self.max_off_target, or_none=True)
        if isinstance(self.genes, Mapping) and self.min_probes is None:
            raise InvalidValue("`platform` has numbers of probes of genes, and needs `min_probes`")
        for name, partners in _PARTNERS.items():
            value = getattr(self, name)
            if value is not None and all(getattr(self, partner) is None for partner in partners):
                needs = " or ".join(partners)
                raise InvalidValue(f"`{name}={short(value)}` needs {needs}: give both, or neither")
        if self.codebook is not None and not isinstance(self.codebook, str):
            object.__setattr__(self, "codebook", codewords(self.codebook))
        if self.spillover is not None:
            checks.share("spillover", self.spillover)
        if not (self.spillover_to is None or codec.is_of_cells(self.spillover_to)):
            object.__setattr__(self, "spillover_to", neighbor_frequencies(self.spillover_to))

    @property
    def is_instrument(self) -> bool:
        """Whether it is known to be another assay than that of the reference."""
        return any(value is not None for value in (self.name, self.efficiency, self.signal))

    @property
    def is_unseen(self) -> bool:
        """Whether it is such an assay, of which no cells, or too few, are given."""
        measured = self.signal is not None or "signal" in getattr(self.efficiency, "columns", ())
        seen = measured or getattr(self.efficiency, "n_obs", 0) >= FEWEST_CELLS
        return self.is_instrument and not seen


#: Fewer cells of a platform hardly show the structure of a gene.
FEWEST_CELLS = 200
#: What each field of a platform changes nothing without.
_PARTNERS = {
    "min_probes": ("genes",),
    "spread": ("efficiency",),
    "max_off_target": ("off_target", "efficiency"),
    "spillover_to": ("spillover",),
}


def codewords(codebook: Any) -> dict[str, str]:
    """Return a codebook as a dict of genes to texts of 0 and 1."""
    if hasattr(codebook, "columns") and hasattr(codebook, "index"):
        if not codebook.index.is_unique:
            raise InvalidValue("`codebook` has a gene twice: give each gene once")
        if not codebook.isin([0, 1]).all(axis=None):
            raise InvalidValue("`codebook` must hold bits, which are 0 or 1")
        codebook = codebook.astype(int).astype(str).agg("".join, axis=1).to_dict()
    if not isinstance(codebook, Mapping):
        raise InvalidType(f"`codebook={short(codebook)}` must be a table or `dict` of codewords")
    words = {str(gene): word for gene, word in codebook.items()}
    for gene, word in words.items():
        if not isinstance(word, str) or not word or set(word) - {"0", "1"}:
            raise InvalidValue(f"`codebook[{gene!r}]={short(word)}` is no codeword: give 0s and 1s")
    if len({len(word) for word in words.values()}) != 1:
        raise InvalidValue("`codebook` has no codewords, or some of different lengths: correct it")
    return words


def neighbor_frequencies(table: Any) -> dict[str, dict[str, float]]:
    """Return a table of types and the types of their neighbours as shares that add up to 1."""
    rows = table
    if hasattr(table, "columns") and hasattr(table, "index"):
        if not (table.index.is_unique and table.columns.is_unique):
            raise InvalidValue("`spillover_to` has a type twice: give each once")
        rows = table.to_dict("index")
    if not isinstance(rows, Mapping) or not all(isinstance(row, Mapping) for row in rows.values()):
        raise InvalidType(f"`spillover_to={short(table)}` must be cells with positions, or a table")
    frequencies = {}
    for label, row in rows.items():
        for value in row.values():
            checks.number(f"spillover_to[{str(label)!r}]", value)
        total = sum(row.values())
        if total > 0:  # a type without neighbours is as one that is not there
            shares = {str(name): value / total for name, value in row.items() if value}
            frequencies[str(label)] = shares
    if not frequencies:
        raise InvalidValue("`spillover_to` has no neighbours of any type")
    return frequencies


@dataclass(frozen=True)
class Preserve:
    """Target of a panel, with the weights of the cells and the structure, in one argument.

    It is for ``preserve=`` of the functions of :mod:`glfs_bio.tl`, to evaluate a panel by another
    target than that of the selection.

    Attributes
    ----------
    target : str, list or dict, default "structure"
        A value of `preserve` of :func:`~glfs_bio.pp.select_genes`.  None: that of the selection.
    cell_weights : str, default None
        Column of ``.obs`` with weights of the cells, as decimal numbers, or with labels that get
        equal weights.
    use_rep : str, default None
        Key of a stored :func:`~glfs_bio.pp.structure`, or of ``.obsm``.  None: the structure of the
        matrix.

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
        checks.texts(or_none=True, cell_weights=self.cell_weights)
        if not isinstance(self.use_rep, StructureSpec):  # how it is computed, as R may say
            checks.texts(or_none=True, use_rep=self.use_rep)


@dataclass(frozen=True)
class Request:
    """Everything a selection is asked for: the arguments of :func:`~glfs_bio.pp.select_genes`.

    A panel brings it along, and whatever follows (stability, extension, order, report) replaces
    fields of it.
    """

    n_genes: int | None = None
    preserve: Any = "structure"
    cell_weights: str | None = None
    include: Any = None
    exclude: Any = None
    prefer: Any = None
    limits: Limits | None = None
    platform: Platform | None = None
    across: Literal["mean", "worst"] = "mean"
    search: Literal["nested", "best"] = "nested"
    #: Most seconds for the best panel; None: as many as it takes.
    time_limit: float | None = 60.0
    method: str | Method = "glfs"
    objective: str | Method = "error"
    symbols: str | None = None
    missing: Literal["raise", "warn", "ignore"] = "raise"
    structure: StructureSpec = field(default_factory=StructureSpec)

    def __post_init__(self) -> None:
        # to be gone through again, and recorded
        for name in ("preserve", "include", "exclude", "prefer"):
            if isinstance(value := getattr(self, name), Iterator):
                object.__setattr__(self, name, list(value))
        if isinstance(self.preserve, Preserve):
            text = "`preserve` has fields only where a panel is evaluated"
            raise InvalidType(f"{text}: pass them as `preserve`, `cell_weights` and `use_rep`")
        checks.whole_number("n_genes", self.n_genes, at_least=1, or_none=True)
        checks.one_of("across", self.across, ("mean", "worst"))
        checks.one_of("search", self.search, ("nested", "best"))
        checks.number("time_limit", self.time_limit, above=0.0, or_none=True)
        checks.one_of("missing", self.missing, ("raise", "warn", "ignore"))
        for name, record in _RECORDS.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, record):
                raise InvalidType(f"`{name}={short(value)}` needs `glfs_bio.{record.__name__}`")
        if self.method != "glfs":
            objective = method_of("objective", self.objective)
            if objective != method_of("objective", "error"):
                text = f"`objective={short(objective.name)}` is for `method='glfs'` only"
                raise InvalidValue(f"{text}: leave it out with another `method`")
        ranker = self.ranker
        if self.n_genes is None and not ranker.chooses_size:
            raise InvalidValue(f"`n_genes=None` is no choice of {ranker.name}: give a number")

    @cached_property
    def ranker(self) -> Method:
        """Whoever ranks the genes: the objective, or a method that has none."""
        if isinstance(self.method, str) and self.method == "glfs":
            return method_of("objective", self.objective)
        return method_of("method", self.method)

    @property
    def is_plain(self) -> bool:
        """Whether the structure is to be preserved, all cells counting alike."""
        plain = isinstance(self.preserve, str) and self.preserve == "structure"
        return plain and self.cell_weights is None

    @property
    def resolved_structure(self) -> StructureSpec:
        """The structure with the units of genes that the method takes for ``"auto"``."""
        spec = self.structure
        if spec.standardize != "auto":
            return spec
        return replace(spec, standardize=self.ranker.standardize(spec.n_comps))

    def arguments(self) -> dict[str, Any]:
        """Return everything as arguments of :func:`~glfs_bio.pp.select_genes`."""
        arguments = {item.name: getattr(self, item.name) for item in fields(self)}
        del arguments["structure"]
        return arguments | self.structure.arguments()

    @classmethod
    def of(cls, n_genes: int | None = None, **arguments: Any) -> Request:
        """Return the request with some arguments of this class and of :class:`StructureSpec`."""
        return cls().but(n_genes=n_genes, **arguments)

    def but(self, **arguments: Any) -> Request:
        """Return the same with other arguments, of this class or of :class:`StructureSpec`."""
        for name in sorted(arguments.keys() - {*_names(Request), *_names(StructureSpec)}):
            value, taken = arguments[name], self.arguments()
            remedy = place_of(name, value, taken) or f"choose one of {', '.join(taken)}"
            raise InvalidType(f"`{name}={short(value)}` is unknown: {remedy}")
        names = arguments.keys() & set(_names(StructureSpec))
        of_structure = {name: arguments.pop(name) for name in names}
        if of_structure:
            spec = arguments.get("structure", self.structure)
            arguments["structure"] = replace(spec, **of_structure)
        return replace(self, **arguments)

    @classmethod
    def restored(cls, text: Any) -> Request:
        """Return the request that :func:`.codec.text_of` wrote."""
        fields = codec.value_of(text)
        for name, record in (_RECORDS | {"structure": StructureSpec}).items():
            if fields[name] is not None or name == "structure":
                fields[name] = record(**fields[name])
        for name in ("method", "objective"):
            if not isinstance(fields[name], str):  # what :meth:`Method.record` wrote of options
                options = dict(fields[name])
                fields[name] = method_of(name, options.pop("name"), **options)
        return cls(**fields)


#: Records in which the parameters of a function may have fields, by the argument that takes them.
_RECORDS: dict[str, Any] = {"limits": Limits, "platform": Platform}


def place_of(name: str, value: object, taken: Collection[str]) -> str:
    """Say where an argument belongs that a function with others does not take; ``""``: nowhere."""
    for argument, record in _RECORDS.items():
        if argument in taken and name in _names(record):
            return f"pass it as {argument}={record.__name__}({name}={short(value)})"
    if name in _names(StructureSpec) and name != "stored_key":
        return "pass it to `glfs_bio.pp.structure(adata)`, and name its key in `use_rep`"
    close = get_close_matches(name, taken, n=1, cutoff=0.7)
    return f"{close[0]} may be meant" if close else ""


def public(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Refuse arguments that belong elsewhere, and show a call to who looks or listens."""
    parameters = signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())

    @wraps(function)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for name in () if takes_all else kwargs.keys() - parameters.keys():
            remedy = place_of(name, kwargs[name], parameters) or "leave it out"
            raise InvalidType(f"`{name}` is no argument of {function.__name__}: {remedy}")
        settings = getattr(sys.modules.get("scanpy"), "settings", None)
        is_asked = getattr(settings, "verbosity", 0) >= _progress.INFO
        is_logged = _progress.log.isEnabledFor(logging.INFO)
        is_watched = _progress.KERNEL in sys.modules or Console(stderr=True).is_terminal
        if not (is_asked or is_logged or is_watched):
            return function(*args, **kwargs)
        name = function.__name__.replace("_", " ")
        with _progress.collected() as lines, _progress.progress(name):
            result = function(*args, **kwargs)
        _progress.tell(lines)
        return result

    return called


def _checked(name: str, value: Mapping[Any, Any], check: _Check) -> dict[str, Any]:
    """Return a dict whose values are checked."""
    if not value:
        raise InvalidValue(f"`{name}={short(value)}` is empty: leave it out")
    return {str(key): check(f"{name}[{str(key)!r}]", item) for key, item in value.items()}


def _total(name: str, value: Any) -> Any:
    """Return a maximum of counts, or one for each type."""
    if name == "total_counts['type']" and isinstance(value, Mapping):
        return _checked(name, value, lambda _, total: checks.number(name, total))
    return checks.number(name, value)


def _genes(name: str, value: Any) -> Any:
    """Return a list of genes, or refuse it."""
    if isinstance(value, str) or not isinstance(value, Collection):
        raise InvalidType(f"`{name}={short(value)}` must be a list of gene names")
    if not len(value):
        raise InvalidValue(f"`{name}={short(value)}` has no gene: leave it out")
    return value


def _column(name: str, value: Any) -> str:
    """Return the name of a column or of a file, or refuse what is neither that nor a dict."""
    if not isinstance(value, str | PathLike) or not str(value):
        raise InvalidType(f"`{name}={short(value)}` must be a `dict`, or name a column or a file")
    return str(value)


def _no_dict(name: str, value: Any) -> NoReturn:
    raise InvalidType(f"`{name}={short(value)}` must be a `dict`")


def _range(name: str, value: Any) -> tuple[Any, Any]:
    """Return a minimum and a maximum, or None, from two numbers or from a maximum."""
    pair = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(pair, tuple | list):
        pair = (None, pair)
    if len(pair) != 2:
        raise InvalidValue(f"`{name}={short(value)}` must be a maximum, or a minimum and a maximum")
    infinite = (float("inf"), -float("inf"))  # R has no other name for no bound
    least, most = (None if number in infinite else number for number in pair)
    for number in (least, most):
        checks.number(name, number, or_none=True)
    if not least and most is None:
        raise InvalidValue(f"`{name}={short(value)}` is no limit: give a minimum or a maximum")
    if least is not None and most is not None and least > most:
        raise InvalidValue(f"`{name}={short(value)}` has its minimum above its maximum: swap them")
    return least, most


def _range_of_counts(name: str, value: Any) -> tuple[Any, Any]:
    """Return a range of whole numbers, which R may have as decimal ones."""
    bounds = _range(name, value)
    least, most = (None if bound is None else int(bound) for bound in bounds)
    if (least, most) != bounds:
        raise InvalidType(f"`{name}={short(value)}` must hold whole numbers")
    return least, most


#: How a dict is checked, by its values, and what may stand in its place.
_DICTS: dict[str, tuple[_Check, _Check]] = {
    "expression": (_range, _no_dict),
    "total_counts": (_total, _no_dict),
    "expected_counts": (checks.number, _no_dict),
    "groups": (_genes, _column),
    "per_group": (_range_of_counts, _range_of_counts),
    "priority": (checks.number, _column),
}
