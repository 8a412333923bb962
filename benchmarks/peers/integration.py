"""Integrated cells and mapped queries, measured as by Zappia et al. (2025); larger is better.

The definitions follow Zappia et al., Feature selection methods affect the performance of scRNA-seq
data integration and querying, Nature Methods 22:834 (2025), doi:10.1038/s41592-025-02624-3, and
Luecken et al., Benchmarking atlas-level data integration in single-cell genomics, Nature Methods
19:41 (2022), doi:10.1038/s41592-021-01336-8.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from scipy.stats import entropy
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    adjusted_rand_score,
    f1_score,
    normalized_mutual_info_score,
    silhouette_samples,
)
from sklearn.metrics.cluster import contingency_matrix
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
from metrics import RESOLUTIONS

N_COMPS, MOST = 30, 10
#: Neighbours and perplexity of LISI.
AROUND, PERPLEXITY = 90, 30
#: Cells of a label within this quantile of the distances from its centre are inside.
INSIDE = 0.9


class Reference:
    """ComBat, genes scaled to unit variance and clipped, 30 principal components."""

    def __init__(self, values, batch):
        corrected = ad.AnnData(values.toarray())
        corrected.obs["batch"] = pd.Categorical(batch)
        if len(np.unique(batch)) > 1:
            sc.pp.combat(corrected, key="batch")
        self.scaler = StandardScaler().fit(corrected.X)
        self.pca = PCA(N_COMPS, svd_solver="arpack", random_state=0)
        self.coordinates = self.pca.fit_transform(self._scaled(corrected.X))

    def _scaled(self, values):
        return np.clip(self.scaler.transform(values), -MOST, MOST)

    def mapped(self, values):
        """Other cells, in the scale and the components of these."""
        return self.pca.transform(self._scaled(values.toarray()))


def explained(coordinates, batch) -> float:
    """Share of the variance of the coordinates that the batches explain."""
    centred = coordinates - coordinates.mean(axis=0)
    means = pd.DataFrame(centred).groupby(np.asarray(batch)).transform("mean").to_numpy()
    return float((means**2).sum() / (centred**2).sum())


def lisi(coordinates, groups) -> float:
    """Median effective number of groups around a cell, scaled: 0 for one group, 1 for all."""
    codes, names = pd.factorize(np.asarray(groups))
    n_neighbors = min(AROUND, len(codes) - 1)
    finder = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(coordinates)
    distances, around = finder.kneighbors()
    distances = distances - distances[:, :1]
    # Bisection of the logarithm of the width, until all cells have the perplexity.
    low, high = np.full((2, len(codes), 1), [[[-20.0]], [[20.0]]])
    for _ in range(60):
        middle = (low + high) / 2
        weights = np.exp(-distances * np.exp(middle))
        wide = np.exp(entropy(weights, axis=1))[:, None] > PERPLEXITY * n_neighbors / AROUND
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    weights /= weights.sum(axis=1, keepdims=True)
    shares = np.stack([(weights * (codes[around] == one)).sum(axis=1) for one in range(len(names))])
    return float((np.median(1 / (shares**2).sum(axis=0)) - 1) / (len(names) - 1))


@dataclass(frozen=True)
class Integrated:
    """Cells of several batches in one space; `before` is what `explained` of all genes was."""

    coordinates: np.ndarray
    labels: np.ndarray
    batch: np.ndarray
    before: float

    @cached_property
    def distances(self):
        """Between all cells."""
        return cdist(self.coordinates, self.coordinates)

    @cached_property
    def graph(self):
        """Scanpy's graph of 15 neighbours."""
        graph = ad.AnnData(self.coordinates)
        sc.pp.neighbors(graph, use_rep="X", transformer="sklearn", random_state=0)
        return graph

    @cached_property
    def clusters(self):
        """Leiden clusters at several resolutions; a measure takes the best."""
        how = {"flavor": "igraph", "n_iterations": 2, "directed": False, "random_state": 0}
        found = []
        for resolution in RESOLUTIONS:
            sc.tl.leiden(self.graph, resolution, **how)
            found.append(self.graph.obs["leiden"].to_numpy())
        return found

    @cached_property
    def isolated(self):
        """Labels in the fewest batches."""
        batches = pd.Series(self.batch).groupby(self.labels).nunique()
        return list(batches.index[batches == batches.min()])

    def width(self, cells, groups):
        """Silhouette of these cells."""
        return silhouette_samples(
            self.distances[np.ix_(cells, cells)], groups, metric="precomputed"
        )


