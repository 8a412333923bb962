"""The leukaemia table of the paper: six classifiers on few genes, one split, one protocol.

    python -m benchmarks.paper.leukaemia [--seeds 20]

Every method chooses its parameter by stratified ten-fold cross-validation on the 38 training
samples, with all selection and scaling inside the folds and ties going to fewer genes, and is then
fitted to the 38 and tested once on the 34.  All other settings are fixed.  A classifier that others
proposed is called with a training set of two classes, 0 and 1, and returns a :class:`Fitted`: its
models for all values of its parameter at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression, enet_path
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from glfs_bio import GLFS, datasets
from glfs_bio.estimators import GLFSLapRLSClassifier, LapRLSClassifier

from .. import tables
from ..tables import section

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

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
        """Return (μ1 − μ0) / (σ1 + σ0) and (μ1 + μ0) / 2."""
        mean = [X[y == k].mean(axis=0) for k in (0, 1)]
        spread = sum(X[y == k].std(axis=0, ddof=1) for k in (0, 1))
        ratio = np.divide(mean[1] - mean[0], spread, out=np.zeros_like(spread), where=spread > 0)
        return ratio, (mean[0] + mean[1]) / 2


def golub_genes(ratio: Array) -> Index:
    """Return half of the genes highest in either class."""
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
    """Return genes in which the shrunken centroids differ."""
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


FOLDS = 10
DEFAULT_SEED = 0
OURS = "GLFS + LapRLS, the default"
#: Errors of ten-fold CV and of the test, and genes, in the table of the paper.
PAPER = {
    "Golub's weighted voting": "3/38, 4/34, 50",
    "Linear SVM + RFE": "2/38, 1/34, 31",
    "Penalised logistic + RFE": "2/38, 1/34, 26",
    "Nearest shrunken centroids": "2/38, 2/34, 21",
    "Elastic net": "3/38, 0/34, 45",
    OURS: "0/38, 0/34, 16",
}


def floor_and_log(raw: Array) -> Array:
    """Clip to 100..16000, then log10."""
    return np.log10(np.clip(raw, 100.0, 16000.0))


@dataclass(frozen=True)
class Result:
    """Errors and genes of one method at one seed."""

    cv_error: int
    test_error: int
    genes: Index


def chosen_by_cv(
    method: Callable[[Array, Index], Fitted], seed: int, train: tuple, test: tuple
) -> Result:
    """Cross-validate, fit to all of the training set, test."""
    X, y = train
    errors = []
    for inside, outside in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
        fitted = method(X[inside], y[inside])
        wrong = [
            np.sum(fitted.predict(X[outside], i) != y[outside]) for i in range(len(fitted.genes))
        ]
        errors.append(wrong)
    total = np.sum(errors, axis=0)
    best = int(np.argmin(total))
    fitted = method(X, y)
    return Result(
        int(total[best]),
        int(np.sum(fitted.predict(test[0], best) != test[1])),
        fitted.genes[best],
    )


def glfs(seed: int, train: tuple, test: tuple, **parts) -> Result:
    """Fit GLFS and LapRLS, 1 to 30 genes, and test them; parts that are not given are defaults."""
    model = GLFSLapRLSClassifier(cv=FOLDS, random_state=seed, **parts).fit(*train)
    wrong = np.sum(model.predict(test[0]) != test[1])
    return Result(int(model.cv_errors_.min()), int(wrong), model.genes_)


OTHERS = {
    "Golub's weighted voting": WeightedVoting(),
    "Linear SVM + RFE": Eliminated(SVC(kernel="linear", C=1.0)),
    "Penalised logistic + RFE": Eliminated(LogisticRegression(C=1.0, solver="liblinear")),
    "Nearest shrunken centroids": ShrunkenCentroids(),
    "Elastic net": ElasticNet(),
}
METHODS = {
    **{name: partial(chosen_by_cv, method) for name, method in OTHERS.items()},
    OURS: glfs,
    "the default before: LapRLS on the neighbour graph": partial(
        glfs, classifier=LapRLSClassifier()
    ),
    "GLFS and LapRLS on the neighbour graph": partial(
        glfs, selector=GLFS(objective="exact", n_comps=None), classifier=LapRLSClassifier()
    ),
}


def curve(train: tuple, test: tuple) -> pd.DataFrame:
    """Return CV and test error of GLFS + LapRLS at every number of genes, at the default seed."""
    searched = GLFSLapRLSClassifier(cv=FOLDS, random_state=DEFAULT_SEED).fit(*train)
    rows = {}
    for number, errors in zip(searched.tried_, searched.cv_errors_, strict=True):
        one = GLFSLapRLSClassifier(int(number)).fit(*train)
        wrong = np.sum(one.predict(test[0]) != test[1])
        rows[int(number)] = {"CV": int(errors), "test": int(wrong)}
    return pd.DataFrame(rows).rename_axis("genes")


def spread(values: list[int]) -> str:
    """Return median and range."""
    return f"{np.median(values):g} ({min(values)}–{max(values)})"


def row(results: list[Result], seconds: float) -> dict[str, str]:
    """Return errors and genes at the default seed, and over the seeds."""
    first, n_seeds = results[DEFAULT_SEED], len(results)
    return {
        f"CV, seed {DEFAULT_SEED}": f"{first.cv_error}/38",
        "test": f"{first.test_error}/34",
        "genes": str(len(first.genes)),
        f"CV, {n_seeds} seeds": spread([one.cv_error for one in results]),
        f"test, {n_seeds} seeds": spread([one.test_error for one in results]),
        f"genes, {n_seeds} seeds": spread([len(one.genes) for one in results]),
        "s a seed": f"{seconds / n_seeds:.1f}",
    }


def over_seeds(results: list[Result]) -> pd.DataFrame:
    """Return how errors and numbers of genes are distributed over the seeds."""
    counted = {
        "CV errors": [one.cv_error for one in results],
        "test errors": [one.test_error for one in results],
        "genes": [len(one.genes) for one in results],
    }
    told = {
        name: ", ".join(f"{v}: {n}" for v, n in pd.Series(values).value_counts(sort=False).items())
        for name, values in counted.items()
    }
    return pd.DataFrame({"value: number of seeds": told})


def described(adata, genes: Index, golub50: set[int]) -> pd.DataFrame:
    """Return the genes of our classifier, beside those of weighted voting."""
    table = adata.var.iloc[genes][["description"]].rename_axis("probe set")
    table["description"] = table["description"].str.replace("|", "/", regex=False)
    return table.assign(**{"in Golub's 50": ["yes" if g in golub50 else "" for g in genes]})


def parts(adata, X: Array, n_seeds: int) -> tuple[pd.DataFrame, list[str]]:
    """Return every method on one form of the matrix, and what else there is to say, as Markdown."""
    is_train = (adata.obs["split"] == "train").to_numpy()
    y = (adata.obs["label"] == "AML").to_numpy().astype(int)
    train, test = (X[is_train], y[is_train]), (X[~is_train], y[~is_train])
    table, found = {}, {}
    for name, run in METHODS.items():
        begin = time.perf_counter()
        found[name] = [run(seed, train, test) for seed in range(n_seeds)]
        of_paper = {"paper: CV, test, genes": PAPER.get(name, "–")}
        table[name] = row(found[name], time.perf_counter() - begin) | of_paper
        tables.say(f"{name}: {table[name]}")
    genes = found[OURS][DEFAULT_SEED].genes
    golub50 = set(golub_genes(WeightedVoting.signal_to_noise(*train)[0]).tolist())
    common = len(golub50 & set(genes.tolist()))
    return pd.DataFrame(table).T.rename_axis("method"), [
        f"### The {len(genes)} genes of {OURS}, seed {DEFAULT_SEED}",
        f"{common} of them are among the {GOLUB_GENES} genes of weighted voting on the 38 "
        "(marked).",
        described(adata, genes, golub50).to_markdown(),
        section("Over the seeds of the folds, same method", over_seeds(found[OURS]), 3),
        section("Errors by number of genes, same method and seed", curve(train, test), 3),
    ]


def main() -> None:
    """Run everything and write the tables."""
    parser = tables.parser(__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="number of fold seeds")
    n_seeds = parser.parse_args().seeds
    adata = datasets.golub()
    raw = adata.X.astype(float)
    table, logged = parts(adata, floor_and_log(raw), n_seeds)
    table_raw, rest = parts(adata, raw, n_seeds)
    tables.write("leukaemia", table, *logged, section("Raw", table_raw), *rest, seed=DEFAULT_SEED)


if __name__ == "__main__":
    main()
