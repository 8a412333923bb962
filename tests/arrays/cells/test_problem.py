"""From a matrix and a graph to the reduced problem."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.cells.problem import build_problems
from glfs_bio.cells.reduction import Reduction


def test_coordinates_that_are_all_alike(clusters):
    with pytest.raises(ValueError, match="coordinates of the cells are all alike"):
        build_problems(clusters, Reduction(), representation=np.ones((90, 3)))
