"""Names in tables of people and spreadsheets: how cells are read, and what each column holds.

One question is asked of every column before any is taken: what do its cells hold?  A column of
genes is one with a known head that can hold names of genes, or the only one that holds symbols or
ids, or the one that the caller names.  Any other table is refused with what its columns hold.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import logging
import lzma
import re
from contextlib import closing
from datetime import date
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .._extras import needs
from .._files import bad_file, reading, replacing
from ..errors import NO_VALUE, VAR, InvalidValue, Message, NotFound, Refusal, arg, listed
from . import names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path


log = logging.getLogger(__name__)

#: What columns of genes are headed, as :func:`plain` has it: names before ids.
SYMBOL_HEADS = (
    *("genesymbol", "symbol", "approvedsymbol", "hgncsymbol", "mgisymbol", "markersymbol"),
    *("officialgenesymbol", "officialsymbol", "hugosymbol", "vizgengene", "genesymbolmore1"),
    *("genename", "externalgenename", "associatedgenename", "geneshortname", "gene", "name"),
    *("displayname", "feature", "featurename", "target", "targetgene", "targetname"),
    *("markergene", "marker", "cellmarker"),
)
ID_HEADS = (
    *("ensemblgeneid", "geneensemblid", "ensemblid", "ensembleid", "ensembl", "genestableid"),
    *("genestableidversion", "flybaseid", "wormbaseid", "tairid", "locu", "zfinid", "mgiid"),
    *("geneid", "geneaccession", "accession", "entrezgeneid", "entrezid", "entrez", "ncbigeneid"),
    "id",
)
GENE_HEADS = (*SYMBOL_HEADS, *ID_HEADS)
PROBE_HEADS = (
    *("numprobeset", "probeset", "nprobeset", "probecount", "nprobe", "numprobe", "probe"),
    *("probesetcount", "ofprobeset", "noofprobeset", "numberofprobeset", "numberofprobe"),
    "targetregion",
)
#: What a column of row names is headed, or one of row numbers, and a list by R and pandas.
_ROW_HEADS = ("", "index", "unnamed0", "row", "rowname")
_LIST_HEADS = ("x", "v1", "0", "unnamed: 0", "column1")
#: Cells of a column that say what it holds, rows that a header is looked for in, and the share of
#: cells that are of one kind.
SAMPLE, TOP, _MOSTLY = 60, 25, 0.8
#: Kinds of features of 10x Genomics that are no genes.
_EXPRESSION, _NO_GENES = "Gene Expression", re.compile(r".+ Capture|Custom|Peaks")
#: Cells that are no names of genes.
_FLAG = re.compile(r"true|false|yes|no|0|1", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?\d*[.,]?\d+(e[-+]?\d+)?", re.IGNORECASE)
_SEQUENCE = re.compile(r"(.*[^A-Z])?[ACGTUN]{10,}([^A-Z].*)?|(GSM|SRR|ERR|SAMN)\d+.*")
_FORMULA = re.compile(r"=.*|#(N/A|REF!|NAME\?|VALUE!|DIV/0!|NUM!|NULL!)")
#: What stands between a name and what people note beside it; and between ids.
_BESIDE = re.compile(r'[\s,"]|\w\[')
_BETWEEN_IDS = re.compile(r"[,;|\s/]+")


class Sheet(NamedTuple):
    """A table: what its columns are headed, its rows, and the rows above the header.

    A column without a head has ``""``; a table that has no header has heads of no column.
    """

    heads: list[str]
    rows: list[list[str]]
    above: list[list[str]]

    @property
    def plain(self) -> list[str]:
        """Header as :func:`plain` has it."""
        return [plain(head) for head in self.heads]

    @property
    def width(self) -> int:
        """Number of columns."""
        return max(map(len, [self.heads, *self.rows]))

    @property
    def kinds(self) -> list[str]:
        """What each column holds: a kind of :func:`kind_of`, or row numbers."""
        columns = [self.column(at) for at in range(self.width)]
        heads = [*self.plain, *[""] * self.width]
        return [
            "row numbers"
            if counts(column) and (head in (*_ROW_HEADS, "no", "nr", *ID_HEADS))
            else kind_of(column)
            for column, head in zip(columns, heads, strict=False)
        ]

    def column(self, at: int) -> list[str]:
        """Return the cells of a column, ``""`` where a row is too short."""
        return [row[at] if at < len(row) else "" for row in self.rows]

    def summary(self) -> str:
        """Return the columns and what each holds, for a message."""
        heads = self.heads or [f"column {at + 1}" for at in range(self.width)]
        return listed(
            f"{head or 'without a head'}: {kind}"
            for head, kind in zip(heads, self.kinds, strict=False)
        )


class Genes(NamedTuple):
    """A table, and which columns of it hold the names of the genes, and ids; None: none does."""

    sheet: Sheet
    gene: int
    id: int | None


def kind_of(cells: Sequence[str]) -> str:
    """Return what nearly all cells of a column hold.

    ``"symbols"`` and ``"ids"`` are of genes that are known; ``"names"`` may be of any; names of one
    or two letters alone, such as T and B, are not known for genes.
    """
    texts = list(islice((text for text in cells if text not in names.NO_NAME), SAMPLE))
    if not texts:
        return "nothing"
    patterns = {"flags": _FLAG, "numbers": _NUMBER, "sequences or samples": _SEQUENCE}
    for kind, pattern in patterns.items():
        if _mostly(pattern.fullmatch(text) is not None for text in texts):
            return kind
    words = [word for text in texts for word in names.several(text) or [text]]
    if _mostly(map(names.is_id, words)):
        return "ids"
    if names.are_names([word for word in words if len(word) > 2]):
        return "symbols"
    one_word = _mostly(" " not in word or bool(names.dates(word)) for word in words)
    return "names" if one_word else "prose"


def _mostly(flags: Iterable[bool]) -> bool:
    return bool(np.mean(list(flags)) >= _MOSTLY)


def is_shifted(header: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether R wrote a header, which has no head of the row names.

    Where that leaves one head, the row names are numbers, or else it is a header of lists.
    """
    shifted = any(row[-1] for row in below)  # and not a separator behind the last column
    shifted = shifted and all(len(row) == len(header) + 1 for row in below)
    return shifted and (len(header) > 1 or counts([row[0] for row in below]))


