"""Rivals of this environment: a matrix in, genes out, best first."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import scanpy as sc
from scipy.sparse import csc_matrix
from sklearn.exceptions import ConvergenceWarning

from ..data import LABEL
from ..measures import variances

#: scanpy tests no type with fewer cells.
FEWEST = 2


def with_graph(adata, **options):
    """Return a copy after sc.pp.pca and sc.pp.neighbors."""
    adata = adata.copy()
    sc.pp.pca(adata)
    sc.pp.neighbors(adata, **options)
    return adata


def dispersions(adata, n_genes: int, flavor: str, **options) -> pd.DataFrame:
    """Return the table of scanpy's highly variable genes."""
    layer = "counts" if flavor == "seurat_v3" else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="scanpy")
        return sc.pp.highly_variable_genes(
            adata, n_top_genes=n_genes, flavor=flavor, layer=layer, inplace=False, **options
        )


def highly_variable(adata, n_genes: int, *, flavor: str):
    """Rank scanpy's highly variable genes by dispersion, or by its rank where it gives one."""
    table = dispersions(adata, n_genes, flavor)
    if flavor == "seurat_v3":
        return np.argsort(table["highly_variable_rank"].fillna(np.inf), kind="stable")[:n_genes]
    return np.argsort(-table["dispersions_norm"].fillna(-np.inf), kind="stable")[:n_genes]


def pearson_residuals(adata, n_genes: int):
    """Rank scanpy's highly variable genes by analytic Pearson residuals."""
    table = sc.experimental.pp.highly_variable_genes(
        adata, n_top_genes=n_genes, layer="counts", inplace=False
    )
    return np.argsort(table["highly_variable_rank"].fillna(np.inf), kind="stable")[:n_genes]


def expressed(adata):
    """Return the genes that some cell expresses: triku and Hotspot refuse others."""
    return np.flatnonzero(np.asarray(adata.X.sum(axis=0)).ravel())


def triku(adata, n_genes: int):
    """Rank by the distance of triku, on the graph of its tutorial: cosine, √n/2 neighbours."""
    with warnings.catch_warnings():  # importing it silences all warnings
        from triku.tl import triku

    seen = expressed(adata)
    part = with_graph(adata[:, seen], metric="cosine", n_neighbors=int(0.5 * adata.n_obs**0.5))
    triku(part, use_raw=False)
    best_first = np.argsort(-part.var["triku_distance"].to_numpy(), kind="stable")
    return seen[best_first[:n_genes]]


def hotspot(adata, n_genes: int, *, by: str, approx_neighbors: bool = False):
    """Rank by Hotspot's autocorrelation, its DANB model on 50 components, 30 neighbours.

    The approximate ones that it takes by default have no seed: genes change from run to run.
    """
    from hotspot import Hotspot

    model = adata[:, expressed(adata)].copy()
    model.X = csc_matrix(model.layers["counts"])
    model.obs["total"] = np.asarray(model.X.sum(axis=1)).ravel()
    model.obsm["X_pca"] = sc.pp.pca(adata.X, random_state=0)
    model = Hotspot(model, model="danb", latent_obsm_key="X_pca", umi_counts_obs_key="total")
    model.create_knn_graph(weighted_graph=False, n_neighbors=30, approx_neighbors=approx_neighbors)
    table = model.compute_autocorrelations(jobs=1)
    ranked = table[by].sort_values(ascending=False, kind="stable").index[:n_genes]
    return adata.var_names.get_indexer(ranked)


def variance(adata, n_genes: int):
    """Rank by variance of the logarithmised expression."""
    return np.argsort(-variances(adata.X), kind="stable")[:n_genes]


def random(adata, n_genes: int):
    """Draw any genes with seed 0."""
    return np.random.default_rng(0).permutation(adata.n_vars)[:n_genes]


def tested(adata, n_genes: int, test: str, fewest: int) -> tuple[list[str], np.ndarray]:
    """Return types, those of most cells first, and the best genes of each by a test of scanpy."""
    found = sc.AnnData(adata.X, adata.obs[[LABEL]].astype(str), adata.var[[]])
    counts = found.obs[LABEL].value_counts()
    types = list(counts.index[counts >= fewest])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=pd.errors.PerformanceWarning)
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        sc.tl.rank_genes_groups(found, LABEL, groups=types, method=test, n_genes=n_genes)
    return types, found.uns["rank_genes_groups"]["names"]


def markers(adata, n_genes: int, *, test: str):
    """Rank the best genes of rank_genes_groups, the types taking turns."""
    types, names = tested(adata, n_genes, test, FEWEST)
    in_turn = (names[kind][place] for place in range(n_genes) for kind in types)
    return adata.var_names.get_indexer(list(dict.fromkeys(in_turn))[:n_genes])
