"""One method on one file, in a process of its own: seconds and memory as JSON on stdout.

    python benchmarks/speed/task.py "select_genes" cells.h5ad [SECONDS]

What is timed is the call, cold, without reading the file into memory; the limit is
one of the call's processor time.  Memory is the peak of the whole process from then on, what was
read included.  Principal components and graph are kept beside the file by the tasks that make them,
for those that need them.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import anndata as ad
import numpy as np
import scanpy as sc
from clock import Clock
from scipy import sparse

import glfs_bio
from glfs_bio.data.matrix import RowMatrix

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import methods
import plain_lapaofs


def watch(passes: Clock, reading: Clock) -> None:
    """Let the clocks run during passes over a file, and while its blocks are read in these."""
    sweep, blocks = RowMatrix.sweep, RowMatrix._blocks

    def timed_sweep(self, *arguments, **options):
        if self.in_memory:
            return sweep(self, *arguments, **options)
        with passes:
            return sweep(self, *arguments, **options)

    def timed_blocks(self):
        found = blocks(self)
        while True:
            with reading if not self.in_memory else mock.MagicMock():
                block = next(found, None)
            if block is None:
                return
            yield block

    mock.patch.object(RowMatrix, "sweep", timed_sweep).start()
    mock.patch.object(RowMatrix, "_blocks", timed_blocks).start()


def in_memory(path: Path) -> ad.AnnData:
    """Everything, with float32 values."""
    return ad.read_h5ad(path)


def backed(path: Path) -> ad.AnnData:
    """The matrix stays in the file."""
    return ad.read_h5ad(path, backed="r")


def counts_alone(path: Path) -> ad.AnnData:
    """Counts again, up to the depth of a cell, in place of the logarithms."""
    adata = in_memory(path)
    matrix = adata.X
    np.expm1(matrix.data, out=matrix.data)
    sizes = np.diff(matrix.indptr)
    smallest = np.minimum.reduceat(matrix.data, matrix.indptr[:-1][sizes > 0])
    matrix.data /= np.repeat(smallest, sizes[sizes > 0])
    np.round(matrix.data, out=matrix.data)
    adata.layers["counts"] = matrix
    return adata


def with_counts(path: Path) -> ad.AnnData:
    """Logarithms, and counts for methods that model them."""
    adata = in_memory(path)
    counts = counts_alone(path).X.data
    adata.layers["counts"] = sparse.csr_matrix((counts, adata.X.indices, adata.X.indptr))
    return adata


def beside(path: Path, what: str) -> Path:
    """Where a task keeps what others need."""
    return path.with_suffix(f".{what}")


def with_pca(path: Path) -> ad.AnnData:
    """After sc.pp.pca."""
    adata = in_memory(path)
    kept = beside(path, "pca.npy")
    if kept.exists():
        adata.obsm["X_pca"] = np.load(kept)
    else:
        sc.pp.pca(adata)
    return adata


def with_graph(path: Path) -> ad.AnnData:
    """After sc.pp.pca and sc.pp.neighbors."""
    adata = with_pca(path)
    kept = beside(path, "graph.npz")
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
    if "X_pca" in adata.obsm and not (kept := beside(path, "pca.npy")).exists():
        np.save(kept, adata.obsm["X_pca"])
    if "connectivities" in adata.obsp and not (kept := beside(path, "graph.npz")).exists():
        sparse.save_npz(kept, adata.obsp["connectivities"], compressed=False)


def own(adata: ad.AnnData, **options) -> None:
    """select_genes, 100 genes."""
    glfs_bio.pp.select_genes(adata, 100, inplace=False, **options)


def plain(path: Path) -> list:
    """The blocks on which LapAOFS would work at full rank."""
    return plain_lapaofs.blocks(in_memory(path))


def once(path: Path) -> ad.AnnData:
    """After a first call, which compiles what it needs."""
    adata = in_memory(path)
    own(adata)
    return adata


TASKS = {
    "select_genes, PCA and graph present": (with_graph, own),
    "select_genes": (in_memory, own),
    "select_genes, second call": (once, own),
    "select_genes, backed": (backed, own),
    "LapAOFS (greedy)": (in_memory, lambda adata: own(adata, method="lapaofs")),
    "sc.pp.pca": (in_memory, sc.pp.pca),
    "sc.pp.neighbors": (with_pca, sc.pp.neighbors),
    "HVG seurat_v3": (
        counts_alone,
        lambda adata: methods.highly_variable(adata, 100, flavor="seurat_v3"),
    ),
    "triku": (with_counts, lambda adata: methods.triku(adata, 100)),
    "hotspot": (
        with_counts,
        lambda adata: methods.hotspot(adata, 100, by="Z", approx_neighbors=True),
    ),
    "hotspot, exact neighbours": (with_counts, lambda adata: methods.hotspot(adata, 100, by="Z")),
    "select_genes, full rank": (
        in_memory,
        lambda adata: own(adata, n_comps=None, objective="exact"),
    ),
    "LapAOFS (greedy), full rank": (
        in_memory,
        lambda adata: own(adata, n_comps=None, method="lapaofs"),
    ),
    "LapAOFS (greedy), full rank, without updates": (
        plain,
        lambda blocks: plain_lapaofs.select(blocks, 100),
    ),
}


def peak() -> float:
    """Largest resident memory so far, in GiB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 2**20
    raise OSError("VmHWM")


def main() -> None:
    """Prepare, run, tell."""
    warnings.simplefilter("ignore")
    name, path = sys.argv[1], Path(sys.argv[2])
    prepare, run = TASKS[name]
    passes, reading, call = Clock(), Clock(), Clock()
    if prepare is backed:
        watch(passes, reading)
    prepared = prepare(path)
    if len(sys.argv) > 3:
        spent = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(spent + float(sys.argv[3])) + 1, -1))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    with call:
        run(prepared)
    found = {"seconds": call.seconds, "cpu": call.cpu, "peak": peak()}
    if passes.calls:
        found |= {
            "passes": passes.calls,
            "passes cpu": passes.cpu,
            "passes seconds": passes.seconds,
            "reading cpu": reading.cpu,
            "reading seconds": reading.seconds,
        }
    resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))
    if isinstance(prepared, ad.AnnData):
        keep(path, prepared)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
