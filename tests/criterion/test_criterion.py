"""The one criterion for panels against its definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.criterion.criterion import Criterion, units_of_noise
from glfs_bio.criterion.platform import Detection
from glfs_bio.options import Request
from glfs_bio.selection import rank_genes
from glfs_bio.solvers.panel import Problem

ORDER = np.array([7, 0, 3, 11, 5])
EVERY = np.arange(12)


def test_it_is_the_definition(criterion, by_definition):
    """Errors; what is preserved and lost, as a share of what all genes preserve."""
    errors = np.array([by_definition(ORDER[:size]) for size in range(len(ORDER) + 1)])
    np.testing.assert_allclose(criterion.errors(ORDER), errors, rtol=1e-10)
    assert errors[0] == pytest.approx(1.0)
    scale = 1.0 - by_definition(EVERY)
    assert criterion.scale == pytest.approx(scale, rel=1e-8)
    preserved = criterion.preserved(ORDER)
    np.testing.assert_allclose(preserved, (1.0 - errors[1:]) / scale, rtol=1e-10)
    assert criterion.preserved(ORDER[::-1])[-1] == pytest.approx(preserved[-1], rel=1e-9)
    without = np.array([by_definition(np.setdiff1d(ORDER, gene)) for gene in ORDER])
    losses = criterion.losses(ORDER)
    np.testing.assert_allclose(losses, (without - errors[-1]) / scale, rtol=1e-10)
    assert losses[-1] == pytest.approx(preserved[-1] - preserved[-2], rel=1e-7)
    of_all = criterion.preserved(EVERY)
    assert of_all[-1] == pytest.approx(1.0, rel=1e-9)
    assert (np.diff(of_all, prepend=0.0) > 0).all()


def test_what_an_instrument_detects(problems, by_definition):
    """All genes count for what is to be kept, and the panel's as the instrument measures them."""
    instrument = Detection(np.linspace(0.0, 1.0, 12))
    there = Criterion(problems, instrument=instrument)
    lengths = [
        instrument.gain(np.ones((12, 1)), problem, there.targets[0].noise) for problem in problems
    ]
    expected = [by_definition(ORDER[:size], lengths) for size in range(len(ORDER) + 1)]
    np.testing.assert_allclose(there.errors(ORDER), expected, rtol=1e-10)
    assert there.scale == pytest.approx(1.0 - by_definition(EVERY, lengths), rel=1e-8)
    assert there.losses(ORDER)[1] == pytest.approx(0.0, abs=1e-12)


def test_a_gene_is_as_long_as_its_signal_on_the_instrument(problems):
    """Its direction stays, and a gene that does not vary in the reference has none."""
    signal = np.linspace(0.0, 3.0, 12)
    there = Criterion(problems, instrument=Detection(signal=signal))
    here = Criterion(problems)
    for plain, block, target in zip(here.blocks, there.blocks, there.targets, strict=True):
        squares = (block.genes**2).sum(axis=1)
        np.testing.assert_allclose(squares, signal / target.noise, rtol=1e-10)
        norms = np.linalg.norm(plain.genes, axis=1) * np.sqrt(squares)
        np.testing.assert_allclose((plain.genes * block.genes).sum(axis=1), norms, rtol=1e-10)


def test_batches_are_averaged(problems, criterion):
    each = [Criterion([problem]) for problem in problems]
    errors = np.mean([alone.errors(ORDER) for alone in each], axis=0)
    np.testing.assert_allclose(criterion.errors(ORDER), errors, rtol=1e-9)
    assert criterion.scale == pytest.approx(np.mean([alone.scale for alone in each]))
    assert criterion.rank == sum(alone.rank for alone in each)
    assert criterion.n_genes == 12


def test_cells_twice_are_the_same_as_once(clusters):
    """As two batches that are alike: a mean, not a sum."""
    options = StructureSpec(n_comps=5, n_neighbors=5)
    once = Criterion(build_cells(clusters, options))
    batch = np.repeat(["a", "b"], len(clusters))
    twice = Criterion(build_cells(np.vstack([clusters, clusters]), options, batch=batch))
    np.testing.assert_allclose(twice.preserved(EVERY), once.preserved(EVERY), rtol=1e-8)


def test_one_measurement_is_the_unit_of_weight(problems):
    for problem in problems:
        expected = problem.n_cells * np.trace(problem.stiffness) / len(problem.stiffness)
        assert units_of_noise(problem) == pytest.approx(expected)
        louder = replace(problem, noise_level=4.0)
        assert units_of_noise(louder) == pytest.approx(4.0 * expected)


@pytest.mark.parametrize("method", ["glfs", "variance", "laplacian_score"])
def test_genes_that_may_not_be_chosen_are_still_to_be_kept(clusters, method):
    """The scale is that of all genes, whatever genes may be in the panel."""
    request = Request.of(6, method=method, n_comps=8, n_neighbors=5)
    candidates = np.arange(1, 40, 2)
    some = replace(Problem.of(40), allowed=np.isin(np.arange(40), candidates))
    ranking = rank_genes(clusters, request, problem=some)
    panel = candidates[ranking.order[:6]]
    criterion = Criterion(build_cells(clusters, request.resolved_structure))
    np.testing.assert_allclose(ranking.preserved, criterion.preserved(panel), rtol=1e-9)
    losses = ranking.losses[ranking.order[:6]]
    np.testing.assert_allclose(losses, criterion.losses(panel), rtol=1e-9)
    fixed = rank_genes(clusters, request, problem=Problem.of(40, panel))
    assert fixed.preserved[-1] == pytest.approx(ranking.preserved[-1], rel=1e-9)