def counts(cells: Sequence[str]) -> bool:
    """Whether a column has the numbers of its rows, from 0 or 1."""
    if not cells or cells[0] not in ("0", "1"):
        return False
    return list(cells) == [str(int(cells[0]) + row) for row in range(len(cells))]


def clean(cell: str) -> str:
    """Return a cell without blanks and quotes around it."""
    cell = cell.strip()
    if cell[:1] in QUOTES and len(cell) > 1 and QUOTES[cell[0]] == cell[-1]:
        return cell[1:-1].strip()
    return cell


def plain(head: str) -> str:
    """Return a header without case, separators and plural."""
    return re.sub(r"[\W_]", "", head).casefold().removesuffix("s")


def is_head(name: str) -> bool:
    """Whether a text is what columns of genes are headed."""
    return plain(name) in GENE_HEADS


def is_real(text: str) -> bool:
    """Whether a text is a real number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def column_headed(heads: Sequence[str], heads_wanted: Iterable[str]) -> int | None:
    """Return the column with the first of `heads_wanted` that heads one; None: none does."""
    plain_heads = [plain(head) for head in heads]
    return next((plain_heads.index(head) for head in heads_wanted if head in plain_heads), None)


def _is_body(row: Sequence[str]) -> bool:
    """Whether a row is none of heads: half of its cells or more are numbers or known genes."""
    texts = [text for text in row if text]
    n_values = sum(_NUMBER.fullmatch(text) is not None for text in texts)
    n_values += sum(kind_of([text]) in ("symbols", "ids") for text in texts)
    return 2 * n_values >= len(texts) or _EXPRESSION in row


def headed(
    rows: list[list[str]], column: str | None = None, heads: Collection[str] = GENE_HEADS
) -> Sheet:
    """Return a table by its header: the first row that has `column`, or else one of the `heads`.

    Of several the first with genes below it.  Without such a row it is the first, unless it has
    genes or numbers itself, or there is one column.
    """
    at = _header(rows, column, heads)
    if at is None and (len(filled_columns(rows)) < 2 or _is_body(rows[0])):
        shifted = bool(rows) and is_shifted(rows[0], rows[1:])
        if not shifted:
            return Sheet([], rows, [])
    first, body = rows[at or 0], rows[(at or 0) + 1 :]
    sheet = Sheet(first, [row for row in body if row != first], rows[: at or 0])
    gene = column_headed(first, SYMBOL_HEADS)
    if not is_shifted(first, body) or (gene is not None and sheet.kinds[gene] == "symbols"):
        return sheet
    return sheet._replace(heads=["", *first])


def _header(
    rows: list[list[str]], column: str | None, heads: Collection[str] = GENE_HEADS
) -> int | None:
    """Return the place of the header; None: no row is one."""
    if column is not None:
        return next((at for at, row in enumerate(rows[:TOP]) if column in row), None)
    with_heads = [
        at
        for at, row in enumerate(rows[:TOP])
        if any(plain(cell) in heads for cell in row)
        and not _is_body(row)
        and (at + 1 == len(rows) or len(row) + 1 >= len(rows[at + 1]))
    ]
    for at in with_heads:
        below = Sheet([], rows[at + 1 :], [])
        columns = [number for number, cell in enumerate(rows[at]) if plain(cell) in heads]
        if {kind_of(below.column(number)) for number in columns} & {"symbols", "ids"}:
            return at
    return next(iter(with_heads), None)


def filled_columns(rows: list[list[str]]) -> list[int]:
    """Return the columns that hold anything."""
    width = max(map(len, rows), default=0)
    return [at for at in range(width) if any(at < len(row) and row[at] for row in rows)]


def genes(source: object, rows: list[list[str]], column: str | None = None) -> Genes:
    """Return where a table has its genes, or refuse it with what its columns hold.

    They are in the `column`; else in one with a head of names, which holds symbols if any does;
    else in the row names, or the only column that holds symbols; else in one with a head of ids.
    """
    if any(_EXPRESSION in row for row in rows):
        rows = [row for row in rows if not any(map(_NO_GENES.fullmatch, row[2:]))]
    sheet = headed(rows, column)
    if column is not None:
        if column not in sheet.heads:
            raise NotFound("column", column, f"is not in {source}", f"it has {listed(sheet.heads)}")
        _check_alone(source, sheet, sheet.heads.index(column))
        return Genes(sheet, sheet.heads.index(column), None)
    filled = filled_columns(rows)
    if not sheet.heads and len(filled) < 2:
        return _list(source, sheet, filled[0] if filled else 0)
    kinds = sheet.kinds
    if not sheet.heads:
        if kinds[0] == "ids" or _EXPRESSION in sheet.rows[0]:
            return Genes(sheet, 1, 0)  # features of 10x Genomics
        texts = [text for row in rows for text in row if text]
        if names.are_present(texts):
            return Genes(Sheet([], [[text] for text in texts], []), 0, None)
        raise _unclear(source, sheet)
    gene = _gene_column(sheet, kinds)
    if gene is None or names.are_present([sheet.heads[gene]]):
        raise _unclear(source, sheet)
    _check_alone(source, sheet, gene)
    ids = [at for at in _headed_by(sheet, ID_HEADS) if kinds[at] in ("ids", "names", "numbers")]
    ids = ids or [at for at, kind in enumerate(kinds) if kind == "ids"]
    return Genes(sheet, gene, ids[0] if ids else None)


def _headed_by(sheet: Sheet, heads: Sequence[str]) -> list[int]:
    """Return the columns with one of some heads, in the order of these."""
    return [at for head in heads for at, of_column in enumerate(sheet.plain) if head == of_column]


def _gene_column(sheet: Sheet, kinds: list[str]) -> int | None:
    """Return the column of genes; None: there is none, or no reason to take one of several."""
    by_symbol, by_id = _headed_by(sheet, SYMBOL_HEADS), _headed_by(sheet, ID_HEADS)
    row_names = [0] if sheet.plain[0] in _ROW_HEADS else []
    filled = [at for at, kind in enumerate(kinds) if kind not in ("row numbers", "nothing")]
    candidates = (
        [at for at in (*by_symbol, *by_id) if kinds[at] == "symbols"][:1],
        [at for at in by_symbol if kinds[at] in ("ids", "names")][:1],
        [at for at in row_names if kinds[at] == "symbols" or (by_id and kinds[at] == "names")],
        [at for at in filled if kinds[at] == "symbols"],
        [at for at in by_id if kinds[at] in ("ids", "names", "numbers")][:1],
        [at for at in filled if kinds[at] == "ids"],
        [at for at in filled if kinds[at] == "names"] if len(filled) == 1 else [],
    )
    columns = next(filter(None, candidates), [])
    return columns[0] if len(columns) == 1 else None


def _list(source: object, sheet: Sheet, at: int) -> Genes:
    """Return a list without its header: a known head, or prose above known names."""
    cells = sheet.column(at)
    has_head = bool(cells) and is_list_head(cells[0], cells[1:])
    if has_head and not is_head(cells[0]):
        log.warning(Message(f"{cells[0]} in the first line of {source} is taken for a title."))
    rows = sheet.rows[has_head:]
    kind = kind_of(Sheet([], rows, []).column(at))
    if kind in ("sequences or samples", "prose", "flags"):
        raise bad_file(source, f"holds {kind} where names of genes are expected")
    return Genes(Sheet([], rows, []), at, None)


def is_list_head(first: str, below: Sequence[str]) -> bool:
    """Whether the first line of a list is no name: a head, or prose above known names."""
    if is_head(first):
        return True
    if first.casefold() in _LIST_HEADS:
        return bool(below) and not (names.is_number(first) and names.is_number(below[0]))
    return " " in first and not names.several(first) and kind_of(below) == "symbols"


def _unclear(source: object, sheet: Sheet) -> InvalidValue:
    return bad_file(
        source,
        f"has no one column that holds genes ({sheet.summary()})",
        f"head it gene, or name it with {arg('column')}",
    )


def _check_alone(source: object, sheet: Sheet, at: int) -> None:
    """Refuse another column with the same head that holds other cells."""
    same = [column for column, head in enumerate(sheet.plain) if head == sheet.plain[at]]
    if any(sheet.column(column) != sheet.column(at) for column in same):
        raise bad_file(
            source,
            f"has {len(same)} columns headed {sheet.heads[at]!r}, which differ",
            "head one of them otherwise",
        )


def names_of(source: object, cell: str, *, may_be_prose: bool = False) -> list[str]:
    """Return the names that a cell holds, as :func:`.names.several` says; none: it is empty."""
    if not cell:
        return []
    several = [clean(name) for name in names.several(cell)]
    if not several and may_be_prose and "/" not in cell:
        return [cell]
    if not several:
        raise bad_file(
            source,
            f"has {' '.join(cell.split())[:60]!r} in a cell, which may be one name or several",
            "write one name in a cell, or commas between them",
        )
    return several


def one_name_a_row(source: object, table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a table with a row per name of a cell, which has an id of its own if there are."""
    lists = [names_of(source, cell) or [""] for cell in table[column]]
    columns = {column: lists}
    if "id" in table:
        columns["id"] = [
            [text] if len(genes) == 1 else _ids_of(text, len(genes))
            for text, genes in zip(table["id"], lists, strict=True)
        ]
    return table.assign(**columns).explode(list(columns), ignore_index=True)


