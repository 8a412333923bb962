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
    #: Mean there in units of that in all other cells, without logarithms
    folds: Array
    #: The label that each gene is a marker of, as ``Limits(per_type=)`` counts them, or −1
    marked: Index

    def marker_of(self, gene: int) -> str:
        """Return the label that a gene is a marker of, or ``""``."""
        return self.labels[self.marked[gene]] if self.marked[gene] >= 0 else ""

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
    codes = np.full(adata.n_obs, -1) if labels is None else labels.codes
    types = constraints.Types.of(codes, [] if labels is None else labels.names)
    unlog = constraints.are_logarithms(data)
    (*sums, negative), _ = RowMatrix(data, genes=order).sweep(_part, types.cells, unlog)
    if negative.any():
        return None
    at = np.searchsorted(order, genes)
    found = constraints.Expression.of([np.asarray(one)[at] for one in sums], types)
    return Expression(
        found.shares[:, 0],
        types.names,
        found.shares[:, 1:],
        found.means[:, 1:],
        found.folds(types),
        constraints.marked(found, types) if types.names else np.full(len(at), -1),
    )


def _part(
    block: Matrix, rows: slice, cells: Array, unlog: bool
) -> tuple[tuple[Array, ...], Matrix]:
    """Sums over some cells, and whether any value is negative."""
    negative = np.asarray((block < 0).sum(), dtype=float)
    return (*constraints.sums_of(block, cells[rows], unlog), negative), no_rows(block)


def _fold(fold: float) -> str:
    """Return a fold as people read it."""
    if fold >= 100:
        return "over 100-fold"
    return f"{fold:.1f}-fold"
