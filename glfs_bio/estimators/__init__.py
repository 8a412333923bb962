"""scikit-learn estimators on arrays of cells × genes."""

from __future__ import annotations

from ._glfs import GLFS, SupervisedGLFS
from ._glfs_laprls import GLFSLapRLSClassifier, fewest_genes
from ._laprls import LapRLSClassifier

__all__ = ["GLFS", "GLFSLapRLSClassifier", "LapRLSClassifier", "SupervisedGLFS", "fewest_genes"]


def __dir__() -> list[str]:
    return __all__
