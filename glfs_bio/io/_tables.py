"""Tables of cells × genes as people, R and instruments write them; names in them are texts."""

from __future__ import annotations

import csv
import logging
import re
from dataclasses import dataclass
from functools import cache
from io import BufferedReader, TextIOWrapper
from itertools import islice
from statistics import mode
from typing import TYPE_CHECKING, NoReturn

import anndata as ad
import numpy as np
import pandas as pd

from .._anndata import names as families
from .._files import bad_file
from ..errors import NO_VALUE, InvalidValue, Message, arg, listed
from ..vendors import names, sheets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .._typing import Array

log = logging.getLogger(__name__)

#: What may separate columns, by the ending; blanks, of any number, where nothing else does.
_BLANKS = r"\s+"
SEPARATORS = {
    **{ending: (one,) for ending, one in sheets.SEPARATORS.items()},
    ".csv": (",", ";"),
    ".txt": ("\t", ";", ",", _BLANKS),
}
_UNICODE = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
#: What lines begin with that are not of the table, as those above and below a series of GEO.
_COMMENTS = ("#", "!")
#: Lines that are looked at for the header, and values that are read at a time.
_SNIFFED, _AT_ONCE = 64, 4_000_000
#: Fewer numbers than these may be in order by chance.
_FEWEST_NUMBERED = 4
#: How columns are headed that number, place or describe cells, and genes: :func:`.sheets.plain`.
_OF_CELLS = re.compile(
    r"unnamed\d*|index|fov|(cell)?barcode|(entity|cell|sample|donor|patient|celltype)(id)?"
    r"|cell(number|label|type|name|index)|batch|label|origident|phase|(s|g2m|doublet)score|clas|group"
    r"|(leiden|louvain|kmean|(seurat)?cluster)(id|(re)?s?\d*)|\w+snnres\d+|(umap|tsne|pc)\d+"
    r"|treatment|condition|timepoint|age|sex|anisotropy|width|height|(min|max)[xyz]"
    r"|(cell|nucle\w+)?(area|volume)(um2|um3)?|(mean|max)(dapi|panck|membrane|cd\d+)"
    r"|.*centroid.*|[xyz]?(center|location|coord|coordinate|position)[xyz]?((global|local)?(px|mm|um))?"
    r"|(log1p)?(n(count|feature|gene)s?(bycount|rna|spatial)?|total(count|gene)?)"
    r"|(transcript|probe|codeword|(control|unassigned)\w+)count|(pct|percent)(count|mt|mito|ribo).*"
)
_OF_GENES = re.compile(r"(gene|entrez)id|(gene|effective)?length|chr(om(osome)?)?|start|end|strand")
#: Of two columns with these heads neither is a gene; flies have a gene y.
_COORDINATES = {"x", "y"}
_FIELD_OF_VIEW = {"fov", "cellid"}
#: A number that is no name: with a sign, or many decimals
_LIKE_A_VALUE = re.compile(r"-.*|\d*\.\d{3,}.*")
#: A number that has commas between thousands, or as its decimal mark
_LIKE_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True)
class _Head:
    """What the lines above the values of a table say."""

    encoding: str
    separator: str
    #: Of the header, and how many lines there are down to it
    names: list[str]
    n_lines: int
    #: Those above it that are no comments
    n_above: int
    #: Fields of a line, and those that name it: one, or field of view and cell
    width: int
    n_keys: int


