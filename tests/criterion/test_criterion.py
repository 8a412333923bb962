"""The one criterion for panels against its definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion.criterion import Criterion, units_of_noise
from glfs_bio.criterion.instrument import Instrument
from glfs_bio.options import Request, StructureSpec
from glfs_bio.selection import Candidates, rank_genes

ORDER = np.array([7, 0, 3, 11, 5])
EVERY = np.arange(12)


def test_errors_are_the_definition(criterion, by_definition):
    expected = [by_definition(ORDER[:size]) for size in range(len(ORDER) + 1)]
    np.testing.assert_allclose(criterion.errors(ORDER), expected, rtol=1e-10)
    assert expected[0] == pytest.approx(1.0)
    assert criterion.scale == pytest.approx(1.0 - by_definition(EVERY), rel=1e-8)


def test_all_genes_keep_all(criterion):
    kept = criterion.preserved(EVERY)
    assert kept[-1] == pytest.approx(1.0, rel=1e-9)
    assert (np.diff(kept) > 0).all()
    assert kept[0] > 0


def test_share_that_is_kept(criterion, by_definition):
    scale = 1.0 - by_definition(EVERY)
    expected = [(1.0 - by_definition(ORDER[: size + 1])) / scale for size in range(len(ORDER))]
    np.testing.assert_allclose(criterion.preserved(ORDER), expected, rtol=1e-10)


def test_kept_does_not_depend_on_the_order(criterion):
    assert criterion.preserved(ORDER)[-1] == pytest.approx(
        criterion.preserved(ORDER[::-1])[-1], rel=1e-9
    )


def test_losses_are_differences(criterion, by_definition):
    """In the units of what is kept: a share of what all genes keep."""
    scale = 1.0 - by_definition(EVERY)
    expected = [
        (by_definition([gene for gene in ORDER if gene != out]) - by_definition(ORDER)) / scale
        for out in ORDER
    ]
    np.testing.assert_allclose(criterion.losses(ORDER), expected, rtol=1e-10)
    kept = criterion.preserved(ORDER)
    assert criterion.losses(ORDER)[-1] == pytest.approx(kept[-1] - kept[-2], rel=1e-7)


def test_what_an_instrument_detects(problems, by_definition):
    """All genes count for what is to be kept, and the panel's as the instrument measures them."""
    instrument = Instrument(np.linspace(0.0, 1.0, 12))
    there = Criterion(problems, instrument=instrument)
    lengths = [
        instrument.longer(np.ones((12, 1)), problem, there.targets[0].noise) for problem in problems
    ]
    expected = [by_definition(ORDER[:size], lengths) for size in range(len(ORDER) + 1)]
    np.testing.assert_allclose(there.errors(ORDER), expected, rtol=1e-10)
    assert there.scale == pytest.approx(1.0 - by_definition(EVERY, lengths), rel=1e-8)
    assert there.losses(ORDER)[1] == pytest.approx(0.0, abs=1e-12)


def test_a_gene_is_as_long_as_its_signal_on_the_instrument(problems):
    """Its direction stays, and a gene that does not vary in the reference has none."""
    signal = np.linspace(0.0, 3.0, 12)
    there = Criterion(problems, instrument=Instrument(np.ones(1), signal))
    here = Criterion(problems)
    for own, block, target in zip(here.blocks, there.blocks, there.targets, strict=True):
        squares = (block.genes**2).sum(axis=1)
        np.testing.assert_allclose(squares, signal / target.noise, rtol=1e-10)
        norms = np.linalg.norm(own.genes, axis=1) * np.sqrt(squares)
        np.testing.assert_allclose((own.genes * block.genes).sum(axis=1), norms, rtol=1e-10)


def test_batches_are_averaged(problems, criterion):
    alone = [Criterion([problem]) for problem in problems]
    np.testing.assert_allclose(
        criterion.errors(ORDER), np.mean([one.errors(ORDER) for one in alone], axis=0), rtol=1e-9
    )
    assert criterion.scale == pytest.approx(np.mean([one.scale for one in alone]))
    assert criterion.rank == sum(one.rank for one in alone)
    assert criterion.n_genes == 12


def test_cells_twice_are_the_same_as_once(clusters):
    """As two batches that are alike: a mean, not a sum."""
    options = StructureSpec(n_comps=5, n_neighbors=5)
    once = Criterion(build_problems(clusters, options))
    batch = np.repeat(["a", "b"], len(clusters))
    twice = Criterion(build_problems(np.vstack([clusters, clusters]), options, batch=batch))
    np.testing.assert_allclose(
        twice.preserved(np.arange(8)), once.preserved(np.arange(8)), rtol=1e-8
    )


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
    some = replace(Candidates.of(40), allowed=np.isin(np.arange(40), candidates))
    ranking = rank_genes(clusters, request, candidates=some)
    panel = candidates[ranking.order[:6]]
    criterion = Criterion(build_problems(clusters, request.resolved_structure))
    np.testing.assert_allclose(ranking.preserved, criterion.preserved(panel), rtol=1e-9)
    np.testing.assert_allclose(
        ranking.losses[ranking.order[:6]], criterion.losses(panel), rtol=1e-9
    )
    fixed = rank_genes(clusters, request, candidates=Candidates.of(40, panel))
    assert fixed.preserved[-1] == pytest.approx(ranking.preserved[-1], rel=1e-9)
