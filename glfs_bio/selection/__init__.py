"""The one way to a ranking, from a matrix, a question and options."""

from __future__ import annotations

from ..methods import METHODS, OBJECTIVES, Method, Question
from ..ranking import Ranking
from ._error import Error, best_panel
from ._options import Options
from ._rank_genes import check_sizes, rank_genes
from ._reduced_cells import ReducedCells, reduce_cells

__all__ = [
    "METHODS",
    "OBJECTIVES",
    "Error",
    "Method",
    "Options",
    "Question",
    "Ranking",
    "ReducedCells",
    "best_panel",
    "check_sizes",
    "rank_genes",
    "reduce_cells",
]