def _ids_of(text: str, n_genes: int) -> list[str]:
    """Return the ids in a cell, ``""`` each where there are not as many as genes."""
    ids = _BETWEEN_IDS.split(text)
    return ids if len(ids) == n_genes else [""] * n_genes


def numbers_of(cells: Iterable[str]) -> pd.Series:
    """Return numbers, which may have commas between thousands; nan: a cell is none."""
    plainly = [re.sub(r"(?<=\d),(?=\d{3}(\D|$))", "", cell) for cell in cells]
    return pd.to_numeric(pd.Series(plainly, dtype=object), errors="coerce")


def check_read(source: object, genes: Sequence[str], *, may_be_prose: bool = False) -> None:
    """Refuse formulas, dates, numbers among names, and names with notes beside."""
    formulas = [name for name in genes if _FORMULA.fullmatch(name)]
    if formulas:
        raise bad_file(
            source,
            f"has among the genes formulas, or errors of them ({listed(formulas)})",
            "copy the names, and paste their values",
        )
    noted = [name for name in genes if _BESIDE.search(name) and not names.is_known(name)]
    if noted and not may_be_prose:
        raise bad_file(source, f"has {listed(noted)} among the genes", "write one name a line")
    damaged = [name for name in genes if names.dates(name)]
    numbers = [name for name in genes if names.is_number(name)]
    if 2 * len(numbers) < len(genes):  # else the names are numbers, as those of NCBI
        damaged += numbers
    if not damaged:
        return
    meant = {name: " or ".join(names.meant_by_date(name)) for name in damaged}
    raise bad_file(
        source,
        "has among the genes dates or numbers, as spreadsheets make of names: "
        f"{listed(f'{name} for {was}' if was else name for name, was in meant.items())}",
        "write the names again, in cells formatted as text",
    )


