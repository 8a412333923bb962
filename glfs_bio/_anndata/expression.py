"""Where genes are on: shares of the cells that express them, and folds, by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..data.matrix import RowMatrix, no_rows
from . import constraints, read

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Array, Index, Matrix
    from ..labels import Labels

#: A label of which fewer cells express a gene is not one that it is said to be expressed in.
LEAST = 0.1


@dataclass(frozen=True)
class Expression:
    """Where some genes are expressed, in the order of the genes that were asked for."""

    #: Share of all cells that express each gene, shape (n_genes,)
    shares: Array
    #: Names of the labels; none without labels
    labels: list[str]
    #: Share of the cells of each label, and mean there, shape (n_genes, n_labels)
    shares_in: Array
    means_in: Array
    #: Mean there in units of that in all other cells, of which logarithms are taken back
    folds: Array
    #: For each label, the genes that are its markers, as ``Limits(per_type=)`` counts them
    markers: dict[str, Index]

    def marker_of(self, gene: int) -> str:
        """Return the label that a gene is a marker of, or ``""``."""
        return next((label for label, genes in self.markers.items() if gene in genes), "")

    def text(self, gene: int, most: int) -> str:
        """Return the labels that express a gene, the largest share first, as text."""
        shares = self.shares_in[gene]
        order = [one for one in np.argsort(-shares, kind="stable")[:most] if shares[one] >= LEAST]
        return ", ".join(
            f"{self.labels[one]} {100 * shares[one]:.0f} % ({_fold(self.folds[gene, one])})"
            for one in order
        )

    def table(self, names: Array) -> pd.DataFrame:
        """Return one row per gene and label."""
        n_labels = len(self.labels)
        return pd.DataFrame(
            {
                "gene": np.repeat(names, n_labels),
                "label": np.tile(np.array(self.labels, dtype=object), len(names)),
                "share": self.shares_in.ravel(),
                "mean": self.means_in.ravel(),
                "fold": self.folds.ravel(),
            }
        )


def of_genes(
    adata: AnnData, genes: Index, labels: Labels | None, layer: str | None
) -> Expression | None:
    """Return where genes are expressed, in one pass over their columns.

    None: the matrix has negative values, in which no gene is on or off.
    """
    order = np.unique(genes)
    data = read.row_matrix(adata, layer)
    logarithms = not read.looks_like_counts(data)
    names = [] if labels is None else labels.names
    codes = np.full(adata.n_obs, -1) if labels is None else labels.codes
    cells = np.hstack([np.ones((adata.n_obs, 1)), codes[:, None] == np.arange(len(names))]).astype(
        float
    )
    (sums, expressed, negative), _ = RowMatrix(data, genes=order).sweep(_part, cells)
    if negative.any():
        return None
    at = np.searchsorted(order, genes)
    types = constraints.Types(names, cells)
    sizes = np.maximum(types.sizes, 1.0)
    found = constraints.Expression(np.asarray(sums)[at] / sizes, np.asarray(expressed)[at] / sizes)
    return Expression(
        found.shares[:, 0],
        names,
        found.shares[:, 1:],
        found.means[:, 1:],
        np.exp(constraints.log_folds(found, types, logarithms=logarithms)),
        constraints.markers_found(found, types, logarithms=logarithms) if names else {},
    )


def _part(block: Matrix, rows: slice, cells: Array) -> tuple[tuple[Array, ...], Matrix]:
    """Sums over some cells, how many of them express a gene, and whether any is negative."""
    own = cells[rows]
    negative = np.asarray((block < 0).sum(), dtype=float)
    return (block.T @ own, (block > 0).T @ own, negative), no_rows(block)


def _fold(fold: float) -> str:
    """Return a fold as people read it."""
    if fold >= 100:
        return "over 100-fold"
    return f"{fold:.1f}-fold"
