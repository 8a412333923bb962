from __future__ import annotations

import numpy as np
import pytest

from glfs_bio.glfs2014.variance import Variance
from glfs_bio.methods import OBJECTIVES


@pytest.fixture
def objective():
    """The exact objective of 30 genes in five directions."""
    genes = np.random.default_rng(0).normal(size=(30, 5))
    return Variance(OBJECTIVES["exact"].block(genes, np.diag(np.linspace(1.0, 5.0, 5))))
