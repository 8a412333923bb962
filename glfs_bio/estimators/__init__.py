"""scikit-learn estimators on arrays of cells × genes."""

from __future__ import annotations

from ._glfs import GLFS

__all__ = ["GLFS"]