#: What the name of a packed file ends in, and what opens it.
PACKED: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.GzipFile,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
#: Endings of tables in texts, and what separates their columns.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
WORKBOOKS = (".xlsx", ".xlsm")
#: Endings of lists and tables of names.
LISTS = (".txt", *SEPARATORS, *WORKBOOKS)
#: What begins a formula in a spreadsheet, and quotes.
FORMULA = ("=", "+", "-", "@")
QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»"}
#: Characters that are not seen, and blanks that are none of a keyboard.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_BLANK = re.compile(r"[^\S \t\r\n]")
#: A comment, which is no error of a formula, and one behind a name of a list.
_COMMENT = re.compile(r"(?m)^#(?!N/A|REF!|NAME\?|VALUE!|DIV/0!|NUM!|NULL!).*$")
_IN_LINE = re.compile(r"[ \t]+#.*")
#: Separates nothing.
_NOTHING = "\x1f"


def ending(path: Path) -> str:
    """Return the ending that says what a file holds, packed or not, in lower case."""
    inner = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return inner.suffix.lower()


def opened(path: Path) -> IO[str]:
    """Open the text of a file, packed or not, which may be longer than memory."""
    return io.TextIOWrapper(unpacked(path), encoding="utf-8-sig")


def unpacked(path: Path) -> Any:
    """Open the bytes of a file, packed or not."""
    unpack = PACKED.get(path.suffix.lower())
    return path.open("rb") if unpack is None else unpack(path)


