"""What every benchmark shares: data, accuracy of neighbours, a table that says how it was made."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("glfs-bio", "numpy", "scipy", "scikit-learn", "scanpy", "anndata")


def data(name: str) -> ad.AnnData:
    """One of the development data sets, from the folder named by GLFS_BIO_DATA."""
    return ad.read_h5ad(Path(os.environ.get("GLFS_BIO_DATA", "../shared/data")) / f"{name}.h5ad")


def log_counts(name: str) -> ad.AnnData:
    """A set of counts, normalised and logarithmised; genes in at least three cells."""
    adata = data(name)
    sc.pp.filter_genes(adata, min_cells=3)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def neighbour_accuracy(values, labels, n_neighbors: int = 15, n_comps: int = 30) -> float:
    """Share of cells whose nearest other cells carry, by majority, their label."""
    values = np.asarray(values.todense() if hasattr(values, "todense") else values, dtype=float)
    values = values - values.mean(axis=0)
    if n_comps and values.shape[1] > n_comps:
        values = PCA(n_comps, svd_solver="full").fit_transform(values)
    finder = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(values)
    nearest = finder.kneighbors(return_distance=False)
    codes, names = pd.factorize(np.asarray(labels))
    votes = np.stack([(codes[nearest] == code).sum(axis=1) for code in range(len(names))], axis=1)
    return float((votes.argmax(axis=1) == codes).mean())


def write(name: str, title: str, table: pd.DataFrame, *notes: str) -> None:
    """Print the table, and write it with the command, the versions and the machine."""
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    script = Path(sys.argv[0]).resolve().relative_to(RESULTS.parent.resolve())
    command = " ".join([f"python benchmarks/{script}", *sys.argv[1:]])
    lines = [
        f"# {title}",
        "",
        table.to_markdown(),
        "",
        *(f"{note}\n" for note in notes),
        f"Command: `{command}`; seed 0. Python {platform.python_version()}, "
        f"{versions}; {os.cpu_count()} cores, {platform.machine()}.",
        "",
    ]
    text = "\n".join(lines)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
