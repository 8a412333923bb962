"""Where a path begins."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio import GLFS
from glfs_bio.errors import InvalidValue
from glfs_bio.glfs2014 import path
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.methods import OBJECTIVES


@pytest.mark.parametrize("name", ["exact", "printed"])
def test_the_start_is_in_balance(name):
    genes = np.random.default_rng(0).normal(size=(40, 5))
    objective = Variance(OBJECTIVES[name].block(genes, np.diag(np.arange(1.0, 6))))
    beta, lam = path.start(objective)
    assert np.count_nonzero(beta) == path.START_GENES * 5
    assert len(np.unique(beta[beta > 0])) == 1
    slopes = objective.at(beta).full_gradient()
    assert lam == pytest.approx(-(beta @ slopes) / beta.sum(), rel=1e-9)
    assert lam > 0


def test_weights_double_until_directions_of_noise_are_balanced():
    """Many directions far below the median one outweigh the others at first."""
    sizes = np.r_[np.ones(3), np.full(2, 0.05)]
    genes = np.eye(5) * sizes[:, None]
    objective = Variance(OBJECTIVES["printed"].block(genes, np.diag(np.r_[np.ones(3), 1e-4, 1e-4])))
    beta, lam = path.start(objective)
    assert lam > 0
    doublings = np.log2(beta.max() / path.MEDIAN_WEIGHT)
    assert doublings >= 10
    assert doublings == pytest.approx(round(doublings))


def test_sizes_that_no_lambda_balances():
    """Genes and directions so unlike that the printed formula has no start."""
    rng = np.random.default_rng(1)
    genes = rng.normal(size=(8, 4)) * 10.0 ** rng.uniform(-2, 2, size=(8, 1))
    genes[4:] *= 0.01
    root = 100.0 * rng.normal(size=(4, 4))
    with refused(path.Collapse, "X"):
        path.start(Variance(OBJECTIVES["printed"].block(genes, np.eye(4) + root @ root.T)))


def test_lambda_below_rounding_or_so_large_that_all_collapses(objective, monkeypatch):
    with refused(InvalidValue, "lam"):
        path.walk_to(objective, 1e-40)
    beta, _ = path.start(objective)
    monkeypatch.setattr(path, "start", lambda *_: (beta, 1e30))
    with refused(path.Collapse, "X"):
        path.line_search(objective)


def test_faces_at_full_rank_by_the_printed_formula(real):
    """Pixels that hardly vary reach directions that must not end the path where it starts."""
    faces = real("orl400").X / 255.0
    selection = GLFS(100, objective="printed", n_comps=None, n_neighbors=5).fit(faces)
    assert selection.n_selected_ == 100
    assert selection.lambda_ > 0
