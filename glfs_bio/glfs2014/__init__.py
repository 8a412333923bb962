"""The original GLFS, whole: the variance of LapRLS with an ℓ1 penalty (Wang & Goldenberg 2014)."""

from __future__ import annotations

from .objective import Exact, Printed

__all__ = ["Exact", "Printed"]
__dir__ = __all__.copy
