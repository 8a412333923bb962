"""Greedy selection against explicit inverses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from glfs_bio.core.block import Block
from glfs_bio.core.greedy import Greedy


def blocks(n_blocks=1, d=12, r=5, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n_blocks):
        root = rng.normal(size=(r, r))
        made.append(Block.of(rng.normal(size=(d, r)), np.eye(r) + root @ root.T))
    return made


def trace(block, genes):
    """Tr(M E), with E by an explicit inverse."""
    chosen = block.genes[list(genes)]
    return np.trace(np.diag(block.outer) @ np.linalg.inv(np.eye(5) + chosen.T @ chosen))


def log_determinant(block, genes):
    chosen = block.genes[list(genes)]
    return -np.linalg.slogdet(np.eye(5) + chosen.T @ chosen)[1]


VALUES = {"trace": trace, "determinant": log_determinant}


@pytest.mark.parametrize("criterion", VALUES)
@pytest.mark.parametrize("n_blocks", [1, 3])
def test_every_gene_is_the_one_that_gains_most(criterion, n_blocks):
    parts = blocks(n_blocks)
    greedy = Greedy(parts, criterion)
    greedy.grow(12)

    def value(genes):
        return sum(VALUES[criterion](part, genes) for part in parts)

    picked = []
    for gene, gain in zip(greedy.picked, greedy.gains, strict=True):
        gains = [
            -np.inf if other in picked else value(picked) - value([*picked, other])
            for other in range(12)
        ]
        assert gene == np.argmax(gains)
        assert_allclose(gain, max(gains), atol=1e-10)
        picked.append(gene)


def test_value_and_what_waits():
    (part,) = blocks()
    greedy = Greedy([part])
    assert_allclose(greedy.value, trace(part, []))
    greedy.grow(3)
    assert_allclose(greedy.value, trace(part, greedy.picked))
    gains = [trace(part, greedy.picked) - trace(part, [*greedy.picked, i]) for i in range(12)]
    rest = np.setdiff1d(np.arange(12), greedy.picked)
    assert_allclose(greedy.waiting[rest], np.array(gains)[rest], atol=1e-12)


def test_some_genes_first_and_no_more_than_there_are():
    (part,) = blocks()
    greedy = Greedy([part])
    greedy.grow(6, among=np.array([2, 7]))
    assert set(greedy.picked) == {2, 7}
    greedy.grow(100)
    assert sorted(greedy.picked) == list(range(12))


def test_covered_genes_count():
    (part,) = blocks()
    alone = Greedy([part])
    alone.grow(4)
    beside = Greedy([part.cover(np.array(alone.picked[:1]), np.ones(1))])
    beside.grow(3)
    assert beside.picked == alone.picked[1:]
