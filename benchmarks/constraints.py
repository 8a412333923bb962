"""What constraints on the panel cost: batches, genes that must be in, an automatic size.

python -m benchmarks.constraints [--draws 20]
python -m benchmarks.constraints --limits    (prints what panels within `Limits` preserve)
"""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pandas as pd
import scanpy as sc

from glfs_bio import Limits, pp

from . import tables
from .data import BATCHES, DATASETS, KANG, KANG_CELLS, LABEL, MIXTURE, SETS, Cells, prepared, read
from .data import some as drawn
from .measures import Panel, accuracy, kmeans_nmi, neighbour_accuracy
from .methods import DEFAULT, ours, rivals
from .tables import say

BATCH = BATCHES[KANG]
SIZES = (10, 25, 50, 100)
#: Draws of Kang's cells; draw 0 is the development set.
SEEDS = range(6)
#: Size of the panel that a marker is forced into, and by how much accuracy may drop.
SIZE, ALLOWED_DROP = 25, 0.01
#: Markers are the best of a label by Welch's t, among labels with enough cells for a test.
MARKERS, FEWEST_CELLS = 20, 10


def panels(adata, size: int, batch_key: str | None) -> dict[str, np.ndarray]:
    """Select genes by every method that can be told of batches."""
    found = {DEFAULT: ours.select_genes(adata, size, batch_key=batch_key)}
    for flavor in ("seurat", "cell_ranger", "seurat_v3"):
        table = rivals.dispersions(adata, size, flavor, batch_key=batch_key)
        found[f"HVG {flavor}"] = np.flatnonzero(table["highly_variable"])
    return found


def batches() -> pd.DataFrame:
    """Predict cell type and stimulation from panels chosen with and without the batches."""
    rows = {}
    for seed in SEEDS:
        adata = prepared(drawn(read(KANG), KANG_CELLS, seed))
        for batch_key, size in product((None, BATCH), SIZES):
            for method, genes in panels(adata, size, batch_key).items():
                for what, labels in (("cell type", LABEL), (BATCH, BATCH)):
                    share = neighbour_accuracy(adata.X[:, genes], adata.obs[labels])
                    rows[method, batch_key or "none", what, seed, size] = share
        say(f"{KANG}, draw {seed}: done")
    names = ["method", "batch_key", "predicted", "draw", "genes"]
    return pd.Series(rows).rename_axis(names).unstack("genes")


def clusters() -> pd.DataFrame:
    """Return the agreement of k-means clusters of the mixture with its cell lines."""
    cells, rows = DATASETS[MIXTURE], {}
    for batch_key, size in product((None, BATCHES[MIXTURE]), SIZES):
        for method, genes in panels(cells.adata, size, batch_key).items():
            rows[method, batch_key or "none", size] = kmeans_nmi(Panel(cells, tuple(genes)))
    names = ["method", "batch_key", "genes"]
    return pd.Series(rows).rename_axis(names).unstack("genes")


def changes(table: pd.DataFrame) -> str:
    """Return what `batch_key` changes for glfs_bio, with every draw."""
    own = table.loc[DEFAULT]
    change = own.loc[BATCH] - own.loc["none"]
    return "\n".join(
        f"- {size} genes: "
        + ", ".join(
            f"{what} {change.loc[what][size].mean():+.3f} "
            f"({', '.join(f'{value:+.3f}' for value in change.loc[what][size])})"
            for what in ("cell type", BATCH)
        )
        for size in SIZES
    )


def markers(adata, draws: int) -> list[str]:
    """Draw markers with seed 0: a label, then one of its best genes."""
    types, names = rivals.tested(adata, MARKERS, "t-test", FEWEST_CELLS)
    rng = np.random.default_rng(0)
    return [str(names[rng.choice(sorted(types))][rng.integers(MARKERS)]) for _ in range(draws)]


def included(cells: Cells, draws: int) -> dict[str, float]:
    """Return the accuracy of panels that a marker is forced into, against the free panel."""
    free = accuracy(Panel(cells, tuple(ours.select_genes(cells.adata, SIZE))))
    drops = []
    for marker in markers(cells.adata, draws):
        genes = ours.select_genes(cells.adata, SIZE, include=[marker])
        drops.append(free - accuracy(Panel(cells, tuple(genes))))
    return {
        "free": free,
        "mean drop": np.mean(drops),
        "largest drop": np.max(drops),
        f"drops above {ALLOWED_DROP}": np.sum(np.array(drops) > ALLOWED_DROP),
    }


