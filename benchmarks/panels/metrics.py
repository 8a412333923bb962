"""What a panel keeps: one small function a measure, larger is better; labels are used only here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from sets import N_COMPS, N_NEIGHBORS, Cells, nearest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.metrics import (
    adjusted_rand_score,
    f1_score,
    normalized_mutual_info_score,
    r2_score,
)

RESOLUTIONS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0)
STARTS = 10
#: A rare type has at most this share of the cells.
RARE = 0.05
#: Genes whose imputation is measured: those of largest variance that the panel does not hold.
IMPUTED = 1000
#: Genes that are more alike than this repeat each other; the limit is that of Spapros' evaluator.
ALIKE = 0.8


@dataclass(frozen=True)
class Panel:
    """The cells as a panel shows them."""

    cells: Cells
    genes: tuple[int, ...]
    n_comps: int = 30

    @cached_property
    def coordinates(self):
        """The genes, centred; principal components of them where there are more than these."""
        values = self.cells.adata.X[:, list(self.genes)].toarray().astype(float)
        values -= values.mean(axis=0)
        if len(self.genes) <= self.n_comps:
            return values
        return PCA(self.n_comps, svd_solver="full").fit_transform(values)

    @cached_property
    def nearest(self):
        """15 nearest cells of every cell."""
        return nearest(self.coordinates)

    @cached_property
    def predicted(self):
        """Label of every cell by majority of its nearest cells."""
        codes, names = pd.factorize(self.cells.labels)
        around = codes[self.nearest]
        votes = np.stack([(around == code).sum(axis=1) for code in range(len(names))], axis=1)
        return np.asarray(names)[votes.argmax(axis=1)]


def accuracy(panel: Panel) -> float:
    """15-NN label accuracy, leave-one-out."""
    return float(np.mean(panel.predicted == panel.cells.labels))


def macro_f1(panel: Panel) -> float:
    """F1 of the predicted labels, every type counting alike."""
    return float(f1_score(panel.cells.labels, panel.predicted, average="macro"))


def rare_f1(panel: Panel) -> float:
    """Mean F1 of the types with at most 5 % of the cells; NaN where there are none."""
    names, counts = np.unique(panel.cells.labels, return_counts=True)
    rare = names[counts <= RARE * counts.sum()]
    if not len(rare):
        return np.nan
    of_types = f1_score(
        panel.cells.labels, panel.predicted, labels=rare, average=None, zero_division=0.0
    )
    return float(np.mean(of_types))


def frequent_f1(panel: Panel) -> float:
    """Mean F1 of the types with more than 5 % of the cells."""
    names, counts = np.unique(panel.cells.labels, return_counts=True)
    frequent = names[counts > RARE * counts.sum()]
    return float(f1_score(panel.cells.labels, panel.predicted, labels=frequent, average="macro"))


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


def imputation(panel: Panel) -> float:
    """Mean R² of unmeasured genes by ridge regression, fitted on one half of the cells."""
    values = panel.cells.adata.X
    spread = np.asarray(values.multiply(values).mean(axis=0)).ravel()
    spread -= np.asarray(values.mean(axis=0)).ravel() ** 2
    spread[list(panel.genes)] = -np.inf
    wanted = np.argsort(-spread, kind="stable")[:IMPUTED]
    train, test = np.array_split(np.random.default_rng(0).permutation(values.shape[0]), 2)
    measured, others = values[:, list(panel.genes)].toarray(), values[:, wanted].toarray()
    model = Ridge(alpha=1.0).fit(measured[train], others[train])
    return float(
        np.mean(r2_score(others[test], model.predict(measured[test]), multioutput="raw_values"))
    )


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


def unrepeated(panel: Panel) -> float:
    """Share of the genes whose correlation with every other gene of the panel is below 0.8."""
    values = panel.cells.adata.X[:, list(panel.genes)].toarray()
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant gene is like no other
        correlation = np.abs(np.nan_to_num(np.corrcoef(values, rowvar=False)))
    np.fill_diagonal(correlation, 0)
    return float(np.mean(correlation.max(axis=0) < ALIKE))


METRICS = {
    "accuracy": accuracy,
    "macro-F1": macro_f1,
    "rare-type F1": rare_f1,
    "Leiden ARI": leiden_ari,
    "k-means NMI": kmeans_nmi,
    "batch mixing": batch_mixing,
    "neighbours kept": reconstruction,
    "imputation": imputation,
}
#: Also taken in as many components as all genes are: a type of few cells may lie beyond the 30th.
WIDE = {
    f"{name}, {N_COMPS} PCs": METRICS[name] for name in ("accuracy", "macro-F1", "rare-type F1")
}
#: Neither in margins nor in ranks.
OTHERS = WIDE | {"genes that no other repeats": unrepeated}
