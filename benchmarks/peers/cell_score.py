"""The cell score of geneBasis: how near, in all genes, a cell's neighbours in the panel are.

Missarova et al. (2021), geneBasis: an iterative approach for unsupervised selection of targeted
gene panels from scRNA-seq, Genome Biology 22:333, doi:10.1186/s13059-021-02548-z.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scanpy as sc
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

N_NEIGHBORS, N_COMPS = 5, 50


@dataclass(frozen=True, eq=False)
class Batch:
    """Logarithmised expression of cells that are compared with one another only."""

    values: object

    @property
    def n_comps(self) -> int:
        """Principal components of all genes, and of a panel that has more genes."""
        return min(N_COMPS, self.values.shape[0] - 1)

    @cached_property
    def distances(self):
        """Between cells, in components of all genes."""
        return pairwise_distances(sc.pp.pca(self.values, n_comps=self.n_comps, random_state=0))

    def median(self, neighbours):
        """Median distance to these neighbours of every cell."""
        return np.median(np.take_along_axis(self.distances, neighbours, axis=1), axis=1)

    @cached_property
    def mean(self):
        """Mean distance to all other cells."""
        return self.distances.sum(axis=1) / (len(self.distances) - 1)

    @cached_property
    def least(self):
        """Median distance to the nearest cells in all genes."""
        others = self.distances + np.diag(np.full(len(self.distances), np.inf))
        return self.median(np.argpartition(others, N_NEIGHBORS, axis=1)[:, :N_NEIGHBORS])

    def scores(self, panel: np.ndarray) -> np.ndarray:
        """``(mean − found) / (mean − least)``, a value a cell: 1 where nothing is lost.

        `found` is the median distance, in all genes, to the 5 cells that are nearest in the panel.
        """
        if panel.shape[1] > self.n_comps:
            panel = sc.pp.pca(panel, n_comps=self.n_comps, random_state=0)
        nearest = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute").fit(panel)
        found = self.median(nearest.kneighbors(return_distance=False))
        return (self.mean - found) / (self.mean - self.least)


@dataclass(frozen=True, eq=False)
class CellScore:
    """Scores within batches, with the defaults of `get_neighborhood_preservation_scores`."""

    values: object
    batches: np.ndarray | None

    @cached_property
    def parts(self) -> list[tuple[np.ndarray, Batch]]:
        """Cells of every batch."""
        if self.batches is None:
            return [(np.arange(self.values.shape[0]), Batch(self.values))]
        places = [np.flatnonzero(self.batches == batch) for batch in np.unique(self.batches)]
        return [(cells, Batch(self.values[cells])) for cells in places]

    def of(self, panel: np.ndarray) -> np.ndarray:
        """A value a cell, from the expression of the panel's genes, cells × genes."""
        scores = np.empty(self.values.shape[0])
        for cells, batch in self.parts:
            scores[cells] = batch.scores(panel[cells])
        return scores
