"""Genes in files: panels, tables of genes, and lists of genes by name, as markers are."""

from __future__ import annotations

import json
import logging
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._files import bad_file, reading
from ..errors import InvalidType, InvalidValue, NotFound, listed, naming, short
from . import names, sheets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

log = logging.getLogger(__name__)

#: Endings of files of panels; texts may be packed.
ENDINGS = (*sheets.LISTS, *sheets.SETS)
#: Further columns of tables that are read.
_FURTHER: tuple[str, ...] = ("n_probe_sets", "codewords", "annotation", "force", "group")
_FURTHER += ("must_have", "source", "name")
#: What columns are headed whose flags say which rows are the panel, or are not, codewords as texts,
#: single bits, and numbered columns of genes; and fewest bits of a codebook.
_COLUMNS = names.patterns("column")
_BIT, _NUMBERED = (re.compile(_COLUMNS[name][0]) for name in ("bit", "numbered genes"))
_FEWEST_BITS = 3


class PanelFile(list[str]):
    """Genes of a panel in the order of its file, as :func:`read_panel` reads them.

    Attributes
    ----------
    table : DataFrame
        One row per gene: ``gene``, ``id`` (of Ensembl without its version, FlyBase, WormBase or
        TAIR, or ``""``), and what the file has of ``n_probe_sets``, ``codewords``, ``annotation``,
        ``force``, ``group``, ``must_have``, ``source`` and ``name``, such as an accession, by which
        a gene is found whose ``id`` and ``gene`` are not in the data.
    form : str
        ``"table"``, also of a list, ``"codebook"`` or ``"gene sets"``.
    controls, repeated : list of str
        Names of controls and blanks, which are not in the panel; and genes that the file has more
        than once.
    codebook : DataFrame
        Bits of every gene, one column per bit, of a form that has them.
    """

    def __init__(self, rows: pd.DataFrame, form: str, codebook: pd.DataFrame | None = None) -> None:
        is_first = ~rows["gene"].duplicated()
        super().__init__(rows["gene"][is_first])
        self.table, self.form = rows[is_first].reset_index(drop=True), form
        self.repeated = list(rows["gene"][~is_first].unique())
        self.controls = list[str]()
        if codebook is not None:
            codebook = codebook.loc[rows.index[is_first]].set_axis(list(self), axis=0)
        self.codebook = codebook


