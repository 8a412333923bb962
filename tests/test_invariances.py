"""What must not change the answer."""

from __future__ import annotations

import numpy as np
import pytest
from all_panels import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from glfs_bio import GLFS
from glfs_bio.cells.graph import knn_graph
from glfs_bio.glfs2014 import Exact
from glfs_bio.solvers.panel import OBJECTIVES

seeds = st.integers(0, 10_000)
shapes = st.tuples(st.integers(60, 120), st.integers(10, 60))
full_or_not = st.sampled_from([None, 6])
objectives = st.sampled_from(["error", "exact"])


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


def fitted(data, objective, n_comps):
    objective = Exact(tol=1e-9) if objective == "exact" else objective
    return GLFS(n_genes=5, objective=objective, n_comps=n_comps, n_neighbors=6).fit(data)


def same(model, other, order=slice(None), tolerance=1e-9):
    """The same weights but for rounding, and the same order, all of it."""
    weights = model.weights_[order]
    np.testing.assert_allclose(other.weights_, weights, rtol=0, atol=tolerance * weights.max())
    np.testing.assert_array_equal(other.ranking_, model.ranking_[order])
    np.testing.assert_array_equal(other.get_support(), model.get_support()[order])
    np.testing.assert_allclose(other.preserved_, model.preserved_, rtol=tolerance)
    np.testing.assert_allclose(other.losses_, model.losses_[order], rtol=0, atol=tolerance)
    if hasattr(model, "optimality_"):
        np.testing.assert_allclose(other.optimality_, model.optimality_, rtol=tolerance)


@settings(EXAMPLES, max_examples=10)
@given(seeds, shapes, objectives, full_or_not, st.sampled_from([1e-12, 2.0**-20, 1e3, 1e12]))
def test_unit_of_the_matrix(seed, shape, objective, n_comps, unit):
    data = data_of(seed, shape)
    same(fitted(data, objective, n_comps), fitted(unit * data, objective, n_comps))


@settings(EXAMPLES, max_examples=10)
@given(seeds, shapes, objectives, full_or_not)
def test_order_of_cells_and_genes(seed, shape, objective, n_comps):
    data = data_of(seed, shape)
    rng = np.random.default_rng(seed)
    cells, genes = rng.permutation(shape[0]), rng.permutation(shape[1])
    same(fitted(data, objective, n_comps), fitted(data[cells][:, genes], objective, n_comps), genes)


@settings(EXAMPLES, max_examples=6)
@given(seeds, shapes, objectives, full_or_not, st.sampled_from(CONTAINERS))
def test_container(seed, shape, objective, n_comps, container):
    data = data_of(seed, shape)
    same(fitted(data, objective, n_comps), fitted(container(data), objective, n_comps))


@settings(EXAMPLES, max_examples=5)
@given(seeds, shapes, objectives, full_or_not)
def test_float32(seed, shape, objective, n_comps):
    """The same as in double precision where the numbers are the same."""
    data = data_of(seed, shape).astype(np.float32)
    double = fitted(data.astype(np.float64), objective, n_comps)
    same(double, fitted(data, objective, n_comps), tolerance=1e-4)


@settings(EXAMPLES, max_examples=6)
@given(seeds, shapes, objectives, full_or_not, st.integers(1, 20))
def test_genes_that_are_zero(seed, shape, objective, n_comps, n_zero):
    """Components of a matrix that is mostly zero, which zeros can make it, are in single precision.

    At full rank there are none, and the weights of the original GLFS are the same to rounding.
    Those of the convex criterion are so to the root of the gap at which its solver stops.
    """
    data = data_of(seed, shape)
    exact = 0.03 if objective == "error" else 1e-9 if n_comps is None else 1e-3
    model = fitted(data, objective, n_comps)
    other = fitted(np.hstack([data, np.zeros((shape[0], n_zero))]), objective, n_comps)
    weights, others = np.split(other.weights_, [shape[1]])
    tolerance = exact * model.weights_.max()
    np.testing.assert_allclose(weights, model.weights_, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(other.get_support()[: shape[1]], model.get_support())
    assert not others.any()
    assert other.ranking_[shape[1] :].min() > 5


@settings(EXAMPLES, max_examples=4)
@given(seeds, shapes)
def test_a_gene_twice_shares_its_weight(seed, shape):
    """Its two halves are equal but for rounding."""
    data = data_of(seed, shape)
    where = {"graph": knn_graph(data, 6), "representation": data - data.mean(axis=0)}
    model = GLFS(n_genes=5, objective=Exact(tol=1e-9), n_comps=6, standardize=None)
    best = int(np.argmin(model.fit(data, **where).ranking_))
    model.fit(np.hstack([data, data[:, [best]]]), **where)
    assert model.weights_[best] == pytest.approx(model.weights_[-1], rel=1e-6)


@settings(EXAMPLES, max_examples=10)
@given(seeds, shapes)
def test_a_gene_twice_is_one_more_measurement(seed, shape):
    """With the error as objective the copies are alike.

    The copy changes what is to be kept, so that only the copies are compared with each other.
    """
    data = data_of(seed, shape)
    best = int(np.argmin(fitted(data, "error", 6).ranking_))
    twice = GLFS(n_genes=5, n_comps=6, n_neighbors=6).fit(np.hstack([data, data[:, [best]]]))
    assert twice.preserved_.shape == (5,)
    if {best, shape[1]} <= set(twice.get_support(indices=True)):
        np.testing.assert_allclose(twice.losses_[best], twice.losses_[-1], rtol=1e-6)
    np.testing.assert_allclose(twice.weights_[best], twice.weights_[-1], atol=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("include", "n_comps"), [([20], None), ([3, 20], 6)])
def test_an_included_gene_that_no_cell_expresses(objective, n_comps, include):
    """It comes first, loses nothing, and changes no other choice."""
    data = np.hstack([data_of(0, (80, 20)), np.zeros((80, 1))])
    options = {"objective": objective, "n_comps": n_comps, "n_neighbors": 6}
    model = GLFS(6, **options).fit(data, include=include)
    first = np.argsort(model.ranking_)[: len(include)]
    assert set(first) == set(include)
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.preserved_).all()
    assert model.losses_[20] == 0.0
    assert model.get_support().sum() == 6
    without = GLFS(5, **options).fit(data, include=include[:-1] or None)
    assert set(model.get_support(indices=True)) == {20, *without.get_support(indices=True)}
    assert model.preserved_[-1] == pytest.approx(without.preserved_[-1], rel=1e-6)
