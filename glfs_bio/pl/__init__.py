"""Pictures of a selection and of what a panel is worth, with scanpy's habits."""

from __future__ import annotations

from ._comparison import comparison
from ._confusion import confusion
from ._curve import curve
from ._enrichment import enrichment
from ._imputation import imputation
from ._kept import kept
from ._labels import labels
from ._missed import missed
from ._panel import panel
from ._path import path
from ._stability import stability
from ._weights import weights

__all__ = [
    "comparison",
    "confusion",
    "curve",
    "enrichment",
    "imputation",
    "kept",
    "labels",
    "missed",
    "panel",
    "path",
    "stability",
    "weights",
]
