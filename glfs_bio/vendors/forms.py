"""Panels in files: the forms that vendors, this package and people give them."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._files import as_path, bad_file, existing, reason
from ..errors import InvalidValue, Message, NotFound, listed, shown
from . import genes, names, sheets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

log = logging.getLogger(__name__)

#: Endings of files of panels; texts may be packed.
ENDINGS = (*sheets.LISTS, *genes.SETS)
#: Further columns of tables, and what they are headed.
_FURTHER = {
    "n_probe_sets": sheets.PROBE_HEADS,
    "codewords": ("codeword", "numcodeword"),
    "annotation": ("annotation",),
    "force": ("force", "forced", "forcedesign", "forceddesign"),
    "group": ("group",),
    "must_have": ("musthave",),
    "backup": ("isbackup", "backup"),
    "priority": ("priority",),
    "source": ("source",),
}
#: Columns of which each cell says whether a gene is a must-have or a backup: of the Jackson
#: Laboratory's xenium-panel-convert, and of an order.
_KINDS = {
    "priority": {"must_have": "must_have", "desired": "", "backup": "backup"},
    "source": {"included": "must_have", "backup": "backup"}
    | dict.fromkeys(("selected", "added", "replacement", "listed"), ""),
}
#: Columns that say which rows are the panel, such as ``glfs_selected``, and how they say so.
_CHOSEN = ("selected", "selection")
_INCLUDED = ("included", "include", "inpanel", "keep")
_YES, _NO = ("true", "t", "yes", "1"), ("false", "f", "no", "0", "")
#: What stands for no id.
_NO_ID = ("NA", "#N/A", "-", "None")
#: Heads of codewords as texts, and of single bits.
_WORDS = ("barcode", "binarybarcode", "codeword", "binarycode", "code", "sequence")
_BIT = re.compile(r"(bit|b|rs|r|hyb|round|readout|ch)?\d+(ch\d+)?")
#: Fewest bits of a codebook, and least share of its cells that are bits.
_FEWEST_BITS, _MOSTLY_BITS = 3, 0.9


class PanelFile(list[str]):
    r"""Genes of a panel in the order of its file, a list of names, and what else the file says.

    :func:`read_panel` makes it.

    Parameters
    ----------
    table : DataFrame
        One row per gene: ``gene``, ``id`` (one of Ensembl without its version, others as they are,
        ``""`` where the file has none), and what the file has of ``n_probe_sets``, ``codewords``,
        ``annotation``, ``force``, ``group``, ``must_have``, ``backup``, ``source``, ``transcript``
        and ``name``, by which a gene is found whose ``id`` and ``gene`` are not in the data.
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
    backups : list of str, default ()
        Genes that the file has as backups of others, which are not in the panel.

    """

    def __init__(
        self,
        table: pd.DataFrame,
        form: str,
        controls: Sequence[str] = (),
        repeated: Sequence[str] = (),
        codebook: pd.DataFrame | None = None,
        about: Mapping[str, str] | None = None,
        backups: Sequence[str] = (),
    ) -> None:
        super().__init__(table["gene"])
        self.table = table
        self.form = form
        self.controls = list(controls)
        self.repeated = list(repeated)
        self.codebook = codebook
        self.about = dict(about or {})
        self.backups = list(backups)


@dataclass(frozen=True)
class Table:
    """What a form reads: a column of ``gene``, further ones, and which rows are controls."""

    form: str
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
    sets,Force``) and its ``gene_panel.json``; codebooks of MERSCOPE, MERlin and others, with bits
    in columns or in a text; gene lists of CosMx; Vizgen's designs; sheets of the Jackson
    Laboratory's tools and of :func:`write_order`; and the files below.  Controls and blanks are no
    genes: they are left out, and named in a note; so are the backups of a sheet.

    Parameters
    ----------
    path : str or path
        File to read:

        - ``.txt``, ``.csv``, ``.tsv``, ``.xlsx``: a table with a header, or a list of names, with
          or without one; in texts ``#`` begins a comment
        - ``.gmt``, ``.json``: gene sets, see :func:`read_markers`; or a list
          of names, or a ``gene_panel.json``

        Text files may end with ``.gz``, ``.bz2`` or ``.xz``.
    column : str, default None
        Column of a table.  None: one with a header such as symbol, gene or name, which holds
        symbols if any of these does; else the row names, or the only column, that holds symbols;
        else a column of ids.
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
        If no column, or more than one, may hold the genes, with what each column holds; if a name
        is a formula, a date or a number, as spreadsheets make of names, or has a note beside it; or
        if a cell may hold one name or several.

    See Also
    --------
    read_markers : Read markers of cell types.
    write_order : Write an order.
    write_genes : Write a selection.

    Notes
    -----
    The header of a table is the first row with a known head that has genes below it, or with
    `column`; rows above it are titles.  A list may have a known head, or a title in words.  What a
    column holds is asked before it is taken: numbers of rows, flags, sequences, samples and
    descriptions are no genes.  In a table with a column ``selected``, ``selection``,
    ``included``, ``include``, ``in_panel`` or ``keep`` of flags, the panel is the rows where that
    is true.

    A cell may hold several names: ``CD3D, CD3E``.  Commas, semicolons, bars, line breaks and
    ``///`` separate them where every part can be a name, and the whole is no name of the
    nomenclature; blanks do between present symbols.  A slash is part of a name, as in
    ``CCL3/L1/L3``; between present symbols, as in ``NKG7/GNLY``, it is refused.

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
        raise bad_file(path, "has an unknown ending", f"use one of {shown(*ENDINGS)}")
    existing(path)
    for name, value, endings in (
        ("column", column, sheets.LISTS),
        ("sheet", sheet, sheets.WORKBOOKS),
        ("set_name", set_name, genes.SETS),
    ):
        if value is not None and ending not in endings:
            raise InvalidValue(name, value, f"is for files {endings}, and not for {path}")
    content = _sets(path, set_name) if ending in genes.SETS else _table(path, column, sheet)
    return _panel(path, content)


def is_panel_file(text: str) -> bool:
    """Whether a text is the path of a file that may hold a panel."""
    return sheets.ending(Path(text)) in ENDINGS and Path(text).is_file()


def _panel(path: Path, content: Table) -> PanelFile:
    """The genes of a file, without its controls."""
    table = content.table
    filled = (table["gene"] != "").to_numpy()
    control = np.array([names.is_control(name) for name in table["gene"]], dtype=bool)
    if content.control is not None:
        control |= np.asarray(content.control, dtype=bool)
    backup = np.zeros(len(table), dtype=bool)
    if "backup" in table:
        backup[:] = [is_yes(flag) for flag in table["backup"]]
    in_words = sheets.ending(path) == ".gmt"  # as Reactome has genes
    all_genes = list(table["gene"][filled & ~control])
    sheets.check_read(str(path), all_genes, may_be_prose=in_words)
    chosen = filled & ~control & ~backup
    genes = table[chosen]
    if genes.empty:
        raise bad_file(path, "has no gene that is no backup" if all_genes else "has no gene names")
    once = ~genes["gene"].duplicated().to_numpy()
    repeated = list(dict.fromkeys(genes["gene"][~once]))
    controls = list(dict.fromkeys(table["gene"][filled & control]))
    genes = genes[once].reset_index(drop=True)
    if "id" not in genes:
        genes.insert(1, "id", "")
    of_name = [names.as_id(name) if names.is_id(name) else "" for name in genes["gene"]]
    genes["id"] = genes["id"].where(genes["id"] != "", of_name)
    bits = content.codebook
    if bits is not None:
        bits = bits[chosen][once].set_axis(list(genes["gene"]), axis=0)
    spare = dict.fromkeys(table["gene"][filled & ~control & backup])
    backups = [name for name in spare if name not in {*genes["gene"]}]
    panel = PanelFile(genes, content.form, controls, repeated, bits, content.about, backups)
    _tell(str(path), panel)
    return panel


def _tell(path: str, panel: PanelFile) -> None:
    """Say which form it was, and what is left out."""
    n = len(panel)
    log.info(Message(f"{path} is a file of the form {panel.form}: {n} genes."))
    if panel.controls:
        controls = f"{len(panel.controls)} controls ({listed(panel.controls, 3)})"
        log.warning(Message(f"{path} has {controls}, which are left out."))
    if panel.backups:
        backups = f"{len(panel.backups)} backups ({listed(panel.backups, 3)})"
        log.info(Message(f"{path} has {backups}, which are not in the panel."))
    stated = panel.about.get("num_gene_targets", "")
    if stated.isdecimal() and int(stated) != n:
        log.warning(Message(f"{path} states {stated} genes, and has {n}."))


def _sets(path: Path, set_name: str | None) -> Table:
    """Gene sets, a list of names, or a panel of 10x Genomics."""
    content = genes.content(path) if sheets.ending(path) == ".json" else None
    if isinstance(content, dict) and "payload" in content:
        if set_name is not None:
            raise InvalidValue("set_name", set_name, f"is for gene sets, and {path} has none")
        return _json(path, content)
    if isinstance(content, dict) and content and all(map(_is_id, content.values())):
        ids = [names.as_id(gene_id) for gene_id in content.values()]
        return Table("list", pd.DataFrame({"gene": list(content), "id": ids}, dtype=object))
    if isinstance(content, list):
        return Table("list", pd.DataFrame({"gene": genes.listed_in(path, content)}, dtype=object))
    sets = genes.read_markers(path)
    if set_name is not None and set_name not in sets:
        raise NotFound("set_name", set_name, f"is not in {path}", f"it has {listed(sets)}")
    chosen = sets if set_name is None else [set_name]
    members = [gene for name in chosen for gene in sets[name]]
    return Table("gene sets", pd.DataFrame({"gene": members}, dtype=object))


def _is_id(value: object) -> bool:
    return isinstance(value, str) and names.is_id(value)


def _json(path: Path, content: dict[str, Any]) -> Table:
    """Return the ``gene_panel.json`` that lies beside a run of 10x Genomics."""
    try:
        targets = [_target(target) for target in content["payload"]["targets"]]
        panel = content["payload"].get("panel", {})
        about = {name: panel.get(name) for name in ("species", "tissue", "num_gene_targets")}
        about["name"] = panel.get("identity", {}).get("name")
    except (KeyError, TypeError, AttributeError) as error:
        raise bad_file(
            path,
            f"is no gene_panel.json of 10x Genomics ({reason(error)})",
            "give the file that lies beside a run, or a list or table of genes",
        ) from error
    table = pd.DataFrame(targets, columns=["gene", "id", "n_probe_sets", "codewords", "kind"])
    control = list(table.pop("kind") != "gene")
    stated = {name: str(value) for name, value in about.items() if isinstance(value, str | int)}
    return Table("10x gene_panel.json", table, control, about=stated)


def _target(target: dict[str, Any]) -> dict[str, object]:
    """Return a row for a target of a ``gene_panel.json``."""
    kind, data = target["type"], target["type"]["data"]
    coverage = target.get("info", {}).get("gene_coverage")
    return {
        "gene": data["name"].strip(),
        "id": names.as_id(data.get("id", "")),
        "n_probe_sets": coverage if isinstance(coverage, int | float) else np.nan,
        "codewords": "|".join(map(str, target.get("codewords", ()))),
        "kind": kind.get("descriptor"),
    }


def _table(path: Path, column: str | None, sheet: str | None) -> Table:
    """A table or a list."""
    columns = sheets.genes(str(path), sheets.table(path, sheet, column), column)
    rows = columns.sheet
    of_columns = {"gene": columns.gene, "id": columns.id}
    if column is None:
        heads = {**_FURTHER, "name": ("name",)}
        of_columns |= {name: sheets.column_headed(rows.heads, heads[name]) for name in heads}
    table = pd.DataFrame(
        {
            name: pd.Series(rows.column(at), dtype=object)
            for name, at in of_columns.items()
            if at is not None and (at != columns.gene or name == "gene")
        }
    )
    codebook = _codebook(path, columns) if column is None else None
    if codebook is not None:
        table = table.rename(columns=_renamed(table))
    else:
        words = _words(columns) if column is None else None
        if words is not None and "codewords" not in table:
            table["codewords"] = words
        table = sheets.one_name_a_row(str(path), table.loc[_chosen(str(path), rows)], "gene")
    if "id" in table:
        table["id"] = table["id"].map(names.as_id).mask(table["id"].isin(_NO_ID), "")
        nameless = (table["gene"] == "") & ~table["id"].map(names.is_number)
        table["gene"] = table["gene"].mask(nameless, table["id"])
    for head, kinds in _KINDS.items():
        if head in table:
            table = _with_flags(table, head, kinds)
    table = table.drop(columns="priority", errors="ignore")
    if "n_probe_sets" in table:
        table["n_probe_sets"] = sheets.numbers_of(table["n_probe_sets"]).to_numpy()
    form = _form(path, rows, is_codebook=codebook is not None)
    return Table(form, table, codebook=codebook)


def is_yes(cell: object) -> bool:
    """Whether a cell of a file says yes."""
    return str(cell).casefold() in _YES


def _with_flags(table: pd.DataFrame, column: str, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with columns of flags for what one of its columns says, if it is of these."""
    words = table[column].str.casefold()
    if not words.isin([*kinds, ""]).all():
        return table
    flags = {
        flag: np.where(words.map(kinds) == flag, "TRUE", "FALSE")
        for flag in ("must_have", "backup")
    }
    return table.assign(**{flag: cells for flag, cells in flags.items() if flag not in table})


