"""Names in tables of people and spreadsheets: how cells are read, and which of them hold genes.

One reader serves panels, tables of genes, gene sets and markers.  It finds out what separates the
columns, which sheet holds the genes, where the header is, which column holds the genes, and what
names are in a cell.
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
from contextlib import closing
from datetime import date
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .._extras import needs
from .._files import bad_file, reading, replacing
from ..errors import NO_VALUE, VAR, Message, NotFound, arg, listed
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
PROBE_HEADS = (
    *("numprobeset", "probeset", "nprobeset", "probecount", "nprobe", "numprobe", "probe"),
    *("probesetcount", "ofprobeset", "noofprobeset", "numberofprobeset", "numberofprobe"),
    "targetregion",
)
#: What a column of row names is headed, or one of row numbers.
_ROW_HEADS = ("", "index", "unnamed0", "row", "rowname")
_NUMBER_HEADS = (*_ROW_HEADS, "no", "nr", *ID_HEADS)
QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»"}
#: Lines of a text that say what separates its columns, and rows that a header is looked for in.
SAMPLE, TOP = 60, 25
#: Kinds of features of 10x Genomics that are no genes.
_NO_GENES = re.compile(r".+ Capture|Custom|Peaks")
#: Heads of columns of genes that say more than the known ones.
_OF_GENES = re.compile(r"gene|symbol|target|marker")
#: What stands between a name and what people note beside it.
_BESIDE = re.compile(r'[\s,"\[\]()]+')
_BETWEEN_IDS = re.compile(r"[,;|\s/]+")


class NoName(NamedTuple):
    """A cell that holds something else than a name: what, and what to do."""

    what: str
    advice: str


Cell = str | NoName


class Sheet(NamedTuple):
    """A table: what its columns are headed, its rows, and the rows above the header.

    A column without a head has ``""``; a table that has no header has heads of no column.
    """

    heads: list[str]
    rows: list[list[Cell]]
    above: list[list[Cell]]

    @property
    def plain(self) -> list[str]:
        """Header as :func:`plain` has it."""
        return [plain(head) for head in self.heads]

    def column(self, at: int) -> list[Cell]:
        """Return the cells of a column, ``""`` where a row is too short."""
        return [row[at] if at < len(row) else "" for row in self.rows]


class Genes(NamedTuple):
    """A table, and which columns of it hold the names of the genes, and ids; None: none does."""

    sheet: Sheet
    gene: int
    id: int | None

    @property
    def name(self) -> int | None:
        """The column ``name`` beside one of genes, which says what each is called elsewhere."""
        at = column_headed(self.sheet.heads, ("name",))
        return None if at == self.gene else at


def is_shifted(header: Sequence[Cell], below: Sequence[Sequence[Cell]]) -> bool:
    """Whether R wrote a header, which has no head of the row names.

    Where that leaves one head, the row names are numbers, or else it is a header of lists.
    """
    shifted = any(row[-1] for row in below)  # and not a separator behind the last column
    shifted = shifted and all(len(row) == len(header) + 1 for row in below)
    return shifted and (len(header) > 1 or counts(below, 0))


def counts(below: Sequence[Sequence[Cell]], at: int) -> bool:
    """Whether a column has the numbers of its rows, from 0 or 1."""
    cells = [row[at] if at < len(row) else "" for row in below]
    if not cells or cells[0] not in ("0", "1"):
        return False
    return cells == [str(number) for number in range(int(cells[0]), len(cells) + int(cells[0]))]


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
    return plain(name) in (*SYMBOL_HEADS, *ID_HEADS)


def column_headed(heads: Sequence[str], heads_wanted: Iterable[str]) -> int | None:
    """Return the column with the first of `heads_wanted` that heads one; None: none does."""
    plain_heads = [plain(head) for head in heads]
    return next((plain_heads.index(head) for head in heads_wanted if head in plain_heads), None)


def n_heads(row: Sequence[Cell]) -> int:
    """Return how many cells of a row are what columns of genes are headed."""
    return sum(map(is_head, texts(row)))


def headed(
    cells: list[list[Cell]],
    column: str | None = None,
    heads: Collection[str] = (*SYMBOL_HEADS, *ID_HEADS),
) -> Sheet:
    """Return a table by its header: the first row that has `column`, or else most of the `heads`.

    Without such a row it is the first, unless there is one column.
    """
    at = header(cells, column, heads)
    if at is None and (not cells or len(filled_columns(cells)) < 2):
        return Sheet([], cells, [])
    first, body = cells[at or 0], cells[(at or 0) + 1 :]
    sheet = Sheet(texts(first), [row for row in body if row != first], cells[: at or 0])
    if not is_shifted(first, body):
        return sheet
    shifted = sheet._replace(heads=["", *sheet.heads])
    gene = column_headed(sheet.heads, SYMBOL_HEADS)
    if gene is not None and are_genes(sheet, gene) and not are_genes(shifted, gene + 1):
        return sheet  # the last column has no head
    return shifted


def header(
    cells: list[list[Cell]],
    column: str | None,
    heads: Collection[str] = (*SYMBOL_HEADS, *ID_HEADS),
) -> int | None:
    """The place of the row that has `column`; else of the one with most of the `heads`."""
    top = [texts(row) for row in cells[:TOP]]
    if column is not None:
        return next((at for at, row in enumerate(top) if column in row), None)
    n_heads = {at: sum(plain(cell) in heads for cell in row) for at, row in enumerate(top)}
    with_heads = [at for at, n in n_heads.items() if n]
    fitting = [at for at in with_heads if _fits(top, cells, at)] or with_heads
    best = [at for at in fitting if n_heads[at] == n_heads[max(fitting, key=n_heads.__getitem__)]]
    if len(best) > 1 and len(top[best[0]]) > 1:  # what a title heads is no gene
        best = [at for at in best if _heads_a_gene(top, at)] or best
    return best[0] if best else None


def _fits(top: list[list[str]], cells: list[list[Cell]], at: int) -> bool:
    """Whether a row heads what is below: it is not shorter, as titles are, and has few numbers."""
    below = cells[at + 1 : at + 1 + SAMPLE]
    width = max((at_head for at_head, head in enumerate(top[at]) if head), default=-1) + 1
    wider = any(any(row[width:]) for row in below)
    if not below or (wider and not is_shifted(cells[at], below)):
        return False
    return 2 * sum(map(is_real, top[at])) < width


def _heads_a_gene(top: list[list[str]], at: int) -> bool:
    heads, below = top[at], [*top, []][at + 1]
    where = [at_head for at_head, head in enumerate(heads[: len(below)]) if is_head(head)]
    return any(names.is_known(below[at_head]) or names.is_id(below[at_head]) for at_head in where)


def is_real(text: str) -> bool:
    """Whether a text is a real number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def filled_columns(cells: list[list[Cell]]) -> list[int]:
    """Columns that hold anything."""
    width = max(map(len, cells), default=0)
    return [
        at
        for at in range(width)
        if any(at < len(row) and row[at] and row[at] != " " for row in cells)
    ]