def text(path: Path) -> str:
    """Return the text of a file, packed or not, in lines, without characters that are not seen."""
    with reading(path, "text"):
        with unpacked(path) as file:
            content: bytes = file.read()
        utf16 = content[:2] in (b"\xff\xfe", b"\xfe\xff") and re.search(b"\n\0|\0\n", content)
        decoded = content.decode("utf-16" if utf16 else "utf-8-sig")
    return _seen(decoded.replace("\r\n", "\n").replace("\r", "\n"))


def _seen(content: str) -> str:
    return content if content.isascii() else _BLANK.sub(" ", _UNSEEN.sub("", content))


def stripped(name: str) -> str:
    """Return a name without characters that are not seen, and blanks around it."""
    return _seen(name).strip()


def _rows_of_text(path: Path) -> list[list[str]]:
    """Return the rows of a list or table in a text, without comments and empty rows.

    The last comment above a table is its header where it has heads of as many columns.
    """
    content = re.sub(r"\Asep=.\n", "", text(path))
    above = re.match(r"(?:#.*\n|\s+)*", content)
    comments = _COMMENT.findall(above[0]) if above else []
    content = _COMMENT.sub("", content)
    separator = _separator(content, ending(path))
    if separator == _NOTHING:
        content = _IN_LINE.sub("", content)
    with reading(path, ending(path)):
        rows = _split(content, separator)
        header = _split(comments[-1][1:], separator) if comments else []
    if rows and header and len(header[0]) == len(rows[0]) > 1 and any(map(is_head, header[0])):
        return header + rows
    return rows


