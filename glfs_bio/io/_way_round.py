"""Which way round a table of cells and genes lies, by its first cell and by its names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from .._anndata import names as families
from ..errors import NO_VALUE, InvalidValue, arg, listed
from ..vendors import headers, names

if TYPE_CHECKING:
    from pathlib import Path

#: A first cell that says what is in the rows; cells have names, too.
_HEADS_GENES = {*headers.SYMBOL_HEADS, *headers.ID_HEADS, "idref"} - {"name"}
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


@dataclass(frozen=True)
class Sides:
    """How the names on both sides of a table are compared."""

    #: So many names of a side, evenly spread, are looked at
    names: int = 1000
    #: Share of one side that is no chance, above that of the other
    margin: float = 0.2
    #: Share by which names of known forms alone decide
    enough: float = 0.5
    #: Genes of the nomenclature on one side, and none on the other, that are no chance
    fewest: int = 3


SIDES = Sides()


def check(path: Path, corner: str, rows: list[str], columns: list[str]) -> None:
    """Refuse a table whose rows are not known to be cells: by its first cell, and by names."""
    of_genes, of_cells = says_genes(corner), says_cells(corner)
    said = None if of_genes == of_cells else of_genes
    lean = _lean(rows, columns)
    seen = None if abs(lean) <= SIDES.margin else lean > 0
    of_rows, of_columns = (listed(side[:4], 3) for side in (rows, columns))
    sides = f"its rows ({of_rows}) and its columns ({of_columns})"
    if {said, seen} == {True, False}:
        problem = f"is headed {corner!r}, unlike what the names look like in {sides}"
    elif True in (said, seen):
        problem = (
            f"seems to have genes in its rows ({of_rows}) and cells in its columns ({of_columns})"
        )
    elif said is seen is None:
        problem = f"does not tell genes from cells by the names in {sides}"
    else:
        return
    raise InvalidValue(
        "path",
        str(path),
        problem,
        f"pass {arg('transpose', True)} if its rows are genes, or {arg('transpose', False)} if "
        "they are cells",
    )


def check_genes_in_rows(rows: list[str], columns: list[str]) -> None:
    """Refuse a matrix whose names say that its rows are cells: one of R has genes there."""
    if _lean(rows, columns) < -SIDES.enough:
        raise InvalidValue(
            "adata",
            NO_VALUE,
            f"seems to have cells in its rows ({listed(rows[:4], 3)}) and genes in its columns "
            f"({listed(columns[:4], 3)})",
            "transpose its matrix, or name the columns otherwise if they are cells",
        )


def says_genes(corner: str) -> bool:
    """Whether a first cell says that genes are below it."""
    head = headers.plain(corner)
    return head in _HEADS_GENES or _LIKE_A_GENE_HEAD.fullmatch(head) is not None


def says_cells(corner: str) -> bool:
    """Whether a first cell says that cells are below it."""
    return _HEADS_CELLS.fullmatch(headers.plain(corner)) is not None


def _lean(rows: list[str], columns: list[str]) -> float:
    """How much more rows look like genes, and columns like cells, than the other way round."""
    sides = [side[:: max(1, len(side) // SIDES.names)] for side in (rows, columns)]
    genes, cells = (
        [np.mean([bool(is_like(name)) for name in side]) for side in sides]
        for is_like in (_is_like_a_gene, _LIKE_A_CELL.fullmatch)
    )
    lean = float(genes[0] - genes[1] + cells[1] - cells[0])
    if abs(lean) > SIDES.enough:
        return lean
    known = [sum(map(is_symbol, side)) for side in sides]
    if min(known) == 0 and max(known) >= SIDES.fewest:
        return 1.0 if known[0] else -1.0
    return lean + known[0] / len(sides[0]) - known[1] / len(sides[1])


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
    every = [*genes["symbol"], *(past for every in genes["previous"] for past in every.split("|"))]
    members = (families.family(name).symbols for name in families.SOURCES)
    return frozenset(name.upper() for name in every).union(*members) - {""}


def is_gene(corner: str) -> bool:
    """Whether a first cell is a gene, as where there is no header, and not the head of genes."""
    if _is_like_a_gene(corner.partition(":")[0]) or names.is_control(corner):
        return True
    return is_symbol(corner) and not (says_genes(corner) or says_cells(corner))
