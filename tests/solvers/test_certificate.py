"""Bounds of single genes against all panels of a linear function; their rounding."""

from __future__ import annotations

import numpy as np
import pytest
from all_panels import N_GENES, PANELS

from glfs_bio.solvers.certificate import ROUNDING, Certificates, Linear
from glfs_bio.solvers.constraints import Rows
from glfs_bio.solvers.relaxation import Polytope, relaxed


@pytest.mark.parametrize("seed", range(4))
def test_the_bounds_of_genes_are_those_of_the_linear_programme(seed):
    """Also where some genes would make it worse, and where slopes are alike."""
    slopes = -np.random.default_rng(seed).gamma(1.0, size=N_GENES) + (seed % 2) * 0.7
    slopes[1] = slopes[0]
    bound = Linear(0.3, slopes)
    for size in (1, 2, 5, N_GENES - 1, N_GENES, N_GENES + 3):
        panels = PANELS[PANELS.sum(axis=1) <= size]
        values = bound.level + panels @ slopes
        holding, lacking = bound.of_genes(size)
        assert bound.least(size) == pytest.approx(values.min())
        for gene in range(N_GENES):
            held = panels[:, gene] == 1
            assert holding[gene] == pytest.approx(values[held].min())
            assert lacking[gene] == pytest.approx(values[~held].min())


def test_the_bounds_of_all_sizes_are_those_of_each():
    bound = Linear(0.3, -np.random.default_rng(0).gamma(1.0, size=500))
    for most in (1, 2, 100, 499, 500):
        each = [bound.least(size) for size in range(1, most + 1)]
        np.testing.assert_allclose(bound.along(most), each)


def test_a_certificate_holds_by_more_than_rounding():
    """Genes that are as good but for rounding stay open."""
    error, start = 0.4, 2.0
    beyond = error + ROUNDING * start * np.array([0.5, 2.0])
    for tolerance in (0.0, 0.1):
        above = beyond + tolerance * (start - error)
        for holding, lacking, states in (
            (above, np.full(2, -np.inf), ["open", "none"]),
            (np.full(2, -np.inf), above, ["open", "every"]),
        ):
            assert Certificates(holding, lacking, error, start).of(tolerance).tolist() == states


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs an extended precision")
def test_rounding_is_far_below_what_is_left_for_it(random_errors):
    """The bound anew, from the same weights, in extended precision."""
    (block,) = random_errors(0, n_genes=80, rank=20)
    size = 10
    choice = relaxed([block], Polytope.of(Rows.of((), 80), size), np.zeros(80), gap=1e-9)
    genes, beta = block.genes.astype(np.longdouble), choice.beta.astype(np.longdouble)
    covariance = inverse(np.eye(20) + (genes.T * beta) @ genes)
    value = block.weights @ np.diag(covariance)
    curved = (covariance * block.weights) @ covariance
    gradient = -np.einsum("ij,jk,ik->i", genes, curved, genes)
    exact = Linear(value - gradient @ beta, gradient)
    first = np.argsort(gradient)[:size]
    assert abs(exact.level + gradient[first].sum() - choice.bound.least(size)) < 1e-5 * ROUNDING


def inverse(matrix):
    """By Gauss's elimination, in the precision of the matrix, which needs no pivots."""
    rank = len(matrix)
    both = np.concatenate([matrix, np.eye(rank)], axis=1)
    for row in range(rank):
        both[row] /= both[row, row]
        others = np.arange(rank) != row
        both[others] -= np.outer(both[others, row], both[row])
    return both[:, rank:]