def _split(content: str, separator: str) -> list[list[str]]:
    """Return the cells of a text; quotes that are not in pairs are characters."""
    in_pairs = content.count('"') % 2 == 0
    lines = csv.reader(
        io.StringIO(content, newline=""),
        delimiter=separator,
        skipinitialspace=True,
        quoting=csv.QUOTE_MINIMAL if in_pairs else csv.QUOTE_NONE,
    )
    rows = ([clean(cell) for cell in row] for row in lines)
    return [row for row in rows if any(row)]


def _separator(content: str, suffix: str) -> str:
    """Return what separates the columns of a text: a head beside others, or most lines, say so."""
    sample = "\n".join(content.split("\n", SAMPLE)[:SAMPLE])
    if suffix == ".tsv":
        return "\t"
    if suffix == ".txt":
        sample = _IN_LINE.sub("", sample)
    splits = {mark: _split(sample, mark) for mark in "\t,;" if mark in sample}
    n_wide = {mark: sum(len(row) > 1 for row in rows) for mark, rows in splits.items()}
    for mark in sorted(splits, key=lambda mark: -n_wide[mark]):
        first, *below = splits[mark] or [[""]]
        shifted = is_shifted(first, below)
        if len(first) == 1 and is_head(first[0]) and not shifted:
            return _NOTHING  # one column, of lists
        with_heads = any(len(row) > 1 and any(map(is_head, row)) for row in splits[mark][:TOP])
        mostly = 2 * n_wide[mark] > len(below) and (suffix != ".txt" or mark == "\t")
        if with_heads or shifted or mostly:
            return mark
    if re.fullmatch(r'(\s*".*"?\s*\n?)+', sample) and '" ' in sample:  # write.table of R
        rows = _split(sample, " ")
        if len({len(row) for row in rows[1:]}) == 1 and len(rows[-1]) - len(rows[0]) in (0, 1):
            return " "
    return _NOTHING


def _sheets(path: Path) -> tuple[dict[str, list[list[str]]], set[str]]:
    """Return the rows of every sheet of a workbook, and which sheets are hidden."""
    needs("An .xlsx file", "openpyxl")
    import openpyxl  # type: ignore[import-untyped]

    with (
        reading(path, ".xlsx"),
        path.open("rb") as file,  # which openpyxl leaves open where it cannot read it
        closing(openpyxl.load_workbook(file, read_only=True)) as book,
    ):
        rows_of_sheets = {}
        for page in book.worksheets:
            page.reset_dimensions()  # which other programs state wrongly
            rows = [[clean(_seen(written(cell))) for cell in row] for row in page.values]
            width = max(map(len, rows), default=0)
            rows_of_sheets[page.title] = [
                row + [""] * (width - len(row)) for row in rows if any(row)
            ]
        hidden = {page.title for page in book.worksheets if page.sheet_state != "visible"}
    return rows_of_sheets, hidden


