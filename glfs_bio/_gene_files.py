"""Names of genes, out of files."""

from __future__ import annotations

import csv
import re
from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from . import checks
from ._extras import needs
from ._files import as_path, existing, reading
from .errors import InvalidValue, NotFound, listed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: Files of :func:`read_panel`.
ENDINGS = (".txt", ".csv", ".tsv", ".gmt", ".xlsx")
#: What columns of genes are headed, without case and separators: names before ids.
_HEADS = (
    *("genesymbol", "symbol", "hgncsymbol", "mgisymbol", "genename", "gene", "name", "feature"),
    *("featurename", "target", "targetgene", "ensemblgeneid", "ensemblid", "ensembl", "geneid"),
)


#: What begins a formula in a spreadsheet.
FORMULA = ("=", "+", "-", "@")
#: Of a cell of a sheet: a formula, and what came of one that cannot be computed.
_COMPUTED = {"f": "a formula", "e": "an error of a formula"}


def check_names(names: Iterable[str], path: Path) -> None:
    """Refuse names of genes that would not be the same once they are read again.

    Raises
    ------
    ValueError
        A name that is empty, has blanks around it, or a character that is not printed, such as a
        line break; one that is a comment in a list or a formula in a spreadsheet; a first name that
        is the header of a list.
    """
    for place, name in enumerate(names):
        fault = None
        if not name or name != name.strip():
            fault = "is empty, or has blanks around it"
        elif not name.isprintable():
            fault = "has a character that is not printed, such as a tab or a line break"
        elif name.startswith("#") or " #" in name:
            fault = "is a comment to who reads it"
        elif name.startswith(FORMULA) and path.suffix.lower() in (".csv", ".tsv", ".xlsx"):
            fault = "is a formula in a spreadsheet"
        elif place == 0 and path.suffix.lower() == ".txt" and _plain(name) in _HEADS:
            fault = "is the header of a list"
        if fault is not None:
            raise InvalidValue(
                "path",
                str(path),
                "cannot hold the name {name!r}, which {fault}",
                "rename the gene, or name a column of {var} with {arg:symbols}",
                name=name,
                fault=fault,
            )


def read_panel(
    path: str | Path,
    *,
    column: str | None = None,
    sheet: str | None = None,
    set_name: str | None = None,
) -> list[str]:
    r"""Read the genes of a panel from a list, a table or gene sets.

    Parameters
    ----------
    path : str or path
        File to read:

        - ``.txt``: one name per line; ``#`` begins a comment
        - ``.csv`` (commas or semicolons), ``.tsv``, ``.xlsx``: a table with a header, or one column
        - ``.gmt``: gene sets, see :func:`read_gmt`
    column : str, default None
        Column of a table.  None: the first with a header such as symbol, gene or name, else a
        column of ids, else the only column, or the row names of a table from R or pandas.
    sheet : str, default None
        Sheet of an ``.xlsx``.  None: the first.
    set_name : str, default None
        Gene set of a ``.gmt``.  None: all sets.

    Returns
    -------
    list of str
        Names in the order of the file, each once.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ImportError
        If the file is ``.xlsx`` and openpyxl is missing.
    KeyError
        If the column, sheet or gene set is missing.
    ValueError
        If the file has another ending, cannot be read or has no names, if no column is recognised,
        if a name is a formula or a date, or if an argument is for other files.

    See Also
    --------
    write_gene_list : Write a selection.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "catalogue.csv"
    ...     _ = path.write_text("Gene,Annotation\nCD3D,T cells\nMS4A1,B cells\n")
    ...     panel = glfs_bio.io.read_panel(path)
    >>> panel
    ['CD3D', 'MS4A1']
    """
    path = as_path(path)
    checks.texts(column=column, sheet=sheet, set_name=set_name, or_none=True)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InvalidValue(
            "path", str(path), "has an unknown ending", "use one of {endings}", endings=ENDINGS
        )
    existing(path)
    for name, value, endings in (
        ("column", column, (".csv", ".tsv", ".xlsx")),
        ("sheet", sheet, (".xlsx",)),
        ("set_name", set_name, (".gmt",)),
    ):
        if value is not None and ending not in endings:
            raise InvalidValue(
                *(name, value, "is for files {endings}, and not for {path}"),
                endings=endings,
                path=str(path),
            )
    if ending == ".gmt":
        names = _of_sets(path, set_name)
    elif ending == ".txt":
        names = _of_lines(path)
    else:
        rows = _sheet(path, sheet) if ending == ".xlsx" else _table(path, ending)
        names = _of_table(rows, column, path)
    names = list(dict.fromkeys(name for name in map(str.strip, names) if name))
    if not names:
        raise InvalidValue("path", str(path), "has no gene names")
    return names


