"""Glioblastoma subtypes: genes along λ, and spectral clustering against the number of genes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

from .. import paper, tables
from ..data import LABEL, read
from ..methods import ours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (5, 10, 15, 25, 50, 75, 100, 150, 200)
N_SUBTYPES = 4
#: Genes that the path along λ is followed to.
N_FIRST = 1
#: Genes that are looked at more closely, and directions of a GLFS that looks at the subtypes only.
N_HELD, N_FEW = 50, 5


def tumours() -> tuple[np.ndarray, np.ndarray]:
    """Return expression and subtypes."""
    adata = read("gbm_verhaak169")
    return np.asarray(adata.X, dtype=float), adata.obs[LABEL].astype(str).to_numpy()


def clustered(method: str, n_genes: int, runs: int) -> list[dict]:
    """Return NMI of spectral clustering on the graph of the selected genes."""
    values, _ = tumours()
    begin = time.perf_counter()
    ranking = paper.ranked(values, n_genes, method)
    seconds = time.perf_counter() - begin
    row = {"method": method, "genes": n_genes, "seconds": seconds}
    if ranking is None:
        return [{**row, "run": 0, "NMI": np.nan}]
    found = subtypes_found(
        ours.knn_graph(values[:, paper.best(ranking[0], n_genes)]).toarray(), runs
    )
    return [{**row, "run": seed, "NMI": value} for seed, value in enumerate(found)]


def subtypes_found(graph: np.ndarray, runs: int) -> list[float]:
    """Return NMI of spectral clustering with the subtypes, from several starts of k-means."""
    labels = tumours()[1]
    found = []
    for seed in range(runs):
        model = SpectralClustering(
            N_SUBTYPES, affinity="precomputed", assign_labels="kmeans", n_init=1, random_state=seed
        )
        found.append(
            normalized_mutual_info_score(labels, model.fit_predict(graph), average_method="max")
        )
    return found


def along_lambda(axes: Axes) -> pd.DataFrame:
    """Draw and return λ and the number of genes of every solution, to the collapse."""
    _, told = ours.ranked(tumours()[0], N_FIRST, objective="exact", n_comps=None, standardize=None)
    table = pd.DataFrame({"λ": told["path"]["lam"], "genes": told["path"]["n_genes"]})
    axes.plot(table["λ"], table["genes"], marker="o", markersize=3)
    axes.set(xscale="log", yscale="log", xlabel="λ", ylabel="genes", title="Glioblastoma, GLFS")
    return table


def what_they_hold(methods: list[str]) -> pd.DataFrame:
    """Return how alike the genes of a method are, and their share in the leading components."""
    values, _ = tumours()
    leading = PCA(N_SUBTYPES, svd_solver="full").fit_transform(values)
    leading /= np.linalg.norm(leading, axis=0)
    orders = {paper.METHODS[m]: paper.ranked(values, N_HELD, m) for m in methods}
    orders[f"GLFS in {N_FEW} directions"] = ours.ranked(values, N_HELD, n_comps=N_FEW)
    table = {}
    for name, ranking in orders.items():
        if ranking is None:
            continue
        genes = values[:, paper.best(ranking[0], N_HELD)]
        genes = genes - genes.mean(axis=0)
        alike = np.abs(np.corrcoef(genes.T))[np.triu_indices(N_HELD, 1)].mean()
        share = np.sum((leading.T @ genes) ** 2) / np.sum(genes**2)
        graph = ours.knn_graph(genes).toarray()
        table[name] = {
            "mean abs. correlation": alike,
            f"variance in {N_SUBTYPES} components": share,
            "NMI": np.mean(subtypes_found(graph, runs=10)),
        }
    return pd.DataFrame(table).T


def main() -> None:
    """Write both parts of the figure."""
    parser = paper.arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--runs", type=int, default=10, help="runs of spectral clustering")
    options = parser.parse_args()
    tasks = [(method, size, options.runs) for size in options.sizes for method in options.methods]
    rows = paper.collect("glioblastoma", tasks, clustered, jobs=options.jobs, resume=options.resume)
    figure = Figure(figsize=(12, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    title = "Glioblastoma, spectral clustering"
    paper.plot(left, rows, "genes", "NMI", title, scale="linear")
    paper.legend(figure, left)
    means = rows.pivot_table("NMI", "method", "genes", sort=False, dropna=False)
    path = along_lambda(right) if "glfs" in options.methods else pd.DataFrame()
    whole = paper.asks_for_all(parser, options)
    figure.savefig(tables.folder(whole=whole) / "glioblastoma.png", dpi=150)
    tables.write(
        "glioblastoma",
        means.rename(index=paper.METHODS).round(3),
        what_they_hold(options.methods).to_markdown(floatfmt=".2f"),
        "Number of genes along λ, full rank, at every third λ (the paper: about 7 genes before the "
        "collapse, in a scale of λ that depends on λ2):\n\n"
        + path[::-3][::-1].to_markdown(index=False, floatfmt=".3g"),
        whole=whole,
        patients=len(tumours()[1]),
        runs=options.runs,
        n_held=N_HELD,
        n_subtypes=N_SUBTYPES,
        n_axes=len(tumours()[1]) - 1,
        n_few=N_FEW,
        commits=rows["commit"],
    )


if __name__ == "__main__":
    main()
