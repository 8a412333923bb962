"""Example data, as AnnData."""

from __future__ import annotations

from ._golub import golub

__all__ = ["golub"]


def __dir__() -> list[str]:
    return __all__
