"""Files in and out."""

from __future__ import annotations

from ._atomic import check_target, replacing

__all__ = ["check_target", "replacing"]
