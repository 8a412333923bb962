"""How many values of a matrix are zero."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from glfs_bio.data.matrix import is_sparse


def counts_like(share):
    rng = np.random.default_rng(0)
    return sparse.csr_array(
        rng.lognormal(1.0, size=(300, 700)) * (rng.uniform(size=(300, 700)) < share)
    )


def test_zeros_count_whether_stored_or_not():
    x = counts_like(0.9)
    assert not is_sparse(x)
    x.data[x.data < 4.0] = 0.0
    assert is_sparse(x)
    assert is_sparse(x.toarray())
