"""Tables, lists and gene sets in files of people and spreadsheets: their cells, as texts.

One reader serves panels, tables of genes, gene sets and markers.  It finds out what separates the
columns and which sheet holds the genes; :mod:`.headers` says where they are in it.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import zipfile
from contextlib import closing
from datetime import date
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .._extras import needs
from .._files import reading, replacing
from ..errors import NO_VALUE, VAR, InvalidValue, NotFound, arg, listed
from . import headers, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from .headers import Cell

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
            found = content.decode("utf-16" if utf16 else "utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidValue(
                "path", str(path), f"is no UTF-8 text ({error})", "save it as a text in UTF-8"
            ) from error
    return _seen(found.replace("\r\n", "\n").replace("\r", "\n"))


def _seen(found: str) -> str:
    return found if found.isascii() else _BLANK.sub(" ", _UNSEEN.sub("", found))


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
        found = _split(content, separator)
        headed = _split(comment, separator)
        if found and headed and len(headed[0]) == len(found[0]) > 1 and headers.n_heads(headed[0]):
            found = headed + found
    return found


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
    lines = content.split("\n", headers.SAMPLE)
    sample = "\n".join(lines[: headers.SAMPLE])
    if suffix == ".txt":
        sample = _IN_LINE.sub("", sample)
    found = {one: _split(sample, one) for one in ("\t", ",", ";", "|") if one in sample}
    wide = {one: sum(len(row) > 1 for row in cells) for one, cells in found.items()}
    if suffix == ".tsv" and "\t" in found:
        return "\t"
    for one in sorted(found, key=lambda one: (-wide[one], -lines[0].count(one))):
        first, *rest = found[one] or [[""]]
        by_r = headers.is_shifted(first, rest)
        if len(first) == 1 and headers.n_heads(first) and not by_r:
            return _NOTHING  # one column, of lists
        headed = any(len(row) > 1 and headers.n_heads(row) for row in found[one][: headers.TOP])
        mostly = 2 * wide[one] > len(rest) and (suffix != ".txt" or one == "\t")
        if headed or by_r or (mostly and one != "|"):
            return one
    first, *rest = _split(sample, " ") or [[""]]
    widths = {len(row) for row in rest}
    if headers.is_shifted(first, rest) or (widths == {len(first)} != {1}):  # write.table of R
        by_name = len(rest[0]) > len(first) and any(map(headers.is_real, headers.texts(rest[0])))
        by_name = by_name and names.are_names(headers.texts(row[0] for row in rest))
        return " " if headers.n_heads(first) or headers.counts(rest, 0) or by_name else _NOTHING
    return _NOTHING


def sheets(path: Path) -> tuple[dict[str, list[list[Cell]]], set[str]]:
    """Return the rows of every sheet of a workbook, and which sheets are hidden."""
    needs("An .xlsx file", "openpyxl")
    import openpyxl  # type: ignore[import-untyped]

    with reading(path, ".xlsx"), zipfile.ZipFile(path) as parts:
        books = [name for name in parts.namelist() if name.endswith("workbook.xml")]
        if any(b"purl.oclc.org/ooxml" in parts.read(name) for name in books):
            raise InvalidValue(
                "path",
                str(path),
                "is a workbook in Strict Open XML",
                "save it as Excel Workbook (.xlsx), not Strict Open XML",
            )
    with (
        reading(path, ".xlsx"),
        path.open("rb") as file,  # which openpyxl leaves open where it cannot read it
        closing(openpyxl.load_workbook(file, read_only=True)) as book,
    ):
        found = {}
        for page in book.worksheets:
            page.reset_dimensions()  # which other programs state wrongly
            cells = [[_cell(cell) for cell in row] for row in page.iter_rows()]
            width = max(map(len, cells), default=0)
            found[page.title] = [row + [""] * (width - len(row)) for row in cells if any(row)]
        hidden = {page.title for page in book.worksheets if page.sheet_state != "visible"}
    return found, hidden


def _cell(cell: Any) -> Cell:
    if cell.value is None:
        return ""
    if cell.data_type in _COMPUTED:
        return headers.NoName(
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
    found: list[list[Cell]] = [[head, *map(str, frame.columns)]]
    for name, row in zip(frame.index, cells, strict=True):
        found.append([written(name), *map(written, row)])
    return found


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
        if headers.header(cells, column) is not None
        or (column is None and len(headers.filled_columns(cells)) == 1)
    ]
    if not fitting and column is not None:
        return next(iter(seen.values()))
    if not fitting:
        raise InvalidValue(
            "path",
            str(path),
            "has several sheets, and none has a column headed gene or symbol",
            f"name one of {listed(seen)} with {arg('sheet')}",
        )
    if len(fitting) == 1 or column is not None:
        return fitting[0]
    fitting.sort(key=lambda cells: headers.header(cells, None) is None)  # else notes, in one column
    found = (headers.genes(NO_VALUE, cells) for cells in fitting)
    known = (headers.are_genes(one.sheet, one.gene) for one in found)
    return next((cells for cells, are in zip(fitting, known, strict=True) if are), fitting[0])


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
    value = "".join(one if one.isprintable() else " " for one in value)
    return f"'{value}" if len(value) > 1 and value.startswith(FORMULA) else value


def check_names(given: Iterable[str], path: Path) -> None:
    """Refuse names of genes that would not be the same once they are read again."""
    every = list(given)
    for number, name in enumerate(every):
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
        elif number == 0 and path.suffix.lower() == ".txt" and _is_header(every):
            fault = "is the header of a list to who reads it"
        if fault is not None:
            raise InvalidValue(
                "path",
                str(path),
                f"cannot hold the name {name!r}, which {fault}",
                f"rename the gene, or name a column of {VAR} with {arg('symbols')}",
            )


def comes_back(name: str) -> bool:
    """Whether a name is the same once it is read again, or refused: not quoted, not several."""
    return (
        headers.clean(name) == name
        and name[0] not in headers.QUOTES
        and names.several(name) in ([name], [])
    )


def _is_header(every: Sequence[str]) -> bool:
    return headers.is_head(every[0]) or names.are_headed(every[: headers.SAMPLE])
