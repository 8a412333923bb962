"""Panels in files: the forms that vendors, this package and people give them."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._files import as_path, existing, reading
from ..errors import InvalidValue, Message, NotFound, arg, listed, shown
from . import names, sheets
from .names import versionless

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


log = logging.getLogger(__name__)

#: Endings of files of panels; texts may be packed.
ENDINGS = (".txt", ".csv", ".tsv", ".gmt", ".xlsx", ".json")
_TABLES = (".csv", ".tsv", ".xlsx")
#: What the columns of vendors' files become.
_COLUMNS = {
    "numprobeset": "n_probe_sets",
    "probeset": "n_probe_sets",
    "codeword": "codewords",
    "annotation": "annotation",
    "force": "force",
}


class PanelFile(list[str]):
    r"""Genes of a panel in the order of its file, a list of names, and what else the file says.

    :func:`read_panel` makes it.

    Parameters
    ----------
    table : DataFrame
        One row per gene: ``gene``, ``id`` (of Ensembl, ``""`` where the file has none), and what
        the form has: ``n_probe_sets``, ``codewords``, ``annotation``, ``force``, ``transcript``.
    form : str
        Form of the file, such as ``"10x predesigned panel"``.
    controls : list of str, default ()
        Names of controls and blanks, which are no genes.
    repeated : list of str, default ()
        Genes that the file has more than once.
    codebook : DataFrame, default None
        Bits of every gene, one column per bit, of a form that has them.
    about : dict, default None
        Name, species and tissue of the panel, where the file says them.

    Attributes
    ----------
    table, form, controls, repeated, codebook, about
        The parameters.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "codebook.csv"
    ...     _ = path.write_text(
    ...         "name,id,barcodeType,b1,b2\nCD3D,ENST1,merfish,1,0\nBlank-1,,merfish,0,1\n"
    ...     )
    ...     panel = glfs_bio.io.read_panel(path)
    >>> isinstance(panel, glfs_bio.io.PanelFile), panel, panel.controls, panel.form
    (True, ['CD3D'], ['Blank-1'], 'MERSCOPE codebook')
    """

    def __init__(
        self,
        table: pd.DataFrame,
        form: str,
        controls: Sequence[str] = (),
        repeated: Sequence[str] = (),
        codebook: pd.DataFrame | None = None,
        about: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(table["gene"])
        self.table = table
        self.form = form
        self.controls = list(controls)
        self.repeated = list(repeated)
        self.codebook = codebook
        self.about = dict(about or {})


@dataclass(frozen=True)
class Source:
    """A file of a panel that is there, and which part of it holds the genes, if that was said."""

    path: Path
    column: str | None = None
    sheet: str | None = None
    set_name: str | None = None

    @property
    def ending(self) -> str:
        """What the file holds."""
        return sheets.ending(self.path)

    @property
    def of_vendor(self) -> bool:
        """Whether it may be a vendor's table: nobody said where the genes are."""
        return self.ending in _TABLES and self.column is None and self.sheet is None

    @cached_property
    def book(self) -> dict[str, list[list[sheets.Cell]]]:
        """Rows of every sheet of a workbook."""
        return sheets.sheets(self.path) if self.ending == ".xlsx" else {}

    @cached_property
    def rows(self) -> list[list[sheets.Cell]]:
        """Rows of the table, or of the sheet that holds the genes."""
        if self.ending != ".xlsx":
            return sheets.table(self.path)
        if self.sheet is not None and self.sheet not in self.book:
            raise NotFound(
                "sheet", self.sheet, f"is not in {self.path}", f"it has {listed(self.book)}"
            )
        return self.book[self.sheet or next(iter(self.book))]

    @cached_property
    def heads(self) -> list[str]:
        """Plain header of the table."""
        return [sheets.plain(head) for head in sheets.heads(self.rows[0])] if self.rows else []

    def have(self, *heads: str) -> bool:
        """Whether a vendor's table has these columns."""
        return self.of_vendor and set(heads) <= set(self.heads)


@dataclass(frozen=True)
class Table:
    """What a form reads: a column of ``gene``, further ones, and which rows are controls."""

    table: pd.DataFrame
    control: Sequence[bool] | None = None
    codebook: pd.DataFrame | None = None
    about: Mapping[str, str] | None = None