def batch_pcr(cells: Integrated) -> float:
    """What of the variance explained by batches is gone."""
    return max(0.0, 1 - explained(cells.coordinates, cells.batch) / cells.before)


def batch_lisi(cells: Integrated) -> float:
    """Batches around a cell."""
    return lisi(cells.coordinates, cells.batch)


def graph_connectivity(cells: Integrated) -> float:
    """Share of the cells of a label in its largest connected component, mean over the labels."""
    graph = cells.graph.obsp["connectivities"]
    shares = []
    for label in np.unique(cells.labels):
        own = np.flatnonzero(cells.labels == label)
        _, component = connected_components(graph[own][:, own], directed=False)
        shares.append(np.bincount(component).max() / len(own))
    return float(np.mean(shares))


def batch_asw(cells: Integrated) -> float:
    """One minus the absolute silhouette of the batches within a label, mean over the labels."""
    scores = []
    for label in np.unique(cells.labels):
        own = np.flatnonzero(cells.labels == label)
        if 1 < len(np.unique(cells.batch[own])) < len(own):
            scores.append(1 - np.abs(cells.width(own, cells.batch[own])).mean())
    return float(np.mean(scores))


def label_lisi(cells: Integrated) -> float:
    """Few labels around a cell."""
    return 1 - lisi(cells.coordinates, cells.labels)


def label_asw(cells: Integrated) -> float:
    """Silhouette of the labels, scaled to 0 … 1."""
    return float((cells.width(np.arange(len(cells.labels)), cells.labels).mean() + 1) / 2)


def isolated_asw(cells: Integrated) -> float:
    """Silhouette of an isolated label against all others, scaled, mean over these labels."""
    everything = np.arange(len(cells.labels))
    widths = [cells.width(everything, cells.labels == label).mean() for label in cells.isolated]
    return float((np.mean(widths) + 1) / 2)


def isolated_f1(cells: Integrated) -> float:
    """Best F1 of a cluster for an isolated label, mean over these labels."""
    best = []
    for label in cells.isolated:
        of_label = cells.labels == label
        tables = [contingency_matrix(of_label, found) for found in cells.clusters]
        best.append(max((2 * one[1] / (one.sum(axis=0) + of_label.sum())).max() for one in tables))
    return float(np.mean(best))


def balanced_nmi(cells: Integrated) -> float:
    """NMI of the best clusters, all labels counting as if they had as many cells."""

    def of(found):
        table = contingency_matrix(cells.labels, found).astype(float)
        table /= table.sum(axis=1, keepdims=True)
        own, others = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
        return 2 * (own + others - entropy(table, axis=None)) / (own + others)

    return float(max(map(of, cells.clusters)))


def nmi(cells: Integrated) -> float:
    """NMI of the best clusters."""
    return float(max(normalized_mutual_info_score(cells.labels, one) for one in cells.clusters))


def ari(cells: Integrated) -> float:
    """Adjusted Rand index of the best clusters."""
    return float(max(adjusted_rand_score(cells.labels, one) for one in cells.clusters))


@dataclass(frozen=True)
class Mapped:
    """A query in the space of a reference that lacks one of its labels."""

    reference: np.ndarray
    known: np.ndarray
    query: np.ndarray
    labels: np.ndarray
    unseen: str

    @cached_property
    def seen(self):
        """Cells of the query whose label the reference has."""
        return self.labels != self.unseen

    @cached_property
    def predicted(self):
        """Labels by logistic regression without a penalty, all labels counting alike."""
        model = LogisticRegression(C=np.inf, class_weight="balanced", max_iter=10_000)
        return model.fit(self.reference, self.known).predict(self.query)

    @cached_property
    def shapes(self):
        """Centre and inverse covariance of the labels of the reference, and how far it goes."""
        found = {}
        for label in np.unique(self.known):
            own = self.reference[self.known == label]
            shape = own.mean(axis=0), np.linalg.pinv(np.cov(own, rowvar=False))
            found[label] = *shape, np.quantile(distance(own, *shape), INSIDE)
        return found


def distance(coordinates, centre, inverse):
    """Of Mahalanobis."""
    return cdist(coordinates, centre[None], "mahalanobis", VI=inverse)[:, 0]


