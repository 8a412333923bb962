"""Substitutes against panels with the gene exchanged."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.criterion.panel import MeasuredPanel, n_matched
from glfs_bio.options import StructureSpec

PANEL = np.array([7, 0, 3, 5])


def test_losses_are_differences(criterion, by_definition):
    lost, substitution_score = MeasuredPanel(criterion, PANEL).substitutions(PANEL[1:3])
    assert lost.shape == substitution_score.shape == (2, 12)
    before = by_definition(PANEL)
    for row, out in enumerate(PANEL[1:3]):
        for gene in range(12):
            if gene in PANEL:
                assert lost[row, gene] == np.inf
                assert substitution_score[row, gene] == 0.0
            else:
                panel = [gene if old == out else old for old in PANEL]
                expected = (by_definition(panel) - before) / criterion.scale
                assert lost[row, gene] == pytest.approx(expected, rel=1e-6, abs=1e-12)
                without = by_definition([old for old in PANEL if old != out]) - before
                beside = by_definition(panel) - by_definition([*PANEL, gene])
                again = before - by_definition([*PANEL, out])
                share = (without - beside) / (without - again)
                assert substitution_score[row, gene] == pytest.approx(share, rel=1e-5, abs=1e-9)


def test_a_copy_replaces_its_original(clusters):
    data = np.hstack([clusters[:, :12], clusters[:, :1]])
    criterion = Criterion(build_problems(data, StructureSpec(n_comps=6, n_neighbors=5)))
    panel = np.array([0, 4, 8])
    lost, substitution_score = MeasuredPanel(criterion, panel).substitutions(panel)
    assert lost[0, 12] == pytest.approx(0.0, abs=1e-9)
    assert lost[0].argmin() == 12
    assert substitution_score[0].argmax() == 12
    assert substitution_score[0, 12] == pytest.approx(1.0)


def test_matching_counts_each_gene_once():
    pairs = sparse.csr_array((6, 6), dtype=bool)
    assert n_matched(np.array([0, 1, 2]), np.array([2, 1, 5]), pairs) == 2
    stand = np.zeros((6, 6), dtype=bool)
    stand[0, 5] = stand[2, 5] = True  # one substitute cannot stand in for two
    pairs = sparse.csr_array(stand)
    assert n_matched(np.array([0, 1, 2]), np.array([1, 5]), pairs) == 2
    assert n_matched(np.array([1, 5]), np.array([0, 1, 2]), pairs) == 2
