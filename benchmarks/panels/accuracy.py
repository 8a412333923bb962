"""15-NN accuracy of small panels on five single-cell data sets, one set of defaults."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scanpy as sc

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SETS = (
    "pbmc3k_2638",
    "baron_human1_1937",
    "sc_mixology_singlets1021",
    "kang_ifnb13999",
    "worm_neuron4186",
)
SIZES = (10, 25, 50, 100, 200)


def load(name: str):
    """Counts, filtered and logarithmised; 4,000 cells of Kang drawn with seed 0."""
    adata = report.data(name)
    if name.startswith("kang"):
        cells = np.random.default_rng(0).choice(adata.n_obs, 4000, replace=False)
        adata = adata[cells].copy()
    sc.pp.filter_genes(adata, min_cells=3)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def glfs(adata, n_genes: int):
    """Our defaults on the matrix alone: principal components and graph are computed."""
    table = glfs_bio.pp.select_genes(adata, n_genes, inplace=False)
    return table["glfs_selected"].to_numpy()


def glfs_reused(adata, n_genes: int):
    """Our defaults after sc.pp.pca and sc.pp.neighbors."""
    adata = adata.copy()
    sc.pp.pca(adata)
    sc.pp.neighbors(adata)
    return glfs(adata, n_genes)


def highly_variable(flavor: str):
    """Selection of scanpy, of one flavour."""

    def select(adata, n_genes: int):
        layer = "counts" if flavor == "seurat_v3" else None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning, module="scanpy")
            table = sc.pp.highly_variable_genes(
                adata, n_top_genes=n_genes, flavor=flavor, layer=layer, inplace=False
            )
        return table["highly_variable"].to_numpy()

    return select


def pearson_residuals(adata, n_genes: int):
    """Selection of scanpy by analytic Pearson residuals."""
    table = sc.experimental.pp.highly_variable_genes(
        adata, n_top_genes=n_genes, layer="counts", inplace=False
    )
    return table["highly_variable"].to_numpy()


def variance(adata, n_genes: int):
    """Largest variance of the logarithmised expression."""
    mean = np.asarray(adata.X.mean(axis=0)).ravel()
    spread = np.asarray(adata.X.multiply(adata.X).mean(axis=0)).ravel() - mean**2
    return np.isin(np.arange(adata.n_vars), np.argsort(-spread)[:n_genes])


METHODS = {
    "GLFS": glfs,
    "GLFS, PCA and graph re-used": glfs_reused,
    "HVG seurat": highly_variable("seurat"),
    "HVG cell_ranger": highly_variable("cell_ranger"),
    "HVG seurat_v3": highly_variable("seurat_v3"),
    "Pearson residuals": pearson_residuals,
    "variance": variance,
}


def main() -> None:
    """Every method on every set at every size."""
    rows = []
    for name in SETS:
        adata = load(name)
        for method, select in METHODS.items():
            for size in SIZES:
                try:
                    panel = select(adata, size)
                    accuracy = report.neighbour_accuracy(adata.X[:, panel], adata.obs["label"])
                except (ValueError, ImportError) as error:
                    sys.stderr.write(f"{method} failed on {name}: {error}\n")
                    accuracy = np.nan
                rows.append((name, method, size, accuracy))
    table = pd.DataFrame(rows, columns=["set", "method", "genes", "accuracy"])
    means = table.pivot_table("accuracy", "method", "genes", sort=False).loc[list(METHODS)]
    each = table[table["genes"] == 10].pivot_table("accuracy", "method", "set", sort=False)
    report.write(
        "panels_accuracy",
        "15-NN accuracy of small panels, mean over five data sets",
        means.round(3),
        "At 10 genes, set by set:\n\n" + each.loc[list(METHODS)].round(3).to_markdown(),
        "Leave-one-out; genes centred, at most 30 principal components of them. normalize_total "
        "1e4, log1p, genes in at least 3 cells; 4,000 cells of Kang. Labels of all sets but "
        "sc_mixology come from clustering the same matrix.",
    )


if __name__ == "__main__":
    main()
