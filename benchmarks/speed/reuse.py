"""Time of select_genes beside sc.pp.pca and sc.pp.neighbors: re-using both, and from nothing."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pandas as pd
import scanpy as sc

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

RUNS = 3


def seconds(function, *arguments, **options) -> float:
    """Median of several runs after one that is not counted, in seconds of the processor."""
    times = []
    for _ in range(RUNS + 1):
        begin = time.process_time()
        function(*arguments, **options)
        times.append(time.process_time() - begin)
    return float(pd.Series(times[1:]).median())


def main() -> None:
    """Two sets, whole matrices, in one process."""
    rows = {}
    for name in ("pbmc3k_2638", "kang_ifnb13999"):
        adata = report.log_counts(name)
        pca = seconds(sc.pp.pca, adata)
        neighbors = seconds(sc.pp.neighbors, adata)
        ours = seconds(glfs_bio.pp.select_genes, adata, 50)
        fresh = seconds(glfs_bio.pp.select_genes, adata, 50, use_rep="X", inplace=False)
        rows[f"{name}, {adata.n_obs} × {adata.n_vars}"] = {
            "sc.pp.pca (s)": pca,
            "sc.pp.neighbors (s)": neighbors,
            "select_genes, re-using both (s)": ours,
            "over pca": ours / pca,
            "select_genes, from nothing (s)": fresh,
            "over pca + neighbors": fresh / (pca + neighbors),
        }
    table = pd.DataFrame(rows).T
    report.write(
        "speed_reuse",
        "Time of select_genes beside principal components and graph",
        table.round(2),
        f"50 genes; CPU time, median of {RUNS} runs after a warm-up, in one process. Asked for: at "
        "most 0.5 of pca, and at most 1.25 of pca + neighbors.",
    )


if __name__ == "__main__":
    main()
