"""What a search in λ for exactly the number of genes asked for would give and save.

python benchmarks/speed/search.py

The path walks a fixed grid until too few genes are left.  Here the same selections are made on
finer and coarser grids, and with a bisection between the last two solutions of the grid.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from glfs_bio.core import path
from glfs_bio.core.passes import Cells
from glfs_bio.core.problem import build_problem
from glfs_bio.rankers import glfs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
import sets

SIZES = (10, 25, 50, 100, 200)
FACTORS = (1.02, 1.05, 1.2, 1.5, 2.0)
_CLOSE = 1.001
walk, until = path.walk, path.until


def bisecting(variance, wanted, full_rank, options):
    """The grid, then bisections of its last step for as few genes more than wanted as there are."""
    solutions = until(walk(variance, least=wanted, **options), wanted)
    best, beyond = path.at_least(solutions, wanted), solutions[-1].lam
    while best.n_genes > wanted and beyond > _CLOSE * best.lam:
        lam = np.sqrt(best.lam * beyond)
        beta = best.beta * np.sqrt(best.lam / lam)
        trial = path.SOLVERS[options["solver"]](
            variance, beta, lam, upper=options["upper"], tol=options["tol"]
        )
        if trial.n_genes < wanted:
            beyond = lam
        else:
            best = trial
    return [*solutions, best], best


def variants() -> dict[str, list]:
    """Ways to walk, as what they put in the place of the present one."""
    grids = {
        f"grid, factor {factor:g}" + (", as it is" if factor == path.FACTOR else ""): [
            mock.patch.object(path, "walk", partial(walk, factor=factor))
        ]
        for factor in FACTORS
    }
    return grids | {"grid, then bisection": [mock.patch.object(glfs, "_along", bisecting)]}


def main() -> None:
    """All sets, all sizes, one reduced problem a set."""
    rows: dict[str, list[dict]] = {}
    for name in sets.SETS:
        adata = sets.load(name)
        begin = time.process_time()
        problem = build_problem(Cells(adata.X), n_comps=50)
        building = time.process_time() - begin
        dense, usual = adata.X.tocsc(), {}
        for label, patches in sorted(variants().items(), key=lambda item: "is" not in item[0]):
            for size in SIZES:
                with patches[0]:
                    begin = time.process_time()
                    ranking = glfs.rank([problem], size)
                    spent = time.process_time() - begin
                genes = np.argsort(-ranking.scores, kind="stable")[:size]
                usual.setdefault(size, genes)
                rows.setdefault(label, []).append(
                    {
                        f"accuracy, {size}": report.neighbour_accuracy(
                            dense[:, genes], adata.obs["label"]
                        ),
                        f"shared, {size}": len(np.intersect1d(genes, usual[size])) / size,
                        "walk and completion (s)": spent,
                        "share of a call from nothing": spent / (spent + building),
                    }
                )
        sys.stderr.write(f"{name} done\n")
    report.write(
        "speed_search",
        "Steps in λ: grids, and a search for the number of genes",
        pd.DataFrame({label: pd.DataFrame(found).mean() for label, found in rows.items()})
        .T.round(3)
        .sort_index(),
        "Means over the five single-cell sets of `benchmarks/panels` (4,000 cells of Kang): 15-NN "
        "accuracy of a panel of each size, the share of its genes that are in the present one's, "
        "processor time of one walk and completion, and that as a share of the whole selection "
        "without a PCA or graph at hand.",
    )


if __name__ == "__main__":
    main()
