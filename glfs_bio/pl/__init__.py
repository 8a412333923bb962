"""Pictures of a selection and of what a panel is worth, with scanpy's habits."""

from __future__ import annotations

from ._evaluation import curve, imputation, labels, preserved, unexplained
from ._panel import panel
from ._selection import contributions, enrichment, path, stability, weights
from ._tables import comparison, confusion, upset
from ._types import dotplot

__all__ = [
    "comparison",
    "confusion",
    "contributions",
    "curve",
    "dotplot",
    "enrichment",
    "imputation",
    "labels",
    "panel",
    "path",
    "preserved",
    "stability",
    "unexplained",
    "upset",
    "weights",
]


def __dir__() -> list[str]:
    return __all__
