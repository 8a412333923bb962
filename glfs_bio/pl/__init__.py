"""Pictures of a selection and of what a panel is worth, with scanpy's habits."""

from __future__ import annotations

from ._comparison import comparison
from ._confusion import confusion
from ._curve import curve
from ._enrichment import enrichment
from ._imputation import imputation
from ._labels import labels
from ._panel import panel
from ._path import path
from ._preserved import preserved
from ._stability import stability
from ._unexplained import unexplained
from ._weights import weights

__all__ = [
    "comparison",
    "confusion",
    "curve",
    "enrichment",
    "imputation",
    "labels",
    "panel",
    "path",
    "preserved",
    "stability",
    "unexplained",
    "weights",
]
