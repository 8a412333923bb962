"""What must not change the answer."""

from __future__ import annotations

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse

from glfs_bio import GLFS
from glfs_bio.core.graph import knn_graph

seeds = st.integers(0, 10_000)
shapes = st.tuples(st.integers(60, 120), st.integers(10, 60))
full_or_not = st.sampled_from([None, 6])


CONTAINERS = (
    *(sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array),
    *(np.asfortranarray, lambda data: np.repeat(data, 2, axis=1)[:, ::2]),
)


def data_of(seed: int, shape: tuple[int, int]) -> np.ndarray:
    """Groups of cells, genes that tell them apart more or less, and noise; many zeros."""
    rng = np.random.default_rng(seed)
    n_cells, n_genes = shape
    centres = rng.gamma(1.0, 2.0, size=(4, n_genes)) * (rng.uniform(size=n_genes) < 0.4)
    data = centres[rng.integers(4, size=n_cells)] + rng.normal(scale=0.3, size=shape)
    return np.maximum(data, 0.0)


def fitted(data, n_comps, **extra):
    return GLFS(n_genes=5, n_comps=n_comps, n_neighbors=6, tol=1e-9).fit(data, **extra)


def same(one, other, order=slice(None), tolerance=1e-9):
    """The same weights but for rounding, and the same order, all of it."""
    weights = one.weights_[order]
    np.testing.assert_allclose(other.weights_, weights, rtol=0, atol=tolerance * weights.max())
    np.testing.assert_array_equal(other.ranking_, one.ranking_[order])
    np.testing.assert_array_equal(other.get_support(), one.get_support()[order])


@settings(deadline=None, max_examples=10, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(seeds, shapes, full_or_not, st.sampled_from([1e-12, 2.0**-20, 1e3, 1e12]))
def test_unit_of_the_matrix(seed, shape, n_comps, unit):
    data = data_of(seed, shape)
    same(fitted(data, n_comps), fitted(unit * data, n_comps))


@settings(deadline=None, max_examples=10, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(seeds, shapes, full_or_not)
def test_order_of_cells_and_genes(seed, shape, n_comps):
    data = data_of(seed, shape)
    rng = np.random.default_rng(seed)
    cells, genes = rng.permutation(shape[0]), rng.permutation(shape[1])
    same(fitted(data, n_comps), fitted(data[cells][:, genes], n_comps), genes)


@settings(deadline=None, max_examples=10, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(seeds, shapes, full_or_not, st.sampled_from(CONTAINERS))
def test_container(seed, shape, n_comps, container):
    data = data_of(seed, shape)
    same(fitted(data, n_comps), fitted(container(data), n_comps))


@settings(deadline=None, max_examples=5, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(seeds, shapes, full_or_not)
def test_float32(seed, shape, n_comps):
    """The same as in double precision where the numbers are the same."""
    data = data_of(seed, shape).astype(np.float32)
    same(fitted(data.astype(np.float64), n_comps), fitted(data, n_comps), tolerance=1e-4)


@settings(deadline=None, max_examples=10, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(seeds, shapes, full_or_not, st.integers(1, 20))
def test_genes_that_are_zero(seed, shape, n_comps, n_zero):
    data = data_of(seed, shape)
    one = fitted(data, n_comps)
    other = fitted(np.hstack([data, np.zeros((shape[0], n_zero))]), n_comps)
    np.testing.assert_allclose(
        other.weights_[: shape[1]], one.weights_, rtol=0, atol=1e-9 * one.weights_.max()
    )
    np.testing.assert_array_equal(other.get_support(indices=True), one.get_support(indices=True))
    assert not other.weights_[shape[1] :].any()
    assert other.ranking_[shape[1] :].min() > 5


@settings(deadline=None, max_examples=4, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(seeds, shapes)
def test_a_gene_twice_shares_its_weight(seed, shape):
    """Its two halves are equal to the bit, and together what it has alone."""
    data = data_of(seed, shape)
    where = {"graph": knn_graph(data, 6), "representation": data - data.mean(axis=0)}
    options = {"n_comps": 6, "tol": 1e-9, "standardize": None, "finish": None}
    lam = GLFS(n_genes=5, **options).fit(data, **where).lambda_
    alone = GLFS(lam=lam, **options).fit(data, **where)
    best = int(np.argmin(alone.ranking_))
    twice = GLFS(lam=lam, **options).fit(np.hstack([data, data[:, [best]]]), **where)
    assert twice.weights_[best] == twice.weights_[-1]
    together = twice.weights_[:-1].copy()
    together[best] *= 2.0
    np.testing.assert_allclose(together, alone.weights_, atol=1e-6 * alone.weights_.max())


@settings(deadline=None, max_examples=10, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(seeds, shapes, full_or_not)
def test_answers_are_stationary_and_repeatable(seed, shape, n_comps):
    data = data_of(seed, shape)
    one, other = fitted(data, n_comps), fitted(data, n_comps)
    assert one.converged_
    assert np.isfinite(one.scores_).all()
    assert (one.weights_ >= 0).all()
    np.testing.assert_array_equal(one.weights_, other.weights_)
