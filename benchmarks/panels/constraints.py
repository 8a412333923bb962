"""What constraints on the panel cost: batches, genes that must be in, an automatic size.

python benchmarks/panels/constraints.py [--draws 20]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import scanpy as sc
from methods import select_genes
from metrics import Panel, accuracy, kmeans_nmi
from sets import BATCHES, SETS, Cells

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

KANG, BATCH = "kang_ifnb13999", "stim"
MIXTURE = "sc_mixology_singlets1021"
BATCH_SIZES = (10, 25, 50, 100)
SEEDS, CELLS = range(6), 4000
SIZE = 25
#: Markers are the best of a label by Welch's t, among labels with enough cells for a test.
MARKERS, FEWEST_CELLS = 20, 10
ALLOWED_DROP = 0.01


def highly_variable(adata, n_genes: int, flavor: str, batch_key: str | None):
    """Genes that scanpy calls highly variable."""
    layer = "counts" if flavor == "seurat_v3" else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="scanpy")
        table = sc.pp.highly_variable_genes(
            adata,
            n_top_genes=n_genes,
            flavor=flavor,
            layer=layer,
            batch_key=batch_key,
            inplace=False,
        )
    return np.flatnonzero(table["highly_variable"])


def kang(seed: int):
    """Other cells of Kang than the development set's, which are those of seed 0."""
    adata = report.data(KANG)
    adata = adata[np.random.default_rng(seed).choice(adata.n_obs, CELLS, replace=False)].copy()
    sc.pp.filter_genes(adata, min_cells=3)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def panels(adata, size: int, batch_key: str | None) -> dict[str, np.ndarray]:
    """Genes of every method that can be told of batches."""
    found = {"GLFS": select_genes(adata, size, batch_key=batch_key)}
    for flavor in ("seurat", "cell_ranger", "seurat_v3"):
        found[f"HVG {flavor}"] = highly_variable(adata, size, flavor, batch_key)
    return found


def batches() -> pd.DataFrame:
    """Cell type and stimulation, both predicted from panels chosen with and without the batches."""
    rows = {}
    draws = {seed: kang(seed) for seed in SEEDS}
    for (seed, adata), batch_key, size in product(draws.items(), (None, BATCH), BATCH_SIZES):
        for method, genes in panels(adata, size, batch_key).items():
            for what, labels in (("cell type", "label"), (BATCH, BATCH)):
                share = report.neighbour_accuracy(adata.X[:, genes], adata.obs[labels])
                rows[method, batch_key or "none", what, seed, size] = share
        sys.stderr.write(f"{KANG}, draw {seed}, {BATCH} {batch_key}, {size} genes: done\n")
    names = ["method", "batch_key", "predicted", "draw", "genes"]
    return pd.Series(rows).rename_axis(names).unstack("genes")


def clusters() -> pd.DataFrame:
    """Agreement of k-means clusters of the mixture with its cell lines."""
    cells, rows = Cells(MIXTURE), {}
    for batch_key, size in product((None, BATCHES[MIXTURE]), BATCH_SIZES):
        for method, genes in panels(cells.adata, size, batch_key).items():
            rows[method, batch_key or "none", size] = kmeans_nmi(Panel(cells, tuple(genes)))
    names = ["method", "batch_key", "genes"]
    return pd.Series(rows).rename_axis(names).unstack("genes")


def verdicts(table: pd.DataFrame) -> str:
    """Whether GLFS keeps the cell types and loses the stimulation."""
    own = table.loc["GLFS"]
    change = own.loc[BATCH] - own.loc["none"]
    cell_type, stimulation = change.loc["cell type"], change.loc[BATCH]
    return "\n".join(
        f"- {size} genes: cell type {cell_type[size].mean():+.3f} "
        f"({', '.join(f'{value:+.3f}' for value in cell_type[size])}; wanted: not below 0), "
        f"{BATCH} {stimulation[size].mean():+.3f} "
        f"({', '.join(f'{value:+.3f}' for value in stimulation[size])}; wanted: below 0)"
        for size in BATCH_SIZES
    )


def markers(adata, draws: int) -> list[str]:
    """Markers drawn with seed 0: a label, then one of its best genes."""
    found = sc.AnnData(adata.X, adata.obs[["label"]].astype(str), adata.var)
    sizes = found.obs["label"].value_counts()
    labels = sorted(sizes.index[sizes >= FEWEST_CELLS])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=pd.errors.PerformanceWarning)
        sc.tl.rank_genes_groups(found, "label", groups=labels, method="t-test", n_genes=MARKERS)
    names = found.uns["rank_genes_groups"]["names"]
    rng = np.random.default_rng(0)
    return [str(names[rng.choice(labels)][rng.integers(MARKERS)]) for _ in range(draws)]


def included(cells: Cells, draws: int) -> dict[str, float]:
    """Accuracy of a panel that a marker is forced into, against that of the free panel."""
    free = accuracy(Panel(cells, tuple(select_genes(cells.adata, SIZE))))
    drops = []
    for marker in markers(cells.adata, draws):
        genes = select_genes(cells.adata, SIZE, include=[marker])
        drops.append(free - accuracy(Panel(cells, tuple(genes))))
    return {
        "free": free,
        "mean drop": np.mean(drops),
        "largest drop": np.max(drops),
        f"drops above {ALLOWED_DROP}": np.sum(np.array(drops) > ALLOWED_DROP),
    }


def automatic(cells: Cells) -> dict[str, float]:
    """Size that n_genes=None chooses, and the accuracy that it keeps of that of all genes."""
    genes = select_genes(cells.adata, None)
    kept = accuracy(Panel(cells, tuple(genes)))
    coordinates = sc.pp.pca(cells.adata.X, n_comps=30, random_state=0)
    whole = report.neighbour_accuracy(coordinates, cells.labels)
    return {"genes": len(genes), "accuracy": kept, "all genes": whole, "kept": kept / whole}


def main() -> None:
    """The four tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=20, help="markers a set (20)")
    options = parser.parse_args()
    by_batch = batches()
    mean = by_batch.groupby(["method", "batch_key", "predicted"], sort=False).mean()
    by_size, by_marker = {}, {}
    for name in SETS:
        cells = Cells(name)
        by_size[name] = automatic(cells)
        by_marker[name] = included(cells, options.draws)
        sys.stderr.write(f"{name}: done\n")
    report.write(
        "panels_constraints",
        "Panels under constraints: batches, genes that must be in, an automatic size",
        mean.reset_index().set_index("method").round(3),
        f"Kang, {BATCH} as batch: 15-NN accuracy of the cell type and of {BATCH} from the panel, "
        f"chosen with and without `batch_key`. Means over {len(SEEDS)} draws of {CELLS} cells; "
        "draw 0 is the development set. What `batch_key` changes for GLFS, with every draw:",
        verdicts(by_batch),
        f"## Clusters of several batches\n\n{MIXTURE}: agreement (NMI) of as many k-means clusters "
        "as there are cell lines with these. Where a panel keeps batches, clusters are batches.\n\n"
        + clusters().round(3).reset_index().to_markdown(index=False),
        f"## include\n\n{SIZE} genes, one of them a marker forced in: one of the {MARKERS} best "
        f"genes of a label by Welch's t, {options.draws} draws a set; accuracy lost against the "
        "free panel.\n\n" + pd.DataFrame(by_marker).T.round(4).to_markdown(),
        "## n_genes=None\n\nThe automatic size, its 15-NN accuracy, that of 30 principal "
        "components of all genes, and their ratio.\n\n"
        + pd.DataFrame(by_size).T.round(3).to_markdown(),
    )


if __name__ == "__main__":
    main()
