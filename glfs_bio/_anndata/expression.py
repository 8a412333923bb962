"""Where genes are on: shares of the cells that express them, folds and markers, by type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from scipy import sparse

from ..data.matrix import RowMatrix, doubled, with_values
from ..errors import InvalidValue
from ..labels import Labels
from . import read, results

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Index, Matrix

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
#: Fields of :class:`Expression` that have a row per gene.
OF_GENES = ("shares", "means", "linear", "variances")


def members(codes: Index, n_labels: int) -> Array:
    """Return whether cells are among all, and of each label: shape (n_cells, 1 + n_labels)."""
    of_labels = codes[:, None] == np.arange(n_labels)
    return np.hstack([np.ones((len(codes), 1)), of_labels])


@dataclass(frozen=True)
class Expression:
    """Where genes are expressed: over all cells, then over those of each label."""

    #: Names of the labels; none without labels
    labels: list[str]
    #: Numbers of cells, shape (1 + n_labels,)
    sizes: Array
    #: Shares of the cells that express a gene
    shares: Array
    #: Means of the values, and of these without logarithms, which are compared
    means: Array
    linear: Array
    #: Variances of the values
    variances: Array
    #: Whether any value is negative: then no gene is on or off
    negative: bool

    @classmethod
    def of(cls, data: RowMatrix, labels: Labels | None, *, unit: float = 0.0) -> Self:
        """Measure expression by label, in one pass; `unit` is that of logarithms, 0 for others."""
        if labels is None:
            labels = Labels(np.full(data.shape[0], -1), np.empty(0))
        (*sums, sizes, n_negative), _ = data.sweep(_sums, *labels, unit)
        averages = (np.asarray(total) / np.maximum(sizes, 1.0) for total in sums)
        shares, means, linear, squares = averages
        variances = np.maximum(squares - means**2, 0.0)
        return cls(labels.names, sizes, shares, means, linear, variances, bool(n_negative > 0))

    def only(self, genes: Index) -> Self:
        """Return the same of some genes."""
        return replace(self, **{name: getattr(self, name)[genes] for name in OF_GENES})

    @cached_property
    def folds(self) -> Array:
        """Mean in each label in units of that in all other cells, shape (n_genes, n_labels)."""
        return _ratio(self.linear[:, 1:], self._elsewhere(self.linear))

    @cached_property
    def marked(self) -> Index:
        """The label that each gene marks, as :class:`~glfs_bio.Limits` says; −1: none."""
        if not self.labels:
            return np.full(len(self.shares), -1)
        means, rows = self.linear[:, 1:], np.arange(len(self.linear))
        highest = means.argmax(axis=1)
        share = self.shares[rows, 1 + highest]
        other_means = means.copy()
        other_means[rows, highest] = 0.0
        elsewhere = self._elsewhere(self.shares)[rows, highest]
        marks = (share >= _SHARE) & (np.round(share * self.sizes[1 + highest]) >= _CELLS)
        marks &= _ratio(means[rows, highest], other_means.max(axis=1)) >= FOLD
        marks &= (elsewhere <= OFF * share) | (self.folds[rows, highest] * _AMBIENT >= 1.0)
        return np.where(marks, highest, -1)

    @property
    def above(self) -> NDArray[np.bool_]:
        """Whether cells of each label express a gene more, or more often, than others do."""
        if self.negative:
            return np.asarray(self.means[:, 1:] > self.means[:, :1])
        return np.asarray((self.shares[:, 1:] > self.shares[:, :1]) | (self.folds > 1.0))

    def marker_of(self, gene: int) -> str:
        """Return the label that a gene is a marker of, or ``""``."""
        return self.labels[self.marked[gene]] if self.marked[gene] >= 0 else ""

    def text(self, gene: int, most: int) -> str:
        """Return the labels that express a gene, the largest share first, as text."""
        shares, texts = self.shares[gene, 1:], []
        for label in np.argsort(-shares, kind="stable")[:most]:
            fold = self.folds[gene, label]
            fold_text = "over 100-fold" if fold >= 100 else f"{fold:.1f}-fold"
            if shares[label] >= LEAST:
                texts.append(f"{self.labels[label]} {100 * shares[label]:.0f} % ({fold_text})")
        return ", ".join(texts)

    def table(self, names: Array) -> pd.DataFrame:
        """Return one row per gene and label."""
        n_labels = len(self.labels)
        columns = {
            "gene": np.repeat(names, n_labels),
            "label": np.tile(np.array(self.labels, dtype=object), len(names)),
            "share": self.shares[:, 1:].ravel(),
            "mean": self.means[:, 1:].ravel(),
            "fold": self.folds.ravel(),
        }
        return pd.DataFrame(columns)

    def _elsewhere(self, measure: Array) -> Array:
        """Return a measure over all cells but those of each label, shape (n_genes, n_labels)."""
        total = measure[:, :1] * self.sizes[0] - measure[:, 1:] * self.sizes[1:]
        n_cells = np.maximum(self.sizes[0] - self.sizes[1:], 1.0)
        return np.asarray(np.maximum(total, 0.0) / n_cells)


def of_all_genes(
    adata: AnnData, labels: Labels | None, layer: str | None, only: Index | None = None
) -> Expression:
    """Return where all genes, or `only` some, are expressed."""
    if adata.n_obs == 0:
        of_cells = moments(adata)
        names = [] if labels is None else [*map(str, of_cells["labels"])]
        fields = ("sizes", *OF_GENES)
        values = {name: np.asarray(of_cells[name], float)[..., : 1 + len(names)] for name in fields}
        expression = Expression(labels=names, negative=bool(of_cells["negative"]), **values)
        return expression if only is None else expression.only(only)
    data = read.row_matrix(adata, layer)
    unit = read.unit_of_logarithms(adata, data)
    return Expression.of(RowMatrix(data, genes=only), labels, unit=unit)


def moments(adata: AnnData) -> dict[str, Any]:
    """Return what a structure keeps of the genes in cells that were left out, and of types."""
    genes = {"genes": results.checksum("/".join(adata.var_names))}
    entries = [of for key, of in adata.uns.items() if results.is_of(adata, key, genes)]
    entries = [of for of in entries if "moments" in of]
    if len({str(of["moments"]["column"]) for of in entries}) != 1:
        text = "these cells were left out, with no moments of these genes, or those of two columns"
        raise InvalidValue(f"`adata` has no cells: {text}: store one, by `glfs_bio.pp.structure`")
    return dict(entries[0]["moments"])


def of_genes(adata: AnnData, genes: Index, labels: Labels | None, layer: str | None) -> Expression:
    """Return where genes are expressed; shares and folds are NaN with negative values."""
    order, rows = np.unique(genes, return_inverse=True)
    expression = of_all_genes(adata, labels, layer, order).only(rows)
    if not expression.negative:
        return expression
    unknown = np.full_like(expression.shares, np.nan)
    return replace(expression, shares=unknown, linear=unknown)


def _ratio(means: Array, references: Array) -> Array:
    return np.asarray(np.maximum(means, _LEAST_MEAN) / np.maximum(references, _LEAST_MEAN))


def _sums(
    block: Matrix, rows: slice, codes: Index, categories: Array, unit: float
) -> tuple[tuple[Array, ...], Matrix]:
    """Return what :meth:`Expression.of` divides, for all cells and each label."""
    cells = members(codes[rows], len(categories))
    sums = block.T @ cells
    linear = _unlogged(block, unit).T @ cells if unit else sums
    squares = doubled(block) ** 2
    totals = ((block > 0).T @ cells, sums, linear, squares.T @ cells, cells.sum(axis=0))
    return (*totals, np.asarray(float(block.min() < 0))), None


def _unlogged(block: Matrix, unit: float) -> Matrix:
    """Return ``expm1`` of the values; none that is larger than a logarithm overflows."""
    if sparse.issparse(block):
        return with_values(block, _unlogged(block.data, unit))
    return np.expm1(np.minimum(unit * block, read.LARGEST_LOGARITHM))
