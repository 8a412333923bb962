"""Why a gene is in a panel: for which cells, and for which directions of the structure.

Without gene i of the panel F grows by ``g_iᵀ E W E g_i / (1 − g_iᵀ E g_i)``, its loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core._typing import Array, Index
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
