"""Genes as markers of labels, against brute force over thresholds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import fbeta_score

from glfs_bio.measures.labels import combination, singles

BETA = 0.5


@pytest.fixture(scope="module")
def cells():
    """80 cells of three labels × 6 genes, the last of which is constant."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [40, 25, 15])
    means = np.array(
        [[3.0, 0.2, 1.0, 1.0, 0.5], [0.2, 2.0, 1.0, 2.0, 0.5], [0.3, 2.0, 2.5, 0.1, 0.5]]
    )
    values = rng.poisson(means[codes]).astype(float)
    return np.column_stack([values, np.ones(80)]), codes


def best_by_hand(values, belongs):
    """Largest F-beta over all thresholds that leave some cells off."""
    thresholds = np.unique(values)[1:]
    return max(fbeta_score(belongs, values >= t, beta=BETA) for t in thresholds)


def test_single_genes(cells):
    values, codes = cells
    single = singles(values, codes, 3, BETA)
    for label in range(3):
        belongs = codes == label
        for gene in range(5):
            x = values[:, gene]
            assert single.f_beta[label, gene] == pytest.approx(best_by_hand(x, belongs))
            on = x >= single.threshold[label, gene]
            assert single.precision[label, gene] == pytest.approx(belongs[on].mean())
            assert single.recall[label, gene] == pytest.approx(on[belongs].mean())
    assert np.isnan(single.f_beta[:, 5]).all()
    np.testing.assert_allclose(single.on_target.sum(axis=0), 1.0)


def test_combinations(cells):
    values, codes = cells
    single = singles(values, codes, 3, BETA)
    for label in range(3):
        belongs = codes == label
        found = combination(values, belongs, single, label, 3, BETA)
        on = values >= single.threshold[label]
        every = [
            fbeta_score(belongs, on[:, some].all(axis=1), beta=BETA, zero_division=0.0)
            for size in (1, 2, 3)
            for some in combinations(range(5), size)
        ]
        assert found.f_beta == pytest.approx(max(every))
        assert found.f_beta == pytest.approx(
            fbeta_score(belongs, on[:, found.genes].all(axis=1), beta=BETA)
        )
        assert (np.diff(single.f_beta[label, found.genes]) <= 0).all()
        alone = combination(values, belongs, single, label, 1, BETA)
        assert alone.f_beta == pytest.approx(np.nanmax(single.f_beta[label]))