def read(path: Path, ending: str, *, transpose: bool | None) -> ad.AnnData:
    """Read a table as cells × genes; None: its rows must be known to be cells."""
    head = _head(path, ending)
    rows, matrix = _body(path, head)
    corner, columns = _columns(path, head, matrix)
    rows, columns, matrix = _without_empty_ends(rows, columns, matrix)
    _check_blanks(path, "row", rows)
    _check_blanks(path, "column", columns)
    if (
        not (transpose or says_cells(corner))
        and all(map(sheets.is_real, rows))
        and is_symbol(corner)
    ):
        raise bad_file(
            path,
            f"has numbers in its first column, headed {corner}, where names are expected",
            "put a column with names of cells first",
        )
    if transpose is None:
        check_way_round(path, corner, rows, columns)
    cells, genes = (columns, rows) if transpose else (rows, columns)
    matrix = matrix.T if transpose else matrix
    _check_genes(path, genes, matrix)
    if transpose:
        _check_names(path, cells, _OF_GENES)
    if head.n_keys > 1:
        cells, matrix = _inside_cells(path, cells, matrix)
    if twice := _twice(cells):
        raise bad_file(
            path,
            f"has several cells of one name ({listed(twice)})",
            f"give every cell its own, in the first {'row' if transpose else 'column'}",
        )
    if head.n_above:
        log.warning(
            Message(
                f"The table in {path} begins in line {head.n_lines}; what is above it is left out."
            )
        )
    obs, var = (pd.DataFrame(index=pd.Index(side, dtype=object)) for side in (cells, genes))
    return ad.AnnData(matrix, obs=obs, var=var)


def _head(path: Path, ending: str) -> _Head:
    """Find the header, and what separates columns: the first that one of the first lines has."""
    lines, comment = [], None
    with sheets.unpacked(path) as raw, BufferedReader(raw) as file:
        encoding = _UNICODE.get(file.peek(2)[:2], "utf-8-sig")
        with TextIOWrapper(file, encoding) as text:
            for number, line in enumerate(text, start=1):
                if line.strip() and not line.startswith(_COMMENTS):
                    lines.append((number, line.rstrip("\r\n")))
                elif line[:1] == "#" and not lines:
                    comment = (number, line[1:].rstrip("\r\n"))
                if len(lines) == _SNIFFED:
                    break
    if any("\0" in line for _, line in lines):
        raise bad_file(path, "is no text in UTF-8", "save it as UTF-8")
    if broken := [number for number, line in lines if line.count('"') % 2]:
        raise bad_file(
            path,
            f"has quotes in line {broken[0]} that are not closed there",
            "remove the line break between them, or the quote",
        )
    heads = [
        head
        for separator in SEPARATORS[ending]
        if (head := _header(lines, comment, separator, encoding))
    ]
    if not heads:
        raise bad_file(
            path,
            "has no columns of numbers",
            "separate columns of .csv by commas or semicolons, and of .tsv by tabs",
        )
    return min(heads, key=lambda head: head.n_lines)


def _header(
    lines: Sequence[tuple[int, str]],
    comment: tuple[int, str] | None,
    separator: str,
    encoding: str,
) -> _Head | None:
    """Return the first line with as many names as most, or the last, have fields, or one fewer.

    R writes one fewer, above values.  Titles have fewer, or nothing but separators behind them; the
    last comment is the header where the first line has numbers.
    """
    widths = [_width(line, separator) for _, line in lines] or [0]
    width = max(mode(widths), widths[-1])
    if width > 1 and comment is not None and _width(comment[1], separator) == width:
        has_numbers = all(map(sheets.is_real, _fields(lines[0][1], separator)[1:]))
        lines = [comment, *lines] if has_numbers else lines
    for n_above, (number, line) in enumerate(lines):
        names = [sheets.stripped(name) for name in _fields(line, separator)]
        while len(names) > width and not names[-1]:
            names.pop()
        filled = [bool(name) for name in names[-(width - 1) :]]  # the first may be blank
        if width == 1 or len(names) not in (width - 1, width) or 2 * sum(filled) < width - 1:
            continue
        below = lines[n_above + 1][1] if n_above + 1 < len(lines) else ""
        values = [field.replace(",", ".") for field in _fields(below, separator)[1:]]
        if len(names) < width and not any(map(sheets.is_real, values)):
            continue
        two = len(names) == width and {*map(sheets.plain, names[:2])} == _FIELD_OF_VIEW
        return _Head(encoding, separator, names, number, n_above, width, 2 if two else 1)
    return None


def _fields(line: str, separator: str) -> list[str]:
    if separator == _BLANKS:
        line, separator = " ".join(line.split()), " "
    return next(csv.reader([line], delimiter=separator), [])


def _width(line: str, separator: str) -> int:
    if '"' in line:
        return len(_fields(line, separator))
    return len(line.split()) if separator == _BLANKS else line.count(separator) + 1


