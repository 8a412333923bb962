"""Genes in files: tables of genes, as of vendors, and lists of genes by name, as markers are."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._extras import needs
from .._files import as_path, bad_file, existing, reading, reason
from ..errors import (
    MAPPING,
    NO_VALUE,
    VAR,
    InvalidType,
    InvalidValue,
    Message,
    Unreachable,
    arg,
    listed,
    naming,
    shown,
)
from . import names, sheets

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

#: Columns of a table of genes beside symbol and id, and what they are headed in files, as
#: :func:`.sheets.plain` has it.
COLUMNS = {
    "species": ("specie", "organism"),
    "n_probes": sheets.PROBE_HEADS,
    "previous": ("previou", "prevsymbol", "previoussymbol"),
    "aliases": ("aliase", "alia", "aliassymbol", "synonym", "markersynonym"),
    "family": ("family", "genefamily", "genegroup", "paralog"),
}
_GTF = (".gtf", ".gff", ".gff3")
#: Attributes of a gene in a GTF or GFF3 file.
_ATTRIBUTE = re.compile(r'(gene_id|gene_name|Name|ID)[ =]"?(?:gene:)?([^";]+)')


def read_genes(path: str | Path, *, species: str | None = None) -> pd.DataFrame:
    r"""Read a table of genes: a vendor's list, an annotation, a nomenclature, or probe counts.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv``, ``.txt`` or ``.xlsx`` with a header, such as ``Species,Ensembl ID,Gene
        symbol`` of 10x Genomics, ``gene_name,chr,probe_count``, or the complete set of HGNC;
        ``features.tsv`` of 10x; ``.gtf`` or ``.gff3``, of which the genes are read; a list of
        names.  All but the ``.xlsx`` also with ``.gz``, ``.bz2`` or ``.xz``.  Headers, row numbers
        and several names in a cell are read as by :func:`read_panel`.
    species : str, default None
        Species of the genes to return, such as ``"Homo sapiens"`` or ``"human"``.  None: all.

    Returns
    -------
    DataFrame
        One row per gene, with those of the columns ``symbol``, ``id`` (of Ensembl, without its
        version, or of another database), ``species``, ``n_probes``, ``previous``, ``aliases`` (with
        ``|`` between names) and ``family`` that the file has; ``symbol`` and ``id`` are always
        there, ``""`` where unknown.  A gene that is in several places has the most probes of them.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "genes.csv"
    ...     _ = path.write_text("Ensembl ID,Gene symbol\nENSG00000167286,CD3D\n")
    ...     genes = glfs_bio.io.read_genes(path)
    >>> list(genes.columns), list(genes["symbol"])
    (['symbol', 'id'], ['CD3D'])
    """
    path = existing(path)
    checks.texts(species=species, or_none=True)
    ending = sheets.ending(path)
    if ending not in (*_GTF, *sheets.LISTS):
        endings = shown(*sheets.LISTS, *_GTF)
        raise bad_file(path, "has an unknown ending", f"use one of {endings}")
    if ending in _GTF:
        frame = pd.DataFrame(_of_annotation(path), columns=["symbol", "id"])
    else:
        frame = _of_rows(str(path), sheets.table(path))
    if frame.empty:
        raise bad_file(path, "holds no genes")
    dates = [name for name in frame["symbol"] if names.dates(name)]
    if dates:
        log.warning(
            Message(
                f"{path} has among the genes dates, as spreadsheets make of names, which no gene "
                f"is found by: {listed(dates)}."
            )
        )
    return frame if species is None else names.of_species(frame, species, argument="species")


def as_genes(source: Any, argument: str = "genes") -> pd.DataFrame:
    """Return a table of genes out of what an argument holds: a file, a table, or names."""
    if isinstance(source, str | Path):
        with naming(path=argument):
            return read_genes(source)
    if isinstance(source, pd.DataFrame):
        with naming(path=argument):
            frame = _of_rows(NO_VALUE, sheets.of_frame(source))
    elif isinstance(source, Collection) and not isinstance(source, bytes):
        frame = _genes(pd.DataFrame({"symbol": list(map(str, source)), "id": ""}, dtype=object))
    else:
        raise InvalidType(argument, source, "must be a file, a table or names of genes")
    if frame.empty:
        raise InvalidValue(argument, NO_VALUE, "holds no genes")
    return frame


def _of_rows(source: object, rows: list[list[sheets.Cell]]) -> pd.DataFrame:
    """A table of genes out of rows, with a header or without one."""
    columns = sheets.genes(source, rows)
    table = columns.sheet
    frame = pd.DataFrame({"symbol": pd.Series(table.column(columns.gene), dtype=object)})
    frame["id"] = "" if columns.id is None else sheets.texts(table.column(columns.id))
    for name, heads in COLUMNS.items():
        at = sheets.column_headed(table.heads, heads)
        if at is not None and at != columns.gene:
            frame[name] = sheets.texts(table.column(at))
    if "n_probes" in frame:
        frame = _numbered(source, frame)
    return _genes(sheets.one_name_a_row(source, frame, "symbol"))


def _numbered(source: object, frame: pd.DataFrame) -> pd.DataFrame:
    """The same with numbers of probes, 0 where a cell is empty; texts alone are none, as names."""
    cells = frame["n_probes"]
    numbers = sheets.numbers_of(cells)
    strange = cells[numbers.isna() & ~cells.isin(names.NO_NAME)]
    if len(strange) and numbers.isna().all():
        return frame.drop(columns="n_probes")
    if len(strange):
        raise bad_file(
            source, f"has among the numbers of probes {listed(strange)}", "write numbers"
        )
    return frame.assign(n_probes=numbers.fillna(0.0))


def _genes(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with ids in one spelling, numbers of probes, and each gene once."""
    ids = frame["id"].map(names.as_id)
    ids = ids.mask(ids.map(names.is_number), "")
    alone = frame["symbol"][ids == ""]
    ids[ids == ""] = [names.as_id(name) if names.is_id(name) else "" for name in alone]
    frame = frame.assign(id=ids)
    for name in ("previous", "aliases"):
        if name in frame:
            frame[name] = frame[name].str.replace(", ", "|", regex=False)
    has_name = (frame["symbol"] != "") | (frame["id"] != "")
    genes = frame[has_name & ~frame["symbol"].map(names.is_control)]
    genes = genes[[name for name in ("symbol", "id", *COLUMNS) if name in genes]]
    if "n_probes" in genes:  # of a gene that is in several places, such as haplotypes, the most
        genes = genes.sort_values("n_probes", ascending=False, kind="stable")
        genes = genes.drop_duplicates([name for name in genes if name != "n_probes"]).sort_index()
    return genes.drop_duplicates(ignore_index=True)


