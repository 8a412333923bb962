"""W against its definitions, and what it must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio.criterion.criterion import (
    NOISE,
    NOISE_OF_CELLS,
    POWER,
    Criterion,
    StructureTerm,
    Target,
)
from glfs_bio.criterion.targets import ExpressionTerm, GenesTerm, LabelsTerm, ValuesTerm
from glfs_bio.errors import InvalidValue

CODES = np.repeat([0, 1, 2], 20)


def of_problem(problem, noise):
    """Genes and Z of a problem, from its pieces."""
    kappa, basis = np.linalg.eigh(problem.stiffness)
    lambda2 = noise * problem.n_cells * kappa.sum() / len(kappa)
    genes = problem.projections * problem.units[:, None] @ basis * np.sqrt(kappa / lambda2)
    return genes, problem.basis @ basis / np.sqrt(kappa)


def power(matrix, exponent):
    values, basis = np.linalg.eigh(matrix)
    return (basis * np.where(values > 1e-12 * values[-1], values, 0.0) ** exponent) @ basis.T


def errors(problems, wanted, matrices, noise):
    """F of three panels by the class, and as the mean of ``Tr(W (I + Σ g gᵀ)⁻¹)``."""
    found, expected = [], []
    criterion = Criterion(problems, wanted)
    for panel in ([0], [1, 5], [2, 3, 7, 11]):
        found.append(criterion.errors(np.array(panel))[-1])
        total = 0.0
        for problem, matrix in zip(problems, matrices, strict=True):
            genes = of_problem(problem, noise)[0][panel]
            inverse = np.linalg.inv(np.eye(len(matrix)) + genes.T @ genes)
            total += np.trace(matrix @ inverse) / np.trace(matrix) / len(problems)
        expected.append(total)
    return found, expected


@pytest.fixture
def cells(problems):
    """Cells of each problem."""
    every = np.arange(60)
    return [every] if len(problems) == 1 else [every[::2], every[1::2]]


def test_labels(problems, cells):
    """Pairs of class means of Z, each of norm 1."""
    matrices = []
    for problem, own in zip(problems, cells, strict=True):
        _, z = of_problem(problem, 1.0)
        means = [z[CODES[own] == code].mean(axis=0) for code in range(3)]
        total = 0.0
        for a in range(3):
            for b in range(a):
                apart = (means[a] - means[b]) / np.linalg.norm(means[a] - means[b])
                total = total + np.outer(apart, apart)
        matrices.append(power(total, POWER))
    wanted = [Target(((LabelsTerm(CODES), 1.0),)).rows(own) for own in cells]
    found, expected = errors(problems, wanted, matrices, NOISE_OF_CELLS)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_values(problems, cells):
    """Numbers of the cells, centred, with squares that sum to 1."""
    values = np.random.default_rng(0).normal(size=(60, 2)) * [1.0, 1e6] + CODES[:, None]
    matrices = []
    for problem, own in zip(problems, cells, strict=True):
        _, z = of_problem(problem, 1.0)
        centred = values[own] - values[own].mean(axis=0)
        seen = z.T @ (centred / np.linalg.norm(centred, axis=0))
        matrices.append(power(seen @ seen.T, POWER))
    wanted = [Target(((ValuesTerm(values), 1.0),)).rows(own) for own in cells]
    found, expected = errors(problems, wanted, matrices, NOISE_OF_CELLS)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_genes_and_structure(problems, cells, above_noise):
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
    terms = ((GenesTerm(some), 3.0), (StructureTerm(), 1.0))
    wanted = [Target(terms).rows(own) for own in cells]
    found, expected = errors(problems, wanted, matrices, NOISE)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_expression(problems, cells):
    """All genes in the units of the matrix; those that are measured stay in units of noise."""
    matrices = []
    for problem in problems:
        genes, _ = of_problem(problem, NOISE)
        expressed = genes / problem.units[:, None]
        matrices.append(expressed.T @ expressed)
    wanted = [Target(((ExpressionTerm(), 1.0),)).rows(own) for own in cells]
    found, expected = errors(problems, wanted, matrices, NOISE)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_structure_is_what_is_kept_by_default(problems):
    panel = np.array([3, 1, 8])
    np.testing.assert_array_equal(
        Criterion(problems).errors(panel),
        Criterion(problems, [Target()] * len(problems)).errors(panel),
    )


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
    weighted = Target(weights=weights)
    found = weighted.matrix(problem)
    np.testing.assert_allclose(found, expected / np.trace(expected), atol=1e-12)


@pytest.mark.parametrize(
    "term",
    [
        StructureTerm(),
        ExpressionTerm(),
        GenesTerm(np.array([0, 2])),
        LabelsTerm(CODES),
        ValuesTerm(CODES[:, None] * 1.0),
    ],
)
def test_weights_that_are_all_alike_change_nothing(problems, cells, term):
    for weights in (np.full(60, 1.0), np.full(60, 7.0)):
        plain, weighted = (
            Criterion(problems, [Target(((term, 1.0),), how).rows(own) for own in cells])
            for how in (None, weights)
        )
        panel = np.array([4, 0, 6])
        np.testing.assert_allclose(weighted.errors(panel), plain.errors(panel), rtol=1e-9)


def test_cells_without_a_label_or_number_count_for_nothing(problems, cells):
    """Whatever stands there, and like cells of weight 0."""
    panel = np.array([4, 0, 6])
    known = np.arange(60) % 3 > 0
    codes = np.where(known, CODES, -1)
    values = np.where(known, CODES * 1.0, np.nan)[:, None]
    for unknown, every in (
        (LabelsTerm(codes), LabelsTerm(CODES)),
        (ValuesTerm(values), ValuesTerm(CODES[:, None] * 1.0)),
    ):
        without = Criterion(problems, [Target(((unknown, 1.0),)).rows(own) for own in cells])
        weighted = Target(((every, 1.0),), known.astype(float))
        ignored = Criterion(problems, [weighted.rows(own) for own in cells])
        np.testing.assert_allclose(without.errors(panel), ignored.errors(panel), rtol=1e-9)


def test_labels_may_have_any_numbers(problems, cells):
    panel = np.array([4, 0, 6])
    found = [
        Criterion(
            problems, [Target(((LabelsTerm(codes), 1.0),)).rows(own) for own in cells]
        ).errors(panel)
        for codes in (CODES, np.array([7, 2, 40])[CODES])
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_a_set_of_cells_without_any_of_it_is_left_out(problems, cells):
    """With one label in it, or no cell that has one."""
    codes = np.where(np.isin(np.arange(60), cells[0]), CODES, -1)
    wanted = [Target(((LabelsTerm(codes), 1.0),)).rows(own) for own in cells]
    alone = Criterion(problems[:1], wanted[:1])
    panel = np.array([4, 0, 6])
    np.testing.assert_allclose(
        Criterion(problems, wanted).errors(panel), alone.errors(panel), rtol=1e-12
    )


def test_nothing_to_keep_is_refused(problems, cells):
    wanted = [Target(((LabelsTerm(np.zeros(60, int)), 1.0),)).rows(own) for own in cells]
    with refused(InvalidValue, "preserve"):
        Criterion(problems, wanted)
