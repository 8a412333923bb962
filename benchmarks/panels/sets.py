"""The single-cell sets of the panel benchmarks, and what is known about their cells."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import scanpy as sc
from sklearn.neighbors import NearestNeighbors

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
BATCHES = {"sc_mixology_singlets1021": "batch", "kang_ifnb13999": "stim"}
N_NEIGHBORS = 15
N_COMPS = 50


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


def nearest(coordinates, n_neighbors: int = N_NEIGHBORS):
    """Nearest other cells of every cell, exact."""
    finder = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(coordinates)
    return finder.kneighbors(return_distance=False)


@dataclass(frozen=True)
class Cells:
    """One set: its matrix, and what panels of it are measured against."""

    name: str

    @cached_property
    def adata(self):
        """Logarithmised expression, with the counts in a layer."""
        return load(self.name)

    @property
    def labels(self):
        """Cell type or cell line."""
        return self.adata.obs["label"].astype(str).to_numpy()

    @property
    def batches(self):
        """Batch of every cell, None where there is only one."""
        key = BATCHES.get(self.name)
        return None if key is None else pd.factorize(self.adata.obs[key])[0]

    @cached_property
    def neighbourhoods(self):
        """Nearest cells in 50 principal components of all genes: no method's own graph."""
        return nearest(sc.pp.pca(self.adata.X, n_comps=N_COMPS, random_state=0))
