"""Why a gene is in a panel: for which cells, and for which directions of the structure.

Without gene i of the panel F grows by ``g_iᵀ E W E g_i / (1 − g_iᵀ E g_i)``, its loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from .criterion import Criterion


def served(criterion: Criterion, panel: Index, codes: Sequence[Index], n_labels: int) -> Array:
    """Shares of each gene's work in the cells of each label, shape (len(panel), n_labels).

    Without gene i the error at the cells, ``diag(Z E Zᵀ)``, grows by
    ``(Z E g_i)²/(1 − g_iᵀ E g_i)``; this is summed over the cells of a label.  A row sums to 1
    where every cell has a label.

    Parameters
    ----------
    criterion
        F.
    panel
        Genes.
    codes
        Label of every cell, −1 for none, one array a set of cells.
    n_labels
        Number of labels.
    """
    work = np.zeros((len(panel), n_labels))
    total = np.zeros(len(panel))
    for number, (block, labels) in enumerate(zip(criterion.blocks, codes, strict=True)):
        measured = block.only(panel)
        seen = measured.genes @ measured.inverse(np.ones(len(panel)))
        rest = 1.0 - np.sum(seen * measured.genes, axis=1)
        at_cells = (criterion.cells(number) @ seen.T) ** 2 / rest
        total += at_cells.sum(axis=0)
        for label in range(n_labels):
            work[:, label] += at_cells[labels == label].sum(axis=0)
    return np.asarray(np.divide(work.T, total, out=np.zeros_like(work.T), where=total > 0).T)


@dataclass(frozen=True)
class Pairs:
    """How far a panel tells each pair of labels apart, and by which genes.

    Attributes
    ----------
    first, second
        Labels of the pairs, shape (n_pairs,).
    kept
        Share of the distance of their means that the panel keeps, shape (n_pairs,): with
        ``d = μ_a − μ_b``, the mean rows of Z, it is ``1 − dᵀ E d / dᵀ d``.
    work
        By how much of the distance less is kept without each gene, shape (n_pairs, len(panel)).
    """

    first: Index
    second: Index
    kept: Array
    work: Array


def pairs(criterion: Criterion, panel: Index, codes: Sequence[Index], n_labels: int) -> Pairs:
    """Every pair of labels; sets of cells count by the distance of the two there.

    Without gene i ``dᵀ E d`` grows by ``(dᵀ E g_i)²/(1 − g_iᵀ E g_i)``.

    Parameters
    ----------
    criterion, panel, codes, n_labels
        As for :func:`served`.
    """
    first, second = np.triu_indices(n_labels, 1)
    whole, left = np.zeros(len(first)), np.zeros(len(first))
    work = np.zeros((len(first), len(panel)))
    for number, (block, labels) in enumerate(zip(criterion.blocks, codes, strict=True)):
        there = np.unique(labels[labels >= 0])
        cells = criterion.cells(number)
        means = np.zeros((n_labels, cells.shape[1]))
        for label in there:
            means[label] = cells[labels == label].mean(axis=0)
        apart = np.where(np.isin(first, there) & np.isin(second, there), 1.0, 0.0)[:, None]
        apart = apart * (means[first] - means[second])
        measured = block.only(panel)
        inverse = measured.inverse(np.ones(len(panel)))
        seen = measured.genes @ inverse
        rest = 1.0 - np.sum(seen * measured.genes, axis=1)
        whole += np.sum(apart**2, axis=1)
        left += np.sum((apart @ inverse) * apart, axis=1)
        work += (apart @ seen.T) ** 2 / rest
    safe = np.where(whole > 0, whole, np.nan)
    return Pairs(first, second, 1.0 - left / safe, work / safe[:, None])


def axes(criterion: Criterion, panel: Index) -> list[Array]:
    """Shares of each gene's loss along the eigenvectors of W, one (len(panel), r) a set of cells.

    Eigenvectors of W are the directions of the structure, in the order of ``Error.weights``.  The
    shares of a gene sum to 1 over all sets of cells.
    """
    parts = []
    for block in criterion.blocks:
        measured = block.only(panel)
        seen = measured.genes @ measured.inverse(np.ones(len(panel)))
        rest = 1.0 - np.sum(seen * measured.genes, axis=1)
        parts.append(seen**2 * block.weights / rest[:, None])
    total = sum(part.sum(axis=1) for part in parts)
    safe = np.where(total > 0, total, 1.0)
    return [part / safe[:, None] for part in parts]
