"""Lists and tables of names, as people, spreadsheets and programs write them.

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
import zipfile
from contextlib import suppress
from datetime import date
from functools import cached_property, reduce
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._files import as_path, bad_file, existing, reading, replacing
from ..checks import needs
from ..errors import InvalidValue, NotFound, Refusal, listed, quoted, short
from . import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


log = logging.getLogger(__name__)

#: What columns are headed, as :func:`plain` has it, by what they hold, the surest head first.
HEADS = names.patterns("head")
GENE_HEADS = (*HEADS["symbol"], *HEADS["id"])
_ALL_HEADS = [head for heads in HEADS.values() for head in heads]
#: What R and pandas head a list.
LIST_HEADS = ("x", "v1", "0", "unnamed0", "column1")
#: Cells of a column, and rows for a header, that are looked at; characters of a text that show what
#: separates its columns; and the share of cells that says what a column holds.
_SAMPLE, _TOP, _SNIFFED, _MOSTLY = 100, 25, 20_000, 0.8
#: Names of genes that much else is called, too: of one or two letters, or as wells are.
_UNCLEAR = re.compile(r".{1,2}|[A-P]\d{1,2}", re.IGNORECASE)
#: What a column holds if nearly all of its cells are like this.
_KINDS = names.compiled("cell", re.IGNORECASE)
#: Flags, in lower case.
YES = ("true", "t", "yes", "y", "1", "x", "✓")
FLAGS = {*YES, "false", "f", "no", "n", "0", ""}
#: Kinds of features of 10x Genomics: of genes, of antibodies, and all that are no genes.
EXPRESSION, _ANTIBODIES = "Gene Expression", "Antibody Capture"
NO_GENES = re.compile(r".+ Capture|Custom|Peaks")
#: Kinds of numbers, which are no ids.
NUMERIC = ("numbers", "bits", "flags", "row numbers")
#: What tables have among genes that is none: formulas and their errors, sums, marks for nothing.
_NO_GENE = re.compile(r"=.*|#[A-Z/0]+[!?]?|\W+|None|NULL|(?i:n/a|((sub|grand )?total|sum)\W*)")
_AS_TEXT = "spreadsheets make dates and numbers of names: write them again in cells of texts"
#: What stands between a name and what people note beside it.
_BESIDE = re.compile(r'[\s,">]|\w\[|://')


def is_yes(cell: object) -> bool:
    """Whether a cell of a file says yes."""
    return str(cell).casefold() in YES


def kind_of(cells: Iterable[str], share: float = _MOSTLY) -> str:
    """Return what a column holds: the one question that is asked before a column is taken.

    It is what this share of its cells hold: a key of ``_KINDS``; ``"ids"`` or ``"symbols"`` of
    genes that are known; ``"names"``, which may be of any; ``"prose"``; ``"row numbers"``; or
    ``"nothing"``.  Names such as T, B and A1 alone are not known for genes, and heads are no names.
    """
    texts = [text for text in cells if text not in names.NO_NAME]
    if not texts:
        return "nothing"
    if len(texts) > 2 and any(texts == [*map(str, range(n, n + len(texts)))] for n in (0, 1)):
        return "row numbers"
    texts = texts[:: -(-len(texts) // _SAMPLE)]
    words = [word for text in texts for word in names.several(text) or [text]]
    clear = [word for word in words if not _UNCLEAR.fullmatch(word)]
    kinds: list[tuple[str, list[str], Callable[[str], Any]]] = [
        *((kind, texts, pattern.fullmatch) for kind, pattern in _KINDS.items()),
        *(("ids", words, names.is_id), ("symbols", clear, names.is_name)),
        ("symbols", clear if len(clear) > 1 else [], names.is_known),
        ("names", words, lambda word: _may_be_name(word) or names.dates(word)),
    ]
    for kind, sample, is_of_kind in kinds:
        if sum(bool(is_of_kind(text)) for text in sample) >= share * len(sample) > 0:
            return kind
    return "prose"


def _may_be_name(word: str) -> bool:
    """Whether a word can name a gene: one without notes that is not what columns are headed."""
    return not _BESIDE.search(word) and not is_head(word, _ALL_HEADS)


class Sheet:
    """A table: what its columns are headed, also as :func:`plain` has it, and its rows.

    A column without a head has ``""``, as have all of a table that has no header.  Rows that repeat
    the header are left out.
    """

    def __init__(self, heads: list[str], rows: list[list[str]]) -> None:
        self.heads, self.rows = heads, [row for row in rows if row != heads]
        self.plain = [plain(head) for head in heads]

    @cached_property
    def kinds(self) -> list[str]:
        """What each column holds."""
        return [kind_of(self.column(at)) for at in range(len(self.heads))]

    def column(self, at: int) -> list[str]:
        """Return the cells of a column."""
        return [row[at] for row in self.rows]

    def headed(self, heads: Iterable[str]) -> list[int]:
        """Return the columns with one of some heads, which are patterns, in the order of these."""
        columns = list(enumerate(self.plain))
        return [at for head in heads for at, text in columns if re.fullmatch(head, text)]

    def columns_named(self, source: object, argument: str, head: str | None) -> list[int]:
        """Return the column that the caller names, or none."""
        if head is not None and self.heads.count(head) != 1:
            text = f"`{argument}={short(head)}` heads no column of {source}, or several"
            raise NotFound(f"{text}: name one of {listed(filter(None, self.heads))}")
        return [at for at, text in enumerate(self.heads) if text == head]

    def summary(self) -> str:
        """Return the columns and what each holds, for a message."""
        pairs = zip(self.heads, self.kinds, strict=True)
        return listed(f"{head or f'column {n}'}: {kind}" for n, (head, kind) in enumerate(pairs, 1))


def clean(cell: str) -> str:
    """Return a cell without characters that are not seen, and blanks and quotes around it."""
    cell = _seen(cell).strip()
    is_quoted = len(cell) > 1 and QUOTES.get(cell[0]) == cell[-1]
    return cell[1:-1].strip() if is_quoted else cell


def plain(head: str) -> str:
    """Return a header without case, separators and plural."""
    return re.sub(r"[\W_]", "", head).casefold().removesuffix("s")


def is_head(name: str, heads: Iterable[str] = GENE_HEADS) -> bool:
    """Whether a text is what columns are headed, those of genes by default."""
    return re.fullmatch("|".join(heads), plain(name)) is not None


def headed(
    rows: list[list[str]], column: str | None = None, heads: Sequence[str] = GENE_HEADS
) -> Sheet:
    """Return a table by its header, see :func:`_header`, with a head for every column or ``""``."""
    width = max((at + 1 for row in rows for at, cell in enumerate(row) if cell), default=0)
    full = [(row + [""] * width)[:width] for row in rows]
    at = _header(full, column, heads)
    if at is None:
        return Sheet([""] * width, full)
    sheet = Sheet(full[at], full[at + 1 :])
    is_short = len(rows[at]) < width and all(row[-1] for row in sheet.rows)
    if is_short and "symbols" not in [sheet.kinds[n] for n in sheet.headed(HEADS["symbol"])]:
        return Sheet(["", *sheet.heads[:-1]], sheet.rows)  # of R, which heads no row names
    return sheet


def _header(rows: list[list[str]], column: str | None, heads: Sequence[str]) -> int | None:
    """Return the place of the header; None: no row is one.

    It is the first row with `column`, or a known head above genes, else the first row, but for a
    title, which fills one cell.
    """
    for at, row in enumerate(rows[:_TOP]):
        sheet = Sheet(row, rows[at + 1 :])
        if column in row or (_of_genes(sheet, sheet.headed(heads)) and not _is_body(sheet)):
            return at
    is_title = not rows or not (any(rows[0][1:]) or is_list_head(rows[0][0]))
    return None if is_title or _is_body(Sheet(rows[0], rows[1:])) else 0


def _of_genes(sheet: Sheet, columns: Iterable[int]) -> list[int]:
    """Return those of some columns that hold symbols, or else those that hold ids."""
    kinds = [(at, sheet.kinds[at]) for at in columns]
    symbols, ids = ([at for at, kind in kinds if kind == which] for which in ("symbols", "ids"))
    return symbols or ids


def _is_body(sheet: Sheet) -> bool:
    """Whether the head of a table is none: half of its cells or more are like those below them."""
    n_like = 0
    for head, below in zip(sheet.heads, sheet.kinds, strict=True):
        kind = "nothing" if is_head(head, _ALL_HEADS) else kind_of([head])
        is_value = kind in ("symbols", "ids", *NUMERIC)
        n_like += is_value and (kind in NUMERIC) == (below in NUMERIC)
    return 2 * n_like >= sum(map(bool, sheet.heads))


def gene_table(
    source: object, rows: list[list[str]], column: str | None = None, further: Iterable[str] = ()
) -> tuple[Sheet, pd.DataFrame]:
    """Return a table, and as a frame its ``gene``, ``id`` (or ``""``) and `further` columns.

    A table without a column of genes is refused with what its columns hold.
    """
    if any(EXPRESSION in row or _ANTIBODIES in row for row in rows):
        rows = [row for row in rows if not any(map(NO_GENES.fullmatch, row[2:]))]
        if rows and EXPRESSION in rows[0]:
            rows.insert(0, ["id", "symbol", *rows[0][2:]])
    sheet = headed(rows, column)
    if column is not None:
        columns = {"gene": sheet.columns_named(source, "column", column)[0]}
    elif not any(sheet.heads) and len(sheet.heads) < 2:
        sheet, columns = _list(source, [row[0] for row in sheet.rows]), {"gene": 0}
    else:
        columns = _columns(source, sheet, further)
    cells = {name: sheet.column(at) for name, at in columns.items()}
    frame = pd.DataFrame({"gene": [], "id": "", **cells}, dtype=object)
    texts = frame.pop("n_probe_sets") if "n_probe_sets" in frame else pd.Series(dtype=object)
    numbers = pd.to_numeric(texts, errors="coerce")
    if numbers.notna().any():  # or they are names of probes
        strange = texts[numbers.isna() & ~texts.isin(names.NO_NAME)]
        if len(strange):
            raise bad_file(source, f"has {listed(strange)} for probes: write plain numbers")
        frame["n_probe_sets"] = numbers
    return sheet, frame


def _columns(source: object, sheet: Sheet, further: Iterable[str]) -> dict[str, int]:
    """Return the columns of a table by what they hold: ``gene``, ``id`` and `further` ones."""
    gene = _gene_column(sheet)
    if gene is None:
        raise bad_file(source, f"has no one column of genes ({sheet.summary()}): name `column`")
    ids = [at for at in sheet.headed(HEADS["id"]) if sheet.kinds[at] not in NUMERIC]
    ids += [at for at, kind in enumerate(sheet.kinds) if kind == "ids"]
    candidates = {"id": [] if sheet.kinds[gene] == "ids" else ids}
    candidates |= {name: sheet.headed(HEADS.get(name, [plain(name)])) for name in further}
    columns = {"gene": gene}
    for name, of_name in candidates.items():
        if of_name and of_name[0] not in columns.values():
            columns[name] = of_name[0]
    return columns


def _gene_column(sheet: Sheet) -> int | None:
    """Return the column of genes; None: there is none, or no reason to take one of several."""
    heads, kinds, n_rows = sheet.heads, sheet.kinds, len(sheet.rows)
    columns = of_genes = _of_genes(sheet, range(len(heads)))
    is_plain = {*kinds} == {"symbols", "ids"} and all(map(all, sheet.rows))  # below no title
    if not any(heads) and not is_plain:
        return None
    if "symbols" not in kinds:
        of_names = [at for at, kind in enumerate(kinds) if kind == "names"]
        columns = of_genes + [at for at in of_names if 2 * len({*sheet.column(at)}) > n_rows]
    candidates = [at for at in sheet.headed(GENE_HEADS) if at in columns]
    gene = next(iter(candidates or of_genes[: len(of_genes) == 1]), None)
    head = "" if gene is None else heads[gene]
    first = [] if gene is None else sheet.column(gene)[:1]  # or the next row is the header
    is_gene = not is_head(head) and (names.is_known(head) or any(map(is_list_head, first)))
    return None if is_gene or (head and sheet.plain.count(plain(head)) > 1) else gene


def _list(source: object, cells: list[str]) -> Sheet:
    """Return a list without its header."""
    has_head = bool(cells) and is_list_head(cells[0])
    below = kind_of(cells[1:])
    strange = {kind_of(cells[has_head:]), below} - {"symbols", "ids", "names", "nothing"}
    if strange:
        raise bad_file(source, f"holds {listed(sorted(strange))}, not genes alone: mend it")
    if below == "names" and any(len(names.several(cell)) > 1 for cell in cells):
        raise bad_file(source, "has several names on a line, which are not known: write one a line")
    first = cells[:1] if not has_head else []
    if first and len(names.several(first[0])) == 1 and not names.is_name(first[0]):
        text = f"has {first[0]!r} in its first line, which is no name that is known"
        if " " in first[0]:
            raise bad_file(source, f"{text}: remove it, or write # before it")
        if below in ("symbols", "ids"):
            log.warning(f"{source} {text}, and is read as a gene: remove it if it is a head.")
    return Sheet([""], [[cell] for cell in cells[has_head:]])


def is_list_head(first: str) -> bool:
    """Whether the first line of a list is no name."""
    return is_head(first, (*GENE_HEADS, *LIST_HEADS))


def names_of(source: object, cell: str, *, may_be_prose: bool = False) -> list[str]:
    """Return the names that a cell holds, as :func:`.names.several` says."""
    several = names.several(cell)
    if not several and (not may_be_prose or "/" in cell):
        raise bad_file(source, f"has one or several names in {cell[:60]!r}: put commas between")
    return [clean(name) for name in several] or [cell]


def one_name_a_row(source: object, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row per name of a cell; the id of a cell is that of one name."""
    lists = [names_of(source, cell) for cell in table["gene"]]
    ids = table["id"].where([len(several) == 1 for several in lists], "")
    return table.assign(gene=lists, id=ids).explode("gene", ignore_index=True)


