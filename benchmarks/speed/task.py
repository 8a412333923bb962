"""One method on one file, in a process of its own: seconds and memory as JSON on stdout.

    python benchmarks/speed/task.py "select_genes" cells.h5ad

What is timed is the call, cold, without reading the file into memory; memory is the peak of the
whole process.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
import time
import warnings
from pathlib import Path

import anndata as ad
import numpy as np
import scanpy as sc

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import methods


class Reading(logging.Handler):
    """Counts the passes over a file and the time between the blocks that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.passes = 0

    def emit(self, record: logging.LogRecord) -> None:
        """One block was read."""
        if getattr(record, "n_read", None) == getattr(record, "n_cells", 0):
            self.passes += 1


def in_memory(path: Path) -> ad.AnnData:
    """Everything, with float32 values."""
    return ad.read_h5ad(path)


def backed(path: Path) -> ad.AnnData:
    """The matrix stays in the file."""
    return ad.read_h5ad(path, backed="r")


def with_counts(path: Path) -> ad.AnnData:
    """Counts again, up to the depth of a cell, for methods that model them."""
    adata = in_memory(path)
    counts = adata.X.copy()
    counts.data = np.expm1(counts.data)
    smallest = np.array([row.data.min() if row.nnz else 1.0 for row in counts])
    counts.data /= np.repeat(smallest, np.diff(counts.indptr))
    counts.data = np.round(counts.data)
    adata.layers["counts"] = counts
    return adata


def with_graph(path: Path) -> ad.AnnData:
    """After sc.pp.pca and sc.pp.neighbors."""
    adata = in_memory(path)
    sc.pp.pca(adata)
    sc.pp.neighbors(adata)
    return adata


def with_pca(path: Path) -> ad.AnnData:
    """After sc.pp.pca."""
    adata = in_memory(path)
    sc.pp.pca(adata)
    return adata


def own(adata: ad.AnnData, **options) -> None:
    """select_genes, 100 genes."""
    glfs_bio.pp.select_genes(adata, 100, inplace=False, **options)


TASKS = {
    "select_genes, PCA and graph present": (with_graph, own),
    "select_genes": (in_memory, own),
    "select_genes, backed": (backed, own),
    "LapAOFS (greedy)": (in_memory, lambda adata: own(adata, method="lapaofs")),
    "sc.pp.pca": (in_memory, sc.pp.pca),
    "sc.pp.neighbors": (with_pca, sc.pp.neighbors),
    "HVG seurat_v3": (
        with_counts,
        lambda adata: methods.highly_variable(adata, 100, flavor="seurat_v3"),
    ),
    "triku": (with_counts, lambda adata: methods.triku(adata, 100)),
    "hotspot": (with_counts, lambda adata: methods.hotspot(adata, 100, by="Z")),
    "select_genes, full rank": (in_memory, lambda adata: own(adata, n_comps=None)),
    "LapAOFS (greedy), full rank": (
        in_memory,
        lambda adata: own(adata, n_comps=None, method="lapaofs"),
    ),
}


def main() -> None:
    """Prepare, run, tell."""
    warnings.simplefilter("ignore")
    name, path = sys.argv[1], Path(sys.argv[2])
    prepare, run = TASKS[name]
    reading = Reading()
    logger = logging.getLogger("glfs_bio.core.passes")
    logger.addHandler(reading)
    logger.setLevel(logging.INFO)
    adata = prepare(path)
    begin, cpu = time.perf_counter(), time.process_time()
    run(adata)
    found = {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "passes": reading.passes,
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
