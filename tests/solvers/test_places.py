"""Free places of a panel, by brute force over all joint choices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from all_panels import OfBlocks, at_least, at_most

from glfs_bio.criterion.panel import MeasuredPanel
from glfs_bio.solvers.certificate import ROUNDING
from glfs_bio.solvers.constraints import Rows
from glfs_bio.solvers.places import MOST, free_places


@pytest.fixture
def measured_of(random_errors, by_inverse):
    """A panel, the best of some random ones, of a random error that adds up over blocks."""

    def make(seed, *, n_blocks=1, n_panel=4, n_genes=12, rank=5, correlated=0.0):
        rng = np.random.default_rng(seed)
        blocks = random_errors(seed, n_blocks=n_blocks, n_genes=n_genes, rank=rank)
        for block in blocks:  # genes come in groups of two that are alike
            block.genes[1::2] *= 1.0 - correlated
            block.genes[1::2] += correlated * block.genes[::2][: n_genes // 2]

        def error(panel):
            beta = np.zeros(n_genes)
            beta[list(panel)] = 1.0
            return float(by_inverse(blocks, beta))

        panels = [rng.choice(n_genes, n_panel, replace=False) for _ in range(40)]
        return MeasuredPanel(OfBlocks(blocks), min(panels, key=error)), error

    return make


def places_in(measured, tolerance, may=None, *, anything=True, kin=None):
    """Free places of a panel where other genes may stand."""
    n_genes, panel = measured.criterion.n_genes, measured.genes
    at = np.arange(len(panel))
    outside = np.tile(~np.isin(np.arange(n_genes), panel), (len(panel), 1))
    may = outside if may is None else outside & may
    losses = sum(posterior.losses() for posterior in measured.posteriors)
    empty = np.where(may.any(axis=1) & anything, losses / measured.criterion.scale, np.inf)
    lost = measured.substitutions().lost
    return may, free_places(measured, at, may, lost, empty, tolerance=tolerance, kin=kin)


def choices(measured, free):
    """Every panel that a user may make of free places: any gene or none where any may stand."""
    n_genes, panel = measured.criterion.n_genes, measured.genes
    stay = [gene for gene in panel if gene not in [place.gene for place in free.places]]
    each = [
        [place.gene, None, *(gene for gene in range(n_genes) if gene not in panel)]
        if place.anything
        else [place.gene, *place.others]
        for place in free.places
    ]
    for some in product(*each):
        yield [*stay, *(gene for gene in some if gene is not None)]


@pytest.mark.parametrize("n_blocks", [1, 2, 3])
def test_no_choice_loses_more(measured_of, n_blocks):
    for seed in range(n_blocks - 1, 150, 3):
        rng = np.random.default_rng(seed)
        measured, error = measured_of(
            seed,
            n_blocks=n_blocks,
            n_panel=int(rng.integers(2, 6)),
            rank=int(rng.integers(2, 7)),
            correlated=float(rng.choice([0.0, 0.5, 0.9])),
        )
        tolerance = float(rng.choice([0.005, 0.05, 0.2, 0.5]))
        _, free = places_in(measured, tolerance, anything=bool(seed % 2))
        assert 0.0 <= free.lost <= tolerance
        offered = [gene for place in free.places for gene in place.others.tolist()]
        assert len(offered) == len(set(offered))
        assert not set(offered) & set(measured.genes.tolist())
        for place in free.places:
            assert place.anything == (not len(place.others))
            assert place.anything <= bool(seed % 2)
            assert len(place.others) <= MOST
        start, now = error([]), error(measured.genes)
        worst = max(error(panel) for panel in choices(measured, free))
        assert worst - now <= free.lost * (start - now) + ROUNDING * start


def test_places_are_found(measured_of):
    """In most of the random problems, for genes that are alike, and the more may be lost."""
    panels = [measured_of(seed, correlated=0.9)[0] for seed in range(20)]
    numbers = {
        tolerance: [len(places_in(measured, tolerance)[1].places) for measured in panels]
        for tolerance in (0.0, 0.02, 0.1, 0.3)
    }
    totals = [sum(of_seeds) for of_seeds in numbers.values()]
    assert totals == sorted(totals)
    assert totals[0] < totals[1] < totals[-1]
    assert sum(n > 0 for n in numbers[0.1]) > 15


def test_a_copy_may_stand_for_its_gene_whatever_else(measured_of):
    """Copies of all genes of a panel are exchanged at no loss, and all at once."""
    measured, _ = measured_of(3, n_panel=5)
    panel = measured.genes
    copies = [gene for gene in range(12) if gene not in panel][:5]
    for block in measured.criterion.blocks:
        block.genes[copies] = block.genes[panel]
    may = np.zeros((5, 12), dtype=bool)
    may[np.arange(5), copies] = True
    _, free = places_in(MeasuredPanel(measured.criterion, panel), 1e-6, may, anything=False)
    pairs = {(place.gene, *place.others) for place in free.places}
    assert pairs == set(zip(panel.tolist(), copies, strict=True))
    assert free.lost == pytest.approx(0.0, abs=1e-9)


def test_only_genes_that_may_stand_there(measured_of):
    measured, _ = measured_of(5, correlated=0.9, n_panel=5)
    kin = np.arange(12) // 4
    some = np.random.default_rng(0).random((5, 12)) < 0.7
    some[2] = False
    may, free = places_in(measured, 0.5, some, anything=False, kin=kin)
    at = measured.genes.tolist()
    assert free.places
    owners = {}
    for place in free.places:
        assert may[at.index(place.gene), place.others].all()
        for gene in place.others:
            assert owners.setdefault(kin[gene], place.gene) == place.gene
    assert measured.genes[2] not in [place.gene for place in free.places]
    assert not places_in(measured, 0.5, np.zeros((5, 12), dtype=bool))[1].places
    measured.criterion.largest = True  # of the largest of errors there are none
    assert not places_in(measured, 0.5)[1].places


def test_all_choices_are_within_limits(measured_of):
    """With genes that use no more, and give no less, than those in whose place they stand."""
    n_free = 0
    for seed in range(30):
        measured, _ = measured_of(seed, correlated=0.9, n_panel=5)
        panel, every = measured.genes, np.arange(12)
        cost = np.random.default_rng(seed).integers(1, 4, 12).astype(float)
        budget = at_most(cost[panel].sum(), every, "budget", values=cost)
        rows = Rows.of([budget, at_least((panel % 2 == 0).sum(), every[::2])], 12)
        may = np.array([rows.no_worse(gene) for gene in panel])
        _, free = places_in(measured, 0.5, may, anything=False)
        n_free += len(free.places)
        for chosen in choices(measured, free):
            assert rows.hold(np.isin(every, chosen).astype(float))
    assert n_free > 30
