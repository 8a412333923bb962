"""What is lost where a sample of the cells stands for all of them: kang, with fewer "many" cells.

python benchmarks/speed/sampled.py [--set kang_ifnb13999]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from glfs_bio.cells import cells as problem
from glfs_bio.cells import sample
from glfs_bio.selection import Options, rank_genes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SIZES = (10, 25, 50, 100, 200)
SEEDS = 3
#: Cells that are looked at one by one.
LOOKED_AT = (2500, 5000, 10_000)


def panels(adata, many: int | None, seed: int) -> dict[int, np.ndarray]:
    """Genes of a selection from nothing, with a sample of `many` cells; None: all, twice."""
    first = problem.FIRST_LOOK if many else adata.n_obs
    with (
        mock.patch.object(sample, "MANY_CELLS", many or adata.n_obs),
        mock.patch.object(problem, "FIRST_LOOK", first),
    ):
        order = rank_genes(adata.X, max(SIZES), Options(random_state=seed)).order
    return {size: order[:size] for size in SIZES}


def main() -> None:
    """Accuracy of the neighbours, and shared genes, for all cells and for samples of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", default="kang_ifnb13999")
    name = parser.parse_args().set
    adata = report.log_counts(name)
    dense = adata.X.tocsc()
    everyone = panels(adata, None, 0)
    rows = {}
    for many, seed in [(None, 0), *((m, s) for m in LOOKED_AT for s in range(SEEDS))]:
        found = everyone if many is None else panels(adata, many, seed)
        label = f"all {adata.n_obs}" if many is None else f"{many}, seed {seed}"
        rows[label] = {
            size: report.neighbour_accuracy(dense[:, genes], adata.obs["label"])
            for size, genes in found.items()
        } | {
            f"shared, {size}": len(np.intersect1d(genes, everyone[size])) / size
            for size, genes in found.items()
        }
    report.write(
        "speed_sampled",
        "Panels where a sample of the cells is looked at one by one",
        pd.DataFrame(rows).T.round(3),
        f"{name}: 15-NN accuracy of panels of each size, and the share of their genes that the "
        "selection from all cells has too. Rows: how many cells stand for all where σ² is "
        "measured, at most 5,000 of them in the first look; the default is 10,000.",
    )


if __name__ == "__main__":
    main()