def genes(source: object, cells: list[list[Cell]], column: str | None = None) -> Genes:
    """Return where a table has its genes.

    In the `column`; else in the first with a head of names, else of ids; else in the only column;
    else in the row names of R or pandas.  Numbers of rows are no genes.
    """
    if any("Gene Expression" in row for row in cells):
        cells = [row for row in cells if not any(map(_NO_GENES.fullmatch, texts(row[2:])))]
    sheet = headed(cells, column)
    if column is not None:
        if column not in sheet.heads:
            raise NotFound("column", column, f"is not in {source}", f"it has {listed(sheet.heads)}")
        _check_alone(source, sheet, sheet.heads.index(column))
        return Genes(sheet, sheet.heads.index(column), None)
    numbered = {
        number
        for number, head in enumerate(sheet.plain)
        if head in _NUMBER_HEADS and counts(sheet.rows, number)
    }
    heads = ["" if number in numbered else head for number, head in enumerate(sheet.heads)]
    symbol, of_ids = column_headed(heads, SYMBOL_HEADS), column_headed(heads, ID_HEADS)
    has_names = bool(sheet.heads) and sheet.plain[0] in _ROW_HEADS
    has_names = has_names and not all(map(names.is_number, texts(sheet.column(0)[:SAMPLE])))
    for named_column in (symbol, of_ids):
        if named_column is not None:
            _check_alone(source, sheet, named_column)
    if symbol is not None:
        by_id = (
            of_ids is None and has_names and all(map(names.is_id, texts(sheet.column(0)[:SAMPLE])))
        )
        return Genes(sheet, symbol, 0 if by_id else of_ids)
    if of_ids is not None:
        called = [
            at
            for at, head in enumerate(sheet.plain)
            if at != of_ids and _OF_GENES.search(head) and _are_symbols(sheet, at)
        ]
        return Genes(sheet, 0 if has_names else called[0] if len(called) == 1 else of_ids, of_ids)
    return _without_heads(source, cells, sheet, numbered)


