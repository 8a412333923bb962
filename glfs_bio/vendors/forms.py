"""Panels in files: the forms that vendors, this package and people give them."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._files import bad_file
from ..errors import NotFound, listed, short
from . import genes, names, sheets

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

#: Endings of files of panels; texts may be packed.
ENDINGS = (*sheets.LISTS, *sheets.SETS)
#: Further columns of tables that are read.
_FURTHER = (
    *("n_probe_sets", "codewords", "annotation", "force", "group", "must_have", "backup"),
    *("source", "name"),
)
#: Where genes of an order are from: those that had to be in it, and its backups, are named so.
_SOURCES = ("included", "selected", "added", "replacement", "listed", "backup", "")
#: Heads that say by flags which rows are the panel, and at last, which are not.
_CHOSEN = (
    r"selected|selection",
    r".*(selected|selection)",
    r"included?|inpanel|keep|used?|highlyvariable",
    r"excluded?|drop(ped)?|removed?|failed",
)
#: Heads of codewords as texts, and of single bits, and fewest bits of a codebook.
_WORDS = (r"(binary)?(barcode|code)|codeword|sequence",)
_BIT, _FEWEST_BITS = re.compile(r"(bit|b|rs|r|hyb|round|readout|ch)?\d+(ch\d+)?"), 3


class PanelFile(list[str]):
    r"""Genes of a panel in the order of its file, a list of names, and what else the file says.

    :func:`read_panel` makes it.

    Attributes
    ----------
    table : DataFrame
        One row per gene: ``gene``, ``id`` (of Ensembl without its version, FlyBase, WormBase or
        TAIR, ``""`` where the file has none), and what the file has of ``n_probe_sets``,
        ``codewords``, ``annotation``, ``force``, ``group``, ``must_have``, ``backup``, ``source``
        and ``name``, such as an accession, by which a gene is found whose ``id`` and ``gene`` are
        not in the data.
    form : str
        ``"list"``, ``"table"``, ``"codebook"`` or ``"gene sets"``.
    controls : list of str
        Names of controls and blanks, which are no genes.
    repeated : list of str
        Genes that the file has more than once.
    codebook : DataFrame
        Bits of every gene, one column per bit, of a form that has them.
    backups : list of str
        Genes that the file has as backups of others, which are not in the panel.

    """

    def __init__(self, table: pd.DataFrame, form: str) -> None:
        super().__init__(table["gene"])
        self.table, self.form = table, form
        self.controls: list[str] = []
        self.repeated: list[str] = []
        self.backups: list[str] = []
        self.codebook: pd.DataFrame | None = None


def read_panel(
    path: str | Path,
    *,
    column: str | None = None,
    sheet: str | None = None,
    set_name: str | None = None,
) -> PanelFile:
    r"""Read the genes of a panel from a vendor's file, a list, a table or gene sets.

    These forms are recognised: the predesigned panels of 10x Genomics
    (``Genes,Ensembl_ID,Num_Probesets,Codewords,Annotation``) and its orders (``Gene,Ensembl
    ID,Probe sets,Force``); codebooks of MERSCOPE, MERlin and others, with bits in columns or in a
    text; gene lists of CosMx; Vizgen's designs; sheets of :func:`write_order`; and the files below.
    Controls and blanks are left out, and named in a note, as are backups.

    Parameters
    ----------
    path : str or path
        File to read:

        - ``.txt``, ``.csv``, ``.tsv``, ``.xlsx``: a table with a header, or a list of names, with
          or without one; in texts ``#`` begins a comment
        - ``.grp``, ``.rcc`` of nCounter, ``.fasta`` of BD Rhapsody
        - ``.gmt``, ``.json``: gene sets, see :func:`read_markers`

        Text files may end with ``.gz``, ``.bz2`` or ``.xz``.
    column : str, default None
        Column of a table.  None: one with a head such as symbol, gene or name that holds symbols;
        else the only column that does; else one with a head, of other names or of ids.
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
    `column`; rows above it are titles.  A list may have a known head.  What a column holds is asked
    before it is taken: numbers of rows, flags, sequences, samples and descriptions are no genes.
    In a table with a column ``selected``, ``selection``, ``included``, ``in_panel``, ``keep``,
    ``use`` or ``highly_variable`` of flags, the panel is the rows where that is true.

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
    path, ending = sheets.checked(path, ENDINGS, column=column, sheet=sheet, set_name=set_name)
    if ending in sheets.SETS:
        return _of_sets(path, set_name)
    return _of_rows(path, sheets.table(path, sheet, column), column)


def is_panel_file(text: str) -> bool:
    """Whether a text is the path of a file that may hold a panel."""
    return sheets.ending(Path(text)) in ENDINGS and Path(text).is_file()


