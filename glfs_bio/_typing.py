"""Names for the arrays that the core passes around."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Index: TypeAlias = npt.NDArray[np.intp]
#: NumPy array or SciPy sparse matrix (SciPy ships no types to tell them apart by).
Matrix: TypeAlias = Any
