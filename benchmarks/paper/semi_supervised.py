"""Five labelled cells a type: LapRLS, label spreading and nearest neighbours on the same 25 genes.

    python -m benchmarks.paper.semi_supervised [--draws 20]

The genes are selected without labels.  Types with fewer than ten cells are left out.  Every method
has one set of parameters for both datasets: LapRLS its defaults, the others those of scikit-learn,
except that label spreading uses the neighbour graph (its default kernel depends on the unit of the
data) with as many neighbours as LapRLS.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import scanpy as sc
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from glfs_bio.estimators import LapRLSClassifier

from .. import tables
from ..data import LABEL, MIXTURE, read
from ..methods.ours import table

DATASETS = ("baron_human1_1937", MIXTURE)
N_GENES, N_LABELLED, N_NEIGHBORS = 25, 5, 15
FEWEST_CELLS = 10
UNLABELLED = -1


def laprls(cells: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Predict by LapRLS with the hidden cells in the graph."""
    return LapRLSClassifier(n_neighbors=N_NEIGHBORS).fit(cells, some).predict(cells)


def ridge(cells: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Predict by the same without the graph."""
    return LapRLSClassifier(lambda1=0.0).fit(cells, some).predict(cells)


def spreading(cells: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Predict by label spreading on the neighbour graph."""
    model = LabelSpreading(kernel="knn", n_neighbors=N_NEIGHBORS, max_iter=1000)
    with warnings.catch_warnings():
        # A cell that no label reaches has 0/0 probabilities and gets the first class.
        warnings.filterwarnings("ignore", "invalid value encountered in divide", RuntimeWarning)
        return model.fit(cells, some).transduction_


def neighbours(cells: np.ndarray, some: np.ndarray, k: int = 5) -> np.ndarray:
    """Predict by the vote of the nearest labelled cells."""
    known = some != UNLABELLED
    return KNeighborsClassifier(k).fit(cells[known], some[known]).predict(cells)


METHODS = {
    "LapRLS": laprls,
    "LapRLS, λ1 = 0": ridge,
    "LabelSpreading": spreading,
    "kNN, k = 5": neighbours,
    "kNN, k = 1": lambda cells, some: neighbours(cells, some, 1),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the selected genes, and codes of the types."""
    adata = read(name)
    sizes = adata.obs[LABEL].value_counts()
    adata = adata[adata.obs[LABEL].isin(sizes.index[sizes >= FEWEST_CELLS])].copy()
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    cells = adata.X[:, table(adata, N_GENES)["glfs_selected"].to_numpy()]
    cells = cells.toarray() if hasattr(cells, "toarray") else cells
    return cells, pd.factorize(adata.obs[LABEL])[0]


def hide(types: np.ndarray, seed: int) -> np.ndarray:
    """Keep the labels of a few cells of each type."""
    rng = np.random.default_rng(seed)
    some = np.full(len(types), UNLABELLED)
    for kind in np.unique(types):
        some[rng.choice(np.flatnonzero(types == kind), N_LABELLED, replace=False)] = kind
    return some


def scores(predicted: np.ndarray, types: np.ndarray, some: np.ndarray) -> tuple[float, float]:
    """Return accuracy over the hidden cells, and its mean over the types."""
    hidden = some == UNLABELLED
    right = pd.Series(predicted[hidden] == types[hidden])
    return float(right.mean()), float(right.groupby(types[hidden]).mean().mean())


def rows(name: str, n_draws: int) -> list[dict]:
    """Return a row a unit of the genes and method."""
    plain, types = load(name)
    draws = [hide(types, seed) for seed in range(n_draws)]
    found = []
    for units, cells in (
        ("log", plain),
        ("unit variance", StandardScaler().fit_transform(plain)),
    ):
        values = {
            method: np.array([scores(run(cells, some), types, some) for some in draws])
            for method, run in METHODS.items()
        }
        ours = values["LapRLS"][:, 0]
        for method, (each, balanced) in ((name, one.T) for name, one in values.items()):
            duel = [str(np.sum(sign == np.sign(ours - each))) for sign in (1, 0, -1)]
            found.append(
                {
                    "data": name,
                    "genes": units,
                    "method": method,
                    "accuracy": f"{each.mean():.3f} ({each.min():.3f}–{each.max():.3f})",
                    "mean over types": f"{balanced.mean():.3f}",
                    "LapRLS better / same / worse": "" if method == "LapRLS" else " / ".join(duel),
                }
            )
    return found


def main() -> None:
    """Run everything and write the table."""
    parser = tables.parser(__doc__)
    parser.add_argument("--draws", type=int, default=20, help="draws of the labelled cells")
    n_draws = parser.parse_args().draws
    found = pd.DataFrame(row for name in DATASETS for row in rows(name, n_draws))
    tables.write(
        "semi_supervised",
        found.set_index("data"),
        n_labelled=N_LABELLED,
        n_genes=N_GENES,
        n_draws=n_draws,
        last=n_draws - 1,
    )


if __name__ == "__main__":
    main()