def _of_annotation(path: Path) -> Iterator[tuple[str, str]]:
    """Symbol and id of each gene of a GTF or GFF3 file."""
    with reading(path, sheets.ending(path)), sheets.opened(path) as lines:
        for line in lines:
            fields = line.split("\t")
            if len(fields) > 8 and fields[2].endswith("gene") and line[0] != "#":
                pairs: list[tuple[str, str]] = _ATTRIBUTE.findall(fields[8])
                attributes = dict(reversed(pairs))
                name = attributes.get("gene_id", attributes.get("ID", ""))
                yield (
                    attributes.get("gene_name", attributes.get("Name", "")),
                    names.versionless(name),
                )


#: Endings of files of gene sets; further ones are those of tables.
SETS = (".gmt", ".json")
#: Where the libraries of gseapy are, and seconds to wait for them.
_LIBRARIES, _PATIENCE = "https://maayanlab.cloud/Enrichr/", 5.0
#: What columns of types and families are headed: those first that say more.
TYPE_HEADS = (
    *("cellname", "celltype", "celltypename", "type", "subtype", "cluster", "clusterid", "ct"),
    *("cell", "group", "label", "population", "annotation", "ident", "identity", "clas", "lineage"),
    *("family", "genefamily", "genegroup", "geneset", "set", "setname", "term", "pathway"),
)
_HEADS = (*TYPE_HEADS, *sheets.SYMBOL_HEADS, *sheets.ID_HEADS)
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
        - ``.gmt``: gene sets, one a line: name, description and genes, separated by tabs; a
          weight after a gene, as in ``CD3D,1.0`` of Enrichr, is left out
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
        raise bad_file(path, "has an unknown ending", f"use one of {endings}")
    existing(path)
    if sheet is not None and ending not in sheets.WORKBOOKS:
        raise InvalidValue("sheet", sheet, f"is for a workbook, and not for {path}")
    if ending == ".gmt":
        return _of_gmt(path)
    source = str(path)
    if ending == ".json":
        return _lists(source, _of_json(path))
    return _lists(source, _pairs(source, sheets.table(path, sheet)))


