"""A selection from a million cells in a file, beside reading the file twice.

    python benchmarks/speed/million.py [--cells 1000000]

Both in a process of their own, on as many threads as there are.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
from pathlib import Path

import anndata as ad
import pandas as pd
import state
import synthetic
from clock import Clock

import glfs_bio
from glfs_bio.data import threads as parallel
from glfs_bio.data.matrix import RowMatrix

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

HOME = Path(__file__).resolve().parents[1] / ".cache" / "speed"
N_GENES = 100


def read_twice(path: Path) -> None:
    """All blocks of the file, one after the other, and nothing else."""
    for _ in range(2):
        for _block in RowMatrix(ad.read_h5ad(path, backed="r").X)._blocks():
            pass


def select(path: Path) -> None:
    """From nothing: components and graph are computed."""
    glfs_bio.pp.select_genes(ad.read_h5ad(path, backed="r"), N_GENES, inplace=False)


def measured(function, path: Path) -> dict:
    """Seconds and memory of a call."""
    with Clock() as clock:
        function(path)
    return {
        "wall (s)": round(clock.seconds, 1),
        "processor (s)": round(clock.cpu, 1),
        "peak (GiB)": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def main() -> None:
    """Reading, then the selection."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--cells", type=int, default=1_000_000)
    n_cells = asked.parse_args().cells
    HOME.mkdir(parents=True, exist_ok=True)
    path = HOME / f"{n_cells}.h5ad"
    synthetic.write(path, n_cells)
    rows = {}
    for name, function in {"reading twice": read_twice, "select_genes": select}.items():
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows[name] = pool.apply(measured, (function, path))
    threads = parallel.n_threads()
    report.write(
        "speed_million",
        f"{N_GENES} genes from {n_cells:,} cells in a file",
        pd.DataFrame(rows).T,
        f"{n_cells:,} synthetic cells × {synthetic.N_GENES:,} genes, an h5ad of "
        f"{path.stat().st_size / 1e9:.1f} GB without compression, {threads} threads, one call, "
        "cold but for the system's cache of the file. Asked for: 120 s of wall time on two cores, "
        "3 GiB, and three times the time of reading twice.",
        state.told(),
    )


if __name__ == "__main__":
    main()
