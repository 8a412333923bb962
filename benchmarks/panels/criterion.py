"""How far panels are from the best possible, and whether the kept share orders panels as labels do.

python benchmarks/panels/criterion.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import sets
from metrics import Panel, accuracy
from scipy.stats import spearmanr

from glfs_bio.cells.cells import Reduction, build_problems
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.solvers import select

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SIZES = (5, 10, 25, 50, 100, 200, 500)
#: Sizes of arbitrary panels, and how many of each size and kind.
ARBITRARY = (10, 20, 50, 100, 200)
DRAWS = 6


def arbitrary(cells: sets.Cells) -> list[tuple[int, list[int]]]:
    """Random panels, and random ones among the genes of largest variance and of largest mean."""
    values = cells.adata.X
    mean = np.asarray(values.mean(axis=0)).ravel()
    variance = np.asarray(values.multiply(values).mean(axis=0)).ravel() - mean**2
    rng = np.random.default_rng(0)
    panels = []
    for size in ARBITRARY:
        by_variance = np.argsort(-variance)
        by_mean = np.argsort(-mean)
        pools = [np.arange(len(mean)), by_variance[: 4 * size], by_mean[: 4 * size]]
        for pool in pools:
            panels += [(size, rng.choice(pool, size, replace=False).tolist()) for _ in range(DRAWS)]
        panels += [(size, best[:size].tolist()) for best in (by_variance, by_mean)]
    return panels


def one_set(name: str) -> tuple[dict, dict]:
    """Shares of the best possible, and rank correlations, of one set."""
    cells = sets.Cells(name)
    criterion = Criterion(build_problems(cells.adata.X, Reduction()))
    every = np.arange(criterion.n_genes)
    none = np.empty(0, dtype=np.intp)
    begin = time.perf_counter()
    panel = select(criterion, max(SIZES), include=none, candidates=every)
    seconds = time.perf_counter() - begin
    shares = {size: panel.of_best_possible[size - 1] for size in SIZES}
    rows = pd.DataFrame(
        [
            (size, criterion.kept(np.array(genes))[-1], accuracy(Panel(cells, tuple(genes))))
            for size, genes in arbitrary(cells)
        ],
        columns=["size", "kept", "accuracy"],
    )
    within = [spearmanr(part["kept"], part["accuracy"])[0] for _, part in rows.groupby("size")]
    orders = {
        "all": spearmanr(rows["kept"], rows["accuracy"])[0],
        "of one size, mean": np.mean(within),
        "panels": len(rows),
    }
    kept = {f"kept by {size}": panel.kept[size - 1] for size in SIZES}
    return {**shares, "seconds": seconds}, {**orders, **kept}


def main() -> None:
    """Every set."""
    bounds, orders = {}, {}
    for name in sets.SETS:
        bounds[name], orders[name] = one_set(name)
        sys.stderr.write(f"{name}\n")
    report.write(
        "panels_criterion",
        "Share of the best possible, at least, of panels of 5 to 500 genes",
        pd.DataFrame(bounds).T.round(3),
        "One call for all sizes; seconds are of the choice and its bounds alone, from the matrix "
        "alone. The share is (F(∅) − F(S))/(F(∅) − bound): it certifies the criterion, not "
        "accuracy.",
        "## The kept share against 15-NN accuracy, over arbitrary panels: Spearman's ρ\n\n"
        + pd.DataFrame(orders).T.round(3).to_markdown(),
        f"Panels of {', '.join(map(str, ARBITRARY))} genes: random, random among four times as "
        f"many genes of largest variance or mean ({DRAWS} of each), and those of largest variance "
        "and mean. Labels for accuracy only.",
    )


if __name__ == "__main__":
    main()