def written(value: Any) -> str:
    """Return a value of a sheet or a table as people see it."""
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return str(value).upper()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return f"{value:%Y-%m-%d}" if isinstance(value, date) else str(value)


def of_frame(frame: pd.DataFrame) -> list[list[str]]:
    """Return the rows of a table of pandas, with its index and its header."""
    head = "" if frame.index.name is None else str(frame.index.name)
    cells = frame.astype(object).where(frame.notna(), "").to_numpy()
    lines = [[head, *map(str, frame.columns)]]
    for name, row in zip(frame.index, cells, strict=True):
        lines.append([clean(written(cell)) for cell in (name, *row)])
    return lines


def table(path: Path, sheet: str | None = None, column: str | None = None) -> list[list[str]]:
    """Return the rows of a list or table; of a workbook those of a sheet.

    Without a name it is the first that has genes.  Hidden sheets are looked at where no other holds
    anything.
    """
    if ending(path) not in WORKBOOKS:
        return _rows_of_text(path)
    book, hidden = _sheets(path)
    if sheet is not None:
        if sheet not in book:
            raise NotFound("sheet", sheet, f"is not in {path}", f"it has {listed(book)}")
        return book[sheet]
    filled = {name: rows for name, rows in book.items() if rows}
    seen = {name: rows for name, rows in filled.items() if name not in hidden} or filled
    with_genes = [rows for rows in seen.values() if len(seen) < 2 or _has_genes(rows, column)]
    if with_genes or not seen:
        return next(iter(with_genes), [])
    raise bad_file(
        path,
        "has several sheets, and none has a column of genes",
        f"name one of {listed(seen)} with {arg('sheet')}",
    )


def _has_genes(rows: list[list[str]], column: str | None) -> bool:
    try:
        genes(NO_VALUE, rows, column)
    except Refusal:
        return False
    return True


def write(frame: pd.DataFrame, path: Path, *, overwrite: bool, sheet: str = "Sheet1") -> None:
    """Write a table without formulas; `sheet` is what it is called in a workbook."""
    frame = frame.map(without_formula)
    with replacing(path, overwrite=overwrite) as target:
        if path.suffix.lower() == ".xlsx":
            with target.open("wb") as file:
                frame.to_excel(file, sheet_name=sheet, engine="openpyxl", index=False)
        else:
            separator = SEPARATORS[path.suffix.lower()]
            frame.to_csv(target, sep=separator, index=False, encoding="utf-8")


def without_formula(value: Any) -> Any:
    """Return a text that a spreadsheet would compute behind an apostrophe, which keeps it a text.

    Characters that no sheet can hold become blanks.
    """
    if not isinstance(value, str):
        return value
    value = "".join(character if character.isprintable() else " " for character in value)
    return f"'{value}" if len(value) > 1 and value.startswith(FORMULA) else value


def check_names(genes: Iterable[str], path: Path) -> None:
    """Refuse names of genes that would not be the same once they are read again."""
    all_names = list(genes)
    in_table = path.suffix.lower() in (*SEPARATORS, ".xlsx")
    changed = [
        name
        for name in all_names
        if not comes_back(name)
        or (in_table and name.startswith(FORMULA))
        or name.startswith("#")
        or " #" in name
    ]
    if path.suffix.lower() == ".txt" and is_list_head(all_names[0], all_names[1:]):
        changed += all_names[:1]
    if changed:
        raise bad_file(
            path,
            f"cannot hold the name {changed[0]!r}, which would change when it is read again",
            f"rename the gene, or name a column of {VAR} with {arg('symbols')}",
        )


def comes_back(name: str) -> bool:
    """Whether a name is the same once it is read again, or refused.

    It is not empty or quoted, no formula, not several, and has no blanks around it and nothing in
    it that is not printed.
    """
    is_name = bool(name) and name.isprintable() and clean(name) == name and name[0] not in QUOTES
    is_name = is_name and not _FORMULA.fullmatch(name)
    return is_name and names.several(name) in ([name], [])
