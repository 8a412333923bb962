"""Files in and out."""

from __future__ import annotations

from .._anndata.classifier_file import read_classifier, write_classifier
from .._files import check_target, replacing
from ..vendors.forms import PanelFile, read_panel
from ..vendors.genes import read_genes, read_markers
from ._lists import write_genes
from ._order import write_order, write_reference
from ._read import read_cells
from ._report import write_report

__all__ = [
    "PanelFile",
    "check_target",
    "read_cells",
    "read_classifier",
    "read_genes",
    "read_markers",
    "read_panel",
    "replacing",
    "write_classifier",
    "write_genes",
    "write_order",
    "write_reference",
    "write_report",
]


def __dir__() -> list[str]:
    return __all__
