"""Molecules that are assigned to the wrong cell, and what they do to types and markers, on numbers.

Each cell keeps every molecule that is detected in it with probability ``1 − ε``; otherwise the
molecule is assigned to one of the cells around it.  A cell receives such molecules from
:data:`N_NEIGHBORS` cells, whose types have the frequencies of the neighbours of its type: of each
of them every molecule with probability ``ε / N_NEIGHBORS``, so that cells with more molecules lose,
and give, more.  Cells that follow each other around a cell are neighbours too, and their types are
drawn so: a cell within a group of its type has such cells all around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index

#: Cells around a cell: in a plane that cells fill they are six in the mean (Euler), as in squidpy.
N_NEIGHBORS = 6
#: What is added to frequencies of neighbours, so that any types can follow each other; and rounds
#: in which joint frequencies are fitted.
_SELDOM, _ROUNDS = 1e-9, 200
#: Smallest share of the cells of a type that is listed as leaking, beside the largest of each type.
_LEAST = 0.01
#: A marker is on in this share of the cells of a type; markers exclude each other where at most
#: this share of the cells that express one of them expresses both.
_MARKER, _EXCLUSIVE = 0.25, 0.05


@dataclass(frozen=True)
class Spillover:
    """The share ε, and the types of neighbours."""

    share: float
    #: Frequencies of types (columns) around cells of each type, shape (n_labels, n_labels).
    neighbors: Array


class Pairs(NamedTuple):
    """Pairs of markers that exclude each other, by the places of their genes."""

    first: Index
    second: Index
    #: Share of the cells with either that have both, in the reference.
    coexpression: Array


@dataclass(frozen=True)
class Around:
    """Cells from which those of each type receive molecules."""

    share: float
    #: Frequencies of types that have cells, shape (n_labels, n_labels).
    first: Array
    #: Around a cell of type m, type s' follows s with a probability ``∝ first[s, s'] then[m, s']``.
    then: Array
    #: Cells by type, where each type starts, and how many cells it has.
    cells: Index
    starts: Index
    sizes: Index

    @classmethod
    def of(cls, spillover: Spillover, codes: Index) -> Around:
        """Fit the frequencies of types that follow each other around a cell.

        Two cells that follow each other are neighbours as well.  Of all joint frequencies with
        those around the cell as both margins, these are nearest to those of neighbours (iterative
        proportional fitting, Deming and Stephan 1940).
        """
        sizes = np.bincount(codes, minlength=len(spillover.neighbors))
        first = spillover.neighbors * (sizes > 0)
        first[first.sum(axis=1) == 0] = sizes
        first = first / first.sum(axis=1, keepdims=True)
        pairs, then = first + _SELDOM, np.ones_like(first)
        for _ in range(_ROUNDS):
            then = first / ((first / (then @ pairs.T)) @ pairs)
        return cls(
            *(spillover.share, first, then),
            *(np.argsort(codes, kind="stable"), np.cumsum(sizes) - sizes, sizes),
        )

    def mixed(self, counts: Array, codes: Index, rng: np.random.Generator) -> Array:
        """Counts with molecules of neighbouring cells, shape (n_cells, n_genes)."""
        whole = counts.astype(np.int64)
        found = rng.binomial(whole, 1.0 - self.share)
        likely = self.first[codes]
        for _ in range(N_NEIGHBORS):
            below = np.cumsum(likely, axis=1)
            types = (rng.random((len(codes), 1)) * below[:, -1:] >= below).sum(axis=1)
            givers = self.cells[self.starts[types] + rng.integers(self.sizes[types])]
            found += rng.binomial(whole[givers], self.share / N_NEIGHBORS)
            likely = (self.first[types] + _SELDOM) * self.then[codes]
        return np.asarray(found, dtype=np.float64)


def leaks(without: Array, confusion: Array, neighbors: Array, names: Sequence[str]) -> pd.DataFrame:
    """Return pairs of types of which one is predicted for the other because of spillover.

    Shapes: (n_types, n_types) each; `without` and `confusion` have numbers of cells.
    """
    n_cells = confusion.sum(axis=1, keepdims=True)
    more = (confusion - without) / n_cells
    np.fill_diagonal(more, -np.inf)
    rows, columns = np.nonzero((more >= _LEAST) | (more == more.max(axis=1, keepdims=True)))
    table = pd.DataFrame(
        {
            "label": np.array(names, dtype=object)[rows],
            "predicted": np.array(names, dtype=object)[columns],
            "share": np.maximum(more[rows, columns], 0.0),
            "neighbors": neighbors[rows, columns],
        }
    )
    table = table[table["share"] > 0]
    return table.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)


def coexpression(on: NDArray[np.bool_]) -> Array:
    """Share of the cells that express either gene that express both, shape (n_genes, n_genes)."""
    both = on.T.astype(float) @ on
    either = np.diag(both)[:, None] + np.diag(both) - both
    return np.asarray(np.divide(both, either, out=np.zeros_like(both), where=either > 0))


def exclusive(counts: Array, codes: Index) -> Pairs:
    """Find markers that exclude each other (Hartman and Satija 2024) in the reference."""
    on = counts > 0
    of_types = np.array([on[codes == code].mean(axis=0) for code in np.unique(codes)])
    marker = of_types.max(axis=0) >= _MARKER
    shares = coexpression(on)
    first, second = np.nonzero(np.triu((shares <= _EXCLUSIVE) & marker[:, None] & marker, 1))
    return Pairs(first, second, shares[first, second])
