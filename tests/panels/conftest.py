"""Reduced problems, and the criterion by its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm

from glfs_bio.core.geometry.problem import build_problems
from glfs_bio.core.geometry.reduction import Reduction
from glfs_bio.panels import Criterion
from glfs_bio.panels.wanted import SETTINGS


def _cells(seed):
    """60 cells in three groups × 12 genes, most of which tell the groups apart a little."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.eye(3), 20, axis=0)
    return groups @ rng.gamma(1.0, 1.0, size=(3, 12)) + rng.normal(scale=0.5, size=(60, 12))


@pytest.fixture(params=[1, 2], ids=["one set of cells", "two batches"])
def problems(request):
    batch = None if request.param == 1 else np.tile(["a", "b"], 30)
    return build_problems(_cells(0), Reduction(n_comps=6, n_neighbors=5), batch=batch)


@pytest.fixture
def criterion(problems):
    return Criterion(problems)


@pytest.fixture
def by_definition(problems):
    """F of a panel: the mean of ``Tr(W (I + Σ g gᵀ)⁻¹)``, from the pieces of the problems.

    `lengths`: what the genes that are measured are multiplied with, for each problem.
    """

    def value(panel, lengths=None):
        total = 0.0
        for block, problem in enumerate(problems):
            kappa, basis = np.linalg.eigh(problem.stiffness)
            lambda2 = SETTINGS.noise * problem.n_cells * kappa.sum() / len(kappa)
            genes = problem.projections * problem.units[:, None] @ basis * np.sqrt(kappa / lambda2)
            wanted = sqrtm(genes.T @ genes).real
            if lengths is not None:
                genes *= lengths[block][:, None]
            chosen = genes[list(panel)]
            error = np.linalg.inv(np.eye(len(kappa)) + chosen.T @ chosen)
            total += np.trace(wanted @ error) / np.trace(wanted)
        return total / len(problems)

    return value
