"""scikit-learn estimators on arrays of cells × genes."""

from __future__ import annotations

from ._glfs import GLFS, SupervisedGLFS
from ._glfs_laprls import GLFSLapRLSClassifier
from ._laprls import LapRLSClassifier

__all__ = ["GLFS", "GLFSLapRLSClassifier", "LapRLSClassifier", "SupervisedGLFS"]
__dir__ = __all__.copy