def _check_alone(source: object, sheet: Sheet, at: int) -> None:
    """Refuse another column with the same head that holds other cells."""
    same = [column for column, head in enumerate(sheet.plain) if head == sheet.plain[at]]
    if any(texts(sheet.column(column)) != texts(sheet.column(at)) for column in same):
        raise bad_file(
            source,
            f"has {len(same)} columns headed {sheet.heads[at]!r}, which differ",
            "head one of them otherwise",
        )


def _are_symbols(sheet: Sheet, at: int) -> bool:
    return are_genes(sheet, at) and not all(map(names.is_id, texts(sheet.column(at)[:SAMPLE])))


def _without_heads(
    source: object, cells: list[list[Cell]], sheet: Sheet, numbered: set[int]
) -> Genes:
    """The same for a table of which no column has a head that is known."""
    filled = [at for at in filled_columns(sheet.rows) if at not in numbered]
    bare = Sheet([], cells, [])
    if not sheet.heads:
        only = filled[0] if filled else 0
        first, *below = texts(bare.column(only)[:SAMPLE]) or [""]
        names_below = [name for line in below for name in names.several(line)]
        words = re.split(r"[\s,;|/]+", first)
        has_head = bool(first) and not (len(words) > 1 and names.are_names(words))
        has_head = has_head and names.are_headed([first, *names_below])
        if has_head:
            log.info(Message(f"{first} in the first line is taken for the header of the list."))
        return Genes(bare._replace(rows=cells[has_head:]), only, None)
    if numbered and len(filled) == 1:
        return Genes(sheet, filled[0], None)
    if len(filled_columns(cells)) > 1 and (
        "Gene Expression" in texts(bare.column(2))
        or all(names.is_id(text) for text in texts(bare.column(0)[:SAMPLE]))
    ):
        return Genes(bare, 1, 0)  # features of 10x Genomics
    if sheet.plain[0] in _ROW_HEADS and 0 not in numbered:
        numbers = all(names.is_number(text) for text in texts(sheet.column(0)))
        of_genes = [at for at in filled if are_genes(sheet, at)] if numbers else []
        if len(of_genes) < 2:  # else numbers of rows of which some were left out
            return Genes(sheet, of_genes[0] if of_genes else 0, None)
    all_texts = [text for row in cells for text in texts(row) if text]
    if names.are_present(all_texts):
        return Genes(bare._replace(rows=[[text] for text in all_texts]), 0, None)
    raise bad_file(
        source,
        f"has {len(sheet.heads)} columns, and none is headed gene or symbol",
        f"name one of {listed(head for head in sheet.heads if head)} with {arg('column')}",
    )


def texts(cells: Iterable[Cell]) -> list[str]:
    """Return cells as texts, ``""`` for what is no name."""
    return [clean(cell) if isinstance(cell, str) else "" for cell in cells]


def are_genes(sheet: Sheet, at: int) -> bool:
    """Whether nearly all cells of a column are known names."""
    return names.are_names([text for text in texts(sheet.column(at)[:SAMPLE]) if text])


def name_of(source: object, cell: Cell) -> str:
    """Return the text of a cell, which may be empty; formulas are refused."""
    if isinstance(cell, NoName):
        raise bad_file(source, f"has among the genes {cell.what}", cell.advice)
    return clean(cell)


