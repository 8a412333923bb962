"""Tables of cells × genes as people, R and instruments write them; names in them are texts."""

from __future__ import annotations

import csv
import logging
import re
from itertools import islice
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import pandas as pd

from .._files import bad_file
from ..errors import InvalidValue, listed
from ..vendors import sheets
from ..vendors.names import ANTIBODY

if TYPE_CHECKING:
    from pathlib import Path

    from .._typing import Array

log = logging.getLogger(__name__)

#: What may separate columns, by the ending; blanks, of any number, where nothing else does.
_BLANKS = r"\s+"
SEPARATORS = {".csv": (",", ";"), ".tsv": ("\t",), ".txt": ("\t", ";", ",", _BLANKS)}
#: What lines begin with that are not of the table; and lines that are looked at for the header.
_COMMENTS, _SNIFFED = ("#", "!"), 64
#: How columns are headed that number, place or describe cells, and genes: :func:`.sheets.plain`.
_OF_CELLS = re.compile(
    r"x|unnamed\d*|index|fov|(cell)?barcode|(entity|cell|sample|donor|patient|celltype)(id)?"
    r"|cell(number|label|type|name|index)|batch|label|origident|phase|(s|g2m|doublet)score|clas|group"
    r"|(leiden|louvain|kmean|(seurat)?cluster)(id|(re)?s?\d*)|\w+snnres\d+|(umap|tsne|pc)\d+"
    r"|treatment|condition|timepoint|age|sex|anisotropy|width|height|(min|max)[xyz]"
    r"|(cell|nucle\w+)?(area|volume)(um2|um3)?|(mean|max)(dapi|panck|membrane|cd\d+)"
    r"|.*centroid.*|[xyz]?(center|location|coord|coordinate|position)[xyz]?((global|local)?(px|mm|um))?"
    r"|(log1p)?(n(count|feature|gene)s?(bycount|rna|spatial)?|total(count|gene)?)"
    r"|(transcript|probe|codeword|(control|unassigned)\w+)count|(pct|percent)(count|mt|mito|ribo).*"
)
_OF_GENES = re.compile(r"(gene|entrez)id|(gene|effective)?length|chr(om(osome)?)?|start|end|strand")
#: Fewer numbers than these may be in order by chance.
_FEWEST_NUMBERED = 4
#: Columns that name a cell.
_FIELD_OF_VIEW = {"fov", "cellid"}
#: Heads of names of cells, and of genes; what the names of these hold; and the share of names that
#: says so: a genome has many genes that no nomenclature names.
_CELL_HEAD = re.compile(r".*(cell|barcode|sample|spot|well|nucleu|fov|donor|patient).*|entityid")
_GENE_HEAD = re.compile(r".*(gene|entrez|probe|transcript|symbol|feature|accession).*|idref|target")
_GENES, _CELLS, _SHARE = ("symbols", "ids", "transcripts", "probes"), ("barcodes", "samples"), 0.5
#: The genome before a symbol, and what TCGA and 10x Genomics put behind it.
_AROUND = re.compile(r"^(hg|mm|GRCh|GRCm)\d+_+|\|.*$")
#: Symbols that cells are called as well, after their wells.
_WELL = re.compile(r".?|[A-P]\d{1,2}", re.IGNORECASE)


def read(path: Path, ending: str, *, transpose: bool | None) -> ad.AnnData:
    """Read a table as cells × genes; None: its rows must be known to be cells."""
    heads, separator, n_lines = _header(path, ending)
    n_keys = 1 + ({*map(sheets.plain, heads[:2])} == _FIELD_OF_VIEW)  # fields that name a line
    columns = heads[n_keys:]
    rows, matrix = _values(path, heads, n_keys, separator, n_lines)
    while rows and rows[-1][:1] in ("", *_COMMENTS) and np.isnan(matrix[len(rows) - 1]).all():
        rows = rows[:-1]
    matrix = matrix[: len(rows)]
    for side, texts in (("row", rows), ("column", columns)):
        if "" in texts:
            at = texts.index("")
            text = f"has no name for {side} {at + 1} of its values"
            raise bad_file(path, f"{text}, behind {listed(texts[:at][-1:])}: name it, or remove it")
    if transpose is None:
        check_way_round(path, heads[0], rows, columns)
    cells, genes = (columns, rows) if transpose else (rows, columns)
    matrix = matrix.T if transpose else matrix
    _check_names(path, genes, cells if transpose else [], matrix)
    is_cell = np.array([n_keys == 1 or not cell.endswith("_0") for cell in cells])
    is_gene = np.array([not gene.endswith(ANTIBODY) for gene in genes])
    obs, var = (pd.DataFrame(index=pd.Index(side, dtype=object)) for side in (cells, genes))
    twice = obs.index[obs.index.duplicated() & is_cell].unique()
    if len(twice):
        raise bad_file(path, f"has several cells of one name ({listed(twice)}): give each its own")
    for is_in, text in (
        (is_cell, "rows of cell_ID 0, which is what is outside of cells"),
        (is_gene, "antibodies"),
    ):
        if not is_in.all():
            log.warning(f"{path} has {(~is_in).sum()} {text}, which are left out.")
    adata = ad.AnnData(matrix, obs=obs, var=var)
    return adata if is_cell.all() and is_gene.all() else adata[is_cell, is_gene].copy()


