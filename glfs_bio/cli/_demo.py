"""``glfs-bio demo``: 25 genes of 700 blood cells, and the label accuracy by them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import glfs_bio

from . import _files as files
from . import _options as options
from ._command import command

if TYPE_CHECKING:
    from anndata import AnnData

_N_GENES = 25
_LABELS = "bulk_labels"
_FILES = ("pbmc68k_panel.h5ad", "genes.txt", "panel.png")


@command
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "glfs-demo"
    ),
    overwrite: options.Overwrite = False,
) -> None:
    """Select 25 genes of 700 blood cells from scanpy; prints a table, needs no network.

    Example: glfs-bio demo -o demo
    """
    run(output, overwrite=overwrite)


def run(output: Path, *, overwrite: bool) -> None:
    """Select, compare, print a table, and write a panel, a gene list and a picture."""
    from .._files import check_target

    output.mkdir(exist_ok=True)
    targets = {name: output / name for name in _FILES}
    for target in targets.values():
        check_target(target, overwrite=overwrite)

    import scanpy as sc
    from matplotlib import pyplot as plt

    scaled = sc.datasets.pbmc68k_reduced()
    cells = sc.AnnData(scaled.raw.X, obs=scaled.obs[[_LABELS]], var=scaled.raw.var)
    sc.pp.pca(cells, n_comps=50, random_state=0)
    sc.pp.neighbors(cells, random_state=0)
    glfs_bio.pp.select_genes(cells, _N_GENES)

    panel = cells[:, cells.var["glfs_selected"]].copy()
    variable = sc.pp.highly_variable_genes(
        cells, flavor="seurat", n_top_genes=_N_GENES, inplace=False
    )["highly_variable"].to_numpy()
    ranked = panel.var.sort_values("glfs_rank")[["glfs_loss", "glfs_rank"]]
    table = ranked.rename_axis("gene").reset_index()
    typer.echo(table.to_string(index=False, float_format="{:.4g}".format))
    typer.echo(f"\nCells whose 15 nearest neighbours have the cell's label ({cells.n_obs} cells)")
    for name, subset in {
        f"all {cells.n_vars} genes": cells,
        f"{_N_GENES} genes selected by glfs_bio": panel,
        f"{_N_GENES} highly variable genes": cells[:, variable],
    }.items():
        typer.echo(f"  {name:<28}{_label_accuracy(subset):.3f}")

    files.put_cells(panel, targets["pbmc68k_panel.h5ad"], overwrite=overwrite)
    glfs_bio.io.write_gene_list(cells, targets["genes.txt"], overwrite=overwrite)
    with glfs_bio.io.replacing(targets["panel.png"], overwrite=overwrite) as file:
        glfs_bio.pl.panel(cells, _LABELS, save=file)
        plt.close()
    typer.echo()
    for target in targets.values():
        typer.echo(f"wrote {target}")


def _label_accuracy(cells: AnnData, n_neighbors: int = 15) -> float:
    """Share of the cells whose nearest other cells have, by majority, the cell's own label."""
    import numpy as np
    import pandas as pd
    import scanpy as sc
    from sklearn.neighbors import NearestNeighbors

    if cells.n_vars > 30:
        coordinates = sc.pp.pca(cells, n_comps=30, copy=True).obsm["X_pca"]
    else:
        coordinates = cells.X.toarray()
    labels = cells.obs[_LABELS].cat.codes.to_numpy()
    neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(coordinates)
    votes = pd.DataFrame(labels[neighbors.kneighbors(return_distance=False)])
    return float(np.mean(votes.mode(axis=1)[0] == labels))
