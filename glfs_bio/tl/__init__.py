"""Tools: what to do with the genes."""

from __future__ import annotations

from ._classify import classify
from ._enrich import enrich
from ._stability import stability

__all__ = ["classify", "enrich", "stability"]