def _body(path: Path, head: _Head) -> tuple[list[str], Array]:
    """Return names of the rows, and values."""
    try:
        rows, matrix, texts = _values(path, head, ".")
    except pd.errors.EmptyDataError as error:
        raise bad_file(path, f"has no rows below its header in line {head.n_lines}") from error
    if len(texts.columns) and head.separator != ",":
        rows, matrix, with_commas = _values(path, head, ",")
        commas = [text for text in map(str, texts.to_numpy().flat) if "," in text]
        if (
            not len(with_commas.columns)
            and all(map(_LIKE_THOUSANDS.fullmatch, commas))
            and ((matrix != 0) & (matrix % 1 == 0)).any()
        ):
            raise bad_file(
                path,
                f"has commas that may separate thousands ({listed(commas[:1])})",
                "remove them, or write decimals with points",
            )
        texts = min(texts, with_commas, key=lambda frame: len(frame.columns))
    if not len(texts.columns):
        return rows, matrix
    names = head.names if len(head.names) == head.width else ["", *head.names]
    first = texts.iloc[:, 0]
    is_text = pd.to_numeric(first.astype(str), errors="coerce").isna() & first.notna()
    at = int(is_text.to_numpy().argmax())
    raise bad_file(
        path,
        f"has columns that are not numeric ({listed(names[column] for column in texts)}), such as "
        f"{first.iloc[at]!r} in column {listed([names[first.name]])} of row "
        f"{listed([rows[at] or at + 1])}",
        "correct the numbers, or remove what describes cells or genes",
    )