def read_panel(
    path: str | Path,
    *,
    column: str | None = None,
    sheet: str | None = None,
    set_name: str | None = None,
) -> PanelFile:
    r"""Read the genes of a panel from a vendor's file, a list, a table or gene sets.

    Predesigned panels and orders of 10x Genomics, codebooks of MERSCOPE, MERlin and others, with
    bits in columns or in a text, gene lists of CosMx, Vizgen's designs and sheets of
    :func:`write_order` are recognised.  Controls and blanks are left out, and named in a note, and
    so are the backups of an order.

    Parameters
    ----------
    path : str or path
        File to read:

        - ``.txt``, ``.csv``, ``.tsv``, ``.xlsx``: a table with a header, or a list of names, with
          or without one; in texts ``#`` begins a comment
        - ``.grp``, ``.rcc`` of nCounter
        - ``.gmt``, ``.json``: gene sets, see :func:`read_markers`

        Text files may end with ``.gz``, ``.bz2`` or ``.xz``.
    column : str, default None
        Column of a table.  None: one headed gene, symbol, name or alike that holds symbols; else
        the only one that does; else one with a head, of other names or of ids.
    sheet : str, default None
        Sheet of a workbook.  None: the first that has genes.
    set_name : str, default None
        Gene set of a ``.gmt`` or ``.json``.  None: all sets.

    Returns
    -------
    list of str
        Names in the order of the file, each once, with ``form``, the form of the file; ``table``, a
        DataFrame of what it says of each gene; and ``controls``.

    Raises
    ------
    ValueError
        If not one column may hold the genes; if a name is a formula, a date or a number, as
        spreadsheets make of names, or has a note beside it; or if a cell may hold one or several.

    See Also
    --------
    read_markers : Read markers of cell types.
    write_order : Write an order.
    write_genes : Write a selection.

    Notes
    -----
    The header of a table is the first row with a known head that has genes below it, or with
    `column`; rows above it are titles.  What a column holds is asked before it is taken: numbers of
    rows, flags, sequences, samples and descriptions are no genes.  In a table with a column
    ``selected``, ``included``, ``in_panel``, ``keep``, ``use`` or ``highly_variable`` of flags, the
    panel is the rows where that is true; with one ``excluded`` or ``is_backup`` those where it is
    not.

    A cell may hold several names: ``CD3D, CD3E``.  Commas, semicolons, bars, line breaks and
    ``///`` separate them where every part can be a name, and the whole is none; blanks do between
    present symbols.  A slash is part of a name, as in ``CCL3/L1/L3``, or refused (``NKG7/GNLY``).

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
    path, ending = sheets.checked(path, ENDINGS, column=column, sheet=sheet, set_name=set_name)
    if ending not in sheets.SETS:
        return _of_table(path, sheets.table(path, sheet, column), column)
    sets = read_markers(path)
    if set_name is not None and set_name not in sets:
        raise NotFound(f"`set_name={short(set_name)}` is not in {path}: it has {listed(sets)}")
    members = [gene for name in sets if set_name in (None, name) for gene in sets[name]]
    return _panel(path, "gene sets", pd.DataFrame({"gene": members, "id": ""}, dtype=object))


def is_panel_file(text: str) -> bool:
    """Whether a text is the path of a file that may hold a panel."""
    return sheets.ending(Path(text)) in ENDINGS and Path(text).is_file()


def _panel(
    path: Path, form: str, table: pd.DataFrame, codebook: pd.DataFrame | None = None
) -> PanelFile:
    """Return a panel without controls, and say which are left out."""
    table, symbols = sheets.with_ids(table), table["gene"]
    is_control = symbols.map(names.is_control).astype(bool)
    is_gene = (symbols != "") & ~is_control
    sheets.check_read(str(path), list(symbols[is_gene]), may_be_prose=sheets.ending(path) == ".gmt")
    if not is_gene.any():
        raise bad_file(path, "has no gene names")
    panel = PanelFile(table[is_gene], form, codebook)
    panel.controls = controls = list(symbols[is_control].unique())
    if controls:
        log.warning(f"{path} has {len(controls)} controls, left out: {listed(controls, 3)}.")
    return panel


def _of_table(path: Path, rows: list[list[str]], column: str | None) -> PanelFile:
    """Return the panel of a table, a codebook or a list."""
    sheet, table = sheets.gene_table(str(path), rows, column, _FURTHER)
    codebook = None if column is not None else _codebook(path, sheet)
    if codebook is None:
        table = sheets.one_name_a_row(str(path), table[_chosen(str(path), sheet)])
    is_gene = table["id"].map(names.is_id).astype(bool)
    table["gene"] = table["gene"].mask(table["gene"] == "", table["id"].map(names.as_id))
    if "name" not in table and (table["id"] != "").any():
        table["name"] = table["id"].mask(is_gene, "")
    table["id"] = table["id"].where(is_gene, "")
    if "source" in table:  # of an order
        is_included = np.where(table["source"] == "included", "TRUE", "FALSE")
        table["must_have"] = table.get("must_have", is_included)
        table = table[table["source"] != "backup"]
    return _panel(path, "table" if codebook is None else "codebook", table, codebook)


def _chosen(path: str, sheet: sheets.Sheet) -> NDArray[np.bool_]:
    """Return which rows are the panel: all, unless a column of flags says which are, or are not."""
    is_chosen = np.ones(len(sheet.rows), dtype=bool)
    for meaning in ("panel", "not panel"):
        for head in _COLUMNS[meaning]:
            columns = [sheet.column(at) for at in sheet.headed([head])]
            flags = [cells for cells in columns if {*map(str.casefold, cells)} <= sheets.FLAGS]
            if flags:
                is_flagged = np.array([*map(sheets.is_yes, flags[0])], dtype=bool)
                is_chosen &= is_flagged ^ (meaning == "not panel")
                if len(flags) > 1 or not is_chosen.any():
                    raise bad_file(path, f"has no one column of flags that selects genes ({head})")
                break  # what is included beside what is selected is a part of it
    log.info(f"The panel of {path} is {is_chosen.sum()} rows of {len(is_chosen)}.")
    return is_chosen


def _codebook(path: Path, sheet: sheets.Sheet) -> pd.DataFrame | None:
    """Return the bits of a codebook, in columns or in a text of each row; None: it is none."""
    bits = [at for at, head in enumerate(sheet.plain) if _BIT.fullmatch(head)]
    words = [sheet.column(at) for at in sheet.headed(_COLUMNS["codeword text"])][:1]
    n_flags = sum(sheet.kinds[at] == "flags" for at in bits)
    if len(bits) >= _FEWEST_BITS and 2 * n_flags > len(bits):
        rows = ["".join(row[at] for at in bits) for row in sheet.rows]
        heads = [sheet.heads[at] for at in bits]
    elif words and sheets.kind_of(words[0]) == "bits":
        rows = ["".join(word.split()) for word in words[0]]
        heads = [f"bit{n + 1}" for n in range(max(map(len, rows)))]
    else:
        return None
    for number, row in enumerate(rows, start=1):
        if not re.fullmatch("[01]" * len(heads), row):
            raise bad_file(path, f"has not {len(heads)} bits in row {number}: write them as texts")
    return pd.DataFrame([[*map(int, row)] for row in rows], columns=heads, dtype=np.int8)


#: Columns of a table of genes beside symbol and id.
_OF_GENES = ("species", "n_probe_sets")


def read_genes(path: str | Path, *, species: str | None = None) -> pd.DataFrame:
    r"""Read a table of genes: a vendor's list, an annotation, or probe counts.

    Parameters
    ----------
    path : str or Path
        A table such as ``Species,Ensembl ID,Gene symbol`` of 10x Genomics,
        ``gene_name,chr,probe_count``, or a list of names, as :func:`read_panel` reads them; or
        ``features.tsv`` of 10x.
    species : str, default None
        Species of the genes to return, such as ``"Homo sapiens"`` or ``"human"``.  None: all.

    Returns
    -------
    DataFrame
        One row per gene: ``symbol`` and ``id`` (of Ensembl, without its version, or of another
        database), ``""`` where unknown; and what the file has of ``species`` and ``n_probes`` (of
        several places the most).

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
    path, _ = sheets.checked(path, sheets.LISTS, species=species)
    frame = _of_rows(str(path), sheets.table(path))
    if frame.empty:
        raise bad_file(path, "holds no genes")
    wrong = sheets.damaged(list(frame["symbol"]))
    if wrong:
        log.warning(f"{path} has dates or numbers among the genes, as sheets do: {listed(wrong)}.")
    return frame if species is None else names.of_species(frame, species)


