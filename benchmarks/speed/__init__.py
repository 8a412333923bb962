"""Time and memory: cells of any number, written some thousand at a time, and clocks.

Counts are negative binomial: a cell has a Poisson number of bursts, each of a gene drawn from the
profile of its type, of logarithmic size.  Twenty types of unequal sizes are two levels of a tree,
and cells differ in depth; about 1,000 of 20,000 genes (5 %) are seen in one: 840 are in pbmc3k.
What is written is ``log1p`` of counts brought to 10,000 a cell, in CSR, without compression.  The
first cells are the same whatever their number.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anndata as ad
import h5py
import numpy as np
import pandas as pd
from anndata.io import sparse_dataset, write_elem
from scipy import sparse

from ..tables import CACHE, say

if TYPE_CHECKING:
    from pathlib import Path

HOME = CACHE / "speed"
SEED = 0
N_GENES = 20_000
N_TYPES = 20
CHUNK = 10_000
_BURSTS = 1_250
_DEPTH = 0.35
_BURST_SIZE = 0.3
_LINEAGES = 5
_MARKERS = 0.03
_DRAWS = 2**20  # shares are multiples of one in so many


def profiles(n_genes: int, rng: np.random.Generator) -> np.ndarray:
    """Return the genes from which the bursts of every type are drawn, shape (N_TYPES, _DRAWS)."""
    levels = np.tile(rng.normal(0.0, 1.6, n_genes), (N_TYPES, 1))
    lineage = np.arange(N_TYPES) % _LINEAGES
    for group in (lineage, np.arange(N_TYPES)):
        for one in np.unique(group):
            markers = rng.random(n_genes) < _MARKERS
            levels[np.ix_(group == one, markers)] += rng.normal(0.7, 1.2, markers.sum())
    ends = np.cumsum(np.exp(levels), axis=1)
    draws = (np.arange(_DRAWS) + 0.5) / _DRAWS
    found = [np.searchsorted(end, draws * end[-1]) for end in ends]
    return np.array(found, dtype=np.int32)


def cells(
    kinds: np.ndarray, profile: np.ndarray, n_genes: int, rng: np.random.Generator
) -> sparse.csr_matrix:
    """Return logarithmised expression of cells of given types."""
    bursts = rng.poisson(_BURSTS * rng.lognormal(0.0, _DEPTH, len(kinds)))
    ends = np.concatenate([[0], np.cumsum(bursts)])
    genes = profile[np.repeat(kinds, bursts), rng.integers(_DRAWS, size=ends[-1])]
    sizes = rng.logseries(_BURST_SIZE, ends[-1]).astype(np.float32)
    counts = sparse.csr_matrix((sizes, genes, ends), shape=(len(kinds), n_genes))
    counts.sum_duplicates()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    scale = np.divide(1e4, totals, out=np.zeros_like(totals), where=totals > 0)
    counts.data = np.log1p(counts.data * np.repeat(scale, np.diff(counts.indptr)))
    return counts


def cells_file(n_cells: int, n_genes: int = N_GENES) -> Path:
    """Return a file of cells, written where it is missing."""
    path = HOME / (f"{n_cells}.h5ad" if n_genes == N_GENES else f"counts{n_genes}.h5ad")
    if path.exists():
        return path
    HOME.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    profile = profiles(n_genes, rng)
    abundance = rng.lognormal(0.0, 1.2, N_TYPES)
    kinds = rng.choice(N_TYPES, n_cells, p=abundance / abundance.sum())
    obs = pd.DataFrame(
        {"label": pd.Categorical(kinds.astype(str))}, index=np.arange(n_cells).astype(str)
    )
    genes = pd.DataFrame(index=[f"g{k}" for k in range(n_genes)])
    draft = path.with_suffix(".part")
    for begin in range(0, n_cells, CHUNK):
        some = slice(begin, min(begin + CHUNK, n_cells))
        chunk = cells(kinds[some], profile, n_genes, np.random.default_rng([SEED, begin]))
        if begin == 0:
            ad.AnnData(chunk, obs[some].copy(), genes).write_h5ad(draft)
        else:
            with h5py.File(draft, "r+") as file:
                sparse_dataset(file["X"]).append(chunk)
        say(f"{some.stop:,} of {n_cells:,} cells written")
    with h5py.File(draft, "r+") as file:
        write_elem(file, "obs", obs)
    draft.replace(path)
    return path


class Clock:
    """Processor and wall time of a call, in seconds."""

    def __enter__(self) -> Clock:
        self._begin = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_) -> None:
        self.cpu = time.process_time() - self._begin[0]
        self.seconds = time.perf_counter() - self._begin[1]
