"""Largest variance, within batches."""

from __future__ import annotations

import numpy as np

from glfs_bio.options import Request
from glfs_bio.selection import rank_genes


def test_variance(small, batch):
    ranking = rank_genes(small, Request.of(4, method="variance", n_comps=None))
    np.testing.assert_allclose(ranking.weights, small.var(axis=0), rtol=1e-8)
    small[batch == "b"] += 100.0  # a difference between batches is none within them
    within = np.mean([small[batch == name].var(axis=0) for name in "ab"], axis=0)
    ranking = rank_genes(small, Request.of(4, method="variance", n_comps=None), batch=batch)
    np.testing.assert_allclose(ranking.weights, within, rtol=1e-8)
