"""Example data, as AnnData."""

from __future__ import annotations

from ._golub import golub
from ._simulate import simulate

__all__ = ["golub", "simulate"]


def __dir__() -> list[str]:
    return __all__
