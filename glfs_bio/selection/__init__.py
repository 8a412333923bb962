"""One file a method; each takes the same problems and returns a weight and a score a gene."""

from __future__ import annotations

from ..glfs2014 import glfs
from ..selection._options import METHODS, Options
from ..selection._rank_genes import best_panel, check_sizes, measured, rank_genes
from ..selection._ranking import Ranking
from ..selection._reduced_cells import ReducedCells, reduce_cells

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
