"""How much panels of one method from different halves of the cells have in common."""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from methods import METHODS
from sets import SETS, load
from threadpoolctl import threadpool_limits

SEED = 0
#: A seeded permutation is the same in every half.
COMPARED = [name for name in METHODS if name != "random"]


def halves(n_cells: int, n_resamples: int) -> list[np.ndarray]:
    """The same halves for every method."""
    rng = np.random.default_rng(SEED)
    return [np.sort(rng.choice(n_cells, n_cells // 2, replace=False)) for _ in range(n_resamples)]


def panel(adata, half: np.ndarray, method: str, n_genes: int) -> set[int] | str:
    """Genes of one method on one half, or what went wrong."""
    chooser = METHODS[method]
    with threadpool_limits(1):
        try:
            return set(chooser.select(chooser.prepare(adata[half].copy()), n_genes)[:n_genes])
        except (ValueError, ImportError) as error:
            return str(error)


def mean_jaccard(panels: list[set[int]]) -> float:
    """Over all pairs."""
    return float(np.mean([len(a & b) / len(a | b) for a, b in combinations(panels, 2)]))


def main() -> None:
    """Every method on every set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--methods", nargs="+", default=COMPARED, choices=COMPARED)
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--genes", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    table = pd.DataFrame(index=arguments.methods, columns=arguments.sets, dtype=float)
    failures = []
    for name in arguments.sets:
        adata = load(name)
        parts = halves(adata.n_obs, arguments.resamples)
        for method in arguments.methods:
            panels = Parallel(n_jobs=arguments.jobs)(
                delayed(panel)(adata, part, method, arguments.genes) for part in parts
            )
            wrong = [found for found in panels if isinstance(found, str)]
            if wrong:
                failures.append(f"{method} failed on {name} {len(wrong)} times: {wrong[0]}.")
            else:
                table.loc[method, name] = mean_jaccard(panels)
            sys.stderr.write(f"{name}, {method}: {table.loc[method, name]:.3f}\n")
    table["mean"] = table.mean(axis=1, skipna=False)
    report.write(
        "panels_stability",
        f"Mean pairwise Jaccard index of panels of {arguments.genes} genes",
        table.round(3),
        f"{arguments.resamples} random halves of the cells, the same for every method; everything, "
        "principal components and graph too, computed on the half alone. normalize_total 1e4, "
        "log1p, genes in at least 3 cells; 4,000 cells of Kang.",
        *failures,
    )


if __name__ == "__main__":
    main()