def _values(path: Path, head: _Head, decimal: str) -> tuple[list[str], Array, pd.DataFrame]:
    """Return names of the rows, values, and the columns that are texts, where reading ends."""
    rows: list[str] = []
    blocks = []
    with (
        sheets.unpacked(path) as raw,
        TextIOWrapper(BufferedReader(raw), head.encoding) as text,
    ):
        for _ in islice(text, head.n_lines):  # pandas would count other lines between quotes
            pass
        chunks = pd.read_csv(
            text,
            sep=head.separator,
            decimal=decimal,
            header=None,
            converters=dict.fromkeys(range(head.n_keys), _as_text),
            chunksize=max(1, _AT_ONCE // head.width),
            low_memory=False,  # blocks are small already
        )
        for chunk in chunks:
            keys = [chunk.pop(column) for column in range(head.n_keys)]
            if sheets.plain(head.names[0]) == "cellid":
                keys.reverse()
            rows += ["_".join(key[1:] for key in of_row) for of_row in zip(*keys, strict=True)]
            texts = chunk.select_dtypes(exclude="number")
            if chunk.select_dtypes("bool").shape == chunk.shape:
                texts = texts.iloc[:, :0]
            if len(texts.columns):
                return rows[-len(chunk) :], np.empty((0, 0)), texts
            blocks.append(chunk.to_numpy(dtype=np.float64))
    return rows, np.concatenate(blocks), texts


def _as_text(field: str) -> str:
    """A name behind a letter, so that it is none of the words that pandas takes for missing."""
    return f"_{sheets.stripped(field)}"


def _columns(path: Path, head: _Head, matrix: Array) -> tuple[str, list[str]]:
    """Return what is above the names of the rows, and the names of the columns."""
    names, width = head.names, matrix.shape[1]
    if len(names) == width and not np.isnan(matrix[:, -1]).all():
        corner, columns = "", names  # as R writes it
    else:
        corner, columns = names[0], names[head.n_keys :]
        columns = [*columns, *[""] * (width - len(columns))]
    if len(columns) > width:
        raise bad_file(
            path,
            f"has {len(columns)} names in line {head.n_lines}, and {width} values in the next",
            "give each column a name",
        )
    if all(map(sheets.is_real, columns)) and (
        head.n_above
        or _twice(columns)
        or any(map(_LIKE_A_VALUE.fullmatch, columns))
        or is_gene(corner)
    ):
        raise bad_file(
            path,
            f"has numbers in line {head.n_lines}, where names of columns are expected",
            "give it a header with a name for each column",
        )
    return corner, columns


def _twice(names: list[str]) -> list[str]:
    """Return the names that are there more than once."""
    index = pd.Index(names, dtype=object)
    return list(index[index.duplicated()].unique())


def _without_empty_ends(
    rows: list[str], columns: list[str], matrix: Array
) -> tuple[list[str], list[str], Array]:
    """Return them without what separators and comments at the end are read as."""
    while columns and not columns[-1] and np.isnan(matrix[:, -1]).all():
        columns, matrix = columns[:-1], matrix[:, :-1]
    while rows and rows[-1][:1] in ("", *_COMMENTS) and np.isnan(matrix[-1]).all():
        rows, matrix = rows[:-1], matrix[:-1]
    return rows, columns, matrix


def _check_blanks(path: Path, side: str, names: list[str]) -> None:
    if "" in names:
        number = names.index("")
        raise bad_file(
            path,
            f"has no name for {side} {number + 1} of its values, "
            + (f"behind {listed([names[number - 1]])}" if number else "the first"),
            "name it, or remove it",
        )


def _check_genes(path: Path, genes: list[str], matrix: Array) -> None:
    """Refuse what numbers, places or describes cells."""
    _check_names(path, genes, _OF_CELLS)
    placed = [name for name in genes if name.casefold() in _COORDINATES]
    numbers = []
    if len(matrix) > _FEWEST_NUMBERED:  # 0, 1, 2, … or 1, 2, 3, …
        ends = np.isin(matrix[0], (0, 1)) & (matrix[-1] - matrix[0] == len(matrix) - 1)
        rising = [at for at in np.flatnonzero(ends) if (np.diff(matrix[:, at]) == 1).all()]
        numbers = [genes[at] for at in rising]
    if numbers or len(placed) == len(_COORDINATES):
        _refuse_names(path, numbers or placed)


def _check_names(path: Path, names: list[str], pattern: re.Pattern[str]) -> None:
    if wrong := [name for name in names if pattern.fullmatch(sheets.plain(name))]:
        _refuse_names(path, wrong)


def _refuse_names(path: Path, names: list[str]) -> NoReturn:
    raise bad_file(
        path,
        f"holds something else than expression ({listed(names)})",
        "remove what numbers, places or describes cells or genes",
    )


def _inside_cells(path: Path, cells: list[str], matrix: Array) -> tuple[list[str], Array]:
    """Leave out cell 0 of fields of view, which is what is outside of cells."""
    inside = ~pd.Index(cells).str.endswith("_0")
    if not inside.all():
        log.warning(
            Message(
                f"{path} has {(~inside).sum()} rows of cell_ID 0, which is what is outside of "
                "cells; they are left out."
            )
        )
        cells, matrix = list(np.array(cells, dtype=object)[inside]), matrix[inside]
    return cells, matrix


#: A first cell that says what is in the rows; cells have names, too.
_HEADS_GENES = {*sheets.SYMBOL_HEADS, *sheets.ID_HEADS, "idref"} - {"name"}
_LIKE_A_GENE_HEAD = re.compile(r".*(gene|entrez|probe|transcript).*")
_HEADS_CELLS = re.compile(r".*(cell|barcode|sample|spot|well|nucleu|fov|donor|patient).*|entityid")
#: Ids of NCBI and of probe sets; names that say what they are.
_LIKE_A_GENE = re.compile(
    r"LOC\d{5,}|[NX][MR]_\d+(\.\d+)?|(AFFX-)?\w+_at|ILMN_\d+|g(ene)?[-_. ]?\d+", re.IGNORECASE
)
#: Barcodes, with what is put around them; ids of instruments; accessions of samples; names that
#: say what they are.
_LIKE_A_CELL = re.compile(
    r"(.*[^A-Za-z])?[ACGT]{10,}([^A-Za-z].*)?|[a-p]{8}-\d+|\d{12,}|(c_\d+_)?\d+_\d+"
    r"|(GSM|SRR|ERR|SAMN)\d+.*|TCGA-.+"
    r"|(c|cell|sample|barcode|patient|donor|spot|well)[-_. ]?\d+(_\d+)?",
    re.IGNORECASE,
)
#: The genome before a symbol, and what R and TCGA put behind it.
_AROUND_SYMBOL = re.compile(r"^(hg|mm|GRCh|GRCm)\d+_+|\|.*$")
#: Symbols that cells are called as well, after their wells
_LIKE_A_WELL = re.compile(r".?|[A-P]\d{1,2}", re.IGNORECASE)
#: Names of a side that are looked at, evenly spread; the share of one side, above that of the
#: other, that is no chance; and the share that is of genes or cells without doubt.
_COMPARED, _MARGIN, _ENOUGH = 1000, 0.2, 0.5


def check_way_round(path: Path, corner: str, rows: list[str], columns: list[str]) -> None:
    """Refuse a table whose rows are not known to be cells: by its first cell, and by names."""
    of_genes, of_cells = says_genes(corner), says_cells(corner)
    by_corner = 0 if of_genes == of_cells else 1 if of_genes else -1
    lean = _lean(rows, columns)
    by_names = 0 if abs(lean) <= _MARGIN else 1 if lean > 0 else -1
    if by_corner + by_names < 0:
        return
    raise bad_file(
        path,
        f"does not show that its rows ({listed(rows[:4], 3)}) are cells and its columns "
        f"({listed(columns[:4], 3)}) genes, or shows the opposite",
        f"pass {arg('transpose', True)} if its rows are genes, or {arg('transpose', False)} if "
        "they are cells",
    )


def check_genes_in_rows(rows: list[str], columns: list[str]) -> None:
    """Refuse a matrix whose names say that its rows are cells: one of R has genes there."""
    if _lean(rows, columns) < -_ENOUGH:
        raise InvalidValue(
            "adata",
            NO_VALUE,
            f"seems to have cells in its rows ({listed(rows[:4], 3)}) and genes in its columns "
            f"({listed(columns[:4], 3)})",
            "transpose its matrix, or name the columns otherwise if they are cells",
        )


def says_genes(corner: str) -> bool:
    """Whether a first cell says that genes are below it."""
    head = sheets.plain(corner)
    return head in _HEADS_GENES or _LIKE_A_GENE_HEAD.fullmatch(head) is not None


def says_cells(corner: str) -> bool:
    """Whether a first cell says that cells are below it."""
    return _HEADS_CELLS.fullmatch(sheets.plain(corner)) is not None


def _lean(rows: list[str], columns: list[str]) -> float:
    """Return how much more rows look like genes, and columns like cells, than the other way round.

    Ids and barcodes decide before symbols, which cells may have too.
    """
    sides = [side[:: max(1, len(side) // _COMPARED)] for side in (rows, columns)]
    by_rows, by_columns = (
        np.mean([_is_like_a_gene(name) - bool(_LIKE_A_CELL.fullmatch(name)) for name in side])
        for side in sides
    )
    if abs(by_rows - by_columns) > _ENOUGH:
        return float(by_rows - by_columns)
    symbols = [np.mean([is_symbol(name) for name in side]) for side in sides]
    return float(by_rows - by_columns + symbols[0] - symbols[1])


def _is_like_a_gene(name: str) -> bool:
    """Whether a name has an id, or says that it is one; R, TCGA and 10x put more around ids."""
    if _LIKE_A_GENE.fullmatch(name) is not None:
        return True
    return names.is_id(name) or any(map(names.is_id, re.split(r"[|_]", name)))


def is_symbol(name: str) -> bool:
    """Whether the nomenclature, or a family of genes, has a name, in upper or lower case."""
    bare = _AROUND_SYMBOL.sub("", name).upper()
    return _LIKE_A_WELL.fullmatch(bare) is None and bare in _symbols()


@cache
def _symbols() -> frozenset[str]:
    genes = names.nomenclature()
    symbols = [
        *genes["symbol"],
        *(past for symbols in genes["previous"] for past in symbols.split("|")),
    ]
    members = (families.family(name)[0] for name in families.FAMILIES)
    return frozenset(name.upper() for name in symbols).union(*members) - {""}


def is_gene(corner: str) -> bool:
    """Whether a first cell is a gene, as where there is no header, and not the head of genes."""
    if _is_like_a_gene(corner.partition(":")[0]) or names.is_control(corner):
        return True
    return is_symbol(corner) and not (says_genes(corner) or says_cells(corner))