def further_names(path: str | Path) -> dict[str, tuple[str, str]]:
    """Return the id and the name elsewhere of genes in a table, by name, ``""`` for none."""
    if sheets.ending(path := as_path(path)) not in sheets.LISTS:
        return {}
    table = sheets.headed(sheets.table(path), heads=_HEADS)
    gene, of_id = (
        sheets.column_headed(table.heads, h) for h in (sheets.SYMBOL_HEADS, sheets.ID_HEADS)
    )
    if gene is None:
        return {}
    columns_of_genes = sheets.Genes(table, gene, of_id)
    columns = [
        [""] * len(table.rows) if at is None else sheets.texts(table.column(at))
        for at in (gene, of_id, columns_of_genes.name)
    ]
    return {
        name: (names.as_id(gene_id), alias) for name, gene_id, alias in zip(*columns, strict=True)
    }


def content(path: Path) -> Any:
    """Return what a JSON file holds."""
    with reading(path, ".json"):
        return json.loads(sheets.text(path))


def listed_in(path: Path, cells: Any) -> list[str]:
    """Return the names of a list in a JSON file."""
    cells = [cells] if isinstance(cells, str) else cells
    if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
        raise bad_file(
            path,
            "holds something else than a list of names or lists by name",
            "give one of these, or the gene_panel.json that lies beside a run of 10x Genomics",
        )
    return [name for cell in cells for name in sheets.names_of(str(path), cell)]


def _of_gmt(path: Path) -> dict[str, list[str]]:
    """Return the genes of each gene set of a GMT file."""
    sets: dict[str, list[str]] = {}
    for number, line in enumerate(sheets.text(path).split("\n"), start=1):
        if not line.strip():
            continue
        name, *fields = (sheets.clean(field) for field in line.split("\t"))
        without_weights = [re.sub(r",\d+\.\d+$", "", field) for field in fields[1:]]
        genes = [  # Reactome has some in words
            gene
            for field in without_weights
            for gene in sheets.names_of(str(path), field, may_be_prose=True)
        ]
        if not name or not genes:
            raise bad_file(
                path,
                "is not a GMT file",
                f"line {number} must hold a name, a description and genes, separated by tabs; it "
                f"starts {line[:40]!r}",
            )
        if name in sets:
            raise bad_file(path, f"has two gene sets {name!r}, the second in line {number}")
        sets[name] = list(dict.fromkeys(genes))
    if not sets:
        raise bad_file(path, "holds no gene set")
    return sets


def _of_json(path: Path) -> Iterator[tuple[str, list[str]]]:
    lists = content(path)
    if not isinstance(lists, dict):
        listed_in(path, None)
    for name, cells in lists.items():
        yield str(name), listed_in(path, cells)


