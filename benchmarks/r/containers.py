"""Every container of R and every operation, against Python."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scanpy as sc

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from session import rscript

if TYPE_CHECKING:
    import anndata as ad

CONTAINERS = (
    *("matrix", "dgCMatrix", "dgTMatrix", "DelayedMatrix"),
    *("HDF5Matrix", "TENxMatrix", "H5ADMatrix"),
    *("SummarizedExperiment", "SingleCellExperiment", "ExpressionSet", "Seurat"),
)
PANEL = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]


def expected(adata: ad.AnnData) -> dict[str, np.ndarray]:
    """What Python gives."""
    pp, tl = glfs_bio.pp, glfs_bio.tl
    pp.select_genes(adata, 20)
    tl.stability(adata, 10, n_resamples=3, key_added="stability")
    tl.evaluate_panel(adata, PANEL, key_added="evaluation")
    tl.extend_panel(adata, PANEL, 5, key_added="extended")
    tl.substitutes(adata, PANEL, n=3, key_added="substitutes")
    tl.explain_panel(adata, PANEL, key_added="explanation")
    tl.curve(adata, 20, key_added="curve")
    tl.classify(adata, "bulk_labels", n_genes=10, key_added="class")
    found = adata.uns["evaluation"]
    names = ("kept", "best_kept", "random_kept", "neighbors_kept", "imputed")
    genes = list(adata.uns["class"]["genes"])
    return {
        "select_genes": np.sort(adata.var["glfs_score"].dropna())[::-1],
        "stability": adata.var["stability_frequency"],
        "evaluate_panel": np.concatenate([np.atleast_1d(found[name]) for name in names]),
        "extend_panel": adata.uns["extended"]["kept"],
        "substitutes": adata.uns["substitutes"]["table"]["taken_over"],
        "explain_panel": adata.uns["explanation"]["table"]["loss"],
        "curve": adata.uns["curve"]["table"]["kept"],
        "classify": np.asarray(adata[:, genes].varm["class_coef"]).T.ravel(),
    }


def main() -> None:
    """Needs R and the package, as make test installs them."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obsm.clear()
    adata.obsp.clear()
    adata.uns.clear()
    with tempfile.TemporaryDirectory() as folder:
        adata.write_h5ad(Path(folder) / "cells.h5ad")
        script = Path(__file__).with_suffix(".R")
        first = Path(__file__).resolve().parents[2] / "r_bridge" / "debian_hdf5.R"
        rscript(script, Path(folder) / "cells.h5ad", folder, first)
        table = pd.DataFrame(
            {
                operation: {
                    container: _difference(Path(folder) / f"{container}.{operation}", values)
                    for container in CONTAINERS
                }
                for operation, values in expected(adata).items()
            }
        )
    report.write(
        "r_containers",
        "The largest difference between R and Python",
        table.map("{:.0e}".format),
        "700 cells and 765 genes; over the largest value that Python gives. Rows: what the cells "
        "are in R; columns: functions. Wanted: at most 1e-10.",
    )


def _difference(path: Path, values: np.ndarray) -> float:
    there = np.loadtxt(path)
    values = np.asarray(values, dtype=float)
    if there.shape != values.shape:
        return np.inf
    return float(np.abs(there - values).max() / np.abs(values).max())


if __name__ == "__main__":
    main()
