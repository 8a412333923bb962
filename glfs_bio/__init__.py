"""Gradient-based Laplacian feature selection of genes."""

from __future__ import annotations

from importlib.metadata import version

from . import datasets, io, pl, pp, tl
from .estimators import GLFS, LapRLSClassifier

__all__ = ["GLFS", "LapRLSClassifier", "datasets", "io", "pl", "pp", "tl"]
__version__ = version("glfs-bio")
