"""Pictures of a selection and of what a panel is worth, with scanpy's habits."""

from __future__ import annotations

from ._evaluation import curve, imputation, labels, preserved, unexplained
from ._panel import panel
from ._selection import enrichment, path, stability, weights
from ._tables import comparison, confusion

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
