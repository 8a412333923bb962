"""The same cells in one process and on two workers of dask: seconds, and the same genes.

    python benchmarks/speed/workers.py [--cells 100000]

The cells are in a zarr store, which every worker reads.  Each case is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import anndata as ad
import pandas as pd
import state
import synthetic
import zarr

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

HOME = Path(__file__).resolve().parents[1] / ".cache" / "speed"
N_GENES = 100
#: Threads of one process, or workers of dask with a thread each.
CASES = {
    "one process, 1 thread": (1, False),
    "one process, 2 threads": (2, False),
    "dask, 2 workers": (2, True),
}


def stored(n_cells: int) -> Path:
    """Cells in a zarr store."""
    path = HOME / f"{n_cells}.zarr"
    if not path.exists():
        HOME.mkdir(parents=True, exist_ok=True)
        file = path.with_suffix(".h5ad")
        synthetic.write(file, n_cells)
        ad.read_h5ad(file).write_zarr(path)
    return path


def opened(path: Path, *, lazy: bool) -> ad.AnnData:
    """Cells whose matrix stays in the store."""
    group = zarr.open(str(path), mode="r")
    matrix = ad.experimental.read_elem_lazy if lazy else ad.io.sparse_dataset
    return ad.AnnData(
        X=matrix(group["X"]), obs=ad.io.read_elem(group["obs"]), var=ad.io.read_elem(group["var"])
    )


def select(path: Path, *, lazy: bool) -> dict:
    """Genes, and wall seconds of the call."""
    adata = opened(path, lazy=lazy)
    begin = time.perf_counter()
    found = glfs_bio.pp.select_genes(adata, N_GENES, inplace=False)
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "genes": found.index[found["glfs_selected"]].tolist()}


def on_workers(path: Path, n_workers: int) -> dict:
    """The same while a cluster is the active client's."""
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=n_workers, threads_per_worker=1) as cluster, Client(cluster):
        return select(path, lazy=True)


def measured(case: str, path: Path) -> dict:
    """One case, in a process of its own."""
    threads = str(CASES[case][0])
    done = subprocess.run(
        [sys.executable, __file__, "--case", case, str(path)],
        env=os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": "1"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """All cases on the same cells."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--cells", type=int, default=100_000)
    asked.add_argument("--case", nargs=2, metavar=("CASE", "STORE"), help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.case:
        case, path = options.case
        number, dask = CASES[case]
        found = on_workers(Path(path), number) if dask else select(Path(path), lazy=False)
        print(json.dumps(found))
        return
    path = stored(options.cells)
    found = {case: measured(case, path) for case in CASES}
    first = next(iter(found.values()))
    rows = {
        case: {
            "wall (s)": round(one["seconds"], 1),
            "over one process": round(one["seconds"] / first["seconds"], 2),
            "genes in common": f"{len(set(one['genes']) & set(first['genes']))} of {N_GENES}",
        }
        for case, one in found.items()
    }
    report.write(
        "speed_workers",
        "One process and workers of dask on the same cells",
        pd.DataFrame(rows).T,
        f"{options.cells:,} synthetic cells × {synthetic.N_GENES:,} genes in zarr, {N_GENES} "
        "genes, each case cold in a process of its own, on one machine. Workers read and multiply; "
        "the graph and the choice are made by the client, on as many threads as there are workers. "
        "To start the workers is not counted.",
        state.told(),
    )


if __name__ == "__main__":
    main()
