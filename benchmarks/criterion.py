"""How near panels are to the best ones, and whether what they preserve orders them as labels do.

python -m benchmarks.criterion [--datasets pbmc3k_2638 ...]
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from . import tables
from .data import DATASETS, SETS, Cells
from .measures import Panel, accuracy, variances
from .methods import ours
from .tables import say, section

SIZES = (5, 10, 25, 50, 100, 200, 500)
#: Sizes of arbitrary panels, and how many of each size and kind.
ARBITRARY = (10, 20, 50, 100, 200)
DRAWS = 6


def arbitrary(cells: Cells) -> list[list[int]]:
    """Draw random panels, also among the genes of largest variance and of largest mean."""
    mean = np.asarray(cells.adata.X.mean(axis=0)).ravel()
    by_variance, by_mean = np.argsort(-variances(cells.adata.X)), np.argsort(-mean)
    rng = np.random.default_rng(0)
    panels = []
    for size in ARBITRARY:
        for pool in (np.arange(len(mean)), by_variance[: 4 * size], by_mean[: 4 * size]):
            panels += [rng.choice(pool, size, replace=False).tolist() for _ in range(DRAWS)]
        panels += [best[:size].tolist() for best in (by_variance, by_mean)]
    return panels


def of_dataset(cells: Cells) -> tuple[dict, dict]:
    """Return optimality by size, and rank correlations, of one dataset."""
    begin = time.perf_counter()
    adata, entry = ours.from_matrix(cells.adata, max(SIZES))
    seconds = time.perf_counter() - begin
    rows = pd.DataFrame(
        [
            (len(genes), ours.preserved(adata, genes), accuracy(Panel(cells, tuple(genes))))
            for genes in arbitrary(cells)
        ],
        columns=["size", "preserved", "accuracy"],
    )
    within = [spearmanr(part["preserved"], part["accuracy"])[0] for _, part in rows.groupby("size")]
    orders = {
        "all": spearmanr(rows["preserved"], rows["accuracy"])[0],
        "of one size, mean": np.mean(within),
        "panels": len(rows),
    }
    preserved = {f"preserved, {size}": entry["preserved"][size - 1] for size in SIZES}
    optimality = {size: entry["optimality"][size - 1] for size in SIZES}
    return optimality | {"seconds": seconds}, orders | preserved


def main() -> None:
    """Measure every dataset, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--datasets", nargs="+", choices=SETS, default=list(SETS))
    names = parser.parse_args().datasets
    bounds, orders = {}, {}
    for name in names:
        bounds[name], orders[name] = of_dataset(DATASETS[name])
        say(name)
    tables.write(
        "panels_criterion",
        pd.DataFrame(bounds).T.round(3),
        section(
            "Preserved structure against 15-NN accuracy, over arbitrary panels: Spearman's ρ",
            pd.DataFrame(orders).T.round(3),
        ),
        whole=names == list(SETS),
        sizes=", ".join(map(str, ARBITRARY)),
        draws=DRAWS,
    )


if __name__ == "__main__":
    main()