def names_of(source: object, cell: Cell, *, may_be_prose: bool = False) -> list[str]:
    """Return the names that a cell holds, as :func:`.names.several` says; none: it is empty."""
    text_of_cell = name_of(source, cell)
    if not text_of_cell:
        return []
    several = [clean(name) for name in names.several(text_of_cell)]
    if not several and may_be_prose and "/" not in text_of_cell:
        return [text_of_cell]
    if not several:
        raise bad_file(
            source,
            f"has {' '.join(text_of_cell.split())[:60]!r} in a cell, which may be one name or "
            "several",
            "write one name in a cell, or commas between them",
        )
    return several


def one_name_a_row(source: object, table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a table with a row per name of a cell, which has an id of its own if there are."""
    cells = list(table[column])
    names_of_cells = texts(cells)
    several = {
        at: names_of(source, cell)
        for at, cell in enumerate(cells)
        if isinstance(cell, NoName) or names.may_be_several(names_of_cells[at])
    }
    for at, names_of_cell in several.items():
        if len(names_of_cell) == 1:
            names_of_cells[at] = names_of_cell[0]
    if all(len(names_of_cell) == 1 for names_of_cell in several.values()):
        return table.assign(**{column: names_of_cells})
    lists = [several.get(at, [name]) for at, name in enumerate(names_of_cells)]
    longer = table.loc[table.index.repeat([len(names_of_cell) for names_of_cell in lists])]
    longer = longer.assign(**{column: [name for names_of_cell in lists for name in names_of_cell]})
    if "id" in table:
        ids = [_BETWEEN_IDS.split(text) for text in table["id"]]
        longer["id"] = [
            gene_id
            for names_of_cell, ids_of_cell in zip(lists, ids, strict=True)
            for gene_id in (
                ids_of_cell if len(ids_of_cell) == len(names_of_cell) else [""] * len(names_of_cell)
            )
        ]
    return longer.reset_index(drop=True)


def numbers_of(cells: Iterable[str]) -> pd.Series:
    """Return numbers, which may have commas between thousands; nan: a cell is none."""
    plainly = [re.sub(r"(?<=\d),(?=\d{3}(\D|$))", "", cell) for cell in cells]
    return pd.to_numeric(pd.Series(plainly, dtype=object), errors="coerce")


def _is_noted(name: str) -> bool:
    """Whether a text that is no name begins or ends with one, and has something else beside it."""
    words = [word for word in _BESIDE.split(name) if word]
    apart = re.search(r'[\s,"]|\w\[', name) is not None
    return apart and not names.is_known(name) and any(map(names.is_known, words[:1] + words[-1:]))


def check_read(source: object, genes: Sequence[str], *, may_be_prose: bool = False) -> None:
    """Refuse dates, and numbers among names, as of spreadsheets, and names with notes beside."""
    noted = [name for name in genes if _BESIDE.search(name) and _is_noted(name)]
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
#: What begins a formula in a spreadsheet.
FORMULA = ("=", "+", "-", "@")
#: Of a cell of a sheet: a formula, and what came of one that cannot be computed.
_COMPUTED = {"f": "a formula", "e": "an error of a formula"}
#: Characters that are not seen, and blanks that are none of a keyboard.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_BLANK = re.compile(r"[^\S \t\r\n]")
#: A comment behind a name of a list.
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
        try:
            decoded = content.decode("utf-16" if utf16 else "utf-8-sig")
        except UnicodeDecodeError as error:
            raise bad_file(
                path, f"is no UTF-8 text ({error})", "save it as a text in UTF-8"
            ) from error
    return _seen(decoded.replace("\r\n", "\n").replace("\r", "\n"))


def _seen(content: str) -> str:
    return content if content.isascii() else _BLANK.sub(" ", _UNSEEN.sub("", content))


def stripped(name: str) -> str:
    """Return a name without characters that are not seen, and blanks around it."""
    return _seen(name).strip()


def rows(path: Path) -> list[list[Cell]]:
    """Return the rows of a list or table in a text, without comments and empty rows."""
    content = re.sub(r"\Asep=.\n", "", text(path))
    comment, content = _without_comments(content)
    with reading(path, ending(path)):
        separator = _separator(content, ending(path))
        if separator == _NOTHING:
            content = _IN_LINE.sub("", content)
        cells = _split(content, separator)
        headed = _split(comment, separator)
        if cells and headed and len(headed[0]) == len(cells[0]) > 1 and n_heads(headed[0]):
            cells = headed + cells
    return cells


def _without_comments(content: str) -> tuple[str, str]:
    """The last comment above a table, which may be its header, and the text without comments."""
    if "#" not in content:
        return "", content
    above = re.match(r"(?:#.*\n|\s+)*", content)
    comments = re.findall(r"#.*", above[0]) if above else []
    return (comments[-1][1:] if comments else ""), re.sub(r"(?m)^#.*$", "", content)


def _split(content: str, separator: str) -> list[list[Cell]]:
    """Cells of a text; quotes that are not in pairs are characters."""
    in_pairs = content.count('"') % 2 == 0
    lines = csv.reader(
        io.StringIO(content, newline=""),
        delimiter=separator,
        skipinitialspace=True,
        quoting=csv.QUOTE_MINIMAL if in_pairs else csv.QUOTE_NONE,
    )
    return [row for row in lines if any(row)]  # type: ignore[misc]


def _separator(content: str, suffix: str) -> str:
    """What separates the columns of a text."""
    lines = content.split("\n", SAMPLE)
    sample = "\n".join(lines[:SAMPLE])
    if suffix == ".txt":
        sample = _IN_LINE.sub("", sample)
    splits = {
        separator: _split(sample, separator)
        for separator in ("\t", ",", ";", "|")
        if separator in sample
    }
    wide = {separator: sum(len(row) > 1 for row in cells) for separator, cells in splits.items()}
    if suffix == ".tsv" and "\t" in splits:
        return "\t"
    for separator in sorted(
        splits, key=lambda separator: (-wide[separator], -lines[0].count(separator))
    ):
        first, *rest = splits[separator] or [[""]]
        by_r = is_shifted(first, rest)
        if len(first) == 1 and n_heads(first) and not by_r:
            return _NOTHING  # one column, of lists
        headed = any(len(row) > 1 and n_heads(row) for row in splits[separator][:TOP])
        mostly = 2 * wide[separator] > len(rest) and (suffix != ".txt" or separator == "\t")
        if headed or by_r or (mostly and separator != "|"):
            return separator
    first, *rest = _split(sample, " ") or [[""]]
    widths = {len(row) for row in rest}
    if is_shifted(first, rest) or (widths == {len(first)} != {1}):  # write.table of R
        by_name = len(rest[0]) > len(first) and any(map(is_real, texts(rest[0])))
        by_name = by_name and names.are_names(texts(row[0] for row in rest))
        return " " if n_heads(first) or counts(rest, 0) or by_name else _NOTHING
    return _NOTHING


def sheets(path: Path) -> tuple[dict[str, list[list[Cell]]], set[str]]:
    """Return the rows of every sheet of a workbook, and which sheets are hidden."""
    needs("An .xlsx file", "openpyxl")
    import openpyxl  # type: ignore[import-untyped]

    with reading(path, ".xlsx"), zipfile.ZipFile(path) as archive:
        books = [name for name in archive.namelist() if name.endswith("workbook.xml")]
        if any(b"purl.oclc.org/ooxml" in archive.read(name) for name in books):
            raise bad_file(
                path,
                "is a workbook in Strict Open XML",
                "save it as Excel Workbook (.xlsx), not Strict Open XML",
            )
    with (
        reading(path, ".xlsx"),
        path.open("rb") as file,  # which openpyxl leaves open where it cannot read it
        closing(openpyxl.load_workbook(file, read_only=True)) as book,
    ):
        rows_of_sheets = {}
        for page in book.worksheets:
            page.reset_dimensions()  # which other programs state wrongly
            cells = [[_cell(cell) for cell in row] for row in page.iter_rows()]
            width = max(map(len, cells), default=0)
            rows_of_sheets[page.title] = [
                row + [""] * (width - len(row)) for row in cells if any(row)
            ]
        hidden = {page.title for page in book.worksheets if page.sheet_state != "visible"}
    return rows_of_sheets, hidden


def _cell(cell: Any) -> Cell:
    if cell.value is None:
        return ""
    if cell.data_type in _COMPUTED:
        return NoName(
            f"{_COMPUTED[cell.data_type]} ({cell.value})", "copy the names, and paste their values"
        )
    return _seen(written(cell.value))


def written(value: Any) -> str:
    """Return a value of a sheet or a table as people see it."""
    if isinstance(value, bool | np.bool_):
        return str(value).upper()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return f"{value:%Y-%m-%d}" if isinstance(value, date) else str(value)


def of_frame(frame: pd.DataFrame) -> list[list[Cell]]:
    """Return the rows of a table of pandas, with its index and its header."""
    head = "" if frame.index.name is None else str(frame.index.name)
    cells = frame.astype(object).where(frame.notna(), "").to_numpy()
    lines: list[list[Cell]] = [[head, *map(str, frame.columns)]]
    for name, row in zip(frame.index, cells, strict=True):
        lines.append([written(name), *map(written, row)])
    return lines


def table(path: Path, sheet: str | None = None, column: str | None = None) -> list[list[Cell]]:
    """Return the rows of a list or table; of a workbook those of a sheet.

    Without a name it is the first that has genes: a header of them, or one column; of several the
    first whose genes are known, if there is one.  Hidden sheets are looked at where no other holds
    anything.
    """
    if ending(path) not in WORKBOOKS:
        return rows(path)
    book, hidden = sheets(path)
    if sheet is not None:
        if sheet not in book:
            raise NotFound("sheet", sheet, f"is not in {path}", f"it has {listed(book)}")
        return book[sheet]
    filled = {name: cells for name, cells in book.items() if cells}
    seen = {name: cells for name, cells in filled.items() if name not in hidden} or filled
    if len(seen) < 2:
        return next(iter(seen.values()), [])
    fitting = [
        cells
        for cells in seen.values()
        if header(cells, column) is not None or (column is None and len(filled_columns(cells)) == 1)
    ]
    if not fitting and column is not None:
        return next(iter(seen.values()))
    if not fitting:
        raise bad_file(
            path,
            "has several sheets, and none has a column headed gene or symbol",
            f"name one of {listed(seen)} with {arg('sheet')}",
        )
    if len(fitting) == 1 or column is not None:
        return fitting[0]
    fitting.sort(key=lambda cells: header(cells, None) is None)  # else notes, in one column
    genes_of_sheets = (genes(NO_VALUE, cells) for cells in fitting)
    are_known = (are_genes(columns.sheet, columns.gene) for columns in genes_of_sheets)
    return next((cells for cells, are in zip(fitting, are_known, strict=True) if are), fitting[0])


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
    for number, name in enumerate(all_names):
        fault = None
        if not name or name != name.strip():
            fault = "is empty, or has blanks around it"
        elif not name.isprintable():
            fault = "has a character that is not printed, such as a tab or a line break"
        elif name.startswith("#") or " #" in name:
            fault = "is a comment to who reads it"
        elif name.startswith(FORMULA) and path.suffix.lower() in (".csv", ".tsv", ".xlsx"):
            fault = "is a formula in a spreadsheet"
        elif not comes_back(name):
            fault = "is quoted, or is several names, to who reads it"
        elif number == 0 and path.suffix.lower() == ".txt" and _is_header(all_names):
            fault = "is the header of a list to who reads it"
        if fault is not None:
            raise bad_file(
                path,
                f"cannot hold the name {name!r}, which {fault}",
                f"rename the gene, or name a column of {VAR} with {arg('symbols')}",
            )


def comes_back(name: str) -> bool:
    """Whether a name is the same once it is read again, or refused: not quoted, not several."""
    return clean(name) == name and name[0] not in QUOTES and names.several(name) in ([name], [])


def _is_header(all_names: Sequence[str]) -> bool:
    return is_head(all_names[0]) or names.are_headed(all_names[:SAMPLE])
