"""Panels of bulk data, 72 and 169 samples: settings of select_genes, and other ways to choose.

    python -m benchmarks.bulk [--pairs 10] [--draws 20]

The genes are chosen without labels.  The labels are for measuring.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from . import tables
from .data import LABEL, read
from .measures import IMPUTED, clusters_nmi, jaccard, neighbour_accuracy
from .methods.ours import select_genes
from .stability import halves
from .tables import say, section

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData

SETS = ("leukaemia", "leukaemia, filtered", "glioblastoma")
SIZES = (10, 25, 50, 100)
#: The smallest class has nine samples.
N_NEIGHBORS = 5
STARTS = 20
ALPHAS = np.logspace(-1, 4, 11)

#: Keyword arguments of select_genes.
SETTINGS = {
    "glfs_bio, default": {},
    "glfs_bio, n_neighbors=5": {"n_neighbors": 5},
    "glfs_bio, n_neighbors=15": {"n_neighbors": 15},
    "glfs_bio, n_comps=10": {"n_comps": 10},
    "glfs_bio, n_comps=None": {"n_comps": None},
    "glfs_bio, n_neighbors=5, n_comps=10": {"n_neighbors": 5, "n_comps": 10},
    'glfs_bio, standardize="unit"': {"standardize": "unit"},
    "glfs_bio, standardize=None": {"standardize": None},
    "glfs_bio, standardize=None, n_comps=10": {"standardize": None, "n_comps": 10},
    "GLFS (2014), full rank": {"objective": "exact", "n_comps": None},
    "Laplacian Score": {"method": "laplacian_score"},
    "LapAOFS": {"method": "lapaofs"},
}


def load(name: str) -> AnnData:
    """Return logarithms, without the genes that are the same in all samples, and the labels."""
    adata = read("gbm_verhaak169" if name == "glioblastoma" else "golub72")
    adata.X = np.asarray(adata.X, dtype=float)
    varies = adata.X.std(axis=0) > 0
    if name != "glioblastoma":
        raw = np.clip(adata.X, 100, 16000)
        low, high = raw.min(axis=0), raw.max(axis=0)
        varies = high > low
        if name == "leukaemia, filtered":
            varies = (high / low > 5) & (high - low > 500)
        adata.X = np.log10(raw)
        lineage = adata.obs["T.B.cell"].astype(str).where(adata.obs["label"] == "ALL", "")
        adata.obs["label"] = adata.obs["label"].astype(str) + lineage
    return adata[:, varies].copy()


def variance(adata: AnnData, n_genes: int) -> np.ndarray:
    """Rank by variance."""
    return np.argsort(-adata.X.var(axis=0), kind="stable")[:n_genes]


def mad(adata: AnnData, n_genes: int) -> np.ndarray:
    """Rank by median absolute deviation."""
    away = np.median(np.abs(adata.X - np.median(adata.X, axis=0)), axis=0)
    return np.argsort(-away, kind="stable")[:n_genes]


METHODS: dict[str, Callable] = {
    **{name: partial(select_genes, **options) for name, options in SETTINGS.items()},
    "variance": variance,
    "median absolute deviation": mad,
}


def accuracy(adata: AnnData, genes: np.ndarray) -> float:
    """Return the label accuracy of the nearest other samples, leave-one-out."""
    return neighbour_accuracy(adata.X[:, genes], adata.obs[LABEL], N_NEIGHBORS)


def kmeans_nmi(adata: AnnData, genes: np.ndarray) -> float:
    """Return the agreement of as many k-means clusters as there are labels with the labels."""
    return clusters_nmi(adata.X[:, genes], adata.obs[LABEL], STARTS)


def imputation(adata: AnnData, genes: np.ndarray) -> float:
    """Return the mean R² of unmeasured genes by ridge regression, in samples left out."""
    spread = adata.X.var(axis=0)
    spread[genes] = -np.inf
    imputed = adata.X[:, np.argsort(-spread, kind="stable")[:IMPUTED]]
    model = make_pipeline(StandardScaler(), RidgeCV(ALPHAS))
    folds = KFold(5, shuffle=True, random_state=0)
    predicted = cross_val_predict(model, adata.X[:, genes], imputed, cv=folds)
    of_genes = r2_score(imputed, predicted, multioutput="raw_values")
    return float(np.mean(np.maximum(of_genes, 0.0)))


MEASURES = {"accuracy": accuracy, "k-means NMI": kmeans_nmi, "imputation": imputation}


def measured(adata: AnnData, order: np.ndarray) -> dict[tuple[str, int], float]:
    """Return every measure at every size."""
    return {
        (measure, size): function(adata, order[:size])
        for measure, function in MEASURES.items()
        for size in SIZES
    }


def stability(adata: AnnData, method: Callable, n_pairs: int) -> dict[tuple[str, int], float]:
    """Return the mean Jaccard index of panels from two halves of the samples."""
    found = [method(adata[half].copy(), max(SIZES)) for half in halves(adata.n_obs, n_pairs)]
    return {("stability", size): jaccard([set(order[:size]) for order in found]) for size in SIZES}


def measure(adata: AnnData, n_pairs: int, n_draws: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return methods × (measure, size), and the deviation between draws of random genes."""
    rows = {}
    for called, method in METHODS.items():
        rows[called] = measured(adata, method(adata, max(SIZES)))
        rows[called] |= stability(adata, method, n_pairs)
        say(called)
    rng = np.random.default_rng(0)
    draws = pd.DataFrame([measured(adata, rng.permutation(adata.n_vars)) for _ in range(n_draws)])
    draws.columns = pd.MultiIndex.from_tuples(draws.columns)
    rows["random"] = draws.mean().to_dict()
    everything = np.arange(adata.n_vars)
    rows["all genes"] = {
        (what, size): MEASURES[what](adata, everything)
        for what in ("accuracy", "k-means NMI")
        for size in SIZES
    }
    return pd.DataFrame.from_dict(rows, orient="index"), draws.std()


def main() -> None:
    """Choose, measure, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--pairs", type=int, default=10, help="pairs of halves")
    parser.add_argument("--draws", type=int, default=20, help="draws of random genes")
    options = parser.parse_args()
    sets = {name: load(name) for name in SETS}
    genes = {name: adata.n_vars for name, adata in sets.items()}
    found = {name: measure(adata, options.pairs, options.draws) for name, adata in sets.items()}
    table = pd.concat({name: rows for name, (rows, _) in found.items()}, axis=1)
    deviation = pd.concat({name: spread for name, (_, spread) in found.items()})
    means = table.T.groupby(level=[0, 1], sort=False).mean().T
    means.columns = [", ".join(column) for column in means.columns]
    parts = []
    for what in (*MEASURES, "stability"):
        part = table.xs(what, axis=1, level=1).round(3)
        part.columns = [f"{name}, {size}" for name, size in part.columns]
        parts.append(section(f"By size: {what}", part.dropna(how="all")))
    apart = ", ".join(
        f"{value:.3f} ({name}, {what})"
        for (name, what), value in deviation.groupby(level=[0, 1], sort=False).mean().items()
    )
    tables.write(
        "panels_bulk",
        means.round(3),
        *parts,
        genes=", ".join(f"{n:,} ({name})" for name, n in genes.items()),
        n_neighbors=N_NEIGHBORS,
        pairs=options.pairs,
        draws=options.draws,
        apart=apart,
    )


if __name__ == "__main__":
    main()
