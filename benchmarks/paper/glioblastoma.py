"""Glioblastoma subtypes: genes along λ, and spectral clustering against the number of genes."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import rivals
from matplotlib import pyplot as plt
from rivals import report
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

from glfs_bio.cells.cells import Reduction, build_problems
from glfs_bio.cells.graph import knn_graph
from glfs_bio.glfs2014 import glfs, path
from glfs_bio.glfs2014.variance import Objective
from glfs_bio.selection import Options, rank_genes

SIZES = (5, 10, 15, 25, 50, 75, 100, 150, 200)
N_SUBTYPES = 4
#: Genes of the first solution along λ.
N_FIRST = 400
#: Genes that are looked at more closely, and directions of a GLFS that looks at the subtypes only.
N_HELD, N_FEW = 50, 5
WHY = (
    f"What {N_HELD} genes hold: their mean absolute correlation, and the share of their variance "
    f"in the {N_SUBTYPES} leading principal components of all genes.  The subtypes were found by "
    "clustering expression, and lie there.  A method that takes the smoothest genes, however "
    "alike, stays there; GLFS complements what it has, and at full rank it spends genes on all {} "
    f"directions.  Told to cover {N_FEW} (chosen with these labels in view) it spends fewer."
)


def tumours() -> tuple[np.ndarray, np.ndarray]:
    """Expression and subtypes."""
    adata = report.data("gbm_verhaak169")
    return np.asarray(adata.X, dtype=float), adata.obs["label"].astype(str).to_numpy()


def clustered(method: str, n_genes: int, runs: int) -> list[dict]:
    """NMI of spectral clustering on the graph of the selected genes."""
    values, _ = tumours()
    begin = time.perf_counter()
    ranking = rivals.ranked(values, n_genes, method)
    seconds = time.perf_counter() - begin
    row = {"method": method, "genes": n_genes, "seconds": seconds}
    if ranking is None:
        return [{**row, "run": 0, "NMI": np.nan}]
    found = subtypes_found(knn_graph(values[:, ranking.order[:n_genes]]).toarray(), runs)
    return [{**row, "run": seed, "NMI": value} for seed, value in enumerate(found)]


def subtypes_found(graph: np.ndarray, runs: int) -> list[float]:
    """NMI of spectral clustering with the subtypes, from several starts of k-means."""
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


def along_lambda() -> pd.DataFrame:
    """λ and number of genes of every solution, to the collapse."""
    problems = build_problems(tumours()[0], Reduction(n_comps=None, standardize=None))
    objective = Objective(*glfs.blocks(problems, "exact"))
    solutions = list(path.walk(objective, most=N_FIRST))
    table = pd.DataFrame({"λ": [s.lam for s in solutions], "genes": [s.n_genes for s in solutions]})
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(table["λ"], table["genes"], marker="o", markersize=3)
    axes.set(xscale="log", yscale="log", xlabel="λ", ylabel="genes", title="Glioblastoma, GLFS")
    figure.savefig(report.RESULTS / "glioblastoma_lambda.png", dpi=150)
    plt.close(figure)
    return table


def what_they_hold(methods: list[str]) -> pd.DataFrame:
    """How alike the genes of a method are, and how much of them lies in the leading components."""
    values, _ = tumours()
    leading = PCA(N_SUBTYPES, svd_solver="full").fit_transform(values)
    leading /= np.linalg.norm(leading, axis=0)
    orders = {rivals.METHODS[m]: rivals.ranked(values, N_HELD, m) for m in methods}
    orders[f"GLFS in {N_FEW} directions"] = rank_genes(values, N_HELD, Options(n_comps=N_FEW))
    table = {}
    for name, ranking in orders.items():
        if ranking is None:
            continue
        genes = values[:, ranking.order[:N_HELD]]
        genes = genes - genes.mean(axis=0)
        alike = np.abs(np.corrcoef(genes.T))[np.triu_indices(N_HELD, 1)].mean()
        share = np.sum((leading.T @ genes) ** 2) / np.sum(genes**2)
        graph = knn_graph(genes).toarray()
        table[name] = {
            "mean abs. correlation": alike,
            f"variance in {N_SUBTYPES} components": share,
            "NMI": np.mean(subtypes_found(graph, runs=10)),
        }
    return pd.DataFrame(table).T


def main() -> None:
    """Both parts of the figure."""
    parser = rivals.arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--runs", type=int, default=10, help="runs of spectral clustering")
    options = parser.parse_args()
    tasks = [(method, size, options.runs) for size in options.sizes for method in options.methods]
    rows = rivals.collect(
        "glioblastoma", tasks, clustered, jobs=options.jobs, resume=options.resume
    )
    rivals.plot("glioblastoma", rows, "genes", "NMI", "Glioblastoma, spectral clustering")
    means = rows.pivot_table("NMI", "method", "genes", sort=False, dropna=False)
    path = along_lambda() if "glfs" in options.methods else pd.DataFrame()
    report.write(
        "glioblastoma",
        f"Glioblastoma subtypes ({len(tumours()[1])} patients): NMI of spectral clustering",
        means.rename(index=rivals.METHODS).round(3),
        "![NMI against genes](glioblastoma.png)",
        f"Mean of {options.runs} runs that differ in the start of k-means, on the package's "
        "neighbour graph of the selected genes.  The paper has curves and no figures for this: it "
        "says that GLFS is clearly best below 100 genes, at about 25, and that SPCA has a maximum "
        "near 50.  Its matrix has 18,632 genes of 173 patients, this one the 1,740 most variable "
        "genes, scaled, of 169.",
        WHY.format(len(tumours()[1]) - 1)
        + "\n\n"
        + what_they_hold(options.methods).to_markdown(floatfmt=".2f"),
        "Number of genes along λ, full rank (the paper: about 7 genes before the collapse, in a "
        "scale of λ that depends on λ2):\n\n" + path.to_markdown(index=False, floatfmt=".3g"),
        "![genes against λ](glioblastoma_lambda.png)",
    )


if __name__ == "__main__":
    main()
