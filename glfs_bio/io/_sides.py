"""Which side of a table has the genes."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from .._anndata import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Ids of Ensembl, of NCBI without a symbol, and of probe sets; names that say what they are.
_GENE = re.compile(
    r"ENS[A-Z]*G\d{11}(\.\d+)?|LOC\d{5,}|(AFFX-)?\w+_at|ILMN_\d+|gene[-_. ]?\d+", re.IGNORECASE
)
#: Barcodes, with what is put around them; accessions of samples; names that say what they are.
_CELL = re.compile(
    r"(.*[^A-Za-z])?[ACGT]{10,}([^A-Za-z].*)?|(GSM|SRR|ERR|SAMN|TCGA-).+"
    r"|(cell|sample|barcode|patient)[-_. ]?\d+",
    re.IGNORECASE,
)
#: Genes of families, on one side and none on the other, that are no chance.
_FEWEST = 3


def genes_in_rows(rows: Iterable[str], columns: Iterable[str]) -> bool:
    """Whether the names of the rows look like genes, or those of the columns like cells.

    Names that look like neither say nothing.
    """
    rows, columns = list(rows), list(columns)
    genes = _share(rows, _is_gene), _share(columns, _is_gene)
    cells = _share(rows, _is_cell), _share(columns, _is_cell)
    if max(genes) > 0.5 or max(cells) > 0.5:
        return genes[0] + cells[1] > genes[1] + cells[0]
    return _members(rows) >= _FEWEST and _members(columns) == 0


def _share(names: list[str], look: Callable[[str], bool]) -> float:
    return sum(map(look, names)) / max(len(names), 1)


def _is_gene(name: str) -> bool:
    return _GENE.fullmatch(name) is not None


def _is_cell(name: str) -> bool:
    return _CELL.fullmatch(name) is not None


def _members(names: list[str]) -> int:
    """How many are in families of genes, of which every genome has some hundred."""
    return sum(name.upper() in _symbols() for name in names)


@cache
def _symbols() -> frozenset[str]:
    return frozenset().union(*(names.family(name).symbols for name in names.SOURCES))
