"""How much panels of one method from different halves of the cells have in common.

    python benchmarks/panels/stability.py [--methods GLFS ...] [--sets ...] [--jobs 2]

Panels are kept in `benchmarks/.cache/panels`; what `--methods` leaves out
is read from there.
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from pathlib import Path

import cache
import numpy as np
import pandas as pd
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from methods import METHODS, OURS, RIVAL
from sets import SETS, load
from threadpoolctl import threadpool_limits

SEED = 0
#: A seeded permutation is the same in every half.
COMPARED = [
    name for name, method in METHODS.items() if name != "random" and method.group in (OURS, RIVAL)
]


def halves(n_cells: int, n_resamples: int) -> list[np.ndarray]:
    """The same halves for every method."""
    rng = np.random.default_rng(SEED)
    return [np.sort(rng.choice(n_cells, n_cells // 2, replace=False)) for _ in range(n_resamples)]


def panel(adata, half: np.ndarray, method: str, n_genes: int) -> dict:
    """Genes of one method on one half, or what went wrong."""
    chooser = METHODS[method]
    with threadpool_limits(1):
        try:
            genes = chooser.select(chooser.prepare(adata[half].copy()), n_genes)[:n_genes]
        except (ValueError, ImportError) as error:
            return {"error": str(error)}
    return {"genes": [int(gene) for gene in genes]}


def choose(adata, parts: list[np.ndarray], method: str, selections, options) -> None:
    """Panels of the halves that the cache does not have."""
    missing = [number for number in range(len(parts)) if not selections.has(number)]
    panels = Parallel(n_jobs=options.jobs)(
        delayed(panel)(adata, parts[number], method, options.genes) for number in missing
    )
    for number, found in zip(missing, panels, strict=True):
        selections.put(number, **found)


def mean_jaccard(panels: list[set[int]]) -> float:
    """Over all pairs."""
    return float(np.mean([len(a & b) / len(a | b) for a, b in combinations(panels, 2)]))


def main() -> None:
    """Every method on every set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS, metavar="SET")
    parser.add_argument(
        "--methods", nargs="+", default=COMPARED, choices=COMPARED, metavar="METHOD"
    )
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--genes", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    table = pd.DataFrame(index=COMPARED, columns=options.sets, dtype=float)
    failures = []
    for name in options.sets:
        adata = load(name)
        parts = halves(adata.n_obs, options.resamples)
        for method in COMPARED:
            kept = cache.Selections(method, f"{name}/halves_{options.genes}", METHODS[method])
            if method in options.methods:
                choose(adata, parts, method, kept, options)
            panels = [kept.get(number) for number in range(len(parts))]
            errors = [found.get("error", "not run") for found in panels if "genes" not in found]
            if errors:
                failures.append((method, f"{len(errors)} halves: {errors[0]}", name))
                continue
            if not kept.current:
                failures.append((method, "an earlier state of the code", name))
            table.loc[method, name] = mean_jaccard([set(found["genes"]) for found in panels])
            sys.stderr.write(f"{name}, {method}: {table.loc[method, name]:.3f}\n")
    table["mean"] = table.mean(axis=1, skipna=False)
    report.write(
        "panels_stability",
        f"Mean pairwise Jaccard index of panels of {options.genes} genes",
        table.round(3),
        f"{options.resamples} random halves of the cells, the same for every method; everything, "
        "principal components and graph too, computed on the half alone. normalize_total 1e4, "
        "log1p, genes in at least 3 cells; 4,000 cells of Kang.",
        *(
            f"{method} on {', '.join(part['set'])}: {what}."
            for (method, what), part in pd.DataFrame(
                failures, columns=["method", "what", "set"]
            ).groupby(["method", "what"], sort=False)
        ),
    )


if __name__ == "__main__":
    main()