def _header(path: Path, ending: str) -> tuple[list[str], str, int]:
    """Return the heads of the columns, what separates them, and the lines down to the header.

    It is the first line that is no comment, and has as many names as the next line has fields, or
    one fewer, as R writes it, which is then ``""``.
    """
    with sheets.opened(path) as file:
        numbered = ((number, line.rstrip("\n")) for number, line in enumerate(file, start=1))
        of_table = (line for line in numbered if line[1].strip() and line[1][0] not in _COMMENTS)
        lines = list(islice(of_table, _SNIFFED))
    for number, line in lines:
        if "\0" in line or line.count('"') % 2:
            text = f"has half a pair of quotes in line {number}, or is no text in UTF-8"
            raise bad_file(path, f"{text}: mend it, or save it as UTF-8")
    n_lines, header = lines[0] if lines else (0, "")
    separators = [mark for mark in SEPARATORS[ending] if len(_fields(header, mark)) > 1]
    if len(lines) < 2 or not separators:
        text = f"has no header of several columns in line {n_lines}, above numbers"
        raise bad_file(path, f"{text}: write # before titles, and commas or tabs between columns")
    names = list(map(sheets.clean, _fields(header, separators[0])))
    first = _fields(lines[1][1], separators[0])
    while len(names) > len(first) and not names[-1]:
        names.pop()
    if len(names) == len(first) - 1 and names[-1] and first[-1].strip():
        names = ["", *names]
    if len(names) != len(first) or not names[-1]:
        text = f"has {sum(map(bool, names))} names in line {n_lines}, and {len(first)} fields below"
        raise bad_file(path, f"{text}: write # before titles, and end no line with a separator")
    corner, *columns = names
    is_head = not corner or _CELL_HEAD.fullmatch(sheets.plain(corner)) or says_genes(corner)
    are_numbers = (sheets.kind_of([name]) in ("flags", "bits", "numbers") for name in columns)
    if not is_head and (_side([corner]) > 0 or all(are_numbers)):
        raise bad_file(path, f"has no header in line {n_lines}, but {corner}: add one")
    return names, separators[0], n_lines


def _fields(line: str, separator: str) -> list[str]:
    """Return the fields of a line, of which csv reads none of 131,072 characters."""
    if separator == _BLANKS:
        line, separator = " ".join(line.split()), " "
    if '"' not in line or separator not in line:
        return line.split(separator)
    return next(csv.reader([line], delimiter=separator), [])


def _values(
    path: Path, heads: list[str], n_keys: int, separator: str, n_lines: int
) -> tuple[list[str], Array]:
    """Return names of the rows, and values."""
    with sheets.opened(path) as text:
        for _ in islice(text, n_lines):  # pandas would count other lines between quotes
            pass
        converters = dict.fromkeys(range(n_keys), sheets.clean)
        frame = pd.read_csv(text, sep=separator, header=None, converters=converters)
    keys = [frame.pop(column) for column in range(n_keys)]
    if sheets.plain(heads[0]) == "cellid":
        keys.reverse()
    rows = list(map("_".join, zip(*keys, strict=True)))
    texts = frame.select_dtypes(exclude="number")
    if len(texts.columns) and set(frame.dtypes) != {np.dtype(bool)}:
        first, columns = texts.iloc[:, 0], listed(heads[column] for column in texts)
        is_text = pd.to_numeric(first.astype(str), errors="coerce").isna() & first.notna()
        at = int(is_text.to_numpy().argmax())
        text = f"has texts in columns ({columns}), as {first.iloc[at]!r} in row {rows[at]}"
        raise bad_file(path, f"{text}: remove them, or write numbers with points")
    return rows, frame.to_numpy(dtype=np.float64)


def _check_names(path: Path, genes: list[str], cells: list[str], matrix: Array) -> None:
    """Refuse what numbers, places or describes cells or genes."""
    wrong = [name for name in genes if _OF_CELLS.fullmatch(sheets.plain(name))]
    wrong += [name for name in cells if _OF_GENES.fullmatch(sheets.plain(name))]
    if len(matrix) > _FEWEST_NUMBERED:  # 0, 1, 2, … or 1, 2, 3, …
        ends = np.isin(matrix[0], (0, 1)) & (matrix[-1] - matrix[0] == len(matrix) - 1)
        rising = [at for at in np.flatnonzero(ends) if (np.diff(matrix[:, at]) == 1).all()]
        wrong += [genes[at] for at in rising]
    if wrong:
        wrong = list(dict.fromkeys(wrong))
        raise bad_file(path, f"has columns that are no genes ({listed(wrong)}): remove them")


def check_way_round(path: Path, corner: str, rows: list[str], columns: list[str]) -> None:
    """Refuse a table whose rows are not known to be cells: by its first cell, and by names."""
    by_corner = (_CELL_HEAD.fullmatch(sheets.plain(corner)) is not None) - says_genes(corner)
    by_rows = -_side(rows)
    if by_corner + by_rows > 1 or by_corner + np.sign(_side(columns) + by_rows) > 0:
        return
    text = f"may have genes in its rows ({listed(rows[:4], 3)}), not ({listed(columns[:4], 3)})"
    raise bad_file(path, f"{text}: pass `transpose=True` if so, or else `transpose=False`")


def check_genes_in_rows(rows: list[str], columns: list[str]) -> None:
    """Refuse a matrix whose names say that its rows are cells: one of R has genes there."""
    if _side(columns) > _side(rows):
        text = f"`adata` seems to have cells in its rows ({listed(rows[:4], 3)})"
        raise InvalidValue(f"{text}: transpose its matrix")


def says_genes(corner: str) -> bool:
    """Whether a first cell says that genes are below it."""
    return _GENE_HEAD.fullmatch(sheets.plain(corner)) is not None


def _side(names: list[str]) -> int:
    """Return 1 for names of genes, −1 for names of cells, 0 for others."""
    texts = (_AROUND.sub("", name) for name in names if not _WELL.fullmatch(name))
    kind = sheets.kind_of(texts, _SHARE)
    return (kind in _GENES) - (kind in _CELLS)
