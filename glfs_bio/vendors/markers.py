"""Markers of cell types, and families of genes, in files: lists of genes by name."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import checks
from .._files import as_path, existing, reading
from ..errors import NO_VALUE, InvalidValue, listed, shown
from . import headers, names, sheets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

#: Endings of files of gene sets; further ones are those of tables.
SETS = (".gmt", ".json")
#: What columns of types and families are headed: those first that say more.
TYPE_HEADS = (
    *("cellname", "celltype", "celltypename", "type", "subtype", "cluster", "clusterid"),
    *(
        "ct",
        "cell",
        "group",
        "label",
        "population",
        "annotation",
        "ident",
        "identity",
        "clas",
        "lineage",
    ),
    *("family", "genefamily", "genegroup", "geneset", "set", "setname", "term", "pathway"),
)
_HEADS = (*TYPE_HEADS, *headers.SYMBOL_HEADS, *headers.ID_HEADS)
#: A head of genes that a type lacks.
_LACKING = re.compile(
    r"(?i:(.*[\W_])?(neg|negative\w*|down\w*|low|absent|not)(?![^\W_]))"
    r"|.*[a-z](Neg(ative)?|Down|Low|Absent|Not)(?![a-z])"
)
#: A head of one of several columns of genes, such as ``marker 1``; a line ``T cells: CD3D, CD3E``;
#: and what users of scanpy append to the name of a group.
_NUMBERED = re.compile(r"(gene|marker|markergene|symbol|genesymbol)\d+")
_LINE = re.compile(r"([^:]+):\s+(.+)")
_OF_SCANPY = re.compile(r"(.+)_(names|n)")


def read_markers(
    path: str | Path | pd.DataFrame, *, sheet: str | None = None
) -> dict[str, list[str]]:
    r"""Read markers of cell types, or families of genes: lists of genes by name.

    Parameters
    ----------
    path : str, path or DataFrame
        File to read, or a table:

        - ``.csv``, ``.tsv``, ``.txt``, ``.xlsx``: a table with a row per gene, such as
          ``cell type,gene``, or ``group,names`` of scanpy; with a row per type, whose genes are in
          one cell or in several; or with a column per type, whose genes are below its name
        - ``.gmt``: gene sets, see :func:`read_gmt`
        - ``.json``: lists of genes by name

        Text files may end with ``.gz``, ``.bz2`` or ``.xz``.
    sheet : str, default None
        Sheet of a workbook.  None: the first that has genes.

    Returns
    -------
    dict of str to list
        Genes of each type, in the order of the file, each gene once.

    Raises
    ------
    ValueError
        If it is not clear which cells are types and which are genes, or as in :func:`read_panel`.

    See Also
    --------
    read_panel : Read a panel; its notes say how cells are read.
    glfs_bio.Limits : Take the lists as `groups`.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "markers.csv"
    ...     _ = path.write_text("cell type,gene\nT,CD3D\nT,CD3E\nB,MS4A1\n")
    ...     markers = glfs_bio.io.read_markers(path)
    >>> markers
    {'T': ['CD3D', 'CD3E'], 'B': ['MS4A1']}
    """
    checks.texts(sheet=sheet, or_none=True)
    if isinstance(path, pd.DataFrame):
        if sheet is not None:
            raise InvalidValue("sheet", sheet, "is for a workbook")
        return _lists(NO_VALUE, _pairs(NO_VALUE, sheets.of_frame(path)))
    path = as_path(path)
    ending = sheets.ending(path)
    if ending not in (*SETS, *sheets.LISTS):
        endings = shown(*SETS, *sheets.LISTS)
        raise InvalidValue("path", str(path), "has an unknown ending", f"use one of {endings}")
    existing(path)
    if sheet is not None and ending not in sheets.WORKBOOKS:
        raise InvalidValue("sheet", sheet, f"is for a workbook, and not for {path}")
    if ending == ".gmt":
        return sheets.read_gmt(path)
    source = str(path)
    if ending == ".json":
        return _lists(source, _of_json(path))
    return _lists(source, _pairs(source, sheets.table(path, sheet)))


def further_names(path: str | Path) -> dict[str, tuple[str, str]]:
    """Return the id and the name elsewhere of genes in a table, by name, ``""`` for none."""
    if sheets.ending(path := as_path(path)) not in sheets.LISTS:
        return {}
    table = headers.headed(sheets.table(path), heads=_HEADS)
    gene, own = (headers.place(table.heads, h) for h in (headers.SYMBOL_HEADS, headers.ID_HEADS))
    if gene is None:
        return {}
    found = headers.Genes(table, gene, own)
    columns = [
        [""] * len(table.rows) if at is None else headers.texts(table.column(at))
        for at in (gene, own, found.name)
    ]
    return {name: (names.as_id(one), other) for name, one, other in zip(*columns, strict=True)}


def content(path: Path) -> Any:
    """Return what a JSON file holds."""
    with reading(path, ".json"):
        return json.loads(sheets.text(path))


def listed_in(path: Path, cells: Any) -> list[str]:
    """Return the names of a list in a JSON file."""
    cells = [cells] if isinstance(cells, str) else cells
    if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
        raise InvalidValue(
            "path",
            str(path),
            "holds something else than a list of names or lists by name",
            "give one of these, or the gene_panel.json that lies beside a run of 10x Genomics",
        )
    return [name for cell in cells for name in headers.names_of(str(path), cell)]


def _of_json(path: Path) -> Iterator[tuple[str, list[str]]]:
    lists = content(path)
    if not isinstance(lists, dict):
        listed_in(path, None)
    for name, cells in lists.items():
        yield str(name), listed_in(path, cells)


def _lists(source: object, pairs: Iterable[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """Genes by type, each once."""
    found: dict[str, dict[str, None]] = {}
    for name, genes in pairs:
        if name not in names.NO_NAME and genes:
            found.setdefault(name, {}).update(dict.fromkeys(genes))
    if not found:
        raise InvalidValue("path", source, "holds no genes of a type")
    headers.check_read(source, [gene for genes in found.values() for gene in genes])
    return {name: list(genes) for name, genes in found.items()}


def _pairs(source: object, rows: list[list[headers.Cell]]) -> Iterator[tuple[str, list[str]]]:
    """Types with some of their genes, from the rows of a table."""
    lines = [_LINE.fullmatch(row[0]) for row in rows if len(row) == 1 and isinstance(row[0], str)]
    if len(lines) == len(rows) and all(lines):
        rows = [[line[1], line[2]] for line in lines if line]
        yield from _by_row(source, rows, 0, [1])
        return
    table = headers.headed(rows, heads=_HEADS)
    kind = headers.place(table.heads, (*TYPE_HEADS, "name"))
    if kind is not None and (columns := _columns(table, kind)):
        yield from _by_row(source, table.rows, kind, columns)
        return
    across = [cell for row in rows for cell in row[1:]]
    if (
        _are_genes(across)
        and not names.are_present(_filled([row[0] for row in rows]))
        and names.are_present(_filled(rows[0][1:]))
    ):
        yield from _by_row(source, rows, 0, list(range(1, max(map(len, rows)))))
        return
    if pair := _gene_and_type(rows):
        yield from _by_row(source, rows, pair[1], [pair[0]])
        return
    if rows and not table.heads:
        table = headers.Sheet(headers.texts(rows[0]), rows[1:], [])
    yield from _by_column(source, table)


def _columns(table: headers.Sheet, kind: int) -> list[int]:
    """Columns of genes beside a column of types."""
    heads = ["" if at == kind else head for at, head in enumerate(table.heads)]
    for known in (headers.SYMBOL_HEADS, headers.ID_HEADS):
        if (gene := headers.place(heads, known)) is not None:
            return [at for at, head in enumerate(table.plain) if head == table.plain[gene]]
    if table.plain[kind] == "name":
        return []
    others = [at for at, head in enumerate(heads) if head or at > kind]
    others = [at for at in others if not _LACKING.match(heads[at])] or others
    numbered = [at for at in others if _NUMBERED.fullmatch(table.plain[at])]
    known_genes = [at for at in others if _are_genes(table.column(at))]
    return numbered or known_genes or (others if len(others) == 1 else [])


def _gene_and_type(rows: list[list[headers.Cell]]) -> tuple[int, int] | None:
    """Columns of genes and of their types in a table without a header, whose others are numbers."""
    table = headers.Sheet([], rows, [])
    columns = {at: _filled(table.column(at)) for at in headers.filled_columns(rows)}
    columns = {at: cells for at, cells in columns.items() if not all(map(headers.is_real, cells))}
    for gene, kind in (tuple(columns), tuple(columns)[::-1]) if len(columns) == 2 else ():
        genes, types = columns[gene], columns[kind]
        words = [text for text in types if len(text) > 2]  # T, B and NK are names of genes too
        are_types = not (names.are_names(words) or names.are_names(words[1:]))
        are_types = are_types or len({*types}) < len(types)
        are_genes = names.are_present(genes[:1]) and names.are_names(genes)
        if are_types and are_genes and len({*genes}) == len(genes):
            return gene, kind
    return None


def _are_genes(cells: list[headers.Cell]) -> bool:
    found = [
        name for text in headers.texts(cells) if text for name in names.several(text) or [text]
    ]
    return names.are_names(found)


def _by_row(
    source: object, rows: list[list[headers.Cell]], kind: int, columns: list[int]
) -> Iterator[tuple[str, list[str]]]:
    """A type in a cell of each row, or in the last filled one, as merged cells have it."""
    last = ""
    for row in rows:
        last = (headers.texts(row)[kind] if kind < len(row) else "") or last
        cells = [row[at] for at in columns if at < len(row)]
        yield last, [name for cell in cells for name in headers.names_of(source, cell)]


def _by_column(source: object, table: headers.Sheet) -> Iterator[tuple[str, list[str]]]:
    """A type at the head of each column, its genes below; numbers are left out."""
    cells_of = {at: _filled(table.column(at)) for at in range(len(table.heads))}
    numeric = {at for at, cells in cells_of.items() if all(map(headers.is_real, cells))}
    columns = [at for at, head in enumerate(table.heads) if head and at not in numeric]
    of_types = [at for at in numeric if at and set(cells_of[at]) <= {"0", "1"}]
    if len(of_types) == len(table.heads) - 1 > 0:  # a row per gene, 1 where it is a marker
        for at in of_types:
            cells = zip(table.column(0), headers.texts(table.column(at)), strict=True)
            marked = [cell for cell, flag in cells if flag == "1"]
            yield (
                table.heads[at],
                [name for cell in marked for name in headers.names_of(source, cell)],
            )
        return
    heads = [table.heads[at] for at in columns]
    a_gene = any(len(head) > 1 and names.are_present([head]) for head in heads)
    no_header = a_gene and not all(_are_genes(list(cells_of[at])) for at in columns)
    if not columns or any(map(headers.is_head, heads)) or names.are_present(heads) or no_header:
        raise InvalidValue(
            "path",
            source,
            "has no column of types and one of genes, nor a column per type",
            f"head them 'type' and 'gene'; it has {listed(table.heads)}",
        )
    named = [_OF_SCANPY.fullmatch(head) for head in heads]
    for at, head, of_scanpy in zip(columns, heads, named, strict=True):
        name = of_scanpy[1] if of_scanpy and all(named) else head
        yield name, [one for cell in table.column(at) for one in headers.names_of(source, cell)]


def _filled(cells: list[headers.Cell]) -> list[str]:
    return [text for text in headers.texts(cells) if text]
