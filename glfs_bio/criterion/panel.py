"""A panel, measured: what E says of its genes, and of what it leaves unexplained.

Given the panel, whitened coordinates θ of a function on the cells have the covariance E, so that
``F = Tr(W E)`` is the variance of ``W^½ θ``.  Its principal axes are the eigenvectors v of
``W^½ E W^½``, with eigenvalues μ that sum to F.  Gene j and the cells vary along one of them by

    g_jᵀ E W^½ v / √μ        and        Z E W^½ v / √μ.

The squares of the former, times μ, sum to ``g_jᵀ E W E g_j``, from which a gene's gain comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from ..data.matrix import divided
from .criterion import errors_along

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._typing import Array, Index
    from .criterion import Criterion
    from .error import Block

#: A gene is a substitute for another if its substitution score is at least this.
MIN_SCORE = 0.5
#: Less than this is nothing that could be taken over.
_NOTHING = 1e-14
#: Cells that are looked at at once.
_ROWS = 2**16
#: An axis of a smaller share of the largest is none.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Axis:
    """An axis of the structure that a panel leaves unexplained."""

    #: Which set of cells it is of
    block: int
    #: μ as a share of all that is unexplained
    share: float
    #: How each gene varies along it, the one that varies most upwards, shape (n_genes,)
    genes: Array
    #: How each cell of the set varies along it, shape (n_cells,), on the same sides
    cells: Array


@dataclass(frozen=True)
class Pairs:
    """How far a panel separates each pair of labels, and by which genes."""

    #: Labels of the pairs, shape (n_pairs,)
    first: Index
    second: Index
    #: Share of the distance of their means that is preserved, ``1 − δᵀ E δ / δᵀ δ``, (n_pairs,)
    preserved: Array
    #: By how much less is preserved without each gene, shape (n_pairs, len(panel))
    work: Array


class Posterior:
    """E of one set of cells given a panel, and what each gene of the panel does for it.

    Without gene i, ``E ← E + E g_i g_iᵀ E/(1 − g_iᵀ E g_i)`` (Sherman & Morrison).
    """

    def __init__(self, block: Block) -> None:
        """Measure all genes of a block, those of the panel."""
        self.weights = block.weights
        #: E, shape (r, r).
        self.covariance = block.inverse(np.ones(len(block.genes)))
        #: ``g_iᵀ E``, shape (n_panel, r).
        self.covariances = block.genes @ self.covariance
        #: ``1 − g_iᵀ E g_i``: one minus the leverage of each gene, shape (n_panel,).
        self.unique = 1.0 - np.sum(self.covariances * block.genes, axis=1)

    def contributions(self, directions: Array) -> Array:
        """``(zᵀ E g_i)²/(1 − g_iᵀ E g_i)``: by how much ``zᵀ E z`` grows without each gene, for the
        rows z, shape (n, n_panel).
        """
        return np.asarray((directions @ self.covariances.T) ** 2 / self.unique)


class MeasuredPanel:
    """The genes of a panel, and E once they are measured."""

    def __init__(self, criterion: Criterion, genes: Index) -> None:
        #: F
        self.criterion = criterion
        #: Genes of the panel
        self.genes = genes

    @cached_property
    def posteriors(self) -> list[Posterior]:
        """E of each set of cells."""
        return [Posterior(block.only(self.genes)) for block in self.criterion.error_blocks]

    def supports(self, codes: Sequence[Index], n_labels: int) -> Array:
        """Return the share of each gene's contribution that falls on each label's cells.

        Shape (len(panel), n_labels).  Without gene i the error at the cells, ``diag(Z E Zᵀ)``,
        grows by ``(Z E g_i)²/(1 − g_iᵀ E g_i)``, summed over a label's cells.  `codes` has an array
        per set of cells, −1 for no label.  A row sums to 1 where every cell has a label.
        """
        work = np.zeros((len(self.genes), n_labels))
        total = np.zeros(len(self.genes))
        for number, (posterior, labels) in enumerate(zip(self.posteriors, codes, strict=True)):
            cells = self.criterion.cells(number)
            for begin in range(0, len(cells), _ROWS):
                rows = slice(begin, begin + _ROWS)
                at_cells = posterior.contributions(cells[rows])
                total += at_cells.sum(axis=0)
                for label in range(n_labels):
                    work[:, label] += at_cells[labels[rows] == label].sum(axis=0)
        return divided(work.T, total).T

    def pairs(self, codes: Sequence[Index], n_labels: int) -> Pairs:
        """Return how far each pair of labels is separated, over sets of cells by its distance
        there.

        `codes` are those of :meth:`supports`.
        """
        first, second = np.triu_indices(n_labels, 1)
        distance, unexplained = np.zeros((2, len(first)))
        work = np.zeros((len(first), len(self.genes)))
        for number, (posterior, labels) in enumerate(zip(self.posteriors, codes, strict=True)):
            present, within = self.criterion.sets[number].means_of(labels)
            means = np.zeros((n_labels, len(within)))
            means[present] = self.criterion.cells(number, within.T)
            both = np.isin(first, present) & np.isin(second, present)
            difference = both.astype(float)[:, None] * (means[first] - means[second])
            distance += np.sum(difference**2, axis=1)
            unexplained += np.sum((difference @ posterior.covariance) * difference, axis=1)
            work += posterior.contributions(difference)
        distance = np.where(distance > 0, distance, np.nan)
        return Pairs(first, second, 1.0 - unexplained / distance, work / distance[:, None])

    def losses_by_axis(self) -> list[Array]:
        """Return shares of each gene's loss along the eigenvectors of W, which sum to 1 over all
        sets.

        One array per set of cells, shape (len(panel), r), in the order of ``Block.weights``.
        """
        losses = [of.covariances**2 * of.weights / of.unique[:, None] for of in self.posteriors]
        total = sum(of_set.sum(axis=1) for of_set in losses)
        return [of_set / np.where(total > 0, total, 1.0)[:, None] for of_set in losses]

    def unexplained_axes(self, n_axes: int) -> list[Axis]:
        """Return the axes of largest error, the largest first."""
        axes = []
        for number, posterior in enumerate(self.posteriors):
            root = np.sqrt(posterior.weights)
            values, vectors = np.linalg.eigh(root[:, None] * posterior.covariance * root)
            for mu, v in zip(values[::-1][:n_axes], vectors.T[::-1], strict=False):
                if mu > _ROUNDING * values[-1]:  # W of labels has few axes
                    along = posterior.covariance @ (root * v) / np.sqrt(mu)
                    axes.append((float(mu), number, along))
        blocks = self.criterion.error_blocks
        total = float(sum(errors_along(block.only(self.genes))[-1] for block in blocks))
        axes.sort(key=lambda axis: -axis[0])
        largest = []
        for mu, number, along in axes[:n_axes]:
            genes, cells = blocks[number].genes @ along, self.criterion.cells(number)
            sign = 1.0 if genes[np.argmax(np.abs(genes))] >= 0 else -1.0
            largest.append(Axis(number, mu / total, sign * genes, sign * (cells @ along)))
        return largest

    def unexplained_cells(self) -> list[Array]:
        """Return the error that the panel leaves at each cell, ``diag(Z E Zᵀ)``, by set of cells.

        In units of a set's mean when no gene is measured.  It follows the absolute error of what is
        predicted for a cell: a cell of which more is to be known has more unexplained.
        """
        shares = []
        for number, posterior in enumerate(self.posteriors):
            cells = self.criterion.cells(number)
            error = np.einsum("ij,ij->i", cells @ posterior.covariance, cells)
            shares.append(error / (np.einsum("ij,ij->i", cells, cells).sum() / max(len(cells), 1)))
        return shares

    def gains(self) -> Array:
        """Return what every gene would add once more, as a share of what all genes preserve."""
        _, gains, _ = self._joined(np.empty(0, dtype=np.intp))
        return np.asarray(gains / self.criterion.scale)

    def substitutions(self, leaving: Index | None = None) -> tuple[Array, Array]:
        """Return what is lost by, and the substitution scores of, replacing genes i of the panel S
        (None: all), one at a time, by every other gene j: two of shape (len(leaving), n_genes).

        What is lost is ``F(S − i + j) − F(S)``, as a share of what all genes preserve; infinite
        where j is in the panel.  The score, zero there, is by how much less the panel needs i
        beside j, ``(F(S − i) − F(S)) − (F(S − i + j) − F(S + j))``, over that of a second i.
        """
        leaving = self.genes if leaving is None else leaving
        losses, gains, instead = self._joined(leaving)
        lost = (losses - instead) / self.criterion.scale
        repeated = losses - gains[leaving][:, None]
        score = divided(instead - gains, repeated, _NOTHING)
        lost[:, self.genes] = np.inf
        score[:, self.genes] = 0.0
        return lost, score

    def _joined(self, leaving: Index) -> tuple[Array, Array, Array]:
        """Return by how much F grows without genes i, a column, by how much it falls with every
        gene j, and by how much it falls again with j once i left.
        """
        ones = np.ones(len(self.genes))
        blocks = [(block, block.only(self.genes).inverse(ones)) for block in self.criterion.blocks]
        changes = (block.changes(inverse, leaving) for block, inverse in blocks)
        if not self.criterion.worst:
            losses, gains, instead = _merged(np.add, changes)
            return losses, gains, instead
        each = [block.at(inverse)[0] for block, inverse in blocks]
        levels = np.array(each) - self.criterion.floors
        errors = (
            (level, level + loss, level - gain, level + loss - again)
            for level, (loss, gain, again) in zip(levels, changes, strict=True)
        )
        largest, without, joined, exchanged = _merged(np.maximum, errors)
        return without - largest, largest - joined, without - exchanged

    def substitutes(self) -> sparse.csr_array:
        """Return whether each gene (a column) is a substitute for each of the panel (a row)."""
        _, score = self.substitutions()
        row, substitute = np.nonzero(score >= MIN_SCORE)
        shape = (self.criterion.n_genes, self.criterion.n_genes)
        stored = np.ones(len(row), dtype=bool), (self.genes[row], substitute)
        return sparse.csr_array(stored, shape=shape)


def _merged(join: np.ufunc, of_sets: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return arrays of several sets of cells joined, with those of two sets in memory at a time."""
    return reduce(lambda first, second: tuple(map(join, first, second)), of_sets)


def n_matched(first: Index, second: Index, substitutes: sparse.csr_array) -> int:
    """Return how many genes of two panels can be matched, each with itself or a substitute."""
    either = first[:, None] == second[None, :]
    either |= substitutes[first][:, second].toarray()
    either |= substitutes[second][:, first].toarray().T
    # Of a dense array, since the indices of a slice may be of 64 bits, which old versions refuse.
    matched = maximum_bipartite_matching(sparse.csr_matrix(either), perm_type="column")
    return int(np.count_nonzero(matched >= 0))
