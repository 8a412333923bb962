"""The R package: the same results as Python, and workers.

    python -m benchmarks.r

Needs R and the package, as `make test` installs them, or as R_LIBS and GLFSBIO_PYTHON say.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import scanpy as sc

import glfs_bio

from . import tables

SCRIPT = Path(__file__).with_suffix(".R")
CONTAINERS = (
    *("matrix", "dgCMatrix", "dgTMatrix", "DelayedMatrix"),
    *("HDF5Matrix", "TENxMatrix", "H5ADMatrix"),
    *("SummarizedExperiment", "SingleCellExperiment", "SingleCellExperiment of scran"),
    *("SingleCellExperiment in HDF5", "ExpressionSet", "Seurat"),
)
PANEL = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
OTHER = ["CD3E", "CD79B", "GNLY", "CST3", "HLA-DRA", "FCGR3A", "S100A8"]


def rscript(*arguments: object, script: Path = SCRIPT) -> str:
    """Run a script of R, of which ours takes a function first, and return what it prints."""
    environment = {
        "R_LIBS": str(Path(sys.prefix) / "r" / "library"),
        "GLFSBIO_PYTHON": sys.prefix,
        **os.environ,
    }
    return subprocess.run(
        ["Rscript", script, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def printed(function: str, columns: list[str], *arguments: object) -> pd.DataFrame:
    """Return the table that a function of R prints."""
    return pd.read_csv(io.StringIO(rscript(function, *arguments)), sep="\t", names=columns)


def expected(adata, pca: np.ndarray) -> dict[str, np.ndarray]:
    """Return what Python gives, by function; `pca` is that of scran."""
    pp, tl = glfs_bio.pp, glfs_bio.tl
    by_block, by_pca = adata.copy(), adata.copy()
    pp.select_genes(by_block, 20, batch_key="phase")
    by_pca.obsm["X_pca"] = pca
    pp.select_genes(by_pca, 20, use_rep="X_pca")
    pp.select_genes(adata, 20)
    tl.stability(adata, n_genes=10, n_resamples=3, key_added="stability")
    tl.evaluate_panel(adata, PANEL, key_added="evaluation")
    tl.extend_panel(adata, PANEL, len(PANEL) + 5, key_added="extended")
    tl.explain_panel(adata, PANEL, genes=["GNLY"], key_added="explanation")
    tl.extend_panel(adata, PANEL, drop=["NKG7"], key_added="replaced")
    tl.prove_panel(adata, PANEL, key_added="proof")
    others = {"a": PANEL, "b": OTHER}
    tl.evaluate_panel(adata, others, key_added="comparison")
    tl.order_panel(adata, PANEL, key_added="order")
    tl.classify(adata, "bulk_labels", n_genes=10, key_added="class")
    proof = adata.uns["proof"]

    def columns(key: str, *names: str) -> np.ndarray:
        return adata.uns[key]["table"][[*names]].to_numpy(float).ravel(order="F")

    return {
        "select_genes": scores(adata),
        "select_genes, block": scores(by_block),
        "select_genes, PCA": scores(by_pca),
        "stability": adata.var["stability_frequency"],
        "evaluate_panel": adata.uns["evaluation"]["measures"]["value"],
        "extend_panel": adata.uns["extended"]["preserved"],
        "explain_panel, substitutes": (
            adata.uns["explanation"]["substitutes"]["substitution_score"]
        ),
        "explain_panel": adata.uns["explanation"]["table"]["loss"],
        "extend_panel, drop": columns("replaced", "preserved"),
        "explain_panel, genes": adata.uns["explanation"]["genes"]["r2"],
        "prove_panel": [proof[name] for name in ("preserved", "best_preserved", "optimality")],
        "evaluate_panel, several": adata.uns["comparison"]["measures"]["value"],
        "order_panel": adata.uns["order"]["checks"]["n"],
        "classify": adata.uns["class"]["coef"].T.ravel(),
    }


def scores(adata) -> np.ndarray:
    """Return the scores of the genes, the largest first."""
    return np.sort(adata.var["glfs_score"].dropna())[::-1]


def difference(path: Path, values: np.ndarray) -> float:
    """Return the largest difference to what R wrote, over the largest value; NaN: it has none."""
    if not path.exists():
        return np.nan
    there = np.atleast_1d(np.genfromtxt(path))  # NA is NaN
    values = np.asarray(values, dtype=float)
    if there.shape != values.shape or (np.isnan(there) != np.isnan(values)).any():
        return np.inf
    largest = np.nanmax(np.abs(values)) or 1.0
    return float(np.nanmax(np.abs(there - values)) / largest)


def containers() -> pd.DataFrame:
    """Compare every container of R and every function with Python."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obsm.clear()
    adata.obsp.clear()
    adata.uns.clear()
    with tempfile.TemporaryDirectory() as folder:
        cells = Path(folder) / "cells.h5ad"
        adata.write_h5ad(cells)
        first = tables.HOME.parent / "r_bridge" / "debian_hdf5.R"
        rscript("containers", cells, folder, first)
        pca = np.loadtxt(Path(folder) / "pca.txt")
        table = pd.DataFrame(
            {
                operation: {
                    container: difference(Path(folder) / f"{container}.{operation}", values)
                    for container in CONTAINERS
                }
                for operation, values in expected(adata, pca).items()
            }
        )
    return table.map("{:.0e}".format).replace("nan", "")


def workers() -> pd.DataFrame:
    """Make a hundred selections in forked and in socket workers of R."""
    columns = ["workers", "calls that ended", "time (s)", "largest difference"]
    return printed("workers", columns).set_index("workers")


def main() -> None:
    """Run R, write."""
    tables.parser(__doc__).parse_args()
    tables.write(
        "r",
        containers(),
        tables.section("A hundred selections in workers of BiocParallel", workers()),
    )


if __name__ == "__main__":
    main()
