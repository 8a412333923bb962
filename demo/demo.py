"""Select 25 genes of 700 blood cells and see how much of the cells' structure they keep."""

from __future__ import annotations

from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from matplotlib.figure import Figure
from sklearn.neighbors import NearestNeighbors

import glfs_bio

N_GENES = 25
LABELS = "bulk_labels"
OUTPUT = Path(__file__).parent / "output"
# Paul Tol's "muted" scheme, which colour-blind readers can tell apart, and black.
COLOURS = (
    *("#332288", "#88CCEE", "#44AA99", "#117733", "#999933"),
    *("#DDCC77", "#CC6677", "#882255", "#AA4499", "#000000"),
)


def load_cells() -> ad.AnnData:
    """Log-normalised expression, as ``sc.pp.log1p`` leaves it, of the cells that scanpy ships."""
    scaled = sc.datasets.pbmc68k_reduced()
    return ad.AnnData(scaled.raw.X, obs=scaled.obs[[LABELS]], var=scaled.raw.var)


def label_accuracy(cells: ad.AnnData, n_neighbors: int = 15) -> float:
    """Share of the cells whose nearest other cells have, by majority, the cell's own label."""
    if cells.n_vars > 30:
        coordinates = sc.pp.pca(cells, n_comps=30, copy=True).obsm["X_pca"]
    else:
        coordinates = cells.X.toarray()
    labels = cells.obs[LABELS].cat.codes.to_numpy()
    neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(coordinates)
    votes = pd.DataFrame(labels[neighbors.kneighbors(return_distance=False)])
    return float(np.mean(votes.mode(axis=1)[0] == labels))


def embed(cells: ad.AnnData, use_rep: str) -> None:
    """Add a UMAP of the cells to them."""
    sc.pp.neighbors(cells, use_rep=use_rep, random_state=0)
    sc.tl.umap(cells, random_state=0)


def draw(embeddings: dict[str, ad.AnnData], path: Path) -> None:
    """One UMAP beside the other, with one legend."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    for axes, (title, cells) in zip(
        figure.subplots(1, len(embeddings)), embeddings.items(), strict=True
    ):
        for label, colour in zip(cells.obs[LABELS].cat.categories, COLOURS, strict=True):
            x, y = cells.obsm["X_umap"][cells.obs[LABELS] == label].T
            axes.scatter(x, y, s=12, color=colour, linewidths=0, label=label)
        axes.set(title=title, xlabel="UMAP 1", ylabel="UMAP 2", xticks=[], yticks=[])
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, markerscale=2)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Run the demonstration."""
    cells = load_cells()
    sc.pp.pca(cells, n_comps=50, random_state=0)
    embed(cells, use_rep="X_pca")

    glfs_bio.pp.select_genes(cells, n_genes=N_GENES)

    panel = cells[:, cells.var["glfs_selected"]].copy()
    embed(panel, use_rep="X")
    variable = sc.pp.highly_variable_genes(
        cells, flavor="seurat", n_top_genes=N_GENES, inplace=False
    )["highly_variable"].to_numpy()
    ranked = panel.var.sort_values("glfs_rank")

    table = ranked[["glfs_weight", "glfs_rank"]].rename_axis("gene").reset_index()
    print(table.to_string(index=False, float_format="{:.4g}".format))
    print(f"\nCells whose 15 nearest neighbours have the cell's label ({cells.n_obs} cells)")
    for name, subset in {
        f"all {cells.n_vars} genes": cells,
        f"{N_GENES} genes selected by GLFS": panel,
        f"{N_GENES} highly variable genes": cells[:, variable],
    }.items():
        print(f"  {name:<28}{label_accuracy(subset):.3f}")

    OUTPUT.mkdir(exist_ok=True)
    panel.write_h5ad(OUTPUT / "pbmc68k_panel.h5ad")
    (OUTPUT / "genes.txt").write_text("\n".join(ranked.index) + "\n")
    draw({f"all {cells.n_vars} genes": cells, f"{N_GENES} genes": panel}, OUTPUT / "panel.png")
    print()
    for name in ("pbmc68k_panel.h5ad", "genes.txt", "panel.png"):
        print(f"wrote {OUTPUT / name}")


if __name__ == "__main__":
    main()
