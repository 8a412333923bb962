"""Cells in space: domains that a panel tells apart, and what it keeps of spatial autocorrelation.

A domain, such as a layer or a region, is read from the expression of a cell averaged with that of
its neighbours in space, as methods that find domains do.  Neighbours share most of their averages:
leave-one-out, genes without any signal would tell domains apart.  So cells are predicted from other
blocks of tissue, and averages end at the borders of the folds: no cell counts on both sides.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.model_selection import StratifiedGroupKFold

from ..cells.graph import MOST_EXACT, joined
from ..cells.noise import inverse_root
from ..data.matrix import RowMatrix, moments
from . import labels as readers
from .cells import N_NEIGHBORS, dense, evenly, nearest, scatter_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index, Matrix
    from ..data.matrix import Sums

#: Cells of a block, in the mean: 50 and 200 give the same within .01, and so do whole sections that
#: are left out ("Domains that are read in space" in ``benchmarks/results/space.md``).  Of fewer
#: cells there are twice as many blocks as folds.
CELLS_OF_BLOCK = 100
#: Of more cells so many are predicted, from one another; averages are of all.
_PREDICTED = 20_000
#: Random panels by which domains are read, and all of many cells.
RANDOM = 5
#: Genes whose autocorrelation stands for that of all, where there are many cells.
GENES = 1000
#: Genes whose dense values are in memory at once.
_AT_ONCE = 256
#: Directions of a panel of so small a share of the largest are rounding.
_ROUNDING = 1e-10


def neighbours(where: Array, section: Index, n_neighbors: int = N_NEIGHBORS) -> sparse.csr_array:
    """Return the graph of cells of which one is among the nearest of the other in its section."""
    members = [np.flatnonzero(section == name) for name in np.unique(section)]
    graphs, alone = [], sparse.csr_array((1, 1))
    for cells in members:
        graphs.append(joined(nearest(where[cells], n_neighbors)) if len(cells) > 1 else alone)
    back = np.argsort(np.concatenate(members))
    return sparse.csr_array(sparse.block_diag(graphs, format="csr"))[back][:, back]


def within(graph: sparse.csr_array, group: Index) -> sparse.csr_array:
    """Return the edges between two cells of one group; squidpy may join a cell to itself."""
    edges = graph.tocoo()
    is_edge = (group[edges.row] == group[edges.col]) & (edges.row != edges.col)
    edges_within = edges.data[is_edge], (edges.row[is_edge], edges.col[is_edge])
    return sparse.csr_array(edges_within, shape=graph.shape)


@dataclass(frozen=True)
class Domains:
    """Labels of cells in space, and the folds that they are read in."""

    #: Weights of the averages of a cell and its neighbours in its fold, shape (n_cells, n_cells)
    averages: sparse.csr_array
    #: Cells that are predicted, their labels and their folds
    cells: Index
    codes: Index
    fold: Index
    names: Sequence[str]

    @classmethod
    def of(
        cls, graph: sparse.csr_array, codes: Index, names: Sequence[str], random_state: int | None
    ) -> Domains:
        """Cut the tissue into blocks, and deal these to folds that have all labels alike."""
        block = blocks(graph, random_state)
        labelled = np.flatnonzero(codes >= 0)
        n_folds = min(readers.n_folds_of(codes), len(np.unique(block[labelled])))
        fold_of_block = np.zeros(block.max() + 1, dtype=np.intp)
        if n_folds > 1:
            dealer = StratifiedGroupKFold(n_folds, shuffle=True, random_state=random_state)
            with warnings.catch_warnings(action="ignore"):  # of labels of fewer cells than folds
                dealt = list(dealer.split(labelled, codes[labelled], block[labelled]))
            for k, (_, test) in enumerate(dealt):
                fold_of_block[block[labelled[test]]] = k
        fold = fold_of_block[block]
        around = within(graph, fold)
        around.data = np.ones_like(around.data, dtype=np.float64)
        around = around + sparse.eye_array(len(codes), format="csr")
        share = sparse.diags_array(1.0 / around.sum(axis=1))
        cells = labelled[evenly(len(labelled), _PREDICTED)]
        return cls(sparse.csr_array(share @ around), cells, codes[cells], fold[cells], names)

    def scores(
        self, readings: Sequence[str], where: Array, values: Array, random_state: int | None
    ) -> dict[str, readers.LabelScores]:
        """Return what the readings say of the averages of coordinates and of values."""
        where, values = (self.averages @ where)[self.cells], (self.averages @ values)[self.cells]
        scores_by = partial(readers.scores_by, fold=self.fold, random_state=random_state)
        return scores_by(readings, where, values, self.codes, self.names)


def blocks(graph: sparse.csr_array, random_state: int | None) -> Index:
    """Connected blocks of cells, each of those nearer to its seed than to others by edges."""
    n_cells = graph.shape[0]
    n_blocks = max(n_cells // CELLS_OF_BLOCK, 2 * readers.N_FOLDS)
    draw = np.random.default_rng(random_state)
    seeds = draw.choice(n_cells, min(n_blocks, n_cells), replace=False)
    short = (graph.indices.astype(np.int32), graph.indptr.astype(np.int32))  # all that scipy takes
    edges = sparse.csr_array((graph.data, *short), graph.shape)
    how = {"directed": False, "unweighted": True, "min_only": True, "return_predecessors": True}
    _, _, nearest_seed = csgraph.dijkstra(edges, indices=seeds, **how)
    _, component = csgraph.connected_components(graph, directed=False)
    block = np.where(nearest_seed < 0, n_cells + component, nearest_seed)  # a part without a seed
    return np.asarray(np.unique(block, return_inverse=True)[1])


@dataclass(frozen=True)
class Autocorrelation:
    """Moran's I of genes, and the share of it that a panel explains.

    Of genes z of mean 0 and variance 1, weights W of sum S and diagonal 0, Moran's I is zᵀWz / S.
    The regression on the panel leaves r of a gene.  Of noise σ that is independent between cells
    zᵀWz has the mean 0, and rᵀWr −σ² tr(PW), as any fit takes a part of it; P projects on the
    panel.  So what is kept is ``1 − Σ (rᵀWr + σ² tr(PW)) / Σ zᵀWz``, in sums over all genes.
    """

    #: Expression of genes that vary, shape (n_cells, n_genes)
    values: Matrix
    #: Weights, each cell's of sum 1 as in squidpy, made symmetric, which changes no I
    weights: sparse.csr_array
    #: Mean and standard deviation of every gene
    means: Array
    deviations: Array

    @classmethod
    def of(cls, graph: sparse.csr_array, data: RowMatrix, varying: Index) -> Autocorrelation:
        """Weigh the neighbours of a cell alike; of many cells read :data:`GENES` genes."""
        degrees = graph.sum(axis=1)
        share = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
        weights = sparse.diags_array(share) @ graph
        if data.shape[0] > MOST_EXACT:
            varying = varying[evenly(len(varying), GENES)]
        values = RowMatrix(data, genes=varying).loaded()
        mean, variance, _ = moments(RowMatrix(values, checked=True))
        return cls(values, sparse.csr_array((weights + weights.T) / 2), mean, np.sqrt(variance))

    @cached_property
    def of_genes(self) -> Array:
        """Moran's I of every gene."""
        return self._morans_i(self.values)

    def _morans_i(self, values: Matrix) -> Array:
        """Moran's I of some genes, NaN where a gene does not vary."""
        by_genes = sparse.csc_array(values) if sparse.issparse(values) else values
        scale = self.weights.shape[0] / self.weights.sum()
        indices = [np.empty(0)]
        for first in range(0, values.shape[1], _AT_ONCE):
            block = dense(by_genes[:, first : first + _AT_ONCE])
            block = block - block.mean(axis=0)
            numerators = np.einsum("ij,ij->j", block, self.weights @ block)
            with np.errstate(invalid="ignore"):
                indices.append(scale * numerators / np.einsum("ij,ij->j", block, block))
        return np.concatenate(indices)

    def mean(self, panel: Matrix) -> float:
        """Mean Moran's I of the genes of a panel that vary; NaN without any."""
        varying = moments(RowMatrix(panel, checked=True))[1] > 0
        return float(self._morans_i(panel[:, varying]).mean()) if varying.any() else float("nan")

    def preserved(self, panel: Matrix) -> float:
        """Share of the Moran's I of all genes that a panel explains; NaN where there is none.

        With B an orthonormal basis of the centred panel P, fits are XᵀB of genes X, and ``XᵀWB`` is
        what lies beside them; sums are of P as it is, and centred afterwards.
        """
        centre, scatter = scatter_of(RowMatrix(panel, checked=True))
        axes = _whitening(scatter)
        n_cells, rank = panel.shape[0], axes.shape[1]
        degrees = self.weights.sum(axis=1)
        total = self.weights.sum() * self.of_genes.sum()
        if total <= 0 or n_cells - 1 <= rank:
            return float("nan")
        weights = RowMatrix(self.weights, checked=True)
        (fits, cross, inner), _ = weights.sweep(_around, panel, self.values)
        by_degree = panel.T @ degrees
        inner -= np.outer(centre, by_degree) + np.outer(by_degree, centre)
        inner += degrees.sum() * np.outer(centre, centre)
        cross -= np.outer(self.values.T @ degrees, centre)
        cross -= np.outer(self.means, by_degree - degrees.sum() * centre)
        fits = ((fits - n_cells * np.outer(self.means, centre)) @ axes).T / self.deviations
        cross, inner = (cross @ axes).T / self.deviations, axes.T @ inner @ axes
        explained = 2.0 * np.sum(fits * cross) - np.sum(fits * (inner @ fits))
        noise = (n_cells - np.sum(fits**2, axis=0)).sum() / (n_cells - 1 - rank)
        return float((explained - noise * np.trace(inner)) / total)


def _whitening(scatter: Array) -> Array:
    """T of ``Tᵀ scatter T = I``, shape (n_genes, rank)."""
    inverse = inverse_root(np.diag(scatter))
    values, vectors = np.linalg.eigh(scatter * np.outer(inverse, inverse))
    significant = values > _ROUNDING * values[-1]
    return np.asarray(inverse[:, None] * vectors[:, significant] / np.sqrt(values[significant]))


def _around(block: Matrix, rows: slice, panel: Matrix, genes: Matrix) -> tuple[Sums, Matrix]:
    """Of some cells ``XᵀP``, ``XᵀWP`` and ``PᵀWP``."""
    p, x = dense(panel[rows]), genes[rows]
    around = dense(block @ panel)
    return (x.T @ p, x.T @ around, p.T @ around), None
