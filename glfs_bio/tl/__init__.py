"""Tools: what to do with the genes."""

from __future__ import annotations

from ._classify import classify

__all__ = ["classify"]
