"""Preprocessing: choose genes before or beside a principal component analysis.

Functions write to the object that they are given and have no `copy`: to keep it, pass
``adata.copy()``.
"""

from __future__ import annotations

from ._again import recorded_parameters
from ._select_genes import select_genes
from ._structure import structure

__all__ = ["recorded_parameters", "select_genes", "structure"]
