"""What a panel preserves, one function a measure, larger is better; labels are used only here."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.metrics import (
    adjusted_rand_score,
    f1_score,
    normalized_mutual_info_score,
    r2_score,
)

from . import data, store
from .data import N_COMPS, N_NEIGHBORS, Cells, nearest

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
    def coordinates(self) -> np.ndarray:
        """The genes, centred; principal components of them where there are more than these."""
        return reduced(self.cells.adata.X[:, list(self.genes)], self.n_comps)

    @cached_property
    def nearest(self) -> np.ndarray:
        """15 nearest cells of every cell."""
        return nearest(self.coordinates)

    @cached_property
    def predicted(self) -> np.ndarray:
        """Label of every cell by majority of its nearest cells."""
        return voted(self.cells.labels, self.nearest)


def reduced(values, n_comps: int) -> np.ndarray:
    """Centre values, and take their principal components where there are more columns."""
    values = np.asarray(values.todense() if hasattr(values, "todense") else values, dtype=float)
    values = values - values.mean(axis=0)
    if not n_comps or values.shape[1] <= n_comps:
        return values
    return PCA(n_comps, svd_solver="full").fit_transform(values)


def voted(labels, around: np.ndarray) -> np.ndarray:
    """Return the label that most of the cells around a cell have."""
    codes, names = pd.factorize(np.asarray(labels))
    votes = np.stack([(codes[around] == code).sum(axis=1) for code in range(len(names))], axis=1)
    return np.asarray(names)[votes.argmax(axis=1)]


def neighbour_accuracy(values, labels, n_neighbors: int = 15, n_comps: int = 30) -> float:
    """Return the share of cells whose nearest other cells carry, by majority, their label."""
    around = nearest(reduced(values, n_comps), n_neighbors)
    return float(np.mean(voted(labels, around) == np.asarray(labels)))


def accuracy(panel: Panel) -> float:
    """Return 15-NN label accuracy, leave-one-out."""
    return float(np.mean(panel.predicted == panel.cells.labels))


def macro_f1(panel: Panel) -> float:
    """Return F1 of the predicted labels, every type counting alike."""
    return float(f1_score(panel.cells.labels, panel.predicted, average="macro"))


def rare_f1(panel: Panel) -> float:
    """Return the mean F1 of the types with at most 5 % of the cells; NaN where there are none."""
    labels, predicted = panel.cells.labels, panel.predicted
    names, counts = np.unique(labels, return_counts=True)
    rare = names[counts <= RARE * counts.sum()]
    if not len(rare):
        return np.nan
    return float(f1_score(labels, predicted, labels=rare, average="macro", zero_division=0.0))


def leiden_ari(panel: Panel) -> float:
    """Return the agreement of Leiden clusters with the labels, at the best of the resolutions."""
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
    """Return the agreement of as many k-means clusters as there are labels with the labels."""
    return clusters_nmi(panel.coordinates, panel.cells.labels, STARTS)


def clusters_nmi(coordinates, labels, starts: int) -> float:
    """Return the mutual information of labels with as many k-means clusters."""
    clusters = KMeans(len(np.unique(labels)), n_init=starts, random_state=0)
    return float(normalized_mutual_info_score(labels, clusters.fit_predict(coordinates)))


def neighbours_of_cells(panel: Panel, cells: Cells) -> np.ndarray:
    """Return, for every cell, the share of its neighbours in all genes that the panel has too."""
    pairs = zip(cells.neighbourhoods, panel.nearest, strict=True)
    return np.array([len(np.intersect1d(*pair)) for pair in pairs]) / N_NEIGHBORS


def neighbours_kept(panel: Panel) -> float:
    """Return the share of the neighbours in all genes that are neighbours in the panel."""
    return float(np.mean(neighbours_of_cells(panel, panel.cells)))


def held_out(n_cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return halves of the cells, to fit and to test."""
    first, second = np.array_split(np.random.default_rng(0).permutation(n_cells), 2)
    return first, second


def variances(values) -> np.ndarray:
    """Return the variance of every column of a sparse matrix."""
    mean = np.asarray(values.mean(axis=0)).ravel()
    return np.asarray(values.multiply(values).mean(axis=0)).ravel() - mean**2


def imputed(panel: Panel) -> tuple[np.ndarray, np.ndarray]:
    """Return unmeasured genes of the tested cells, and what ridge regression predicts of them."""
    values = panel.cells.adata.X
    spread = variances(values)
    spread[list(panel.genes)] = -np.inf
    imputed = np.argsort(-spread, kind="stable")[:IMPUTED]
    fitted, tested = held_out(values.shape[0])
    measured, others = values[:, list(panel.genes)].toarray(), values[:, imputed].toarray()
    model = Ridge(alpha=1.0).fit(measured[fitted], others[fitted])
    return others[tested], model.predict(measured[tested])


def imputation(panel: Panel) -> float:
    """Return the mean R² of unmeasured genes by ridge regression, fitted on half of the cells."""
    return float(np.mean(r2_score(*imputed(panel), multioutput="raw_values")))


def batch_mixing(panel: Panel) -> float:
    """Return one minus the normalised excess of neighbours of the same batch, within labels.

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
    """Return the share of the genes that correlate by less than 0.8 with every other."""
    values = panel.cells.adata.X[:, list(panel.genes)].toarray()
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant gene is like no other
        correlation = np.abs(np.nan_to_num(np.corrcoef(values, rowvar=False)))
    np.fill_diagonal(correlation, 0)
    return float(np.mean(correlation.max(axis=0) < ALIKE))


MEASURES = {
    "accuracy": accuracy,
    "macro-F1": macro_f1,
    "rare-type F1": rare_f1,
    "Leiden ARI": leiden_ari,
    "k-means NMI": kmeans_nmi,
    "batch mixing": batch_mixing,
    "neighbours kept": neighbours_kept,
    "imputation": imputation,
}
#: Also taken in as many components as all genes are: a type of few cells may lie beyond the 30th.
WIDE = {
    f"{name}, {N_COMPS} PCs": MEASURES[name] for name in ("accuracy", "macro-F1", "rare-type F1")
}
#: Not in the ranks.
OTHERS = WIDE | {"genes that no other repeats": unrepeated}


def measured(cells: Cells, genes: list[int], *, compute: bool = True) -> dict[str, float]:
    """Return every measure of a panel, or those that are stored."""
    chosen = tuple(sorted(genes))
    path = store.HOME / cells.name / "measures" / f"{store.digest(repr(chosen))}.json"
    shared = inspect.getsource(Panel) + inspect.getsource(data.prepared)
    stored = store.read(path)
    values = {}
    panels = Panel(cells, chosen), Panel(cells, chosen, N_COMPS)
    for panel, of in zip(panels, (MEASURES, OTHERS), strict=True):
        for name, measure in of.items():
            key = f"{name} {store.digest(shared + inspect.getsource(measure))}"
            if compute and key not in stored:
                stored[key] = measure(panel)
                store.write(path, stored)
            if key in stored:
                values[name] = stored[key]
    return values


def of_types(panel: Panel) -> dict[str, float]:
    """Return what a panel preserves of the types."""
    return {
        "accuracy": accuracy(panel),
        "macro-F1": macro_f1(panel),
        "rare-type F1": rare_f1(panel),
    }


def jaccard(panels: list[set]) -> float:
    """Return the mean Jaccard index of panels, two by two."""
    pairs = zip(panels[::2], panels[1::2], strict=True)
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))