def read_gmt(path: str | Path) -> dict[str, list[str]]:
    r"""Read gene sets from a GMT file.

    Parameters
    ----------
    path : str or path
        Text file with one set per line: name, description and genes, separated by tabs.

    Returns
    -------
    dict of str to list
        Genes of each set by its name, in the order of the file, each gene once.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is not text, if a line has no genes, if a name occurs twice, or if it has no
        sets.

    See Also
    --------
    write_gmt : Write selections as gene sets.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "sets.gmt"
    ...     _ = path.write_text("T cells\tmarkers\tCD3D\tCD3E\n")
    ...     sets = glfs_bio.io.read_gmt(path)
    >>> sets
    {'T cells': ['CD3D', 'CD3E']}
    """
    path = existing(path)
    lines = _text(path).splitlines()
    sets: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        name, *fields = (field.strip() for field in line.split("\t"))
        genes = [gene for gene in fields[1:] if gene]
        if not name or not genes:
            raise InvalidValue(
                "path",
                str(path),
                "is not a GMT file",
                "line {number} must hold a name, a description and genes, separated by tabs; it "
                "starts {start!r}",
                number=number,
                start=line[:40],
            )
        if name in sets:
            raise InvalidValue(
                *(
                    "path",
                    str(path),
                    "has two gene sets {name!r}, the second in line {number}",
                ),
                name=name,
                number=number,
            )
        sets[name] = list(dict.fromkeys(genes))
    if not sets:
        raise InvalidValue("path", str(path), "holds no gene set")
    return sets


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValue(
            "path", str(path), "is not UTF-8 text ({reason})", reason=error.reason
        ) from error


def _of_sets(path: Path, set_name: str | None) -> list[str]:
    sets = read_gmt(path)
    if set_name is None:
        return [gene for genes in sets.values() for gene in genes]
    if set_name not in sets:
        raise NotFound(
            *("set_name", set_name, "is not in {path}", "it has {names}"),
            path=str(path),
            names=listed(sets),
        )
    return sets[set_name]


def _of_lines(path: Path) -> list[str]:
    names = []
    for number, line in enumerate(_text(path).splitlines(), start=1):
        name = re.sub(r"(^|\s)#.*", "", line).strip()
        if re.search(r"[,;\t]", name):
            raise InvalidValue(
                "path",
                str(path),
                "must hold one name a line, and line {number} is {line!r}",
                "save a table as .csv or .tsv",
                number=number,
                line=line[:40],
            )
        names.append(name)
    filled = [name for name in names if name]
    return filled[1:] if filled and _plain(filled[0]) in _HEADS else filled


def _table(path: Path, ending: str) -> list[list[str]]:
    lines = [line for line in _text(path).splitlines() if line.strip() and line[0] != "#"]
    if not lines:
        return []
    separator = "\t" if ending == ".tsv" else max(",;\t", key=lines[0].count)
    with reading(path, ending):
        return list(csv.reader(lines, delimiter=separator))


def _sheet(path: Path, sheet: str | None) -> list[list[Any]]:
    """Cells of a sheet: texts and numbers, or what :class:`_NoName` says of others."""
    needs("An .xlsx file", "openpyxl")
    import openpyxl  # type: ignore[import-untyped]

    with reading(path, ".xlsx"), closing(openpyxl.load_workbook(path, read_only=True)) as book:
        if sheet is not None and sheet not in book.sheetnames:
            raise NotFound(
                *("sheet", sheet, "is not in {path}", "it has {names}"),
                path=str(path),
                names=listed(book.sheetnames),
            )
        page = book[book.sheetnames[0] if sheet is None else sheet]
        return [[_cell(cell) for cell in row] for row in page.iter_rows()]


class _NoName(NamedTuple):
    """A cell that holds something else than a name."""

    what: str
    advice: str


def _cell(cell: Any) -> str | _NoName:
    if cell.value is None:
        return ""
    if cell.data_type in _COMPUTED:
        return _NoName(
            f"{_COMPUTED[cell.data_type]} ({cell.value})", "copy the names, and paste their values"
        )
    if isinstance(cell.value, date):
        return _NoName(
            f"the date {cell.value:%Y-%m-%d}, as Excel makes dates of names such as SEPT1",
            "write the names again, in cells formatted as text",
        )
    return str(cell.value)


def _of_table(rows: list[list[Any]], column: str | None, path: Path) -> list[str]:
    if not rows:
        return []
    header, *body = rows
    heads = ["" if isinstance(head, _NoName) else str(head).strip() for head in header]
    place = _place(heads, column, path)
    if place is None:  # one column, without a header
        place, body = 0, rows
    cells = [row[place] for row in body if len(row) > place]
    for cell in cells:
        if isinstance(cell, _NoName):
            raise InvalidValue(
                "path",
                str(path),
                "has among the genes {what}",
                "{advice}",
                what=cell.what,
                advice=cell.advice,
            )
    return cells


def _place(heads: list[str], column: str | None, path: Path) -> int | None:
    """Which column holds the genes; None for the only one, if it has no header."""
    if column is not None:
        if column not in heads:
            raise NotFound(
                *("column", column, "is not in {path}", "it has {names}"),
                path=str(path),
                names=listed(heads),
            )
        return heads.index(column)
    plain = [_plain(head) for head in heads]
    for known in _HEADS:
        for place, head in enumerate(plain):
            if head == known:
                return place
    if len(heads) == 1:
        return None
    if not heads[0]:
        return 0
    raise InvalidValue(
        "path",
        str(path),
        "has {n} columns, and none is headed gene or symbol",
        "name one of {heads} with {arg:column}",
        n=len(heads),
        heads=listed(heads),
    )


def _plain(head: str) -> str:
    """A header without case, separators and plural."""
    return re.sub(r"[\W_]", "", head).casefold().removesuffix("s")
