"""From a matrix and a graph to the reduced problem."""

from __future__ import annotations

import numpy as np
from refusals import refused

from glfs_bio.cells.cells import build_problems
from glfs_bio.errors import InvalidValue
from glfs_bio.options import StructureSpec


def test_coordinates_that_are_all_alike(clusters):
    with refused(InvalidValue, "representation"):
        build_problems(clusters, StructureSpec(), representation=np.ones((90, 3)))