def _panel(
    path: Path, form: str, table: pd.DataFrame, codebook: pd.DataFrame | None = None
) -> PanelFile:
    """Return a panel without controls and backups, and say what is left out."""
    symbols = table["gene"]
    is_control = symbols.map(names.is_control).astype(bool)
    is_gene = (symbols != "") & ~is_control
    is_backup = is_gene & table.get("backup", pd.Series("", table.index)).map(sheets.is_yes)
    sheets.check_read(str(path), list(symbols[is_gene]), may_be_prose=sheets.ending(path) == ".gmt")
    panel = table[is_gene & ~is_backup]
    if panel.empty:
        raise bad_file(path, "has no gene names, or none that is no backup")
    rows = panel.drop_duplicates("gene").copy()
    if "id" not in rows:
        rows.insert(1, "id", "")
    is_id = (rows["id"] == "") & rows["gene"].map(names.is_id).astype(bool)
    rows["id"] = rows["id"].mask(is_id, rows["gene"].map(names.as_id))
    file = PanelFile(rows.reset_index(drop=True), form)
    if codebook is not None:
        file.codebook = codebook.loc[rows.index].set_axis(list(rows["gene"]), axis=0)
    file.controls = list(symbols[is_control].unique())
    file.backups = list(symbols[is_backup & ~symbols.isin(file)].unique())
    file.repeated = list(panel["gene"][panel["gene"].duplicated()].unique())
    for text, left_out in (("controls", file.controls), ("backups", file.backups)):
        if left_out:
            log.warning(f"{path} has {len(left_out)} {text}, left out: {listed(left_out, 3)}.")
    return file


def _of_sets(path: Path, set_name: str | None) -> PanelFile:
    """Return the genes of one gene set of a file, or of all."""
    sets = genes.read_markers(path)
    if set_name is not None and set_name not in sets:
        raise NotFound(f"`set_name={short(set_name)}` is not in {path}: it has {listed(sets)}")
    members = [gene for name in sets if set_name in (None, name) for gene in sets[name]]
    return _panel(path, "gene sets", pd.DataFrame({"gene": members}, dtype=object))


def _of_rows(path: Path, rows: list[list[str]], column: str | None) -> PanelFile:
    """Return a table, a codebook or a list."""
    sheet, table = sheets.gene_table(str(path), rows, column, _FURTHER)
    codebook = None if column is not None else _codebook(path, sheet)
    if codebook is None:
        table = sheets.one_name_a_row(str(path), table[_chosen(str(path), sheet)])
    if "id" in table:
        is_gene = table["id"].map(names.is_id).astype(bool)
        nameless = (table["gene"] == "") & ~table["id"].map(names.is_number).astype(bool)
        ids = table["id"].map(names.as_id)
        table["gene"] = table["gene"].mask(nameless, ids)
        table = table if "name" in table else table.assign(name=table["id"].mask(is_gene, ""))
        table["id"] = ids.where(is_gene, "")
    if "source" in table and table["source"].isin(_SOURCES).all():
        for flag, source in (("must_have", "included"), ("backup", "backup")):
            table[flag] = table.get(flag, np.where(table["source"] == source, "TRUE", "FALSE"))
    is_list = sheets.ending(path) == ".txt" and len(sheet.heads) < 2
    form = "codebook" if codebook is not None else "list" if is_list else "table"
    return _panel(path, form, table, codebook)


def _chosen(path: str, sheet: sheets.Sheet) -> NDArray[np.bool_]:
    """Return which rows are the panel: all, unless a column of flags says so."""
    for head in _CHOSEN:
        columns = [sheet.column(at) for at in sheet.headed([head])]
        flags = [cells for cells in columns if {*map(str.casefold, cells)} <= sheets.FLAGS]
        if len(flags) > 1:
            raise bad_file(path, f"has several columns of flags of the panel ({head}): leave one")
        if flags:
            is_yes = np.array([*map(sheets.is_yes, flags[0])], dtype=bool)
            is_chosen = ~is_yes if head == _CHOSEN[-1] else is_yes
            if not is_chosen.any():
                raise bad_file(path, "has a column of flags that selects no gene: correct it")
            log.info(f"The panel of {path} is the {is_chosen.sum()} rows that a column selects.")
            return is_chosen
    return np.ones(len(sheet.rows), dtype=bool)


def _codebook(path: Path, sheet: sheets.Sheet) -> pd.DataFrame | None:
    """Return the bits of a codebook, in columns or in a text of each row; None: it is none."""
    bits = [at for at, head in enumerate(sheet.plain) if _BIT.fullmatch(head)]
    words = [sheet.column(at) for at in sheet.headed(_WORDS)][:1]
    n_flags = sum(sheet.kinds[at] == "flags" for at in bits)
    if len(bits) >= _FEWEST_BITS and 2 * n_flags > len(bits):
        rows = [[row[at] for at in bits] for row in sheet.rows]
        heads = [sheet.heads[at] for at in bits]
    elif words and sheets.kind_of(words[0]) == "bits":
        rows = [list(re.sub(r"\s", "", word)) for word in words[0]]
        heads = [f"bit{n + 1}" for n in range(max(map(len, rows)))]
    else:
        return None
    for number, row in enumerate(rows, start=1):
        if len(row) != len(heads) or not {*row} <= {"0", "1"}:
            text = f"has in row {number} other than {len(heads)} bits"
            raise bad_file(path, f"{text}: write them as texts")
    return pd.DataFrame(np.array(rows, dtype=np.int8), columns=heads)
