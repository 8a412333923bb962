"""Classifiers on few genes that others proposed, for all values of their parameter at once.

Each is called with a training set of two classes, 0 and 1, and returns a :class:`Fitted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression, enet_path
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from sklearn.svm import SVC

    Array = NDArray[np.float64]
    Index = NDArray[np.intp]

GOLUB_GENES = 50
MOST_GENES = 50
RFE_START = 64
N_STEPS = 30
ELASTIC_NET_MIX = 0.5


@dataclass(frozen=True)
class Fitted:
    """One training set's models for all values of the parameter, from few genes to many."""

    genes: list[Index]
    predict: Callable[[Array, int], NDArray[np.bool_]]


class WeightedVoting:
    """Golub et al. 1999: 25 genes up in either class vote with their signal-to-noise ratio."""

    def __call__(self, X: Array, y: Index) -> Fitted:
        """Fit for all values of the parameter."""
        ratio, middle = self.signal_to_noise(X, y)
        genes = golub_genes(ratio)

        def predict(new: Array, _: int) -> NDArray[np.bool_]:
            return (new[:, genes] - middle[genes]) @ ratio[genes] > 0

        return Fitted([genes], predict)

    @staticmethod
    def signal_to_noise(X: Array, y: Index) -> tuple[Array, Array]:
        """(μ1 − μ0) / (σ1 + σ0) and (μ1 + μ0) / 2."""
        mean = [X[y == k].mean(axis=0) for k in (0, 1)]
        spread = sum(X[y == k].std(axis=0, ddof=1) for k in (0, 1))
        ratio = np.divide(mean[1] - mean[0], spread, out=np.zeros_like(spread), where=spread > 0)
        return ratio, (mean[0] + mean[1]) / 2


def golub_genes(ratio: Array) -> Index:
    """Half of the genes highest in either class."""
    order = np.argsort(ratio, kind="stable")
    return np.r_[order[-GOLUB_GENES // 2 :][::-1], order[: GOLUB_GENES // 2]]


@dataclass
class Eliminated:
    """Recursive feature elimination: halving down to 64 genes, from there one by one."""

    model: SVC | LogisticRegression

    def __call__(self, X: Array, y: Index) -> Fitted:
        """Fit for all values of the parameter."""
        scaler = StandardScaler().fit(X)
        scaled = scaler.transform(X)
        first = RFE(self.model, n_features_to_select=RFE_START, step=0.5).fit(scaled, y)
        kept = first.get_support(indices=True)
        second = RFE(self.model, n_features_to_select=1, step=1).fit(scaled[:, kept], y)
        order = kept[np.argsort(second.ranking_)]
        genes = [order[:k] for k in range(1, MOST_GENES + 1)]
        models = [clone(self.model).fit(scaled[:, some], y) for some in genes]

        def predict(new: Array, i: int) -> NDArray[np.bool_]:
            return models[i].predict(scaler.transform(new)[:, genes[i]]) == 1

        return Fitted(genes, predict)


class ShrunkenCentroids:
    """Tibshirani et al. 2002, thresholds from the largest deviation down to none."""

    def __call__(self, X: Array, y: Index) -> Fitted:
        """Fit for all values of the parameter."""
        varies = np.flatnonzero(np.ptp(X, axis=0) > 0)
        X = X[:, varies]
        largest = 1.0
        while _used(NearestCentroid(shrink_threshold=largest).fit(X, y)).any():
            largest *= 1.25
        thresholds = largest * np.linspace(0.99, 0.0, N_STEPS, endpoint=False)
        models = [NearestCentroid(shrink_threshold=t).fit(X, y) for t in thresholds]

        def predict(new: Array, i: int) -> NDArray[np.bool_]:
            return models[i].predict(new[:, varies]) == 1

        return Fitted([varies[_used(model)] for model in models], predict)


def _used(model: NearestCentroid) -> NDArray[np.bool_]:
    """Genes in which the shrunken centroids differ."""
    spread = np.ptp(model.centroids_, axis=0)
    return spread > 1e-9 * np.maximum(np.abs(model.centroids_).max(axis=0), 1e-300)


class ElasticNet:
    """Zou & Hastie 2005: regression on 0/1, threshold 1/2, along the path of the penalty."""

    def __call__(self, X: Array, y: Index) -> Fitted:
        """Fit for all values of the parameter."""
        scaler = StandardScaler().fit(X)
        targets = y - y.mean()
        alphas, coef, _ = enet_path(
            scaler.transform(X),
            targets,
            l1_ratio=ELASTIC_NET_MIX,
            eps=1e-2,
            alphas=N_STEPS,
            max_iter=20_000,
        )
        coef = coef[:, np.argsort(-alphas)]

        def predict(new: Array, i: int) -> NDArray[np.bool_]:
            return scaler.transform(new) @ coef[:, i] + y.mean() > 0.5

        return Fitted([np.flatnonzero(column) for column in coef.T], predict)
