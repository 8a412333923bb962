"""The classifier of few genes by its two graphs, on cohorts of tumours other than leukaemia.

    python -m benchmarks.paper.cohorts FOLDER [--splits 3]

FOLDER has one `NAME.csv` a cohort: samples in rows, the class first.  Nothing was chosen by what is
tested here: the graphs and their weights are those of the leukaemia table.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from glfs_bio.estimators import LapRLSClassifier
from glfs_bio.estimators._glfs_laprls import default_classifier, default_selector

from .. import paper, tables

#: The default, and the default before.
CLASSES, NEIGHBOURS = GRAPHS = ("classes, λ1 = 1", "neighbours, λ1 = 0.1")
SIZES = list(range(1, 31))
FOLDS, FEWEST, TESTED = 10, 6, 1 / 3
#: What no logarithm of an intensity reaches.
NO_LOGARITHM = 100


@cache
def cohort(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms, and the classes of at least six samples, of what is no logarithm yet."""
    table = pd.read_csv(path, index_col=0)
    table = table[table.index.map(table.index.value_counts()) >= FEWEST]
    values = table.to_numpy(dtype=float)
    if values.max() > NO_LOGARITHM:
        values = np.log10(np.clip(values, max(1.0, np.quantile(values, 0.1)), None))
    return values, table.index.to_numpy(dtype=str)


def wrong(
    train: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return errors by graph, for every number of genes; the genes are the same for all graphs."""
    (X, y), (new, truth) = train, test
    selector = default_selector(y)
    classifiers = {CLASSES: default_classifier(y, selector), NEIGHBOURS: LapRLSClassifier()}
    errors = {graph: [] for graph in GRAPHS}
    for size, panel in zip(SIZES, selector.panels(X, y, SIZES), strict=True):
        genes = panel.order[:size]
        weight = panel.weights[genes] * X[:, genes].var(axis=0)
        for graph, classifier in classifiers.items():
            classifier.fit(X[:, genes], y, feature_weight=weight / weight.mean())
            errors[graph].append(np.sum(classifier.predict(new[:, genes]) != truth))
    return {graph: np.array(found) for graph, found in errors.items()}


def split(path: Path, number: int, n_splits: int) -> list[dict]:
    """Return errors of one split of a cohort, the number of genes from its training part alone."""
    X, y = cohort(path)
    parts = StratifiedShuffleSplit(n_splits, test_size=TESTED, random_state=tables.SEED)
    train, test = list(parts.split(X, y))[number]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=number)
    inside = X[train], y[train]
    found = [
        wrong((inside[0][learnt], inside[1][learnt]), (inside[0][held], inside[1][held]))
        for learnt, held in folds.split(*inside)
    ]
    tested = wrong(inside, (X[test], y[test]))
    rows = []
    for graph in GRAPHS:
        cv = np.sum([one[graph] for one in found], axis=0)
        best = int(np.argmin(cv))
        rows.append(
            {
                "cohort": path.stem,
                "samples": len(y),
                "classes": len(np.unique(y)),
                "method": graph,
                "CV": cv[best] / len(train),
                "test": tested[graph][best] / len(test),
                "genes": SIZES[best],
                "test, all sizes": tested[graph].mean() / len(test),
            }
        )
    return rows


def main() -> None:
    """Write error rates by cohort and graph."""
    parser = paper.arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.csv"))
    tasks = [(path, number, options.splits) for number in range(options.splits) for path in paths]
    rows = paper.collect("cohorts", tasks, split, jobs=options.jobs, resume=options.resume)
    table = rows.groupby(["cohort", "samples", "classes", "method"]).mean(numeric_only=True)
    wide = table.unstack("method")
    mean = wide.mean().unstack("method").round(4)
    wide.columns = [f"{measure}: {re.sub(',.*', '', graph)}" for measure, graph in wide.columns]
    tables.write(
        "cohorts",
        mean,
        tables.section("By cohort", wide.round(3).reset_index().set_index("cohort")),
        n_splits=options.splits,
        commits=rows["commit"],
    )


if __name__ == "__main__":
    main()