def with_ids(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with ids in one spelling, also of genes that are called by theirs."""
    ids, genes = table["id"].map(names.as_id), table["gene"]
    is_id = (ids == "") & genes.map(names.is_id).astype(bool)
    return table.assign(id=ids.mask(is_id, genes.map(names.as_id)))


def damaged(genes: Sequence[str]) -> list[str]:
    """Return dates, and numbers among names, as spreadsheets make of names."""
    numbers = [name for name in genes if _KINDS["numbers"].fullmatch(name)]
    dates = [name for name in genes if names.dates(name)]
    return dates + (numbers if 2 * len(numbers) < len(genes) else [])  # or the caller names them


def check_read(source: object, genes: Sequence[str], *, may_be_prose: bool = False) -> None:
    """Refuse formulas, dates, numbers among names (published sets have some), and notes."""
    wrong_names = filter(names.dates, genes) if may_be_prose else damaged(genes)
    meant = {name: " or ".join(names.meant_by_date(name)) for name in wrong_names}
    with_notes = [name for name in genes if _BESIDE.search(name) and not names.is_known(name)]
    for wrong, remedy in (
        ([*filter(_NO_GENE.fullmatch, genes)], "remove these rows, or paste values of formulas"),
        ([] if may_be_prose else with_notes, "write one name a line"),
        ([f"{name} for {gene}" if gene else name for name, gene in meant.items()], _AS_TEXT),
    ):
        if wrong:
            raise bad_file(source, f"has {listed(wrong)} among the genes: {remedy}")


#: What the name of a packed file ends in, and what opens it.
PACKED: dict[str, Any] = {".gz": gzip.GzipFile, ".bz2": bz2.BZ2File, ".xz": lzma.LZMAFile}
#: Endings of tables in texts, and what separates their columns.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
WORKBOOKS = (".xlsx", ".xlsm")
#: Endings of lists and tables of names: of GSEA's lists, and of nCounter, too.
LISTS = (".txt", *SEPARATORS, *WORKBOOKS, ".grp", ".rcc")
#: Endings of gene sets.
SETS = (".gmt", ".json")
#: What begins a formula in a spreadsheet, and quotes.
FORMULA = ("=", "+", "-", "@")
QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»"}
#: Characters that are not seen, and blanks that are none of a keyboard.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_BLANK = re.compile(r"[^\S \t\r\n]")
#: Comments, which are no errors of a formula; one behind a name of a list; and what is above a
#: list: a separator of Excel, or the name and the description of a set of MSigDB.
_COMMENT = re.compile(r"(?m)^#(?!N/A|REF!|NAME\?|VALUE!|DIV/0!|NUM!|NULL!).*$")
_IN_LINE = re.compile(r"(?m)(?<![ \t])[ \t]+#.*$")
_ABOVE = re.compile(r"\A(sep=.\n|\S+\n> .*\n)")
#: Separates nothing.
_NOTHING = "\x1f"
#: Of workbooks: most bytes that are unpacked, and most cells up to the last; rows and cells; and
#: cells with an error, or with a formula that nobody computed, which are not texts.
_MOST_BYTES, _MOST_CELLS = 2**28, 2**25
_ROW, _CELL = re.compile(rb"<(?:\w+:)?row[\s/>]"), re.compile(rb"<(?:\w+:)?c[\s/>]")
_ERROR = rb"<(\w+:)?c\s([^>]*\s)?t=[\"']e[\"']"
_NO_TEXT = rb"<(\w+:)?c(?=[\s>])(?![^>]*\st=[\"']str)[^>]*>"
_FORMULA = rb"\s*<(\w+:)?f([^>]*/|[^>]*>[^<]*</(\w+:)?f)>"
_NO_VALUE = rb"\s*(<(\w+:)?v\s*/>|<(\w+:)?v></(\w+:)?v>)?\s*</(\w+:)?c>"
_DROPPED = re.compile(_ERROR + b"|" + _NO_TEXT + _FORMULA + _NO_VALUE)


def ending(path: Path) -> str:
    """Return the ending that says what a file holds, packed or not, in lower case."""
    inner = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return inner.suffix.lower()


def checked(path: str | Path, endings: Sequence[str], **options: str | None) -> tuple[Path, str]:
    """Return the path of a file and its ending, or refuse it, or an option for other endings."""
    checks.texts(**options, or_none=True)
    path, suffix = as_path(path), ending(as_path(path))
    if suffix not in endings:
        raise bad_file(path, f"has an unknown ending: use one of {quoted(*endings)}, or pass lists")
    existing(path)
    for argument, value in options.items():
        accepted = {"sheet": WORKBOOKS, "set_name": SETS}.get(argument, LISTS)
        if value is not None and suffix not in accepted:
            raise InvalidValue(f"`{argument}={short(value)}` is for files {quoted(*accepted)}")
    return path, suffix


def opened(path: Path) -> IO[str]:
    """Open the text of a file, packed or not, which may be longer than memory."""
    unpack = PACKED.get(path.suffix.lower(), open)
    file = io.BufferedReader(unpack(path, "rb"))
    is_utf16 = file.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff")
    return io.TextIOWrapper(file, encoding="utf-16" if is_utf16 else "utf-8-sig")


def text(path: Path) -> str:
    """Return the text of a file, packed or not, without characters that are not seen."""
    with reading(path, "text"), opened(path) as file:
        return _seen(file.read())


def _seen(content: str) -> str:
    return content if content.isascii() else _BLANK.sub(" ", _UNSEEN.sub("", content))


def _rows_of_text(path: Path) -> list[list[str]]:
    """Return the rows of a list or table in a text, without comments and empty rows."""
    content, suffix = _ABOVE.sub("", text(path)), ending(path)
    content = _COMMENT.sub("", content)
    with reading(path, suffix):
        separator = _separator(content, suffix)
        return _split(_IN_LINE.sub("", content) if separator == _NOTHING else content, separator)


def _split(content: str, separator: str) -> list[list[str]]:
    """Return the cells of a text; quotes that are not in pairs are characters."""
    quoting: Any = csv.QUOTE_NONE if content.count('"') % 2 else csv.QUOTE_MINIMAL
    lines = io.StringIO(content, newline="")
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True, quoting=quoting)
    cleaned = ([clean(cell) for cell in row] for row in rows)
    return [row for row in cleaned if any(row)]


def _separator(content: str, suffix: str) -> str:
    """Return what separates columns: most lines have it, or a line with a known head."""
    if suffix == ".tsv":
        return "\t"
    if re.match(r'".*"( |\n(".*" ))', content):
        return " "  # write.table of R
    splits = {mark: _split(content[:_SNIFFED], mark) for mark in "\t,;"}
    mark = max(splits, key=lambda mark: sum(len(row) > 1 for row in splits[mark]))
    rows = splits[mark]
    wide = [row for row in rows if len(row) > 1]
    is_table = (suffix == ".csv" or mark == "\t") and 2 * len(wide) > len(rows) - 1
    is_table |= any(any(map(is_head, row)) for row in wide[:_TOP])
    is_list = not rows or (len(rows[0]) == 1 and is_head(rows[0][0]))
    return mark if is_table and not is_list else _NOTHING


def _sheets(path: Path) -> dict[str, list[list[str]]]:
    """Return the rows of every sheet of a workbook that is seen."""
    needs("An .xlsx file", "python_calamine")
    from python_calamine import SheetTypeEnum, SheetVisibleEnum, load_workbook

    pages = {}
    with reading(path, ".xlsx"):
        _check_book(path)
        book = load_workbook(path)
        for page in book.sheets_metadata:
            if (page.typ, page.visible) == (SheetTypeEnum.WorkSheet, SheetVisibleEnum.Visible):
                cells = book.get_sheet_by_name(page.name).to_python(skip_empty_area=False)
                rows = ([clean(written(cell)) for cell in row] for row in cells)
                pages[page.name] = [row for row in rows if any(row)]
    return {name: rows for name, rows in pages.items() if rows} or {"": []}


def _check_book(path: Path) -> None:
    """Refuse a workbook with cells that calamine drops: errors, and formulas without a value.

    Or with a cell far away: calamine makes all that are before it.
    """
    with zipfile.ZipFile(path) as book:
        is_large = sum(part.file_size for part in book.infolist()) > _MOST_BYTES
        texts = [] if is_large else [book.read(name) for name in book.namelist()]
    if is_large or max(map(_n_cells, texts)) > _MOST_CELLS:
        raise bad_file(path, "is too large, or has a cell far from others: save its genes alone")
    if any(map(_DROPPED.search, texts)):
        raise bad_file(path, "has errors, or formulas that nobody computed: save it as .csv")


def _n_cells(sheet: bytes) -> int:
    """Return how many cells a sheet can have up to the last in its rows and columns."""
    places = re.findall(rb"\sr\s*=\s*[\"']([A-Za-z]*)(\d+)", sheet) or [(b"", b"0")]
    widths = [len(_CELL.findall(row)) for row in _ROW.split(sheet)]
    n_rows = len(widths) + max(int(number) for _, number in places)
    letters = {text.upper() for text, _ in places}
    columns = (reduce(lambda n, letter: 26 * n + letter - ord("@"), text, 0) for text in letters)
    return n_rows * (max(widths) + max(columns))


def written(value: Any) -> str:
    """Return a value of a sheet or a table as people see it."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return f"{value:%Y-%m-%d}" if isinstance(value, date) else str(value)


def of_frame(frame: pd.DataFrame) -> list[list[str]]:
    """Return the rows of a table of pandas, with its index and its header."""
    cells = frame.astype(object).where(frame.notna(), "").to_numpy()
    rows = [(name, *row) for name, row in zip(frame.index, cells, strict=True)]
    head = "" if frame.index.name is None else str(frame.index.name)
    return [[head, *map(str, frame.columns)], *([clean(written(c)) for c in row] for row in rows)]


def table(path: Path, sheet: str | None = None, column: str | None = None) -> list[list[str]]:
    """Return the rows of a list or table; of a workbook those of a sheet: the first with genes."""
    if ending(path) not in WORKBOOKS:
        return _rows_of_text(path)
    book = _sheets(path)
    if sheet is not None and sheet not in book:
        raise NotFound(f"`sheet={short(sheet)}` is not in {path}: it has {listed(book)}")
    if sheet is not None or len(book) == 1:
        return book[sheet or next(iter(book))]
    for rows in book.values():
        with suppress(Refusal):
            gene_table(None, rows, column)
            return rows
    raise bad_file(path, f"has no sheet with a column of genes: name `sheet`, of {listed(book)}")


def write(frame: pd.DataFrame, path: Path, *, overwrite: bool, sheet: str = "Sheet1") -> None:
    """Write a table without formulas; `sheet` is what it is called in a workbook."""
    frame = without_formulas(frame)
    with replacing(path, overwrite=overwrite) as target:
        if path.suffix.lower() == ".xlsx":
            book = io.BytesIO()  # a file that fails to close would be reported once more
            frame.to_excel(book, sheet_name=sheet, engine="openpyxl", index=False)
            target.write_bytes(book.getvalue())
        else:
            separator = SEPARATORS[path.suffix.lower()]
            frame.to_csv(target, sep=separator, index=False, encoding="utf-8")


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose cells and heads no spreadsheet computes."""
    return frame.map(_without_formula).rename(columns=_without_formula)


def _without_formula(value: Any) -> Any:
    """Return a text with blanks for what no sheet holds, a formula behind an apostrophe."""
    if not isinstance(value, str):
        return value
    value = "".join(character if character.isprintable() else " " for character in value)
    return f"'{value}" if len(value) > 1 and value.startswith(FORMULA) else value


def check_names(genes: Iterable[str], path: Path) -> None:
    """Refuse names of genes that would not be the same once they are read again."""
    for at, name in enumerate(genes):
        is_head = at == 0 and ending(path) == ".txt" and is_list_head(name)
        is_text = name != "" and name.isprintable() and clean(name) == name and " #" not in name
        is_text = is_text and not name.startswith((*FORMULA, *QUOTES, "#"))
        if is_head or not is_text or names.several(name) not in ([name], []):
            raise bad_file(path, f"cannot hold the name {name!r}: rename it, or name `symbols`")
