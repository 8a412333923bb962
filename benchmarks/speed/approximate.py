"""What approximate neighbours cost a panel: cells of many sizes, with exact neighbours beside.

    python benchmarks/speed/approximate.py [--cells 100000]

Kang has too few cells for approximate neighbours: they are forced upon it, with settings that find
fewer and fewer of the true ones.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from unittest import mock

import anndata as ad
import numpy as np
import pandas as pd
import state
import synthetic
from sklearn.neighbors import NearestNeighbors

from glfs_bio.cells import graph, neighbors
from glfs_bio.selection import Options, rank_genes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

HOME = Path(__file__).resolve().parents[1] / ".cache" / "speed"
SIZES = (10, 25, 50, 100, 200)
#: Cells that judge a panel, and cells whose neighbours are compared.
JUDGES, ASKED = 10_000, 2000
DEFAULT = neighbors.Settings()
#: Cells of a cluster, and cells that are looked at, for the few cells of Kang.
FORCED = [neighbors.Settings(size, looked_at=5 * size, per_neighbor=1) for size in (200, 50)]


def compared(adata: ad.AnnData, settings: list[neighbors.Settings]) -> dict:
    """Rows of panels from exact neighbours, and from approximate ones with some settings."""
    judges = np.sort(
        np.random.default_rng(0).choice(adata.n_obs, min(JUDGES, adata.n_obs), replace=False)
    )
    genes, labels = adata.X[judges].tocsc(), adata.obs["label"].iloc[judges]
    recall: list[float] = []
    search = neighbors.distances

    def watched(cells, n_neighbors, random_state):
        found = search(cells, n_neighbors, random_state)
        recall.append(_recall(cells, found, n_neighbors))
        return found

    rows, exact = {}, None
    for one in [None, *settings]:
        most = adata.n_obs if one is None else 10_000  # the cells of a sample stay exact
        with (
            mock.patch.object(graph, "MOST_EXACT", most),
            mock.patch.object(neighbors, "SETTINGS", one),
            mock.patch.object(neighbors, "distances", watched),
        ):
            order = rank_genes(adata.X, max(SIZES), Options()).order
        exact = order if exact is None else exact
        label = f"{adata.n_obs:,} cells, exact"
        if one is not None:
            label = f"{adata.n_obs:,} cells, recall {recall[-1]:.3f}"
        rows[label] = {
            size: report.neighbour_accuracy(genes[:, order[:size]], labels) for size in SIZES
        } | {
            f"shared, {size}": len(np.intersect1d(order[:size], exact[:size])) / size
            for size in SIZES
        }
    return rows


def _recall(cells, found, n_neighbors: int) -> float:
    """Share of the true neighbours of some cells that were found."""
    some = np.random.default_rng(1).choice(len(cells), ASKED, replace=False)
    finder = NearestNeighbors(n_neighbors=n_neighbors + 1, algorithm="brute").fit(cells)
    true = finder.kneighbors(cells[some], return_distance=False)
    shares = [
        np.isin(found[[cell]].indices, own).mean() for cell, own in zip(some, true, strict=True)
    ]
    return float(np.mean(shares))


def main() -> None:
    """Synthetic cells with the settings of the package, Kang with worse ones."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--cells", type=int, default=100_000)
    n_cells = asked.parse_args().cells
    path = HOME / f"{n_cells}.h5ad"
    HOME.mkdir(parents=True, exist_ok=True)
    synthetic.write(path, n_cells)
    rows = compared(ad.read_h5ad(path), [DEFAULT])
    rows |= compared(report.log_counts("kang_ifnb13999"), FORCED)
    report.write(
        "speed_approximate",
        "Panels from exact and from approximate neighbours",
        pd.DataFrame(rows).T.round(3),
        f"15-NN accuracy of panels of each size on {JUDGES:,} of the cells, and the share of their "
        f"genes that the panel from exact neighbours has too. {n_cells:,} cells are synthetic, "
        "with the settings of the package; 13,999 are those of Kang, with settings that find fewer "
        f"neighbours. Recall: of the exact neighbours of {ASKED:,} cells. Noise is measured on the "
        "graph of all cells of Kang, and on exact neighbours in the sample of the others.",
        state.told(),
    )


if __name__ == "__main__":
    main()
