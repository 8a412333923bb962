"""How well a panel predicts the genes that it does not measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._typing import Array, Index
    from ..cells.cells import Cells


@dataclass(frozen=True)
class Imputed:
    """R² of every gene by the panel, NaN for genes of the panel and for constant ones.

    Attributes
    ----------
    of_structure
        ``R_j²``: of what the gene shares with the subspace of the cells, shape (n_genes,).
    of_gene
        ``h_j R_j²``: of the gene as it was measured, noise included, shape (n_genes,).
    """

    of_structure: Array
    of_gene: Array


def imputed(sets: Sequence[Cells], panel: Index) -> Imputed:
    """R² of every gene that the panel does not measure, without a regression.

    ``R_j² = 1 − c_jᵀ P c_j / c_jᵀ c_j`` with ``P = (I + Σ_{i in S} c_i c_iᵀ / (n σ_i²))⁻¹``:  gene
    i is ``V c_i`` and noise of variance ``σ_i²``, V has orthonormal columns, and what is predicted
    is the mean of V after the panel has been measured.  All is in the units of the data.

    Against ridge regression on other cells (PBMC3k, two panels of 50 genes) the medians of
    `of_structure` were .25 and .20, those of the regression .24 and .19.  `of_gene` is cautious:
    among genes where regression reached more than .1 its medians were .32 and .28, those of the
    regression .37 and .36.  From few cells regression reaches less than either.

    Parameters
    ----------
    sets
        The cells, or one a batch: within batches, over all of them.
    panel
        Genes of the panel.
    """
    left = _total(_left(one, panel) for one in sets)
    structured = _total(np.sum(one.projections**2, axis=1) for one in sets)
    residual = _total(one.n_cells * one.residuals for one in sets)
    variance = _total(one.n_cells * one.variance for one in sets)
    of_structure = 1.0 - _ratio(left, structured)
    reliable = np.clip(1.0 - _ratio(residual, variance), 0.0, 1.0)
    of_structure[panel] = np.nan
    return Imputed(of_structure, reliable * of_structure)


def _left(one: Cells, panel: Index) -> Array:
    """``c_jᵀ P c_j`` of every gene."""
    noisy = panel[one.residuals[panel] > 0]  # the others are constant
    scale = np.sqrt(one.n_cells * one.residuals[noisy])
    measured = one.projections[noisy] / scale[:, None]
    precision = np.eye(one.projections.shape[1]) + measured.T @ measured
    half = np.linalg.solve(np.linalg.cholesky(precision), one.projections.T)
    return np.asarray(np.sum(half**2, axis=0))


def _total(of_sets: Iterable[Array]) -> Array:
    return np.asarray(np.sum(list(of_sets), axis=0))


def _ratio(above: Array, below: Array) -> Array:
    """NaN where there is nothing to divide by."""
    return np.asarray(np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0))