def read_panel(
    path: str | Path,
    *,
    column: str | None = None,
    sheet: str | None = None,
    set_name: str | None = None,
) -> PanelFile:
    r"""Read the genes of a panel from a vendor's file, a list, a table or gene sets.

    These forms are recognised: the predesigned panels of 10x Genomics
    (``Genes,Ensembl_ID,Num_Probesets,Codewords,Annotation``), its orders (``Gene,Ensembl ID,Probe
    sets,Force``) and its ``gene_panel.json``; codebooks of MERSCOPE; gene lists of CosMx; and the
    files below.  Controls and blanks are no genes: they are left out, and named in a note.

    Parameters
    ----------
    path : str or path
        File to read:

        - ``.txt``: one name per line; ``#`` begins a comment
        - ``.csv`` (commas or semicolons), ``.tsv``, ``.xlsx``: a table with a header, or one column
        - ``.gmt``: gene sets, see :func:`read_gmt`
        - ``.json``: a ``gene_panel.json``

        Text files may end with ``.gz``.
    column : str, default None
        Column of a table.  None: the first with a header such as symbol, gene or name, else a
        column of ids, else the only column, or the row names of a table from R or pandas.
    sheet : str, default None
        Sheet of an ``.xlsx``.  None: the first.
    set_name : str, default None
        Gene set of a ``.gmt``.  None: all sets.

    Returns
    -------
    PanelFile
        Names in the order of the file, each once: a list that also has the form of the file, a
        table of what it says of each gene, and its controls.

    Raises
    ------
    ValueError
        If no column is recognised, or a name is a formula, a date or a number, as spreadsheets make
        of names.

    See Also
    --------
    write_order : Write an order.
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
    ending = sheets.ending(path)
    if ending not in ENDINGS:
        raise InvalidValue(
            "path", str(path), "has an unknown ending", f"use one of {shown(*ENDINGS)}"
        )
    existing(path)
    for name, value, endings in (
        ("column", column, _TABLES),
        ("sheet", sheet, (".xlsx",)),
        ("set_name", set_name, (".gmt",)),
    ):
        if value is not None and ending not in endings:
            raise InvalidValue(name, value, f"is for files {endings}, and not for {path}")
    source = Source(path, column, sheet, set_name)
    form, read = next((form, read) for form, (is_form, read) in _FORMS.items() if is_form(source))
    return _panel(source, form, read(source))


def is_panel_file(text: str) -> bool:
    """Whether a text is the path of a file that may hold a panel."""
    return sheets.ending(Path(text)) in ENDINGS and Path(text).is_file()


def _panel(source: Source, form: str, found: Table) -> PanelFile:
    """The genes of a file, without its controls."""
    table = found.table
    for cell in table["gene"]:
        if isinstance(cell, sheets.NoName):
            raise InvalidValue(
                "path", str(source.path), f"has among the genes {cell.what}", cell.advice
            )
    table = table.assign(gene=[str(cell).strip() for cell in table["gene"]])
    filled = (table["gene"] != "").to_numpy()
    control = np.array([names.is_control(name) for name in table["gene"]], dtype=bool)
    if found.control is not None:
        control |= np.asarray(found.control, dtype=bool)
    genes = table[filled & ~control]
    _check_damage(source, list(genes["gene"]))
    if genes.empty:
        raise InvalidValue("path", str(source.path), "has no gene names")
    once = ~genes["gene"].duplicated().to_numpy()
    repeated = list(dict.fromkeys(genes["gene"][~once]))
    controls = list(dict.fromkeys(table["gene"][filled & control]))
    genes = genes[once].reset_index(drop=True)
    if "id" not in genes:
        genes.insert(1, "id", genes["gene"].map(versionless))
    bits = found.codebook
    if bits is not None:
        bits = bits[filled & ~control][once].set_axis(list(genes["gene"]), axis=0)
    panel = PanelFile(genes, form, controls, repeated, bits, found.about)
    _tell(source, panel)
    return panel


def _tell(source: Source, panel: PanelFile) -> None:
    """Say which form it was, and what is left out."""
    path, n = str(source.path), len(panel)
    if panel.controls:
        log.warning(
            Message(
                f"{path} is a file of the form {panel.form}: {n} genes, and {len(panel.controls)} "
                f"controls that are left out ({listed(panel.controls, 3)})."
            )
        )
    else:
        log.info(Message(f"{path} is a file of the form {panel.form}: {n} genes."))
    stated = panel.about.get("num_gene_targets", "")
    if stated.isdecimal() and int(stated) != n:
        log.warning(Message(f"{path} states {stated} genes, and has {n}."))


def _check_damage(source: Source, genes: list[str]) -> None:
    """Refuse dates, and numbers among names, which spreadsheets have made of names."""
    damaged = [name for name in genes if names.dates(name)]
    numbers = [name for name in genes if names.is_number(name)]
    if 2 * len(numbers) < len(genes):  # else the names are numbers, as those of NCBI
        damaged += numbers
    if not damaged:
        return
    meant = {name: " or ".join(names.meant_by_date(name)) for name in damaged}
    damaged_names = [f"{name} for {was}" if was else name for name, was in meant.items()]
    raise InvalidValue(
        "path",
        str(source.path),
        "has among the genes dates or numbers, as spreadsheets make of names: "
        f"{listed(damaged_names)}",
        "write the names again, in cells formatted as text",
    )


def _vendor_table(source: Source) -> Table:
    """A table of 10x Genomics: gene, id, and further columns."""
    heads = source.heads
    gene = sheets.place(heads, sheets.SYMBOL_HEADS)
    places = {"gene": gene, "id": sheets.place(heads, sheets.ID_HEADS)}
    places |= {name: heads.index(head) for head, name in _COLUMNS.items() if head in heads}
    table = _columns(source.rows[1:], places)
    table["id"] = [versionless(str(cell)) or str(cell) for cell in table["id"]]
    if "n_probe_sets" in table:
        table["n_probe_sets"] = pd.to_numeric(table["n_probe_sets"], errors="coerce")
    return Table(table)


def _columns(
    rows: Sequence[Sequence[sheets.Cell]], places: Mapping[str, int | None]
) -> pd.DataFrame:
    """Columns of a table, ``""`` where a row is too short."""
    return pd.DataFrame(
        {
            name: pd.Series([row[at] if at < len(row) else "" for row in rows], dtype=object)
            for name, at in places.items()
            if at is not None
        }
    )


def _json(source: Source) -> Table:
    """The ``gene_panel.json`` that lies beside a run of 10x Genomics."""
    with reading(source.path, ".json"):
        content = json.loads(sheets.text(source.path))
    payload = _part(source, content, "payload")
    targets = _part(source, payload, "targets", list)
    rows, control = [], []
    for target in targets:
        kind = _part(source, target, "type")
        data = _part(source, kind, "data")
        info = target.get("info")
        coverage = info.get("gene_coverage") if isinstance(info, dict) else None
        codewords = target.get("codewords")
        rows.append(
            {
                "gene": _text_of(source, data, "name"),
                "id": _text_of(source, data, "id", needed=False),
                "n_probe_sets": coverage if isinstance(coverage, int | float) else np.nan,
                "codewords": "|".join(map(str, codewords)) if isinstance(codewords, list) else "",
            }
        )
        control.append(kind.get("descriptor") != "gene")
    panel = payload.get("panel")
    panel = panel if isinstance(panel, dict) else {}
    identity = panel.get("identity")
    about = {name: panel.get(name) for name in ("species", "tissue", "num_gene_targets")}
    about["name"] = identity.get("name") if isinstance(identity, dict) else None
    known = {name: str(value) for name, value in about.items() if isinstance(value, str | int)}
    table = pd.DataFrame(rows, columns=["gene", "id", "n_probe_sets", "codewords"])
    return Table(table, control, about=known)


def _part(source: Source, content: Any, name: str, kind: type = dict) -> Any:
    """A part of a document, or what is wrong with it."""
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, kind):
        raise InvalidValue(
            "path",
            str(source.path),
            f"is no gene_panel.json of 10x Genomics, as it lacks {name!r}",
            "give the file that lies beside a run, or a list or table of genes",
        )
    return found


def _text_of(source: Source, data: dict[str, Any], name: str, *, needed: bool = True) -> str:
    found = data.get(name, "")
    if not isinstance(found, str) or (needed and not found.strip()):
        raise InvalidValue(
            "path", str(source.path), f"has a target without {name!r}", "get the file again"
        )
    return found.strip()


def _codebook(source: Source) -> Table:
    """A codebook of MERSCOPE: names, transcripts, and a column per bit."""
    table = _columns(source.rows[1:], {"gene": 0, "transcript": 1})
    header = sheets.heads(source.rows[0])[3:]
    bits = [[str(cell).strip() for cell in row[3:]] for row in source.rows[1:]]
    for number, row in enumerate(bits, start=1):
        if len(row) != len(header) or not set(row) <= {"0", "1"}:
            raise InvalidValue(
                "path",
                str(source.path),
                f"has a row of bits that is not {len(header)} times 0 or 1: the row {number}",
                "get the codebook again",
            )
    codebook = pd.DataFrame(np.array(bits, dtype=np.int8).reshape(len(bits), -1), columns=header)
    return Table(table, codebook=codebook)


def _cosmx_rows(source: Source) -> list[list[sheets.Cell]]:
    """Rows of the second sheet without the first one; none: it is no list of CosMx."""
    if not source.of_vendor or len(source.book) < 2:
        return []
    rows = list(source.book.values())[1][1:]
    return rows if rows and "displayname" in map(sheets.plain, sheets.heads(rows[0])) else []


def _cosmx(source: Source) -> Table:
    rows = _cosmx_rows(source)
    heads = sheets.heads(rows[0])
    gene = sheets.place(heads, ("displayname",))
    return Table(_columns(rows[1:], {"gene": gene, "id": sheets.place(heads, sheets.ID_HEADS)}))


def _sets(source: Source) -> Table:
    sets = sheets.read_gmt(source.path)
    if source.set_name is not None and source.set_name not in sets:
        raise NotFound(
            "set_name", source.set_name, f"is not in {source.path}", f"it has {listed(sets)}"
        )
    chosen = sets if source.set_name is None else [source.set_name]
    return Table(pd.DataFrame({"gene": [gene for name in chosen for gene in sets[name]]}))


def _lines(source: Source) -> Table:
    found = []
    for number, line in enumerate(sheets.text(source.path).splitlines(), start=1):
        name = re.sub(r"(^|\s)#.*", "", line).strip()
        if re.search(r"[,;\t]", name):
            raise InvalidValue(
                "path",
                str(source.path),
                f"must hold one name a line, and line {number} is {line[:40]!r}",
                "save a table as .csv or .tsv",
            )
        found.append(name)
    filled = [name for name in found if name]
    headed = bool(filled) and sheets.is_head(filled[0])
    return Table(pd.DataFrame({"gene": filled[headed:]}, dtype=object))


def _table(source: Source) -> Table:
    if not source.rows:
        return Table(pd.DataFrame({"gene": []}, dtype=object))
    heads = sheets.heads(source.rows[0])
    gene = _where(source, heads)
    if gene is None:  # one column, without a header
        return Table(_columns(source.rows, {"gene": 0}))
    own_id = sheets.place(heads, sheets.ID_HEADS) if source.column is None else None
    table = _columns(source.rows[1:], {"gene": gene, "id": own_id})
    if "id" in table:
        table["id"] = [versionless(str(cell)) for cell in table["id"]]
    return Table(table)


def _where(source: Source, heads: list[str]) -> int | None:
    """Which column holds the genes; None for the only one, if it has no header."""
    if source.column is not None:
        if source.column not in heads:
            raise NotFound(
                "column", source.column, f"is not in {source.path}", f"it has {listed(heads)}"
            )
        return heads.index(source.column)
    known = sheets.place(heads, (*sheets.SYMBOL_HEADS, *sheets.ID_HEADS))
    if known is not None or len(heads) == 1:
        return known
    if not heads[0]:
        return 0
    raise InvalidValue(
        "path",
        str(source.path),
        f"has {len(heads)} columns, and none is headed gene or symbol",
        f"name one of {listed(heads)} with {arg('column')}",
    )


def _is_predesigned(source: Source) -> bool:
    named = any(source.have(head) for head in ("gene", "genename"))
    of_panel = any(source.have(head) for head in ("numprobeset", "codeword", "annotation"))
    return named and of_panel and source.have("ensemblid")


#: What has each form, and what reads it.  Those of vendors first: of two that a file has, the one
#: that says more.
_FORMS: dict[str, tuple[Callable[[Source], bool], Callable[[Source], Table]]] = {
    "10x custom gene list": (
        lambda source: source.have("gene", "ensemblid", "probeset", "force"),
        _vendor_table,
    ),
    "10x predesigned panel": (_is_predesigned, _vendor_table),
    "10x gene_panel.json": (lambda source: source.ending == ".json", _json),
    "MERSCOPE codebook": (
        lambda source: source.of_vendor and source.heads[:3] == ["name", "id", "barcodetype"],
        _codebook,
    ),
    "CosMx gene list": (lambda source: bool(_cosmx_rows(source)), _cosmx),
    "gene sets": (lambda source: source.ending == ".gmt", _sets),
    "list": (lambda source: source.ending == ".txt", _lines),
    "table": (lambda source: True, _table),
}
