"""Pictures of a selection, with scanpy's habits."""

from __future__ import annotations

from ._enrichment import enrichment
from ._panel import panel
from ._path import path
from ._stability import stability
from ._weights import weights

__all__ = ["enrichment", "panel", "path", "stability", "weights"]
