"""What a panel of genes keeps, and which panel keeps most: everything that follows from E."""

from __future__ import annotations

from .criterion import Criterion
from .failures import WithFailures
from .select import LARGEST, Panel, select
from .wanted import Expression, Genes, Labels, Structure, Term, Values, Wanted
from .within import select_within

__all__ = [
    "LARGEST",
    "Criterion",
    "Expression",
    "Genes",
    "Labels",
    "Panel",
    "Structure",
    "Term",
    "Values",
    "Wanted",
    "WithFailures",
    "select",
    "select_within",
]