def mapping_lisi(cells: Mapped) -> float:
    """Query and reference around a cell."""
    both = np.repeat(["reference", "query"], [len(cells.reference), len(cells.query)])
    return lisi(np.vstack([cells.reference, cells.query]), both)


def cell_distance(cells: Mapped) -> float:
    """Share of the cells of the query within what 90 % of the reference's label are in."""
    inside = []
    for label, (centre, inverse, most) in cells.shapes.items():
        own = cells.query[cells.labels == label]
        if len(own):
            inside.append(distance(own, centre, inverse) <= most)
    return float(np.mean(np.concatenate(inside)))


def centre_distances(cells: Mapped, label: str, others: list[str]) -> np.ndarray:
    """From the centre of a label of the query, in units of its farthest cell, at most 1."""
    own = cells.query[cells.labels == label]
    shape = own.mean(axis=0), np.linalg.pinv(np.cov(own, rowvar=False))
    centres = np.stack([cells.shapes[one][0] for one in others])
    return np.minimum(distance(centres, *shape) / distance(own, *shape).max(), 1)


def label_distance(cells: Mapped) -> float:
    """One minus the distance between the centres of a label, mean over labels with 60 cells."""
    counts = pd.Series(cells.labels[cells.seen]).value_counts()
    frequent = counts.index[counts >= 2 * N_COMPS]
    return float(1 - np.mean([centre_distances(cells, one, [one]) for one in frequent]))


def micro_f1(cells: Mapped) -> float:
    """F1 of the predicted labels over all cells."""
    seen = cells.seen
    return float(f1_score(cells.labels[seen], cells.predicted[seen], average="micro"))


def macro_f1(cells: Mapped) -> float:
    """F1 of the predicted labels, all labels counting alike."""
    seen = cells.seen
    return float(f1_score(cells.labels[seen], cells.predicted[seen], average="macro"))


def rarity_f1(cells: Mapped) -> float:
    """F1 of the predicted labels, a label counting by the inverse of its cells."""
    true, predicted = cells.labels[cells.seen], cells.predicted[cells.seen]
    names, counts = np.unique(true, return_counts=True)
    scores = f1_score(true, predicted, labels=names, average=None)
    return float(np.average(scores, weights=1 / counts))


def unseen_cells(cells: Mapped) -> float:
    """Share of the unseen cells outside what 90 % of the nearest label are in."""
    own = cells.query[~cells.seen]
    shapes = cells.shapes.values()
    away = np.stack([distance(own, centre, inverse) for centre, inverse, _ in shapes])
    nearest = away.argmin(axis=0)
    most = np.array([most for *_, most in shapes])
    return float(np.mean(away.min(axis=0) > most[nearest]))


def unseen_label(cells: Mapped) -> float:
    """Distance of the centre of the unseen label from the nearest of the reference."""
    return float(centre_distances(cells, cells.unseen, list(cells.shapes)).min())


BATCH, BIOLOGY, MAPPING, LABELS, UNSEEN = "batch", "biology", "mapping", "labels", "unseen"
#: The measures of their summary that are computed here, by kind.
SUMMARY = {
    BATCH: {
        "batch PCR": batch_pcr,
        "iLISI": batch_lisi,
        "graph connectivity": graph_connectivity,
    },
    BIOLOGY: {
        "cLISI": label_lisi,
        "balanced NMI": balanced_nmi,
        "isolated label F1": isolated_f1,
        "isolated label ASW": isolated_asw,
    },
    MAPPING: {
        "mLISI": mapping_lisi,
        "cell distance": cell_distance,
        "label distance": label_distance,
    },
    LABELS: {"F1 (micro)": micro_f1, "F1 (macro)": macro_f1, "F1 (rarity)": rarity_f1},
    UNSEEN: {"unseen cell distance": unseen_cells, "unseen label distance": unseen_label},
}
#: Measures of theirs that their summary leaves out.
BESIDE = {"batch ASW": batch_asw, "label ASW": label_asw, "ARI": ari, "NMI": nmi}
OF_INTEGRATED = SUMMARY[BATCH] | SUMMARY[BIOLOGY] | BESIDE
OF_MAPPED = SUMMARY[MAPPING] | SUMMARY[LABELS] | SUMMARY[UNSEEN]
