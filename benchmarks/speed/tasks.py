"""One method on one file, in a process of its own: seconds and memory as JSON on stdout.

    python -m benchmarks.speed.tasks "select_genes" cells.h5ad [SECONDS]

The call is timed cold, without reading the file into memory; the limit is one of the call's
processor time.  Memory is the peak of the whole process from then on, what was read included.
Principal components and graph are kept beside the file by the tasks that make them, for those that
need them.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import anndata as ad
import numpy as np
import scanpy as sc
from scipy import sparse

import glfs_bio

from ..data import LABEL
from ..methods import ours, rivals
from . import Clock

N_SELECTED = 100


def backed(path: Path) -> ad.AnnData:
    """Leave the matrix in the file."""
    return ad.read_h5ad(path, backed="r")


def counts_alone(path: Path) -> ad.AnnData:
    """Restore counts, up to the depth of a cell, in place of the logarithms."""
    adata = ad.read_h5ad(path)
    matrix = adata.X
    np.expm1(matrix.data, out=matrix.data)
    sizes = np.diff(matrix.indptr)
    smallest = np.minimum.reduceat(matrix.data, matrix.indptr[:-1][sizes > 0])
    matrix.data /= np.repeat(smallest, sizes[sizes > 0])
    np.round(matrix.data, out=matrix.data)
    adata.layers["counts"] = matrix
    return adata


def with_counts(path: Path) -> ad.AnnData:
    """Return logarithms, and counts for methods that model them."""
    adata = ad.read_h5ad(path)
    counts = counts_alone(path).X.data
    adata.layers["counts"] = sparse.csr_matrix((counts, adata.X.indices, adata.X.indptr))
    return adata


def with_pca(path: Path) -> ad.AnnData:
    """Return cells after sc.pp.pca."""
    adata = ad.read_h5ad(path)
    kept = path.with_suffix(".pca.npy")
    if kept.exists():
        adata.obsm["X_pca"] = np.load(kept)
    else:
        sc.pp.pca(adata)
    return adata


def with_graph(path: Path) -> ad.AnnData:
    """Return cells after sc.pp.pca and sc.pp.neighbors."""
    adata = with_pca(path)
    kept = path.with_suffix(".graph.npz")
    if kept.exists():
        adata.obsp["connectivities"] = sparse.load_npz(kept)
        adata.uns["neighbors"] = {
            "connectivities_key": "connectivities",
            "distances_key": "distances",
            "params": {"n_neighbors": 15, "method": "umap"},
        }
    else:
        sc.pp.neighbors(adata)
    return adata


def keep(path: Path, adata: ad.AnnData) -> None:
    """Write the principal components or graph that a task has made beside its file."""
    pca, graph = path.with_suffix(".pca.npy"), path.with_suffix(".graph.npz")
    if "X_pca" in adata.obsm and not pca.exists():
        np.save(pca, adata.obsm["X_pca"])
    if "connectivities" in adata.obsp and not graph.exists():
        sparse.save_npz(graph, adata.obsp["connectivities"], compressed=False)


def own(adata: ad.AnnData, **options) -> None:
    """Select 100 genes."""
    ours.table(adata, N_SELECTED, **options)


def selected(path: Path) -> ad.AnnData:
    """Return cells with a selection and their structure."""
    adata = ad.read_h5ad(path)
    glfs_bio.pp.select_genes(adata, N_SELECTED)
    return adata


PRESENT, FRESH, BACKED, EVALUATION, EXTENSION = (
    "select_genes, PCA and graph present",
    "select_genes",
    "select_genes, backed",
    "evaluate_panel",
    "extend_panel by 10 genes",
)
PCA, NEIGHBORS, LAPAOFS = "sc.pp.pca", "sc.pp.neighbors", "LapAOFS (greedy)"
SEURAT, TRIKU, HOTSPOT = "HVG seurat_v3", "triku", "hotspot"
#: How the cells are prepared, and what is timed.
TASKS = {
    FRESH: (ad.read_h5ad, own),
    PRESENT: (with_graph, lambda adata: own(adata, **ours.SCANPY)),
    BACKED: (backed, own),
    EVALUATION: (selected, lambda adata: glfs_bio.tl.evaluate_panel(adata, "glfs", LABEL)),
    EXTENSION: (selected, lambda adata: glfs_bio.tl.extend_panel(adata, "glfs", 10)),
    PCA: (ad.read_h5ad, sc.pp.pca),
    NEIGHBORS: (with_pca, sc.pp.neighbors),
    LAPAOFS: (ad.read_h5ad, lambda adata: own(adata, method="lapaofs")),
    SEURAT: (
        counts_alone,
        lambda adata: rivals.highly_variable(adata, N_SELECTED, flavor="seurat_v3"),
    ),
    TRIKU: (with_counts, lambda adata: rivals.triku(adata, N_SELECTED)),
    HOTSPOT: (with_counts, lambda adata: rivals.hotspot(adata, N_SELECTED, by="Z")),
}


def peak() -> float:
    """Return the largest resident memory so far, in GiB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 2**20
    raise OSError("VmHWM")


def main() -> None:
    """Prepare, run, tell."""
    warnings.simplefilter("ignore")
    name, path = sys.argv[1], Path(sys.argv[2])
    prepare, run = TASKS[name]
    prepared = prepare(path)
    if len(sys.argv) > 3:
        spent = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(spent + float(sys.argv[3])) + 1, -1))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    with Clock() as call:
        run(prepared)
    found = {"seconds": call.seconds, "cpu": call.cpu, "peak": peak()}
    resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))
    keep(path, prepared)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