def as_genes(source: Any, argument: str = "genes") -> pd.DataFrame:
    """Return a table of genes out of what an argument holds: a file, a table, or names."""
    if isinstance(source, pd.DataFrame) and source.columns.empty:
        source = source.index.tolist()
    with naming(path=argument):
        if isinstance(source, str | Path):
            return read_genes(source)
        if isinstance(source, pd.DataFrame):
            frame = _of_rows(None, sheets.of_frame(source))
        elif isinstance(source, Collection) and not isinstance(source, bytes):
            frame = _genes(pd.DataFrame({"gene": list(map(str, source)), "id": ""}, dtype=object))
        else:
            raise InvalidType(f"`{argument}={short(source)}` must be a file, a table or names")
    if frame.empty:
        raise InvalidValue(f"`{argument}` holds no genes")
    return frame


def _of_rows(source: object, rows: list[list[str]]) -> pd.DataFrame:
    """Return a table of genes out of rows, with a header or without one."""
    frame = sheets.one_name_a_row(source, sheets.gene_table(source, rows, further=_OF_GENES)[1])
    return _genes(frame)


def _genes(frame: pd.DataFrame) -> pd.DataFrame:
    """Return genes with their ids, each once."""
    frame = sheets.with_ids(frame)
    is_gene = (frame["gene"] + frame["id"] != "") & ~frame["gene"].map(names.is_control)
    genes = frame.loc[is_gene, [name for name in ("gene", "id", *_OF_GENES) if name in frame]]
    genes = genes.rename(columns={"gene": "symbol", "n_probe_sets": "n_probes"})
    if "n_probes" in genes:  # of a gene that is in several places, such as haplotypes, the most
        most = genes.groupby(list(genes.columns.drop("n_probes")), sort=False)["n_probes"]
        genes = genes.assign(n_probes=most.transform("max").fillna(0.0))
    return genes.drop_duplicates(ignore_index=True)


