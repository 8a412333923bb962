"""What a panel leaves open: directions, the genes that vary along them, and the cells.

Given the panel, whitened coordinates a of a function on the cells have the covariance E, so that
``F = Tr(W E)`` is the variance of ``W^½ a``.  Its principal components are the eigenvectors v of
``W^½ E W^½``, with eigenvalues μ that sum to F.  Gene j and the cells vary along one of them by

    g_jᵀ E W^½ v / √μ        and        Z E W^½ v / √μ.

The squares of the former, times μ, sum to ``g_jᵀ E W E g_j``, from which a gene's gain comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import Array, Index
    from .criterion import Criterion


_ROUNDING = 1e-12


@dataclass(frozen=True)
class Direction:
    """A direction that a panel leaves open.

    Attributes
    ----------
    block
        Which set of cells it is of.
    share
        μ as a share of all that is left open.
    genes
        How each gene varies along it, in units of its noise, shape (n_genes,).  The gene that
        varies most is on the positive side.
    cells
        How each cell of the set varies along it, shape (n_cells,), on the same sides.
    """

    block: int
    share: float
    genes: Array
    cells: Array


def directions(criterion: Criterion, panel: Index, n_directions: int) -> list[Direction]:
    """The `n_directions` directions of largest error, the worst first."""
    found = []
    for number, block in enumerate(criterion.blocks):
        root = np.sqrt(block.weights)
        inverse = block.only(panel).inverse(np.ones(len(panel)))
        values, vectors = np.linalg.eigh(root[:, None] * inverse * root)
        for mu, v in zip(values[::-1][:n_directions], vectors.T[::-1], strict=False):
            if mu > _ROUNDING * values[-1]:  # W of labels has few directions
                found.append((float(mu), number, inverse @ (root * v) / np.sqrt(mu)))
    total = float(criterion.errors(panel)[-1])
    found.sort(key=lambda one: -one[0])
    return [_direction(criterion, *one, total) for one in found[:n_directions]]


def open_cells(criterion: Criterion, panel: Index) -> list[Array]:
    """Error that the panel leaves at each cell, ``diag(Z E Zᵀ)``, one array a set of cells.

    In units of the mean over the cells of a set when no gene is measured.  It follows the absolute
    error of what is predicted for a cell: a cell of which more is to be known has more left open.
    """
    shares = []
    for number, block in enumerate(criterion.blocks):
        inverse = block.only(panel).inverse(np.ones(len(panel)))
        cells = criterion.cells(number)
        left = np.einsum("ij,ij->i", cells @ inverse, cells)
        shares.append(left / np.mean(np.einsum("ij,ij->i", cells, cells)))
    return shares


def _direction(
    criterion: Criterion, mu: float, number: int, along: Array, total: float
) -> Direction:
    """Signed so that the gene that varies most along it is on the positive side."""
    genes = criterion.blocks[number].genes @ along
    sign = 1.0 if genes[np.argmax(np.abs(genes))] >= 0 else -1.0
    return Direction(number, mu / total, sign * genes, sign * (criterion.cells(number) @ along))
