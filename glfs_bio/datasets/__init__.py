"""Data to try the methods on, as AnnData."""

from __future__ import annotations

from ._golub import golub

__all__ = ["golub"]
