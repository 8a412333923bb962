"""The cells that are looked at one by one: all of them, or, of many, a random part.

What needs every cell's neighbours at hand, or only estimates a number for each gene, is taken from
these; they are in memory.  All cells make up the subspace, the graph and the projections.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..data.matrix import Moments, RowMatrix, doubled, is_sparse, moments
from ..data.products import ScaledGenes, products
from . import pca
from .graph import MOST_EXACT, knn_graph

if TYPE_CHECKING:
    from .._typing import Array, Index, Matrix
    from ..data.products import Products

#: Of more cells than this a sample is drawn.
MANY_CELLS = MOST_EXACT
#: Cells of a sample.
SAMPLED = 10_000
#: Cells of the first look, at plain genes: more than there were in any set that decided about it.
FIRST_LOOK = 5_000
#: Components of a sample beyond those asked for, from which those of all cells are found.
_SPARE = 6


@dataclass(frozen=True)
class Sample:
    """Cells in memory.

    Attributes
    ----------
    data
        Sampled cells × genes, in single or double precision as they were given.
    chosen
        Which of all cells, sorted; None: all.
    variance
        Variance over the sample; None where that is all cells.
    """

    data: Matrix
    chosen: Index | None
    variance: Array | None
    n_neighbors: int
    random_state: int | None

    @cached_property
    def products(self) -> Products:
        """Products with the data, for whose transpose there is one place."""
        return products(self.data)

    def part(self, n_cells: int) -> Sample:
        """So many of these cells, drawn at random; all, where they are no more."""
        if self.data.shape[0] <= n_cells:
            return self
        drawn = _drawn(self.data.shape[0], n_cells, self.random_state)
        data, chosen = self.data[drawn], drawn if self.chosen is None else self.chosen[drawn]
        own, _ = moments(RowMatrix(data))
        return replace(self, data=data, chosen=chosen, variance=own.variance)

    def rows(self, of_all: Array) -> Array:
        """What belongs to the sampled cells."""
        return of_all if self.chosen is None else of_all[self.chosen]

    def graph(self, coordinates: Matrix) -> sparse.csr_array:
        """Nearest neighbours among the sampled cells."""
        return knn_graph(coordinates, self.n_neighbors, self.random_state)

    def coordinates(
        self,
        scale: Array,
        n_comps: int | None,
        tolerance: float = pca.RULES.every,
        start: Array | None = None,
    ) -> Matrix:
        """Where the sampled cells are, for genes in given units."""
        if n_comps is None:
            return scale_genes(self.data, scale)
        return pca.principal_components(
            self.products,
            n_comps,
            self.random_state,
            scale=scale,
            tolerance=tolerance,
            start=start,
        )

    def loadings(self, scale: Array, n_comps: int, start: Array | None) -> Array:
        """Principal components of the sample, and some more."""
        wanted = n_comps + _SPARE
        return pca.loadings(self.products, wanted, scale, self.random_state, start)

    def weights(self, scale: Array, where: Array) -> Array:
        """How genes in given units go with coordinates of the cells, shape (n_genes, k)."""
        return ScaledGenes.of(self.products, scale).weights(where - where.mean(axis=0))


def look(
    cells: RowMatrix, *, whole: bool, n_neighbors: int, random_state: int | None
) -> tuple[Moments, Sample]:
    """Moments of all cells and a sample of them, in one pass.

    Parameters
    ----------
    cells
        Cells × genes.
    whole
        Take all, however many.
    n_neighbors, random_state
        For what is computed from the sample; the seed draws it, too.
    """
    n_cells = cells.shape[0]
    chosen = None
    if n_cells > MANY_CELLS and not whole:
        chosen = _drawn(n_cells, min(SAMPLED, MANY_CELLS), random_state)
    every, data = moments(cells, chosen)
    if data.dtype.kind != "f":
        data = doubled(data)
    if not whole and is_sparse(data):
        data = sparse.csr_array(data)
    if chosen is None:
        return every, Sample(data, None, None, n_neighbors, random_state)
    own, _ = moments(RowMatrix(data))
    return every, Sample(data, chosen, own.variance, n_neighbors, random_state)


def _drawn(n_cells: int, n_drawn: int, random_state: int | None) -> Index:
    return np.sort(np.random.default_rng(random_state).choice(n_cells, n_drawn, replace=False))


def scale_genes(data: Matrix, scale: Array) -> Matrix:
    """Genes multiplied with their scale."""
    if sparse.issparse(data):
        return data @ sparse.diags_array(scale)
    return data * scale
