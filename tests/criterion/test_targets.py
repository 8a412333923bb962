"""W against its definitions, and what it must not depend on."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from refusals import refused

from glfs_bio.criterion.criterion import (
    NOISE,
    NOISE_OF_CELLS,
    POWER,
    Criterion,
    Target,
    TermOfCells,
    expression_matrix,
    genes_matrix,
    label_matrix,
    structure_matrix,
    value_matrix,
)
from glfs_bio.errors import InvalidValue

CODES = np.repeat([0, 1, 2], 20)
PANEL = np.array([4, 0, 6])


def of_problem(problem, noise):
    """Genes and Z of a problem, from its pieces."""
    kappa, basis = np.linalg.eigh(problem.stiffness)
    lambda2 = noise * problem.n_cells * kappa.sum() / len(kappa)
    genes = problem.projections * problem.units[:, None] @ basis * np.sqrt(kappa / lambda2)
    return genes, problem.basis @ basis / np.sqrt(kappa)


def power(matrix, exponent):
    values, basis = np.linalg.eigh(matrix)
    return (basis * np.where(values > 1e-12 * values[-1], values, 0.0) ** exponent) @ basis.T


@pytest.fixture
def cells(problems):
    """Cells of each problem."""
    every = np.arange(60)
    return [every] if len(problems) == 1 else [every[::2], every[1::2]]


@pytest.fixture
def criterion_of(problems, cells):
    """The criterion that keeps some terms, each with its weight or alone."""

    def make(*terms, weights=None):
        pairs = tuple(term if isinstance(term, tuple) else (term, 1.0) for term in terms)
        return Criterion(problems, [Target(pairs, weights).rows(part) for part in cells])

    return make


@pytest.fixture
def is_definition(problems):
    """F of three panels is the mean of ``Tr(W (I + Σ g gᵀ)⁻¹)`` over the problems."""

    def check(criterion, matrices, noise):
        for panel in ([0], [1, 5], [2, 3, 7, 11]):
            total = 0.0
            for problem, matrix in zip(problems, matrices, strict=True):
                genes = of_problem(problem, noise)[0][panel]
                inverse = np.linalg.inv(np.eye(len(matrix)) + genes.T @ genes)
                total += np.trace(matrix @ inverse) / np.trace(matrix) / len(problems)
            assert criterion.errors(np.array(panel))[-1] == pytest.approx(total, rel=1e-6)

    return check


def test_labels(problems, cells, criterion_of, is_definition):
    """Pairs of class means of Z, each of norm 1; whatever numbers the labels have."""
    matrices = []
    for problem, part in zip(problems, cells, strict=True):
        _, z = of_problem(problem, 1.0)
        means = [z[CODES[part] == code].mean(axis=0) for code in range(3)]
        total = 0.0
        for a in range(3):
            for b in range(a):
                apart = (means[a] - means[b]) / np.linalg.norm(means[a] - means[b])
                total = total + np.outer(apart, apart)
        matrices.append(power(total, POWER))
    for codes in (CODES, np.array([7, 2, 40])[CODES]):
        is_definition(criterion_of(TermOfCells(codes, label_matrix)), matrices, NOISE_OF_CELLS)


def test_values(problems, cells, criterion_of, is_definition):
    """Numbers of the cells, centred, with squares that sum to 1."""
    values = np.random.default_rng(0).normal(size=(60, 2)) * [1.0, 1e6] + CODES[:, None]
    matrices = []
    for problem, part in zip(problems, cells, strict=True):
        _, z = of_problem(problem, 1.0)
        centred = values[part] - values[part].mean(axis=0)
        seen = z.T @ (centred / np.linalg.norm(centred, axis=0))
        matrices.append(power(seen @ seen.T, POWER))
    is_definition(criterion_of(TermOfCells(values, value_matrix)), matrices, NOISE_OF_CELLS)


def test_genes_and_structure(problems, criterion_of, is_definition, above_noise):
    """A sum of terms, each of trace 1 before it is weighted."""
    some = np.array([1, 4, 9])
    matrices = []
    for problem in problems:
        genes, _ = of_problem(problem, NOISE)
        kappa, basis = np.linalg.eigh(problem.stiffness)
        in_units = problem.projections * problem.units[:, None] @ above_noise(problem)
        structure = in_units @ basis * np.sqrt(kappa)
        few, every = genes[some].T @ genes[some], power(structure.T @ structure, POWER)
        matrices.append(3.0 * few / np.trace(few) + every / np.trace(every))
    is_definition(
        criterion_of((partial(genes_matrix, some), 3.0), structure_matrix), matrices, NOISE
    )


def test_expression(problems, criterion_of, is_definition):
    """All genes in the units of the matrix; those that are measured stay in units of noise."""
    matrices = []
    for problem in problems:
        expressed = of_problem(problem, NOISE)[0] / problem.units[:, None]
        matrices.append(expressed.T @ expressed)
    is_definition(criterion_of(expression_matrix), matrices, NOISE)


def test_a_weight_of_two_is_two_cells(problems, above_noise):
    """Genes in the span of V: their covariance with V, every cell counted by its weight."""
    problem = problems[0]
    weights = np.random.default_rng(1).integers(0, 4, problem.n_cells).astype(float)
    kappa, basis = np.linalg.eigh(problem.stiffness)
    lambda2 = NOISE * problem.n_cells * kappa.sum() / len(kappa)
    genes = problem.projections * problem.units[:, None] @ above_noise(problem)
    inside = problem.basis @ genes.T
    counted = inside.T @ (problem.basis * (weights / weights.mean())[:, None])
    genes = counted @ basis * np.sqrt(kappa / lambda2)
    expected = power(genes.T @ genes, POWER)
    matrix = Target(weights=weights).matrix(problem)
    np.testing.assert_allclose(matrix, expected / np.trace(expected), atol=1e-12)


OF_CELLS = TermOfCells(CODES, label_matrix), TermOfCells(CODES[:, None] * 1.0, value_matrix)
OF_GENES = structure_matrix, expression_matrix, partial(genes_matrix, np.array([0, 2]))


@pytest.mark.parametrize("term", [*OF_CELLS, *OF_GENES], ids=lambda term: type(term).__name__)
def test_weights_that_are_all_alike_change_nothing(criterion_of, term):
    plain = criterion_of(term).errors(PANEL)
    for weight in (1.0, 7.0):
        weighted = criterion_of(term, weights=np.full(60, weight)).errors(PANEL)
        np.testing.assert_allclose(weighted, plain, rtol=1e-9)


def test_cells_without_a_label_or_number_count_for_nothing(criterion_of):
    """Whatever stands there, and like cells of weight 0."""
    known = np.arange(60) % 3 > 0
    values = CODES[:, None] * 1.0
    for unknown, every in (
        (TermOfCells(np.where(known, CODES, -1), label_matrix), TermOfCells(CODES, label_matrix)),
        (
            TermOfCells(np.where(known[:, None], values, np.nan), value_matrix),
            TermOfCells(values, value_matrix),
        ),
    ):
        ignored = criterion_of(every, weights=known.astype(float))
        errors = criterion_of(unknown).errors(PANEL)
        np.testing.assert_allclose(errors, ignored.errors(PANEL), rtol=1e-9)


def test_a_set_of_cells_without_any_of_it_is_left_out(problems, cells, criterion_of):
    """With one label in it, or no cell that has one."""
    codes = np.where(np.isin(np.arange(60), cells[0]), CODES, -1)
    alone = Criterion(
        problems[:1], [Target(((TermOfCells(codes, label_matrix), 1.0),)).rows(cells[0])]
    )
    errors = criterion_of(TermOfCells(codes, label_matrix)).errors(PANEL)
    np.testing.assert_allclose(errors, alone.errors(PANEL), rtol=1e-12)
    with refused(InvalidValue, "preserve"):
        criterion_of(TermOfCells(np.zeros(60, int), label_matrix))
