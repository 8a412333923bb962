"""One file a method; each takes the same problem and returns a weight and a score a gene."""

from __future__ import annotations

from . import glfs
from ._rank_genes import METHODS, check_options, rank_genes
from ._ranking import Ranking

__all__ = ["METHODS", "Ranking", "check_options", "glfs", "rank_genes"]
