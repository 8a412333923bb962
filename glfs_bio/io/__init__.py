"""Files in and out."""

from __future__ import annotations

from .._files import check_target, replacing
from ..vendors.forms import PanelFile, read_panel
from ..vendors.genes import read_genes
from ..vendors.markers import read_markers
from ..vendors.sheets import read_gmt
from ._lists import write_gene_list, write_gmt, write_rnk
from ._order import write_order, write_reference
from ._read import read_cells
from ._report import write_report

__all__ = [
    "PanelFile",
    "check_target",
    "read_cells",
    "read_genes",
    "read_gmt",
    "read_markers",
    "read_panel",
    "replacing",
    "write_gene_list",
    "write_gmt",
    "write_order",
    "write_reference",
    "write_report",
    "write_rnk",
]


def __dir__() -> list[str]:
    return __all__