_HEADS = (*sheets.HEADS["type"], *sheets.GENE_HEADS, *sheets.LIST_HEADS, _NUMBERED.pattern)
#: Heads of genes that a type lacks.
_LACKING = re.compile(r"(?i:(.*[\W_])?(neg|negative\w*|down\w*|low|absent|not)(?![^\W_]))")


def read_markers(
    path: str | Path | pd.DataFrame,
    *,
    sheet: str | None = None,
    type: str | None = None,
    gene: str | None = None,
) -> dict[str, list[str]]:
    r"""Read markers of cell types, or families of genes: lists of genes by name.

    Parameters
    ----------
    path : str, path or DataFrame
        File to read, or a table:

        - ``.csv``, ``.tsv``, ``.txt``, ``.xlsx``: a table with a row per gene, as
          ``cell type,gene``; a row per type, whose genes are in one cell or in several; a column
          per type, with its genes below; or a row per gene and a column of flags per type
        - ``.gmt``: gene sets; a weight after a gene, as in ``CD3D,1.0`` of Enrichr, is left out
        - ``.json``: lists of genes by name, or gene sets of MSigDB

        Text files may end with ``.gz``, ``.bz2`` or ``.xz``.
    sheet : str, default None
        Sheet of a workbook.  None: the first that has genes.
    type : str, default None
        Column with the types.  None: one headed ``cell type``, ``cluster``, ``group`` or alike.
    gene : str, default None
        Column with the genes.  None: one headed ``gene``, ``markers`` or alike, several that are
        numbered, or the only one that holds symbols or ids.

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
    if isinstance(path, pd.DataFrame):
        if sheet is not None:
            raise InvalidValue(f"`sheet={short(sheet)}` is for a workbook")
        source, ending, pairs = None, "", _by_type(None, sheets.of_frame(path), type, gene)
    else:
        path, ending = sheets.checked(path, ENDINGS, sheet=sheet, type=type, gene=gene)
        source = str(path)
        if ending in sheets.SETS:
            pairs = _of_gmt(path) if ending == ".gmt" else _of_json(path)
        else:
            pairs = _by_type(source, sheets.table(path, sheet, type or gene), type, gene)
    lists: dict[str, list[str]] = defaultdict(list)
    for name, genes in pairs:
        if name not in names.NO_NAME and genes:
            lists[name] += genes
    if not lists:
        raise bad_file(source, "holds no genes of a type")
    sheets.check_read(source, [*chain(*lists.values())], may_be_prose=ending == ".gmt")
    return {name: list(dict.fromkeys(genes)) for name, genes in lists.items()}


def _of_gmt(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the gene sets of a GMT file."""
    set_names = set()
    for line in filter(str.strip, sheets.text(path).split("\n")):
        name, *fields = (sheets.clean(field) for field in line.split("\t"))
        cells = (re.sub(r",\d+\.\d+$", "", field) for field in fields[1:])  # without weights
        genes = _names_in(str(path), cells, may_be_prose=True)  # Reactome has some in words
        if not name or not genes or name in set_names:
            raise bad_file(path, f"is no GMT file, or has a set twice: mend {line[:40]!r}")
        set_names.add(name)
        yield name, genes


