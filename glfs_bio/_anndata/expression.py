"""Where genes are on: shares of the cells that express them, folds and markers, by type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy import sparse

from ..data.matrix import RowMatrix, no_rows
from . import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Index, Matrix
    from ..labels import Labels

#: A label of which fewer cells express a gene is not one that it is said to be expressed in.
LEAST = 0.1
#: A marker of a type is expressed by at least this share of its cells, the default of
#: ``sc.tl.filter_rank_genes_groups``, by so many at least, and its mean there is at least so many
#: times that in each other type: against all other cells, genes of all T cells would be markers of
#: one type of these.
_SHARE, _CELLS, FOLD = 0.25, 3, 2.0
#: It is off elsewhere: all other cells express it at most so many times as often, or, where ambient
#: RNA is in every cell, such as INS in pancreas, their mean is at most such a share.
OFF, _AMBIENT = 0.5, 0.1
#: Means below this count as this, where they are divided by one another.
_LEAST_MEAN = 1e-9


class Types(NamedTuple):
    """Types of cells: their names, and the number of that of each cell, −1 for none."""

    names: list[str]
    codes: NDArray[Any]

    @classmethod
    def of(cls, codes: NDArray[Any], names: Sequence[object]) -> Self:
        """Types by their numbers."""
        return cls([str(name) for name in names], codes)

    @property
    def sizes(self) -> Array:
        """Numbers of cells: of all, and of each type, shape (1 + n_types,)."""
        sizes = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        return np.append(len(self.codes), sizes).astype(np.float64)

    def members(self, rows: slice = slice(None)) -> Array:
        """Whether cells are among all, and of each type: 0 or 1, shape (n_rows, 1 + n_types)."""
        each = self.codes[rows, None] == np.arange(len(self.names))
        return np.hstack([np.ones((len(each), 1)), each])


class Profiles(NamedTuple):
    """How genes are expressed: shape (n_genes, 1 + n_types).

    The first column is over all cells, the others over the cells of one type each.
    """

    #: Shares of the cells that express a gene
    shares: Array
    #: Means of the values, and of these without logarithms, which are compared
    means: Array
    linear: Array
    #: Whether any value is negative: then no gene is on or off
    negative: bool

    @classmethod
    def of(cls, data: RowMatrix, types: Types, *, unlog: bool) -> Self:
        """Measure expression by type, in one pass over the cells."""
        (*sums, negative), _ = data.sweep(_sums, types, unlog)
        sizes = np.maximum(types.sizes, 1.0)
        shares, means, linear = (np.asarray(total) / sizes for total in sums)
        return cls(shares, means, linear, bool(negative > 0))

    def only(self, genes: Index) -> Profiles:
        """The same of some genes."""
        shares, means, linear, negative = self
        return Profiles(shares[genes], means[genes], linear[genes], negative)

    def rest(self, measure: Array, types: Types) -> Array:
        """The same measure over all cells but those of each type, shape (n_genes, n_types)."""
        sizes = types.sizes
        total = measure[:, :1] * sizes[0] - measure[:, 1:] * sizes[1:]
        return np.asarray(np.maximum(total, 0.0) / np.maximum(sizes[0] - sizes[1:], 1.0))

    def folds(self, types: Types) -> Array:
        """Mean in each type in units of that in all other cells, shape (n_genes, n_types)."""
        return _ratio(self.linear[:, 1:], self.rest(self.linear, types))


def marked(profiles: Profiles, types: Types) -> Index:
    """The type that each gene is a marker of, as :class:`~glfs_bio.Limits` says; −1: of none."""
    means, rows = profiles.linear[:, 1:], np.arange(len(profiles.linear))
    highest = means.argmax(axis=1)
    mean, share = means[rows, highest], profiles.shares[rows, 1 + highest]
    rest_of_means = means.copy()
    rest_of_means[rows, highest] = 0.0
    rest = profiles.rest(profiles.shares, types)[rows, highest]
    marks = (share >= _SHARE) & (np.round(share * types.sizes[1 + highest]) >= _CELLS)
    marks &= _ratio(mean, rest_of_means.max(axis=1)) >= FOLD
    marks &= (rest <= OFF * share) | (profiles.folds(types)[rows, highest] * _AMBIENT >= 1.0)
    return np.where(marks, highest, -1)


def _ratio(means: Array, references: Array) -> Array:
    return np.asarray(np.maximum(means, _LEAST_MEAN) / np.maximum(references, _LEAST_MEAN))


def are_logarithms(data: Any) -> bool:
    """Whether means are compared after ``expm1`` of the values."""
    return not read.may_be_counts(data)


def _sums(
    block: Matrix, rows: slice, types: Types, unlog: bool
) -> tuple[tuple[Array, ...], Matrix]:
    """How many of all cells and of those of each type express a gene, sums of the values, and of
    them without logarithms; and whether one is negative.
    """
    members = types.members(rows)
    sums = block.T @ members
    linear = _unlogged(block).T @ members if unlog else sums
    negative = np.asarray(float(block.min() < 0))
    return ((block > 0).T @ members, sums, linear, negative), no_rows(block)


def _unlogged(block: Matrix) -> Matrix:
    """``expm1`` of the values; none that is larger than a logarithm overflows."""
    if not sparse.issparse(block):
        return np.expm1(np.minimum(block, read.LARGEST_LOGARITHM))
    values = _unlogged(block.data)
    return sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)


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

    @property
    def above(self) -> NDArray[np.bool_]:
        """Whether cells of each label express a gene more, or more often, than others do, shape
        (n_genes, n_labels).
        """
        return np.asarray((self.shares_in > self.shares[:, None]) | (self.folds > 1.0))

    def marker_of(self, gene: int) -> str:
        """Return the label that a gene is a marker of, or ``""``."""
        return self.labels[self.marked[gene]] if self.marked[gene] >= 0 else ""

    def text(self, gene: int, most: int) -> str:
        """Return the labels that express a gene, the largest share first, as text."""
        shares = self.shares_in[gene]
        order = [k for k in np.argsort(-shares, kind="stable")[:most] if shares[k] >= LEAST]
        return ", ".join(
            f"{self.labels[k]} {100 * shares[k]:.0f} % ({_fold(self.folds[gene, k])})"
            for k in order
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
    profiles, types = _measured(adata, genes, labels, layer)
    if profiles.negative:
        return None
    return Expression(
        profiles.shares[:, 0],
        types.names,
        profiles.shares[:, 1:],
        profiles.means[:, 1:],
        profiles.folds(types),
        marked(profiles, types) if types.names else np.full(len(genes), -1),
    )


def above(adata: AnnData, genes: Index, labels: Labels, layer: str | None) -> NDArray[np.bool_]:
    """Return :attr:`Expression.above`; by the means where values are negative."""
    where = of_genes(adata, genes, labels, layer)
    if where is not None:
        return where.above
    profiles, _ = _measured(adata, genes, labels, layer)
    return np.asarray(profiles.means[:, 1:] > profiles.means[:, :1])


def _measured(
    adata: AnnData, genes: Index, labels: Labels | None, layer: str | None
) -> tuple[Profiles, Types]:
    """Profiles of genes, in one pass over their columns."""
    order = np.unique(genes)
    data = read.row_matrix(adata, layer)
    codes = np.full(adata.n_obs, -1) if labels is None else labels.codes
    types = Types.of(codes, [] if labels is None else labels.names)
    unlog = are_logarithms(data)
    profiles = Profiles.of(RowMatrix(data, genes=order), types, unlog=unlog)
    return profiles.only(np.searchsorted(order, genes)), types


def _fold(fold: float) -> str:
    """Return a fold as people read it."""
    if fold >= 100:
        return "over 100-fold"
    return f"{fold:.1f}-fold"
