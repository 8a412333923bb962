"""Files in and out."""

from __future__ import annotations

from ..vendors.genes import read_genes, read_markers, read_panel
from ._lists import write_genes
from ._order import write_order, write_reference
from ._read import read_cells
from ._report import write_report

__all__ = ["read_cells", "read_genes", "read_markers", "read_panel"]
__all__ += ["write_genes", "write_order", "write_reference", "write_report"]
__dir__ = __all__.copy
