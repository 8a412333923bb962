"""What a panel keeps: one small function a measure, larger is better; labels are used only here."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import anndata as ad
import numpy as np
import scanpy as sc
from sets import N_NEIGHBORS, Cells, nearest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

RESOLUTIONS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0)
STARTS = 10


@dataclass(frozen=True)
class Panel:
    """The cells as a panel shows them."""

    cells: Cells
    genes: tuple[int, ...]

    @cached_property
    def coordinates(self):
        """The genes, centred; at most 30 principal components of them."""
        values = self.cells.adata.X[:, list(self.genes)].toarray().astype(float)
        values -= values.mean(axis=0)
        return PCA(30, svd_solver="full").fit_transform(values) if len(self.genes) > 30 else values

    @cached_property
    def nearest(self):
        """15 nearest cells of every cell."""
        return nearest(self.coordinates)


def accuracy(panel: Panel) -> float:
    """15-NN label accuracy, leave-one-out."""
    return report.neighbour_accuracy(panel.coordinates, panel.cells.labels)


def leiden_ari(panel: Panel) -> float:
    """Agreement of Leiden clusters with the labels, at the best of the resolutions."""
    graph = ad.AnnData(panel.coordinates)
    sc.pp.neighbors(graph, N_NEIGHBORS, use_rep="X", transformer="sklearn", random_state=0)
    scores = []
    for resolution in RESOLUTIONS:
        sc.tl.leiden(
            graph, resolution, flavor="igraph", n_iterations=2, directed=False, random_state=0
        )
        scores.append(adjusted_rand_score(panel.cells.labels, graph.obs["leiden"]))
    return float(max(scores))


def kmeans_nmi(panel: Panel) -> float:
    """Agreement of as many k-means clusters as there are labels with the labels."""
    labels = panel.cells.labels
    clusters = KMeans(len(np.unique(labels)), n_init=STARTS, random_state=0)
    return float(normalized_mutual_info_score(labels, clusters.fit_predict(panel.coordinates)))


def reconstruction(panel: Panel) -> float:
    """Share of the neighbours in all genes that are neighbours in the panel."""
    pairs = zip(panel.cells.neighbourhoods, panel.nearest, strict=True)
    return float(np.mean([len(np.intersect1d(full, kept)) for full, kept in pairs]) / N_NEIGHBORS)


def batch_mixing(panel: Panel) -> float:
    """One minus the normalised excess of neighbours of the same batch, among cells of one label.

    1: neighbours are of the same batch as often as any two cells of that label; 0: always.  Within
    labels, because the batches differ in what cells they hold.  NaN where there is one batch.
    """
    batches, labels = panel.cells.batches, panel.cells.labels
    if batches is None:
        return np.nan
    excess = room = 0.0
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        batch = batches[own]
        if len(np.unique(batch)) == 1:
            continue
        around = nearest(panel.coordinates[own], min(N_NEIGHBORS, len(own) - 1))
        same = (batch[around] == batch[:, None]).mean(axis=1)
        expected = (np.bincount(batch)[batch] - 1) / (len(own) - 1)
        excess += (same - expected).sum()
        room += (1 - expected).sum()
    return float(1 - excess / room)


METRICS = {
    "accuracy": accuracy,
    "Leiden ARI": leiden_ari,
    "k-means NMI": kmeans_nmi,
    "batch mixing": batch_mixing,
    "reconstruction": reconstruction,
}
