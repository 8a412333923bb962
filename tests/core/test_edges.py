"""What only odd problems reach: each has an answer, or a message that says what to do."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.core import checks, memory, newton, owlqn, path, thinning
from glfs_bio.core._kernels import quadratic_forms
from glfs_bio.core.block import Block
from glfs_bio.core.passes import Cells
from glfs_bio.core.problem import build_problem
from glfs_bio.core.variance import Variance


def variance_of(genes, weights=None, objective="exact"):
    weights = np.linspace(1.0, 5.0, genes.shape[1]) if weights is None else weights
    return Variance(Block.of(genes, np.diag(weights), objective))


@pytest.fixture
def variance():
    return variance_of(np.random.default_rng(0).normal(size=(30, 5)))


@pytest.fixture
def unlike():
    """Genes and directions of sizes so unlike that no λ balances them for the printed formula."""
    rng = np.random.default_rng(3)
    genes = rng.normal(size=(8, 4)) * 10.0 ** rng.uniform(-2, 2, size=(8, 1))
    genes[4:] *= 0.01
    root = 100.0 * rng.normal(size=(4, 4))
    return Variance(Block.of(genes, np.eye(4) + root @ root.T, "printed"))


@pytest.mark.parametrize("loop", [quadratic_forms, quadratic_forms.py_func])
def test_quadratic_forms_compiled_or_not(loop):
    rng = np.random.default_rng(0)
    data = sparse.csr_array(rng.normal(size=(12, 7)) * (rng.uniform(size=(12, 7)) < 0.4))
    form = rng.normal(size=(12, 12)) * (rng.uniform(size=(12, 12)) < 0.3)
    form = sparse.csr_array(form + form.T)
    twice = sparse.csr_array(  # an entry that is there twice counts as their sum
        (np.r_[data.data[:1] / 2, data.data[:1] / 2, data.data[1:]],
         np.r_[data.indices[:1], data.indices], np.r_[0, data.indptr[1:] + 1]),
        shape=data.shape,
    )  # fmt: skip
    dense = data.toarray()
    expected = np.einsum("ij,ik,kj->j", dense, form.toarray(), dense)
    for x in (data, twice):
        found = loop(x.indptr, x.indices, x.data, form.indptr, form.indices, form.data, 7)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("solver", [newton, owlqn])
def test_more_than_rounding_allows_ends_and_is_not_called_converged(variance, solver):
    beta, lam = path.start(variance)
    solution = solver.minimise(variance, beta, lam, tol=0.0)
    assert not solution.converged
    assert solution.kkt < 1e-12


def test_no_step_at_all_is_said(variance):
    beta, lam = path.start(variance)
    solution = owlqn.minimise(variance, beta, lam, max_iter=0)
    assert not solution.converged
    np.testing.assert_array_equal(solution.beta, beta)


def test_sizes_that_no_lambda_balances(unlike):
    with pytest.raises(path.Collapse, match=r"No λ balances the genes.*Standardize them"):
        path.start(unlike)


def test_lambda_below_rounding(variance):
    with pytest.raises(ValueError, match="is smaller than rounding allows"):
        path.walk_to(variance, 1e-40)


def test_line_search_where_every_lambda_collapses(variance, monkeypatch):
    begin = path.start
    monkeypatch.setattr(path, "start", lambda *_: (begin(variance)[0], 1e30))
    with pytest.raises(path.Collapse, match="found no λ that keeps a gene"):
        path.line_search(variance)


def test_thinning_goes_back_where_too_few_would_be_left(variance):
    beta, lam = path.start(variance)
    kept, balanced = thinning.thin(variance, beta, lam, most=4, least=29)
    assert np.count_nonzero(kept) >= 29
    assert 0 < balanced < newton.minimise(variance, beta, lam).lam * 1e3


def test_coordinates_that_are_all_alike(clusters):
    with pytest.raises(ValueError, match="coordinates of the cells are all alike"):
        build_problem(clusters, representation=np.ones((90, 3)))


def test_a_matrix_object(clusters):
    with pytest.warns(PendingDeprecationWarning):  # NumPy's own
        cells = Cells(np.matrix(clusters))
    assert type(cells.source) is np.ndarray
    np.testing.assert_array_equal(cells.source, clusters)


def test_a_system_that_does_not_say_its_memory(monkeypatch):
    def unknown(_):
        raise OSError

    with pytest.raises(ValueError, match="n_comps=None takes about"):
        memory.full_rank_fits(10**7, 10**6)
    monkeypatch.setattr(os, "sysconf", unknown)
    memory.full_rank_fits(10**7, 10**6)


def test_a_generator_is_a_seed_for_estimators_only():
    state = np.random.RandomState(0)
    checks.seed(state, state_too=True)
    checks.seed(None)
    with pytest.raises(TypeError, match="must be an integer from 0"):
        checks.seed(state)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int8])
def test_numbers_of_numpy_are_numbers(kind):
    checks.number("lambda1", kind(3))
    with pytest.raises(ValueError, match=r"lambda1=.* must be a finite number"):
        checks.number("lambda1", kind(-3))
    if kind is not np.int8:
        with pytest.raises(ValueError, match=r"lambda1=.* must be a finite number"):
            checks.number("lambda1", kind("inf"))
