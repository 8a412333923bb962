"""How much panels of one method from different halves of the cells have in common.

    python benchmarks/panels/stability.py [--methods GLFS ...] [--sets ...] [--jobs 2]

Panels are kept in `benchmarks/.cache/panels`, those of other packages in
`benchmarks/results/chosen`; what `--methods` leaves out is read from there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import cache
import numpy as np
import pandas as pd
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from methods import BEFORE, METHODS, OURS, RIVAL
from sets import SETS, load
from threadpoolctl import threadpool_limits

SEED = 0
SIZES = (10, 50)
#: A seeded permutation is the same in every half.
COMPARED = [
    name
    for name, method in METHODS.items()
    if name != "random" and method.group in (OURS, BEFORE, RIVAL)
]


def halves(n_cells: int, n_pairs: int) -> list[np.ndarray]:
    """Pairs of halves without a cell in common, one after the other; the same for every method."""
    rng = np.random.default_rng(SEED)
    orders = [rng.permutation(n_cells) for _ in range(n_pairs)]
    return [np.sort(half) for order in orders for half in np.array_split(order, 2)]


def panels(adata, half: np.ndarray, method: str) -> dict:
    """Genes of one method on one half, size by size, or what went wrong."""
    chooser = METHODS[method]
    genes = {}
    with threadpool_limits(1):
        part = chooser.prepare(adata[half].copy())
        try:
            for size in [max(SIZES)] if chooser.nested else SIZES:
                genes[size] = [int(gene) for gene in chooser.select(part, size)]
        except (ValueError, ImportError) as error:
            return {"error": str(error)}
    return {str(size): genes.get(size, genes[max(SIZES)])[:size] for size in SIZES}


def choose(adata, parts: list[np.ndarray], method: str, selections, jobs: int) -> None:
    """Panels of the halves that the cache does not have."""
    missing = [number for number in range(len(parts)) if not selections.has(number)]
    tasks = (delayed(panels)(adata, parts[number], method) for number in missing)
    for number, found in zip(missing, Parallel(jobs, return_as="generator")(tasks), strict=True):
        selections.put(number, **found)


def mean_jaccard(sets: list[set[int]]) -> float:
    """Of the panels of each pair of halves."""
    pairs = zip(sets[::2], sets[1::2], strict=True)
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))


def main() -> None:
    """Every method on every set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS, metavar="SET")
    parser.add_argument(
        "--methods", nargs="+", default=COMPARED, choices=COMPARED, metavar="METHOD"
    )
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tables = {
        size: pd.DataFrame(index=COMPARED, columns=options.sets, dtype=float) for size in SIZES
    }
    failures = []
    for name in options.sets:
        adata = load(name)
        parts = halves(adata.n_obs, options.pairs)
        for method in COMPARED:
            kept = cache.kept(method, f"{name}/halves", METHODS[method])
            if method in options.methods:
                choose(adata, parts, method, kept, options.jobs)
            found = [kept.get(number) for number in range(len(parts))]
            errors = [one.get("error", "not run") for one in found if str(SIZES[0]) not in one]
            if errors:
                failures.append((method, f"{len(errors)} halves: {errors[0]}", name))
                continue
            if not kept.current:
                failures.append((method, "an earlier state of the code", name))
            for size, table in tables.items():
                table.loc[method, name] = mean_jaccard([set(one[str(size)]) for one in found])
            sys.stderr.write(f"{name}, {method}: {tables[50].loc[method, name]:.3f}\n")
    for table in tables.values():
        table["mean"] = table.mean(axis=1, skipna=False)
    report.write(
        "panels_stability",
        "Mean Jaccard index of panels of 50 genes from two halves of the cells",
        tables[50].round(3),
        f"{options.pairs} pairs of halves without a cell in common, the same for every method; "
        "everything, principal components and graph too, computed on the half alone. "
        "normalize_total 1e4, log1p, genes in at least 3 cells; 4,000 cells of Kang.",
        "## Panels of 10 genes\n\n" + tables[10].round(3).to_markdown(),
        *(
            f"{method} on {', '.join(part['set'])}: {what}."
            for (method, what), part in pd.DataFrame(
                failures, columns=["method", "what", "set"]
            ).groupby(["method", "what"], sort=False)
        ),
    )


if __name__ == "__main__":
    main()