def automatic(cells: Cells) -> dict[str, float]:
    """Return the size that n_genes=None chooses, and its accuracy beside that of all genes."""
    genes = ours.select_genes(cells.adata, None)
    found = accuracy(Panel(cells, tuple(genes)))
    coordinates = sc.pp.pca(cells.adata.X, n_comps=30, random_state=0)
    whole = neighbour_accuracy(coordinates, cells.labels)
    return {"genes": len(genes), "accuracy": found, "all genes": whole, "ratio": found / whole}


def within_limits(name: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return what panels within limits of 4,000 variable genes preserve, and seconds of one core.

    Costs and families are drawn.
    """
    adata = prepared(read(name))
    sc.pp.highly_variable_genes(adata, n_top_genes=4000)
    adata = adata[:, adata.var["highly_variable"]].copy()
    rng = np.random.default_rng(0)
    adata.var["cost"] = rng.lognormal(0, 0.7, adata.n_vars)
    adata.var["family"] = rng.integers(0, 300, adata.n_vars).astype(str)
    adata.obs[LABEL] = adata.obs[LABEL].astype("category")
    counts = Limits(total_counts={"cell": 15.0}, counts_layer="counts")
    families = {"groups": "family", "per_group": 1}
    types = {"per_type": 2, "groupby": LABEL}
    cases = {
        "two markers a type": (Limits(**types), 40),
        "budget": (Limits(cost="cost", budget=30.0), 50),
        "counts of a cell": (counts, 50),
        "families": (Limits(**families), 60),
        "families, markers, budget": (
            Limits(**families, **types | {"per_type": 1}, cost="cost", budget=40.0),
            60,
        ),
        "budget, any size": (Limits(cost="cost", budget=20.0), None),
        "markers, any size": (Limits(**types), None),
        "counts, any size": (counts, None),
    }
    pp.select_genes(adata, 20)  # the structure is not timed
    rows = {}
    for case, (limits, n_genes) in cases.items():
        begin = time.process_time()
        pp.select_genes(adata, n_genes, limits=limits)
        seconds, entry = time.process_time() - begin, adata.uns["glfs"]
        rows[name, case] = {
            "genes": entry["n_genes"],
            "preserved": entry["preserved"][-1],
            "optimality": entry["optimality"][-1],
            "seconds": seconds,
        }
    return rows


def main() -> None:
    """Write the four tables."""
    parser = tables.parser(__doc__)
    parser.add_argument("--draws", type=int, default=20, help="markers a dataset (20)")
    parser.add_argument("--limits", action="store_true", help="print panels within limits alone")
    options = parser.parse_args()
    if options.limits:
        rows = [within_limits(name) for name in ("baron_human1_1937", "worm_neuron4186", MIXTURE)]
        print(pd.concat([pd.DataFrame(of_set).T for of_set in rows]).round(4).to_markdown())
        return
    by_batch = batches()
    mean = by_batch.groupby(["method", "batch_key", "predicted"], sort=False).mean()
    by_size, by_marker = {}, {}
    for name in SETS:
        by_size[name] = automatic(DATASETS[name])
        by_marker[name] = included(DATASETS[name], options.draws)
        say(f"{name}: done")
    tables.write(
        "panels_constraints",
        mean.reset_index().set_index("method").round(3),
        changes(by_batch),
        f"## Clusters of several batches\n\n{MIXTURE}: agreement (NMI) of as many k-means clusters "
        "as there are cell lines with these. Where a panel preserves batches, clusters are "
        "batches.\n\n" + clusters().round(3).reset_index().to_markdown(index=False),
        f"## include\n\n{SIZE} genes, one of them a marker forced in: one of the {MARKERS} best "
        f"genes of a label by Welch's t, {options.draws} draws a dataset; accuracy lost against "
        "the free panel.\n\n" + pd.DataFrame(by_marker).T.round(4).to_markdown(),
        "## n_genes=None\n\nThe automatic size, its 15-NN accuracy, that of 30 principal "
        "components of all genes, and their ratio.\n\n"
        + pd.DataFrame(by_size).T.round(3).to_markdown(),
        batch=BATCH,
        n_draws=len(SEEDS),
        n_cells=KANG_CELLS,
    )


if __name__ == "__main__":
    main()
