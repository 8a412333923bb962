"""scikit-learn estimators on arrays of cells × genes."""

from __future__ import annotations

from ._glfs import GLFS
from ._glfs_laprls import GLFSLapRLSClassifier, fewest_genes
from ._laprls import LapRLSClassifier
from ._supervised import SupervisedGLFS

__all__ = ["GLFS", "GLFSLapRLSClassifier", "LapRLSClassifier", "SupervisedGLFS", "fewest_genes"]
