"""Tables, lists and gene sets in files of people and spreadsheets: their cells, as texts."""

from __future__ import annotations

import csv
import gzip
import re
from contextlib import closing
from datetime import date
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .._extras import needs
from .._files import existing, reading, replacing
from ..errors import VAR, InvalidValue, arg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

#: What the name of a packed file ends in.
PACKED = ".gz"
#: Endings of tables in texts, and what separates their columns.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
#: What begins a formula in a spreadsheet.
FORMULA = ("=", "+", "-", "@")
#: What columns of genes are headed, as :func:`plain` has it: names before ids.
SYMBOL_HEADS = (
    *("genesymbol", "symbol", "approvedsymbol", "hgncsymbol", "mgisymbol", "markersymbol"),
    *("genename", "gene", "name", "displayname", "feature", "featurename", "target", "targetgene"),
)
ID_HEADS = ("ensemblgeneid", "ensemblid", "ensembl", "geneid")
#: Of a cell of a sheet: a formula, and what came of one that cannot be computed.
_COMPUTED = {"f": "a formula", "e": "an error of a formula"}


class NoName(NamedTuple):
    """A cell that holds something else than a name: what, and what to do."""

    what: str
    advice: str


Cell = str | NoName


def ending(path: Path) -> str:
    """Return the ending that says what a file holds, packed or not, in lower case."""
    inner = path.with_suffix("") if path.suffix.lower() == PACKED else path
    return inner.suffix.lower()


def opened(path: Path) -> IO[str]:
    """Open the text of a file, packed or not, which may be longer than memory."""
    if path.suffix.lower() == PACKED:
        return gzip.open(path, "rt", encoding="utf-8-sig")
    return path.open(encoding="utf-8-sig")


def text(path: Path) -> str:
    """Return the text of a file, packed or not."""
    with reading(path, "UTF-8 text"), opened(path) as file:
        return file.read()


def table(path: Path) -> list[list[Cell]]:
    """Return the rows of a table with commas, semicolons or tabs, without comments."""
    lines = [line for line in text(path).splitlines() if line.strip() and line[0] != "#"]
    if not lines:
        return []
    separator = "\t" if ending(path) == ".tsv" else max(",;\t", key=lines[0].count)
    with reading(path, ending(path)):
        return [list(row) for row in csv.reader(lines, delimiter=separator)]


def sheets(path: Path) -> dict[str, list[list[Cell]]]:
    """Return the rows of every sheet of a workbook."""
    needs("An .xlsx file", "openpyxl")
    import openpyxl  # type: ignore[import-untyped]

    with reading(path, ".xlsx"), closing(openpyxl.load_workbook(path, read_only=True)) as book:
        return {
            page.title: [[_cell(cell) for cell in row] for row in page.iter_rows()]
            for page in book.worksheets
        }


def _cell(cell: Any) -> Cell:
    if cell.value is None:
        return ""
    if cell.data_type in _COMPUTED:
        return NoName(
            f"{_COMPUTED[cell.data_type]} ({cell.value})", "copy the names, and paste their values"
        )
    if isinstance(cell.value, date):
        return f"{cell.value:%Y-%m-%d}"
    return str(cell.value)


def heads(row: Sequence[Cell]) -> list[str]:
    """Return the texts of a header."""
    return ["" if isinstance(cell, NoName) else cell.strip() for cell in row]


def plain(head: str) -> str:
    """Return a header without case, separators and plural."""
    return re.sub(r"[\W_]", "", head).casefold().removesuffix("s")


def is_head(name: str) -> bool:
    """Whether a text is what columns of genes are headed."""
    return plain(name) in (*SYMBOL_HEADS, *ID_HEADS)


def place(heads: Sequence[str], known: Iterable[str]) -> int | None:
    """Return which column is headed by the first of `known` that heads one; None: none is."""
    found = [plain(head) for head in heads]
    return next((found.index(head) for head in known if head in found), None)


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


def check_names(names: Iterable[str], path: Path) -> None:
    """Refuse names of genes that would not be the same once they are read again."""
    for number, name in enumerate(names):
        fault = None
        if not name or name != name.strip():
            fault = "is empty, or has blanks around it"
        elif not name.isprintable():
            fault = "has a character that is not printed, such as a tab or a line break"
        elif name.startswith("#") or " #" in name:
            fault = "is a comment to who reads it"
        elif name.startswith(FORMULA) and path.suffix.lower() in (".csv", ".tsv", ".xlsx"):
            fault = "is a formula in a spreadsheet"
        elif number == 0 and path.suffix.lower() == ".txt" and is_head(name):
            fault = "is the header of a list"
        if fault is not None:
            raise InvalidValue(
                "path",
                str(path),
                f"cannot hold the name {name!r}, which {fault}",
                f"rename the gene, or name a column of {VAR} with {arg('symbols')}",
            )


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
    sets: dict[str, list[str]] = {}
    for number, line in enumerate(text(path).splitlines(), start=1):
        if not line.strip():
            continue
        name, *fields = (field.strip() for field in line.split("\t"))
        genes = [gene for gene in fields[1:] if gene]
        if not name or not genes:
            raise InvalidValue(
                "path",
                str(path),
                "is not a GMT file",
                f"line {number} must hold a name, a description and genes, separated by tabs; it "
                f"starts {line[:40]!r}",
            )
        if name in sets:
            raise InvalidValue(
                "path", str(path), f"has two gene sets {name!r}, the second in line {number}"
            )
        sets[name] = list(dict.fromkeys(genes))
    if not sets:
        raise InvalidValue("path", str(path), "holds no gene set")
    return sets