def _form(path: Path, rows: sheets.Sheet, *, is_codebook: bool) -> str:
    heads = set(rows.plain)
    if is_codebook:
        return "MERSCOPE codebook" if "barcodetype" in heads else "codebook"
    if "group" in heads and heads & {"priority", "musthave", "isbackup", "source"}:
        return "panel sheet"
    if heads & {*sheets.PROBE_HEADS} and heads & {*_FURTHER["force"]}:
        return "10x custom gene list"
    if heads & {"numprobeset", "annotation"} and heads & set(sheets.ID_HEADS):
        return "10x predesigned panel"
    if "displayname" in heads and sheets.ending(path) in sheets.WORKBOOKS:
        return "CosMx gene list"
    return "list" if sheets.ending(path) == ".txt" and len(rows.heads) < 2 else "table"


def _chosen(path: str, rows: sheets.Sheet) -> NDArray[np.bool_]:
    """Which rows are the panel: all, unless a column says so."""
    columns = {
        head: [text.casefold() for text in rows.column(at)] for at, head in enumerate(rows.heads)
    }
    flags = {head: cells for head, cells in columns.items() if set(cells) <= {*_YES, *_NO}}
    by_head = (
        [head for head in flags if sheets.plain(head) in _CHOSEN],
        [head for head in flags if sheets.plain(head).endswith(_CHOSEN)],
        [head for head in flags if sheets.plain(head) in _INCLUDED],
    )
    flags = {head: flags[head] for head in next(filter(None, by_head), ())}
    if not flags or not rows.rows:
        return np.ones(len(rows.rows), dtype=bool)
    if len(flags) > 1:
        raise bad_file(
            path,
            f"has several columns that say which genes are selected ({listed(flags)})",
            "leave one of them in the file",
        )
    head, column = next(iter(flags.items()))
    is_chosen = np.array([is_yes(flag) for flag in column], dtype=bool)
    if not is_chosen.any():
        raise bad_file(path, f"has no gene whose {head!r} is true")
    log.info(Message(f"The panel of {path} is the {is_chosen.sum()} rows whose {head!r} is true."))
    return is_chosen


