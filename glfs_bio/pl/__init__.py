"""Plots of a panel and of its evaluation, with scanpy's habits."""

from __future__ import annotations

from ._panel import dotplot, genes, panel
from ._results import comparison, confusion, curve, labels, stability

__all__ = ["comparison", "confusion", "curve", "dotplot", "genes", "labels", "panel", "stability"]
__dir__ = __all__.copy
