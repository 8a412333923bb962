"""Files in and out."""

from __future__ import annotations

from ..vendors.forms import read_panel
from ..vendors.genes import read_genes
from ..vendors.markers import read_markers
from ..vendors.sheets import read_gmt
from ._lists import write_gene_list, write_gmt, write_rnk
from ._order import write_order, write_reference
from ._read import read_cells
from ._report import write_report

__all__ = [
    "read_cells",
    "read_genes",
    "read_gmt",
    "read_markers",
    "read_panel",
    "write_gene_list",
    "write_gmt",
    "write_order",
    "write_reference",
    "write_report",
    "write_rnk",
]


def __dir__() -> list[str]:
    return __all__
