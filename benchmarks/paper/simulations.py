"""The simulations of the paper: four informative features among N of Gaussian noise.

The paper (section 3.1) does not state the shape of the informative features.  All shapes here span
0 to 1 in each of them, without noise.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from .. import paper
from ..tables import folder, write

SIGMAS = (0.1, 0.2, 0.3, 0.35, 0.4, 0.415, 0.45, 0.5, 0.6)
SIZES = (1000, 3000, 10_000, 30_000, 60_000)
#: Seeds of a size above 3000, where a selection takes minutes, and of the other shapes.
FEW_SEEDS = 3
SHAPES = ("clusters", "moons", "uniform")
N_SAMPLES = 400
#: Score of GLFS in the text of the paper, up to these σ (N = 1000) and N (σ = 0.2).
PAPER, UP_TO = 1.0, {"σ": 0.415, "N": 60_000}


def simulated(shape: str, n_noise: int, sigma: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 400 samples × (4 + N) features in random order, and which are informative."""
    rng = np.random.default_rng(seed)
    informative = informative_features(shape, rng)
    noise = rng.normal(scale=sigma, size=(N_SAMPLES, n_noise))
    order = rng.permutation(4 + n_noise)
    return np.hstack([informative, noise])[:, order], order < 4


def informative_features(shape: str, rng: np.random.Generator) -> np.ndarray:
    """Return four clusters with a feature each, two pairs of half circles, or uniform features."""
    if shape == "uniform":
        return rng.uniform(size=(N_SAMPLES, 4))
    if shape == "clusters":
        return np.eye(4)[rng.permutation(np.arange(N_SAMPLES) % 4)]
    return np.hstack([moons(rng), moons(rng)])


def moons(rng: np.random.Generator) -> np.ndarray:
    """Return two interleaved half circles in the unit square."""
    points, _ = make_moons(N_SAMPLES, random_state=int(rng.integers(2**31)))
    points -= points.min(axis=0)
    return points / points.max(axis=0)


def score(ranks: np.ndarray) -> float:
    """Return ``1/4 Σ 1/(max(4, I_i) − 3)`` over the ranks of the four informative features."""
    return float(np.mean(1.0 / (np.maximum(4, ranks) - 3)))


def run(shape: str, n_noise: int, sigma: float, seed: int, method: str) -> list[dict]:
    """Run a method on one data set."""
    values, informative = simulated(shape, n_noise, sigma, seed)
    begin = time.perf_counter()
    ranking = paper.ranked(values, 4, method)
    row = {"shape": shape, "N": n_noise, "σ": sigma, "seed": seed, "method": method}
    row["Score"] = 0.0 if ranking is None else score(ranking[0][informative])
    return [{**row, "seconds": time.perf_counter() - begin}]


def n_seeds(shape: str, n_noise: int, _sigma: float, most: int) -> int:
    """Return the number of seeds of a setting."""
    return most if shape == SHAPES[0] and n_noise <= 3000 else min(most, FEW_SEEDS)


def main() -> None:
    """Write Score against σ, and against N."""
    parser = paper.arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sigmas", type=float, nargs="*", default=SIGMAS)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    options = parser.parse_args()
    settings = [(shape, 1000, sigma) for shape in options.shapes for sigma in options.sigmas]
    # what the clusters are for: the paper has one curve against N
    settings += [(options.shapes[0], size, 0.2) for size in options.sizes]
    tasks = [
        (*setting, seed, method)
        for setting in dict.fromkeys(settings)
        for seed in range(n_seeds(*setting, options.seeds))
        for method in options.methods
    ]
    rows = paper.collect("simulations", tasks, run, jobs=options.jobs, resume=options.resume)
    most, sections = rows["seed"].nunique(), []
    parts = {
        (shape, x): rows[(rows["shape"] == shape) & where]
        for shape in options.shapes
        for x, where in (("σ", rows["N"] == 1000), ("N", rows["σ"] == 0.2))
    }
    parts = {at: part for at, part in parts.items() if part[at[1]].nunique() > 1}
    figure = Figure(figsize=(12, 4 * -(-len(parts) // 2)), layout="constrained")
    axes = figure.subplots(-(-len(parts) // 2), 2, squeeze=False).flat
    for ((shape, x), part), drawn in zip(parts.items(), axes, strict=False):
        fixed = "N = 1000" if x == "σ" else "σ = 0.2"
        scale = "log" if x == "N" else "linear"
        paper.plot(drawn, part, x, "Score", f"{shape}, {fixed}", scale=scale)
        shown = table(part, x, most, claimed=shape == "clusters")
        sections.append(f"## {shape}, Score against {x} at {fixed}\n\n{shown}")
    paper.legend(figure, figure.axes[0])
    whole = paper.asks_for_all(parser, options)
    figure.savefig(folder(whole=whole) / "simulations.png", dpi=150)
    sections.append("![Score against σ and N](simulations.png)")
    seconds = rows.pivot_table("seconds", "method", "N", aggfunc="mean", sort=False)
    write(
        "simulations",
        seconds.rename(index=paper.METHODS).round(1),
        *sections,
        whole=whole,
        seeds=most,
        last=most - 1,
        alpha=paper.ALPHA,
        commits=rows["commit"],
    )


def table(part: pd.DataFrame, x: str, n_seeds: int, *, claimed: bool) -> str:
    """Return the mean Score of every method at every x, over the seeds that all of them have.

    Where the paper claims a Score, the last row has what the original GLFS lacks of it.
    """
    columns = {}
    for value, ran in part.groupby(x):
        group = paper.complete(ran, "seed")
        few = group["seed"].nunique()
        wide = group.pivot_table("Score", "seed", "method", sort=False)
        samples = {method: wide[method].to_numpy() for method in wide}
        best = paper.best_of(samples)
        told = f"{x} = {value:g}" + (f" ({few} seeds)" if few < n_seeds else "")
        columns[told] = {
            paper.METHODS[method]: paper.cell(values.mean(), None, bold=method in best)
            for method, values in samples.items()
        }
        if "glfs" in samples:
            theirs = PAPER if claimed and value <= UP_TO[x] else None
            columns[told][paper.DIFFERENCE] = paper.difference(samples["glfs"].mean(), theirs)
    shown = pd.DataFrame(columns)
    return shown.where(shown.notna(), "–").to_markdown()


if __name__ == "__main__":
    main()
