"""One file a method; each takes the same problems and returns a weight and a score a gene."""

from __future__ import annotations

from . import glfs
from ._options import METHODS, Options
from ._rank_genes import best_panel, check_sizes, measured, rank_genes
from ._ranking import Ranking
from ._reduced_cells import ReducedCells, reduce_cells

__all__ = [
    "METHODS",
    "Options",
    "Ranking",
    "ReducedCells",
    "best_panel",
    "check_sizes",
    "glfs",
    "measured",
    "rank_genes",
    "reduce_cells",
]