def _renamed(table: pd.DataFrame) -> dict[str, str]:
    """Ids of codebooks are those of transcripts, unless they are of genes."""
    of_genes = "id" in table and any(map(names.is_id, table["id"]))
    return {} if of_genes else {"id": "transcript"}


def _codebook(path: Path, columns: sheets.Genes) -> pd.DataFrame | None:
    """Bits of a codebook, in columns or in a text of each row; None: it is none."""
    rows = columns.sheet
    words = _words(columns)
    if words is not None and set("".join(words)) == {"0", "1"} and _n_bits(words) >= _FEWEST_BITS:
        numbered = [f"bit{n + 1}" for n in range(_n_bits(words))]
        headers = [row[1:] for row in rows.above if sheets.plain(row[0]) == "bitname"]
        fitting = [header for header in headers if len(header) == len(numbered)]
        return _bits(path, [list(word) for word in words], [*fitting, numbered][0])
    heads = rows.plain
    by_form = heads[:2] == ["name", "id"]
    first = 3 if by_form and heads[2:3] == ["barcodetype"] else 2
    where = (
        list(range(first, len(heads)))
        if by_form
        else [at for at, head in enumerate(heads) if _BIT.fullmatch(head) and at != columns.gene]
    )
    cells = [rows.column(at) for at in where]
    n_bits = sum(cell in ("0", "1") for column in cells for cell in column)
    mostly = n_bits >= _MOSTLY_BITS * len(where) * len(rows.rows)
    by_head = by_form and all(_BIT.fullmatch(heads[at]) for at in where)
    if first == 2 and (len(where) < _FEWEST_BITS or not (by_head or mostly)):
        return None
    return _bits(path, list(zip(*cells, strict=True)), [rows.heads[at] for at in where])


def _words(columns: sheets.Genes) -> list[str] | None:
    """Codewords as texts, without blanks; None: there are none."""
    at = sheets.column_headed(columns.sheet.heads, _WORDS)
    if at is None or at in (columns.gene, columns.id):
        return None
    return [re.sub(r"\s", "", text) for text in columns.sheet.column(at)]


def _n_bits(words: Sequence[str]) -> int:
    return max(map(len, words), default=0)


def _bits(path: Path, rows: Sequence[Sequence[str]], header: list[str]) -> pd.DataFrame:
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header) or not set(row) <= {"0", "1"}:
            raise bad_file(
                path,
                f"has a row of bits that is not {len(header)} times 0 or 1: the row {number}",
                "get the codebook again, with codewords as texts",
            )
    bits = np.array(rows, dtype=np.int8).reshape(len(rows), -1)
    return pd.DataFrame(bits, columns=header)
