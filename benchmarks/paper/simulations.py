"""The simulations of the paper: four informative features among N of Gaussian noise."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import rivals
from rivals import report

from glfs_bio.datasets import simulate

SIGMAS = (0.1, 0.2, 0.3, 0.35, 0.4, 0.415, 0.45, 0.5, 0.6)
SIZES = (1000, 3000, 10_000, 30_000, 60_000)
SHAPES = ("clusters", "moons", "uniform")
#: Read off the text: GLFS is right up to σ = 0.415, and up to 60,000 features, the Laplacian Score
#: up to 30,000; the curves of the others are only drawn.
PAPER = "the paper says 1.0 for GLFS up to σ = 0.415 at N = 1000, and up to N = 60,000 at σ = 0.2, "
PAPER += "where the Laplacian Score, the next best, is right up to 30,000"


def score(ranks: np.ndarray) -> float:
    """``1/4 Σ 1/(max(4, I_i) − 3)`` over the ranks of the four informative features."""
    return float(np.mean(1.0 / (np.maximum(4, ranks) - 3)))


def run(shape: str, n_noise: int, sigma: float, seed: int, methods: tuple[str, ...]) -> list[dict]:
    """Every method on one data set."""
    adata = simulate(n_noise=n_noise, sigma=sigma, shape=shape, random_state=seed)
    informative = adata.var["informative"].to_numpy()
    rows = []
    for method in methods:
        begin = time.perf_counter()
        ranking = rivals.ranked(adata.X, 4, method)
        found = 0.0 if ranking is None else score(ranking.ranks[informative])
        rows.append(
            {
                "shape": shape,
                "N": n_noise,
                "σ": sigma,
                "seed": seed,
                "method": method,
                "Score": found,
                "seconds": time.perf_counter() - begin,
            }
        )
    return rows


def main() -> None:
    """Score against σ, and against N."""
    parser = rivals.arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sigmas", type=float, nargs="*", default=SIGMAS)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    options = parser.parse_args()
    seeds, methods = range(options.seeds), tuple(options.methods)
    tasks = [
        (shape, n_noise, sigma, seed, methods)
        for shape in options.shapes
        for n_noise, sigma in dict.fromkeys(
            [(1000, sigma) for sigma in options.sigmas] + [(size, 0.2) for size in options.sizes]
        )
        for seed in seeds
    ]
    rows = rivals.collect("simulations", tasks, run, jobs=options.jobs, resume=options.resume)
    n_seeds, sections = rows["seed"].nunique(), []
    for shape in options.shapes:
        of_shape = rows[rows["shape"] == shape]
        for x, where in (("σ", of_shape["N"] == 1000), ("N", of_shape["σ"] == 0.2)):
            part = of_shape[where]
            if part[x].nunique() < 2:
                continue
            name = f"simulations_{shape}_{'sigma' if x == 'σ' else 'size'}"
            fixed = "N = 1000" if x == "σ" else "σ = 0.2"
            rivals.plot(
                name, part, x, "Score", f"{shape}, {fixed}", logarithmic="x" if x == "N" else ""
            )
            shown = table(part, x, n_seeds)
            sections.append(f"## {shape}, Score against {x} at {fixed}\n\n{shown}")
            sections.append(f"![Score against {x}]({name}.png)")
    seconds = rows.pivot_table("seconds", "method", "N", aggfunc="mean", sort=False)
    report.write(
        "simulations",
        "Simulations: mean Score, seconds a selection",
        seconds.rename(index=rivals.METHODS).round(1),
        *sections,
        f"400 samples, {n_seeds} seeds (0 to {n_seeds - 1}) but where a column says "
        "otherwise: means are over the seeds that every method of a column ran on; error bars: one "
        f"standard deviation over all seeds.  {PAPER[0].upper()}{PAPER[1:]}.  Bold: the best and "
        f"what a paired t-test (α = {rivals.ALPHA}) does not find below it.  Features of "
        "*clusters* are linearly dependent (they sum to 1), so that a method which looks for "
        "complementary features may do without one of them.",
        "Seconds are on the wall, beside whatever else ran; for times see `runtime.md`.",
        *(["Rows of several runs (`--resume`)."] if options.resume else []),
    )


def table(part: pd.DataFrame, x: str, n_seeds: int) -> str:
    """Mean Score of every method at every x, over the seeds that all of them have."""
    columns = {}
    for value, ran in part.groupby(x):
        group = rivals.complete(ran, "seed")
        few = group["seed"].nunique()
        wide = group.pivot_table("Score", "seed", "method", sort=False)
        samples = {method: wide[method].to_numpy() for method in wide}
        best = rivals.best_of(samples)
        told = f"{x} = {value:g}" + (f" ({few} seeds)" if few < n_seeds else "")
        columns[told] = {
            rivals.METHODS[method]: rivals.cell(values.mean(), None, bold=method in best)
            for method, values in samples.items()
        }
    shown = pd.DataFrame(columns)
    return shown.where(shown.notna(), "–").to_markdown()


if __name__ == "__main__":
    main()
