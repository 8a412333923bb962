"""The original GLFS, whole: the variance of LapRLS with an ℓ1 penalty (Wang & Goldenberg 2014)."""

from __future__ import annotations

from .exact import Exact
from .printed import Printed

__all__ = ["Exact", "Printed"]
