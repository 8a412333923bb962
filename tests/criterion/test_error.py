"""The criterion for panels against its definition and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from all_panels import block_of

from glfs_bio.criterion.error import evaluate, inverse
from glfs_bio.glfs2014 import Exact
from glfs_bio.glfs2014.variance import Variance


@pytest.fixture(params=[(12, 5), (4, 9)], ids=["d>r", "d<r"])
def given(request):
    """Genes, W, and weights of which one is 0 and one is 1."""
    d, r = request.param
    rng = np.random.default_rng(0)
    root = rng.normal(size=(r, r))
    beta = rng.uniform(size=d)
    beta[:2] = 0.0, 1.0
    return rng.normal(size=(d, r)), root @ root.T / np.sum(root**2), beta


def by_definition(genes, wanted, beta):
    """``Tr(W E)`` in the coordinates that were given."""
    return np.trace(wanted @ np.linalg.inv(np.eye(len(wanted)) + (genes.T * beta) @ genes))


def curvature(error, beta, step=1e-5):
    """Hessian, by differences of the gradient."""
    ways = np.eye(len(beta)) * step
    ahead, behind = (
        np.array([evaluate([error], beta + sign * way)[1] for way in ways]) for sign in (1.0, -1.0)
    )
    return (ahead - behind) / (2.0 * step)


def test_value_is_the_definition(given):
    """Also of some of the genes; E is the error covariance."""
    genes, wanted, beta = given
    error = block_of(genes, wanted)
    assert error.value(beta) == pytest.approx(by_definition(genes, wanted, beta), rel=1e-12)
    assert evaluate([error], beta)[0] == pytest.approx(error.value(beta), rel=1e-12)
    assert error.value(np.zeros_like(beta)) == pytest.approx(1.0, rel=1e-12)
    covariance = np.linalg.inv(np.eye(len(wanted)) + (error.genes.T * beta) @ error.genes)
    np.testing.assert_allclose(error.inverse(beta), covariance, atol=1e-12)
    some = np.array([0, 2])
    expected = by_definition(genes[some], wanted, beta[some])
    assert error.only(some).value(beta[some]) == pytest.approx(expected, rel=1e-12)


def test_gradient_is_finite_differences(given):
    """That of genes without weight too."""
    genes, wanted, beta = given
    step = 1e-5
    slopes = [
        (by_definition(genes, wanted, beta + way) - by_definition(genes, wanted, beta - way))
        / (2.0 * step)
        for way in np.eye(len(beta)) * step
    ]
    _, gradient, _ = evaluate([block_of(genes, wanted)], beta)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-9)
    assert (gradient < 0).all()


def test_it_is_convex(random_errors):
    """The Hessian is ``2 (g_iᵀ E g_j)(g_iᵀ E W E g_j)``, a product of two that are ⪰ 0."""
    for seed in range(10):
        (error,) = random_errors(seed)
        here, there = np.random.default_rng(seed).uniform(0.01, 1.0, size=(2, 12))
        hessian, g, e = curvature(error, here), error.genes, error.inverse(here)
        expected = 2.0 * (g @ e @ g.T) * (g @ (e * error.weights) @ e @ g.T)
        np.testing.assert_allclose(hessian, expected, rtol=1e-5, atol=1e-7 * hessian.max())
        assert np.linalg.eigvalsh((hessian + hessian.T) / 2.0)[0] >= -1e-8 * hessian.max()
        between = error.value((here + there) / 2.0)
        assert between <= (error.value(here) + error.value(there)) / 2.0


def test_rotated_coordinates_give_the_same(given):
    genes, wanted, beta = given
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=wanted.shape))[0]
    value, gradient, _ = evaluate([block_of(genes, wanted)], beta)
    turned_error = block_of(genes @ turn, turn.T @ wanted @ turn)
    turned, slopes, _ = evaluate([turned_error], beta)
    assert turned == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-9)


def test_covered_genes_are_measured_and_weighed_no_more(given):
    genes, wanted, beta = given
    include = np.array([1, 3])
    error = block_of(genes, wanted)
    whole, rest = beta.copy(), beta.copy()
    whole[include], rest[include] = 1.0, 0.0
    value, gradient, _ = evaluate([error.cover(include)], rest)
    expected, slopes, _ = evaluate([error], whole)
    assert value == pytest.approx(expected, rel=1e-12)
    others = np.setdiff1d(np.arange(len(beta)), include)
    np.testing.assert_allclose(gradient[others], slopes[others], rtol=1e-10)
    assert not gradient[include].any()
    assert error.cover(include).value(whole) == pytest.approx(expected, rel=1e-12)
    twice = error.cover(include[:1]).cover(include[1:])
    np.testing.assert_allclose(twice.covered, error.cover(include).covered, rtol=1e-12)
    assert not error.covered.any()


def test_the_variance_is_the_error_less_the_squared_bias():
    """``Q = Tr(M E) − Tr(E M E)``: with W = M the error is its first term."""
    rng = np.random.default_rng(0)
    kappa, genes, beta = np.linspace(1.0, 4.0, 5), rng.normal(size=(12, 5)), rng.uniform(size=12)
    m = np.diag(1.0 / kappa)
    inverse = np.linalg.inv(np.eye(5) + (genes.T * beta) @ genes)
    variance = Variance((Exact.whitened(genes, kappa),)).at(beta).value
    error = block_of(genes, m).value(beta)
    assert variance == pytest.approx(error - np.trace(inverse @ m @ inverse), rel=1e-10)


def test_rounding_below_zero_is_zero():
    np.testing.assert_allclose(inverse(np.diag([-1e-9, 4.0])), np.diag([1.0, 0.25]))
