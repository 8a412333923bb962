"""Time of select_genes beside sc.pp.pca and sc.pp.neighbors: re-using both, and from nothing.

python benchmarks/speed/reuse.py [SET ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd
import scanpy as sc
import state
from clock import Clock
from threadpoolctl import threadpool_info

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SETS = ("pbmc3k_2638", "kang_ifnb13999")
ROUNDS = 3
N_GENES = 50
PCA, NEIGHBORS, REUSED, FRESH = (
    "sc.pp.pca (s)",
    "sc.pp.neighbors (s)",
    "select_genes, re-using both (s)",
    "select_genes, from nothing (s)",
)


def calls(adata) -> dict:
    """What is compared, in the order in which it is called."""
    select = glfs_bio.pp.select_genes
    return {
        PCA: lambda: sc.pp.pca(adata),
        NEIGHBORS: lambda: sc.pp.neighbors(adata),
        REUSED: lambda: select(adata, N_GENES, inplace=False),
        FRESH: lambda: select(adata, N_GENES, use_rep="X", inplace=False),
    }


def rounds(adata) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Seconds of the processor and of wall clock, one row a round, the first not counted."""
    clocks = []
    for _ in range(ROUNDS + 1):
        clocks.append({name: Clock() for name in calls(adata)})
        for name, call in calls(adata).items():
            with clocks[-1][name]:
                call()
    found = pd.DataFrame(clocks[1:])
    return found.map(lambda one: one.cpu), found.map(lambda one: one.seconds)


def summary(seconds: pd.DataFrame) -> pd.Series:
    """Medians of the rounds, and of the ratios within a round."""
    both = seconds[PCA] + seconds[NEIGHBORS]
    row = seconds.median()
    return pd.Series(
        {
            PCA: row[PCA],
            NEIGHBORS: row[NEIGHBORS],
            REUSED: row[REUSED],
            "over pca": (seconds[REUSED] / seconds[PCA]).median(),
            FRESH: row[FRESH],
            "over pca + neighbors": (seconds[FRESH] / both).median(),
        }
    )


def main() -> None:
    """Whole matrices, in one process."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("sets", nargs="*", default=SETS, metavar="SET")
    rows = {}
    for name in asked.parse_args().sets:
        adata = report.log_counts(name)
        for kind, seconds in zip(("processor", "wall"), rounds(adata), strict=True):
            rows[f"{name}, {adata.n_obs} × {adata.n_vars}, {kind}"] = summary(seconds)
    threads = max(library["num_threads"] for library in threadpool_info())
    report.write(
        "speed_reuse",
        "Time of select_genes beside principal components and graph",
        pd.DataFrame(rows).T.round(2),
        f"{N_GENES} genes; medians of {ROUNDS} rounds after one that is not counted, in one "
        f"process with {threads} threads for each of the four. A round calls them one after the "
        "other; a ratio is the median of the ratios of the rounds. Asked for: re-using both at "
        "most 0.3 of pca in processor time; from nothing at most 0.5 of pca + neighbors in "
        "processor time, and 0.35 in wall time on two cores.",
        state.told(),
    )


if __name__ == "__main__":
    main()
