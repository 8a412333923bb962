"""Gradient-based Laplacian feature selection of genes."""

from __future__ import annotations

from importlib.metadata import version

from . import pp
from .estimators import GLFS

__all__ = ["GLFS", "pp"]
__version__ = version("glfs-bio")
