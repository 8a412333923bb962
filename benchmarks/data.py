"""The datasets that panels are chosen and measured on, and what is known about their cells."""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from scipy.sparse import csr_matrix, issparse
from sklearn.neighbors import NearestNeighbors

from . import simulated

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData

LABEL = "label"
MIXTURE, KANG = "sc_mixology_singlets1021", "kang_ifnb13999"
#: The five that the defaults were settled on.
SETS = ("pbmc3k_2638", "baron_human1_1937", MIXTURE, KANG, "worm_neuron4186")
BATCHES = {MIXTURE: "batch", KANG: "stim"}
FIVE, QUARTERS, SIMULATED, MORE = "five datasets", "quarters", "simulated datasets", "more datasets"
#: Names the folder of further datasets.
MORE_DATA = "GLFS_BIO_MORE_DATA"
#: Measures compare every cell with every other: of more cells these many are drawn, with seed 0.
MOST_CELLS = 10_000
KANG_CELLS = 4000
N_NEIGHBORS, N_COMPS = 15, 50
RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Cells:
    """A dataset: its matrix, and what panels of it are measured against.

    Parameters
    ----------
    name : str
        Place in the store; it changes with whatever the cells are made of.
    load : callable
        Return logarithmised expression, with the counts in a layer.
    batch : str, optional
        Column of the batches, where there are several.
    group : str, default ""
        Kind of dataset.
    """

    name: str
    load: Callable[[], AnnData]
    batch: str | None = None
    group: str = ""

    @cached_property
    def adata(self) -> AnnData:
        """Logarithmised expression, with the counts in a layer."""
        return self.load()

    @property
    def labels(self) -> np.ndarray:
        """Cell type or cell line."""
        return self.adata.obs[LABEL].astype(str).to_numpy()

    @property
    def batches(self) -> np.ndarray | None:
        """Batch of every cell, None where there is only one."""
        known = self.batch in self.adata.obs
        return pd.factorize(self.adata.obs[self.batch])[0] if known else None

    @cached_property
    def neighbourhoods(self) -> np.ndarray:
        """Nearest cells in 50 principal components of all genes: no method's own graph."""
        return nearest(sc.pp.pca(self.adata.X, n_comps=N_COMPS, random_state=0))

    @cached_property
    def drawn(self) -> np.ndarray:
        """Every cell once, and then how often every resample has it; the same for all methods."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        even = np.full(self.adata.n_obs, 1 / self.adata.n_obs)
        resamples = rng.multinomial(self.adata.n_obs, even, RESAMPLES)
        return np.vstack([np.ones_like(resamples[:1]), resamples]).astype(np.float32)


def nearest(coordinates: np.ndarray, n_neighbors: int = N_NEIGHBORS) -> np.ndarray:
    """Return the nearest other cells of every cell, exact."""
    finder = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(coordinates)
    return finder.kneighbors(return_distance=False)


def folder() -> Path:
    """Return the folder named by GLFS_BIO_DATA."""
    return Path(os.environ.get("GLFS_BIO_DATA", "../shared/data"))


def read(name: str) -> AnnData:
    """Return a development dataset."""
    path = folder() / f"{name}.h5ad"
    if not path.exists():
        sys.exit(f"No file {path}: set GLFS_BIO_DATA to the folder that has the datasets.")
    return ad.read_h5ad(path)


def prepared(counts: AnnData) -> AnnData:
    """Filter counts, keep them in a layer, normalise and logarithmise them."""
    adata = counts
    sc.pp.filter_genes(adata, min_cells=3)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def some(adata: AnnData, n_cells: int, seed: int = 0) -> AnnData:
    """Draw some cells."""
    return adata[np.random.default_rng(seed).choice(adata.n_obs, n_cells, replace=False)].copy()


def load(name: str) -> AnnData:
    """Return one of the five datasets, with 4,000 cells of Kang."""
    counts = read(name)
    return prepared(some(counts, KANG_CELLS) if name == KANG else counts)


def quarter(name: str) -> AnnData:
    """Return a quarter of the cells of one of the five datasets, drawn with seed 0."""
    adata = load(name)
    cells = np.random.default_rng(0).choice(adata.n_obs, adata.n_obs // 4, replace=False)
    part = adata[np.sort(cells)].copy()
    sc.pp.filter_genes(part, min_cells=3)
    return part


def further_files() -> list[Path]:
    """Return the h5ad of the folder that GLFS_BIO_MORE_DATA names; none where it is not set."""
    folder = os.environ.get(MORE_DATA)
    if not folder:
        return []
    found = sorted(Path(folder).glob("*.h5ad"))
    if not found:
        raise FileNotFoundError(f"{MORE_DATA}={folder} holds no h5ad: add one, or unset it")
    return found


def read_further(path: Path) -> AnnData:
    """Return counts in `.X`, with the columns `label` and, where the file has it, `batch`."""
    adata = ad.read_h5ad(path)
    counts = adata.layers.get("counts", adata.X)
    place = 'layers["counts"]' if "counts" in adata.layers else "X"
    if counts is None:
        raise ValueError(f'{path.name}: neither X nor layers["counts"]; put the counts into one')
    counts = csr_matrix(counts) if not issparse(counts) else counts.tocsr()
    wrong = counts.data[(counts.data < 0) | (counts.data != np.round(counts.data))]
    if len(wrong):
        raise ValueError(
            f"{path.name}: {place} holds values that are no counts, such as {wrong[0]}; "
            'put whole numbers into layers["counts"]'
        )
    if LABEL not in adata.obs:
        raise KeyError(
            f'{path.name}: no obs["label"], only {list(adata.obs)}; rename the column of the types'
        )
    unlabelled = int(adata.obs[LABEL].isna().sum())
    if unlabelled:
        raise ValueError(f'{path.name}: {unlabelled} cells have no obs["label"]; leave them out')
    columns = [name for name in (LABEL, "batch") if name in adata.obs]
    found = ad.AnnData(counts.astype(np.float32), adata.obs[columns].astype(str), adata.var[[]])
    found.var_names_make_unique()
    if found.n_obs > MOST_CELLS:
        drawn = np.random.default_rng(0).choice(found.n_obs, MOST_CELLS, replace=False)
        found = found[np.sort(drawn)].copy()
    return found


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _datasets() -> dict[str, Cells]:
    code = _file_digest(Path(simulated.__file__))[:8]
    found = {name: Cells(name, partial(load, name), BATCHES.get(name), FIVE) for name in SETS}
    for name in SETS:
        cells = Cells(f"{name}/quarter", partial(quarter, name), BATCHES.get(name), QUARTERS)
        found[f"{name}, quarter"] = cells
    for name, one in simulated.SIMULATIONS.items():
        place = f"simulated/{name}-{code}"
        cells = Cells(place, lambda one=one: prepared(one.draw()), "batch", SIMULATED)
        found[f"simulated {name}"] = cells
    for path in further_files():
        place = f"more/{path.stem}-{_file_digest(path)[:16]}"
        cells = Cells(place, lambda path=path: prepared(read_further(path)), "batch", MORE)
        found[f"{path.stem}, more"] = cells
    return found


#: By their titles in the tables.
DATASETS = _datasets()