def _of_json(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the lists of a JSON file by name."""
    with reading(path, ".json"):
        content = json.loads(sheets.text(path))
    for name, cells in content.items() if isinstance(content, dict) else [("", None)]:
        genes = cells.get("geneSymbols") if isinstance(cells, dict) else cells  # of MSigDB
        if not isinstance(genes, list) or not all(isinstance(gene, str) for gene in genes):
            raise bad_file(path, f"has no list of names in {short(name)}: write them into a .txt")
        yield name, _names_in(str(path), genes)


def _by_type(
    source: object, rows: list[list[str]], type: str | None, gene: str | None
) -> Iterator[tuple[str, list[str]]]:
    """Yield types with genes: of a column of types, or of a column of genes or flags per type."""
    table = sheets.headed(rows, type or gene, heads=_HEADS)
    heads, kinds = table.heads, table.kinds
    of_type = table.columns_named(source, "type", type) or table.headed(sheets.HEADS["type"])[:1]
    of_genes = table.columns_named(source, "gene", gene) or _gene_columns(table, of_type)
    further = [at for at, head in enumerate(heads) if head and at not in of_genes]
    bare = {kinds[at] for at, head in enumerate(heads) if not head} - {"nothing", *sheets.NUMERIC}
    are_types = not bare and not any(sheets.is_head(heads[at], _HEADS) for at in of_genes)
    if of_type and of_genes:
        label = ""
        for row in table.rows:
            label = row[of_type[0]] or label  # merged cells have the last one
            yield label, _names_in(source, [row[at] for at in of_genes])
    elif len(of_genes) == 1 < len(further) and {kinds[at] for at in further} <= {"flags", "marks"}:
        for at in further:
            is_of_type = map(sheets.is_yes, table.column(at))
            yield heads[at], _names_in(source, compress(table.column(*of_genes), is_of_type))
    elif of_genes and not further and are_types:
        is_gmx = {cell for cell in table.rows[0] if cell} == {"na"}  # GSEA's have descriptions
        for at in of_genes:
            yield heads[at], _names_in(source, table.column(at)[is_gmx:])
    else:
        text = f"has no columns of types and of genes, nor one per type ({table.summary()})"
        raise bad_file(source, f"{text}: head them type and gene, or name `type` and `gene`")


def _names_in(source: object, cells: Iterable[str], **options: bool) -> list[str]:
    return [name for cell in cells if cell for name in sheets.names_of(source, cell, **options)]


def _gene_columns(table: sheets.Sheet, of_type: list[int]) -> list[int]:
    """Return the columns of genes: by a known head, by numbers, or that hold known genes."""
    kinds = [(at, kind) for at, kind in enumerate(table.kinds) if at not in of_type]
    columns = of_genes = [at for at, kind in kinds if kind in ("symbols", "ids")]
    if of_type and not of_genes:
        columns = [at for at, kind in kinds if kind == "names"]
    with_head = [at for at in table.headed(sheets.GENE_HEADS) if at in columns]
    if with_head:
        same = [at for at in with_head if table.plain[at] == table.plain[with_head[0]]]
        return same + [at for at in of_genes if at > same[0] and not table.heads[at]]
    numbered = [at for at, head in enumerate(table.plain) if _NUMBERED.fullmatch(head)]
    is_unclear = any(_LACKING.match(table.heads[at]) for at in of_genes)
    is_unclear |= len(of_type) > 0 and len(of_genes) > 1
    return numbered or ([] if is_unclear else of_genes)


def said_of(gene_sets: object) -> str | None:
    """Return what records say of gene sets or of a table of genes: a name, or its type."""
    if gene_sets is None or isinstance(gene_sets, str | Path):
        return None if gene_sets is None else str(gene_sets)
    return type(gene_sets).__name__


def sets_of(source: str | Path | Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """Return genes by the name of the set, each once: of a mapping or of a file."""
    if isinstance(source, str) and not Path(source).suffix:
        text = f"`gene_sets={short(source)}` is no file: give a .gmt, or a `dict`"
        raise InvalidValue(f"{text}, such as gseapy.get_library(name) returns")
    if isinstance(source, str | Path):
        return read_markers(source)
    if not isinstance(source, Mapping):
        raise InvalidType(f"`gene_sets={short(source)}` must be a GMT file or a `dict`")
    for name, genes in source.items():
        if isinstance(genes, str) or not isinstance(genes, Iterable):
            raise InvalidType(f"`gene_sets={short(genes)}` must be a list for {str(name)!r}")
    return {str(name): list(dict.fromkeys(map(str, genes))) for name, genes in source.items()}


def within(
    sets: dict[str, list[str]], universe: list[str], smallest: int = 1, largest: float = np.inf
) -> dict[str, list[str]]:
    """Return the sets restricted to the background, those of the right size."""
    background = set(universe)
    inside = {name: [gene for gene in genes if gene in background] for name, genes in sets.items()}
    fitting = {name: genes for name, genes in inside.items() if smallest <= len(genes) <= largest}
    if not fitting:
        text = f"`gene_sets` have no set of {smallest} to {largest:g} genes ({listed(universe, 3)})"
        raise InvalidValue(f"{text}: change `min_size`, or name a column of these with `symbols`")
    return fitting