def _lists(source: object, pairs: Iterable[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """Genes by type, each once."""
    members: dict[str, dict[str, None]] = {}
    for name, genes in pairs:
        if name not in names.NO_NAME and genes:
            members.setdefault(name, {}).update(dict.fromkeys(genes))
    if not members:
        raise bad_file(source, "holds no genes of a type")
    sheets.check_read(source, [gene for genes in members.values() for gene in genes])
    return {name: list(genes) for name, genes in members.items()}


def _pairs(source: object, rows: list[list[sheets.Cell]]) -> Iterator[tuple[str, list[str]]]:
    """Types with some of their genes, from the rows of a table."""
    lines = [_LINE.fullmatch(row[0]) for row in rows if len(row) == 1 and isinstance(row[0], str)]
    if len(lines) == len(rows) and all(lines):
        rows = [[line[1], line[2]] for line in lines if line]
        yield from _by_row(source, rows, 0, [1])
        return
    table = sheets.headed(rows, heads=_HEADS)
    kind = sheets.column_headed(table.heads, (*TYPE_HEADS, "name"))
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
        table = sheets.Sheet(sheets.texts(rows[0]), rows[1:], [])
    yield from _by_column(source, table)


def _columns(table: sheets.Sheet, kind: int) -> list[int]:
    """Columns of genes beside a column of types."""
    heads = ["" if at == kind else head for at, head in enumerate(table.heads)]
    for heads_of_genes in (sheets.SYMBOL_HEADS, sheets.ID_HEADS):
        if (gene := sheets.column_headed(heads, heads_of_genes)) is not None:
            return [at for at, head in enumerate(table.plain) if head == table.plain[gene]]
    if table.plain[kind] == "name":
        return []
    candidates = [at for at, head in enumerate(heads) if head or at > kind]
    candidates = [at for at in candidates if not _LACKING.match(heads[at])] or candidates
    numbered = [at for at in candidates if _NUMBERED.fullmatch(table.plain[at])]
    known_genes = [at for at in candidates if _are_genes(table.column(at))]
    return numbered or known_genes or (candidates if len(candidates) == 1 else [])


def _gene_and_type(rows: list[list[sheets.Cell]]) -> tuple[int, int] | None:
    """Columns of genes and of their types in a table without a header, whose others are numbers."""
    table = sheets.Sheet([], rows, [])
    columns = {at: _filled(table.column(at)) for at in sheets.filled_columns(rows)}
    columns = {at: cells for at, cells in columns.items() if not all(map(sheets.is_real, cells))}
    for gene, kind in (tuple(columns), tuple(columns)[::-1]) if len(columns) == 2 else ():
        genes, types = columns[gene], columns[kind]
        words = [text for text in types if len(text) > 2]  # T, B and NK are names of genes too
        are_types = not (names.are_names(words) or names.are_names(words[1:]))
        are_types = are_types or len({*types}) < len(types)
        are_genes = names.are_present(genes[:1]) and names.are_names(genes)
        if are_types and are_genes and len({*genes}) == len(genes):
            return gene, kind
    return None


def _are_genes(cells: list[sheets.Cell]) -> bool:
    words = [name for text in sheets.texts(cells) if text for name in names.several(text) or [text]]
    return names.are_names(words)


def _by_row(
    source: object, rows: list[list[sheets.Cell]], kind: int, columns: list[int]
) -> Iterator[tuple[str, list[str]]]:
    """A type in a cell of each row, or in the last filled one, as merged cells have it."""
    last = ""
    for row in rows:
        last = (sheets.texts(row)[kind] if kind < len(row) else "") or last
        cells = [row[at] for at in columns if at < len(row)]
        yield last, [name for cell in cells for name in sheets.names_of(source, cell)]


def _by_column(source: object, table: sheets.Sheet) -> Iterator[tuple[str, list[str]]]:
    """A type at the head of each column, its genes below; numbers are left out."""
    cells_of = {at: _filled(table.column(at)) for at in range(len(table.heads))}
    numeric = {at for at, cells in cells_of.items() if all(map(sheets.is_real, cells))}
    columns = [at for at, head in enumerate(table.heads) if head and at not in numeric]
    of_types = [at for at in numeric if at and set(cells_of[at]) <= {"0", "1"}]
    if len(of_types) == len(table.heads) - 1 > 0:  # a row per gene, 1 where it is a marker
        for at in of_types:
            cells = zip(table.column(0), sheets.texts(table.column(at)), strict=True)
            marked = [cell for cell, flag in cells if flag == "1"]
            yield (
                table.heads[at],
                [name for cell in marked for name in sheets.names_of(source, cell)],
            )
        return
    heads = [table.heads[at] for at in columns]
    a_gene = any(len(head) > 1 and names.are_present([head]) for head in heads)
    no_header = a_gene and not all(_are_genes(list(cells_of[at])) for at in columns)
    if not columns or any(map(sheets.is_head, heads)) or names.are_present(heads) or no_header:
        raise bad_file(
            source,
            "has no column of types and one of genes, nor a column per type",
            f"head them 'type' and 'gene'; it has {listed(table.heads)}",
        )
    matches = [_OF_SCANPY.fullmatch(head) for head in heads]
    for at, head, of_scanpy in zip(columns, heads, matches, strict=True):
        name = of_scanpy[1] if of_scanpy and all(matches) else head
        yield name, [gene for cell in table.column(at) for gene in sheets.names_of(source, cell)]


def _filled(cells: list[sheets.Cell]) -> list[str]:
    return [text for text in sheets.texts(cells) if text]


def said_of(gene_sets: object) -> str | None:
    """Return what records say of gene sets: a name, or that they were a mapping; None for none."""
    if gene_sets is None:
        return None
    return str(gene_sets) if isinstance(gene_sets, str | Path) else "dict"


def sets_of(source: str | Path | Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """Return genes by the name of the set, each once: of a mapping, a GMT file, or a library."""
    if isinstance(source, str | Path):
        path = Path(source)
        if isinstance(source, Path) or path.suffix.lower() == ".gmt" or path.exists():
            return read_markers(path)
        source = _library(source)
    if not isinstance(source, Mapping):
        advice = f"give a GMT file, a {MAPPING} of names and genes, or the name of a gseapy library"
        raise InvalidType("gene_sets", source, "holds no gene sets", advice)
    if not source:
        raise InvalidValue("gene_sets", NO_VALUE, "is empty", "give at least one gene set")
    for name, genes in source.items():
        if isinstance(genes, str) or not isinstance(genes, Iterable):
            raise InvalidType("gene_sets", genes, f"must be a list of gene names for {str(name)!r}")
    return {str(name): list(dict.fromkeys(map(str, genes))) for name, genes in source.items()}


def _library(name: str) -> Any:
    """Return a library of gseapy."""
    needs("A library of gene sets", "gseapy")
    import gseapy
    import requests

    try:
        requests.head(_LIBRARIES, timeout=_PATIENCE)  # gseapy itself waits for half a minute
        return gseapy.parser.download_library(name, organism="human")
    except Exception as error:  # gseapy raises a plain one for a name that it does not know
        problem = f"is no file, and no library that gseapy can reach ({reason(error)})"
        advice = f"choose one of gseapy.get_library_name(), or give a GMT file or a {MAPPING}"
        raise Unreachable("gene_sets", name, problem, advice) from error


def within(
    sets: dict[str, list[str]], universe: list[str], smallest: int = 1, largest: float = np.inf
) -> dict[str, list[str]]:
    """Return the sets restricted to the background, those of the right size."""
    background = set(universe)
    inside = {name: [gene for gene in genes if gene in background] for name, genes in sets.items()}
    if not any(inside.values()):
        members = [gene for genes in sets.values() for gene in genes]
        spelt = {name.upper() for name in universe} & {name.upper() for name in members}
        but_case = " but for upper and lower case" if spelt else ""
        examples = f"{listed(members[:3])} against {listed(universe[:3])}"
        problem = f"have no name in common with the genes{but_case}: {examples}"
        advice = f"name the column of {VAR} that is spelt as the gene sets with {arg('symbols')}"
        raise InvalidValue("gene_sets", NO_VALUE, problem, advice)
    fitting = {name: genes for name, genes in inside.items() if smallest <= len(genes) <= largest}
    if not fitting:
        sizes = f"{smallest} to {largest:g} genes in the background"
        problem = f"have no set of {sizes}, and up to {max(map(len, inside.values()))}"
        raise InvalidValue("gene_sets", NO_VALUE, problem, f"change {arg('min_size')}")
    return fitting
