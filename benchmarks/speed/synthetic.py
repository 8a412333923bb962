"""Single cells of any number, written some thousand at a time: what the speed benchmarks run on.

    python benchmarks/speed/synthetic.py 100000 cells.h5ad

Counts are negative binomial: a cell has a Poisson number of bursts, each of a gene drawn from the
profile of its type, of logarithmic size.  Twenty types of unequal sizes are two levels of a tree,
and cells differ in depth; about 1,000 of 20,000 genes (5 %) are seen in one: 840 are in pbmc3k.
What is written is ``log1p`` of counts brought to 10,000 a cell, in CSR, without compression.  The
first cells are the same whatever their number.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import anndata as ad
import h5py
import numpy as np
import pandas as pd
from anndata.io import sparse_dataset, write_elem
from scipy import sparse

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
    """Genes from which the bursts of every type are drawn, shape (N_TYPES, _DRAWS)."""
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
    """Logarithmised expression of cells of given types."""
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


def write(
    path: Path, n_cells: int, n_genes: int = N_GENES, seed: int = 0, source: Path | None = None
) -> None:
    """Write the cells, or copy the first of a file that has more; one that is there stays."""
    if path.exists():
        return
    rng = np.random.default_rng(seed)
    profile = profiles(n_genes, rng)
    abundance = rng.lognormal(0.0, 1.2, N_TYPES)
    kinds = rng.choice(N_TYPES, n_cells, p=abundance / abundance.sum())
    if source is not None:
        stored = ad.read_h5ad(source, backed="r")
    obs = pd.DataFrame(
        {"label": pd.Categorical(kinds.astype(str))}, index=np.arange(n_cells).astype(str)
    )
    genes = pd.DataFrame(index=[f"g{k}" for k in range(n_genes)])
    draft = path.with_suffix(".part")
    for begin in range(0, n_cells, CHUNK):
        some = slice(begin, min(begin + CHUNK, n_cells))
        if source is None:
            chunk = cells(kinds[some], profile, n_genes, np.random.default_rng([seed, begin]))
        else:
            chunk = stored.X[some]
        if begin == 0:
            ad.AnnData(chunk, obs[some].copy(), genes).write_h5ad(draft)
        else:
            with h5py.File(draft, "r+") as file:
                sparse_dataset(file["X"]).append(chunk)
        sys.stderr.write(f"\r{some.stop} of {n_cells} cells written")
    with h5py.File(draft, "r+") as file:
        write_elem(file, "obs", obs)
    sys.stderr.write("\n")
    draft.replace(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("n_cells", type=int)
    parser.add_argument("path", type=Path)
    options = parser.parse_args()
    write(options.path, options.n_cells)
