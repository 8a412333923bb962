"""Time and memory: cells of any number, written some thousand at a time, and clocks.

Counts are negative binomial: a cell has a Poisson number of bursts, each of a gene drawn from the
profile of its type, of logarithmic size.  Twenty types of unequal sizes are two levels of a tree,
and cells differ in depth; about 1,000 of 20,000 genes (5 %) are seen in one: 840 are in pbmc3k.
What is written is ``log1p`` of counts brought to 10,000 a cell, in CSR, without compression.  The
first cells are the same whatever their number.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

import anndata as ad
import h5py
import joblib
import numpy as np
import pandas as pd
import zarr
from anndata.io import read_elem, sparse_dataset, write_elem
from scipy import sparse

from ..tables import CACHE, say

if TYPE_CHECKING:
    from pathlib import Path

HOME = CACHE / "speed"
SEED = 0
N_GENES = 20_000
N_TYPES = 20
CHUNK = 2_000
_BURSTS = 1_250
_DEPTH = 0.35
_BURST_SIZE = 0.3
_LINEAGES = 5
_MARKERS = 0.03
_DRAWS = 2**20  # shares are multiples of one in so many
_SIZES = (
    np.random.default_rng(SEED).logseries(_BURST_SIZE, 2**16 - 1).astype(np.float32)
)  # of bursts


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
    """Return logarithmised expression of cells of given types.

    Draws of a cell are made in their order, from exponential steps: its genes need no sorting.
    """
    bursts = rng.poisson(_BURSTS * rng.lognormal(0.0, _DEPTH, len(kinds)))
    steps = np.cumsum(
        rng.standard_exponential(bursts.sum() + len(kinds), dtype=np.float32), dtype=float
    )
    ends = np.cumsum(bursts + 1) - 1  # a step more than draws, which ends at 1
    begins = np.concatenate([[0.0], steps[ends[:-1]]])
    scale = _DRAWS / (steps[ends] - begins)
    steps, of = np.delete(steps, ends), np.repeat(np.arange(len(kinds)), bursts)
    draws = ((steps - begins[of]) * scale[of]).astype(np.int32)
    genes = profile[np.repeat(kinds, bursts), np.minimum(draws, _DRAWS - 1)]
    sizes = _SIZES[rng.integers(len(_SIZES), size=len(genes), dtype=np.uint16)]
    pointers = np.concatenate([[0], np.cumsum(bursts)]).astype(np.int32)
    counts = sparse.csr_matrix((sizes, genes, pointers), shape=(len(kinds), n_genes))
    counts.sum_duplicates()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    scale = np.divide(1e4, totals, out=np.zeros_like(totals), where=totals > 0)
    counts.data = np.log1p(counts.data * np.repeat(scale, np.diff(counts.indptr)))
    return counts


def _chunk(begin: int, kinds: np.ndarray, profile: np.ndarray, n_genes: int) -> sparse.csr_matrix:
    return cells(kinds, profile, n_genes, np.random.default_rng([SEED, begin]))


def cells_file(n_cells: int, place: str = "csr", n_genes: int = N_GENES) -> Path:
    """Return a file of cells in a container, written where it is missing.

    Two processes draw some cells each, while others are written.
    """
    path = HOME / f"{n_cells}.h5ad"
    if place not in ("csr", "memory"):
        return _copied(cells_file(n_cells), place)
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
    chunks = joblib.Parallel(2, return_as="generator", pre_dispatch=4, max_nbytes="1M")(
        joblib.delayed(_chunk)(begin, kinds[begin : begin + CHUNK], profile, n_genes)
        for begin in range(0, n_cells, CHUNK)
    )
    for begin, chunk in zip(range(0, n_cells, CHUNK), chunks, strict=True):
        some = slice(begin, begin + chunk.shape[0])
        if begin == 0:
            ad.AnnData(chunk, obs[some].copy(), genes).write_h5ad(draft)
        else:
            with h5py.File(draft, "r+") as file:
                sparse_dataset(file["X"]).append(chunk)
    with h5py.File(draft, "r+") as file:
        write_elem(file, "obs", obs)
    draft.replace(path)
    say(f"{n_cells:,} cells written")
    return path


def _copied(path: Path, place: str) -> Path:
    """Return the same cells in another container."""
    other = path.with_suffix({"csc": ".csc.h5ad"}.get(place, ".zarr"))
    if not other.exists():
        adata = ad.read_h5ad(path)
        if place == "csc":
            adata.X = adata.X.tocsc()
            adata.write_h5ad(other)
        else:
            adata.write_zarr(other)
    return other


def _beside(path: Path, matrix: object) -> ad.AnnData:
    """Return the cells of zarr with a matrix that stays there."""
    group = zarr.open(path, mode="r")
    return ad.AnnData(matrix, obs=read_elem(group["obs"]), var=read_elem(group["var"]))


def _in_zarr(path: Path) -> ad.AnnData:
    return _beside(path, sparse_dataset(zarr.open(path, mode="r")["X"]))


def _in_dask(path: Path) -> ad.AnnData:
    return _beside(path, ad.experimental.read_elem_lazy(zarr.open(path, mode="r")["X"]))


def _backed(path: Path) -> ad.AnnData:
    return ad.read_h5ad(path, backed="r")


def remove() -> None:
    """Remove the files of cells, and what is kept beside them."""
    for path in HOME.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".json":
            path.unlink()


#: How cells are opened, by container.
OPENED = {
    "csr": _backed,
    "csc": _backed,
    "zarr": _in_zarr,
    "dask": _in_dask,
    "memory": ad.read_h5ad,
}


class Clock:
    """Processor time, of processes that it starts too, and wall time of a call, in seconds."""

    def __enter__(self) -> Clock:
        self._begin = sum(os.times()[:4]), time.perf_counter()
        return self

    def __exit__(self, *_) -> None:
        self.cpu = sum(os.times()[:4]) - self._begin[0]
        self.seconds = time.perf_counter() - self._begin[1]
