"""Genes of a panel: what they repeat, their share of the counts, and genes they predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from ..data.matrix import RowMatrix, divided, moments
from ..errors import InvalidValue
from .cells import scatter_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index, Matrix
    from ..cells.cells import Cells
    from ..data.matrix import Sums


def redundancy(panel: Matrix) -> tuple[float, float]:
    """Return the mean absolute correlation of two genes, and the effective number of all.

    It is ``(Σ λ)² / Σ λ²`` with the eigenvalues λ of the correlation matrix of genes that vary.
    """
    genes = RowMatrix(panel, checked=True)
    varying = moments(genes)[1] > 0
    n_varying = int(varying.sum())
    if not n_varying:
        return float("nan"), 0.0
    _, scatter = scatter_of(genes)
    scale = np.where(varying, np.sqrt(np.diag(scatter)), np.inf)
    correlation = np.clip(scatter / np.outer(scale, scale), -1.0, 1.0)
    np.fill_diagonal(correlation, varying)  # zero, on the diagonal too, for a constant gene
    is_pair = np.outer(varying, varying) & ~np.eye(len(varying), dtype=bool)
    pairs = np.abs(correlation)[is_pair]
    mean = float(pairs.mean()) if len(pairs) else float("nan")
    return mean, float(n_varying**2 / np.sum(correlation**2))


def totals(everything: Array, taken: Array) -> tuple[float, float]:
    """Return the share of the panel in all counts, and the rank correlation of both over cells.

    Dividing by the totals of the panel stands for dividing by all where they are proportional.
    """
    if not everything.sum() > 0:
        raise InvalidValue("`counts` adds up to nothing: give the matrix of raw counts")
    return float(taken.sum() / everything.sum()), _rank_correlation(taken, everything)


def totals_by_label(
    everything: Array, taken: Array, codes: Index, names: Sequence[str]
) -> pd.DataFrame:
    """Return share, share relative to that of all cells, and rank correlation, of each label.

    A panel that takes more of the counts of one label makes all its genes look lower there by this
    ratio, and differential expression false (Atta et al., Genome Biology 25:153, 2024).
    """
    present = np.unique(codes[codes >= 0])
    of_labels = [(taken[codes == code], everything[codes == code]) for code in present]
    shares = _shares(*np.array([[both.sum() for both in of_label] for of_label in of_labels]).T)
    label_names = pd.Index([names[code] for code in present], name="label")
    table = pd.DataFrame({"counts_share": shares}, label_names)
    table["counts_ratio"] = _shares(shares, taken.sum() / everything.sum())
    return table.assign(counts_spearman=[_rank_correlation(*of_label) for of_label in of_labels])


def imputed(sets: Sequence[Cells], panel: Index) -> Array:
    """Return R² of what each gene shares with the subspace of the cells, without a regression.

    ``R_j² = 1 − c_jᵀ Ẽ c_j / c_jᵀ c_j`` with ``Ẽ = (I + Σ_{i in S} c_i c_iᵀ / (n σ_i²))⁻¹``: gene i
    is ``V c_i`` and noise of variance ``σ_i²``, and the mean of V given the panel is predicted.
    NaN for genes of the panel and for constant ones.
    """
    unexplained, structured = [], []
    for cells in sets:
        _, _, precision = _precision(cells, panel)
        half = np.linalg.solve(np.linalg.cholesky(precision), cells.projections.T)
        unexplained.append(np.sum(half**2, axis=0))
        structured.append(np.sum(cells.projections**2, axis=1))
    of_structure = 1.0 - _shares(np.sum(unexplained, axis=0), np.sum(structured, axis=0))
    of_structure[panel] = np.nan
    return of_structure


def predictors(sets: Sequence[Cells], panel: Index, genes: Index) -> Array:
    """What each gene of the panel accounts for of R² of others, shape (len(genes), len(panel)).

    The measured gene i predicts gene j with the weight ``w_ij = c_iᵀ Ẽ c_j / (n σ_i²)``, and
    ``R_j² = Σ_i w_ij c_iᵀ c_j / c_jᵀ c_j``, with the letters of :func:`imputed`.
    """
    explained = np.zeros((len(genes), len(panel)))
    structured = np.zeros(len(genes))
    for cells in sets:
        varying, measured, precision = _precision(cells, panel)
        projections = cells.projections[genes]
        weights = np.linalg.solve(precision, measured.T).T @ projections.T
        explained[:, varying] += (weights * (measured @ projections.T)).T
        structured += np.sum(projections**2, axis=1)
    return divided(explained.T, structured).T


def sums(counts: Matrix | RowMatrix) -> Array:
    """Total of every cell."""
    _, totals = RowMatrix(counts, checked=True).sweep(_sums)
    return np.asarray(totals).ravel()


def _sums(block: Matrix, rows: slice) -> tuple[Sums, Matrix]:
    return (), np.asarray(block.sum(axis=1, dtype=np.float64)).reshape(-1, 1)


def _shares(values: Array, totals: Array | float) -> Array:
    """Return shares of totals, NaN of nothing."""
    return np.asarray(values / np.where(np.greater(totals, 0), totals, np.nan))


def _rank_correlation(taken: Array, everything: Array) -> float:
    """Rank correlation; NaN where one of the totals is the same in every cell."""
    if np.ptp(taken) == 0 or np.ptp(everything) == 0:
        return float("nan")
    return float(spearmanr(taken, everything).statistic)


def _precision(cells: Cells, panel: Index) -> tuple[Index, Array, Array]:
    """Return where genes of the panel are not constant, ``c_i / √(n σ_i²)``, and ``Ẽ⁻¹``."""
    varying = np.flatnonzero(cells.residuals[panel] > 0)
    noisy = panel[varying]
    measured = cells.projections[noisy] / np.sqrt(cells.n_cells * cells.residuals[noisy])[:, None]
    return varying, measured, np.eye(cells.projections.shape[1]) + measured.T @ measured
