"""The two passes over ten million cells, which are the cells of one file again and again.

    python benchmarks/speed/ten_million.py [--cells 1000000] [--times 1 3 10]

The file stands for one that would not fit a disk.  Neighbours are not looked for: copies of a cell
would be its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import state
import synthetic
from glfs_bio.cells.sample import look
from scipy import sparse

from glfs_bio.cells import pca as subspace
from glfs_bio.data import threads as parallel
from glfs_bio.data.matrix import RowMatrix

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

HOME = Path(__file__).resolve().parents[1] / ".cache" / "speed"
N_COMPS = 50


class Repeated:
    """The rows of a matrix in a file, several times over."""

    format = "csr"

    def __init__(self, matrix, times: int) -> None:
        self._matrix = matrix
        self.shape = matrix.shape[0] * times, matrix.shape[1]
        self.dtype = matrix.dtype

    def __getitem__(self, rows: slice):
        n_stored = self._matrix.shape[0]
        begin = rows.start % n_stored
        end = begin + rows.stop - rows.start
        read = self._matrix[begin : min(end, n_stored)]
        if end <= n_stored:
            return read
        return sparse.vstack([read, self._matrix[: end - n_stored]], format="csr")


def passes(path: Path, times: int) -> dict:
    """Seconds of both passes, and the peak of the memory."""
    cells = RowMatrix(Repeated(ad.read_h5ad(path, backed="r").X, times))
    begin = time.perf_counter()
    every, sample = look(cells, whole=False, n_neighbors=15, random_state=0)
    first = time.perf_counter() - begin
    deviation = np.sqrt(every.variance)
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    start = sample.loadings(scale, N_COMPS, None)
    begin = time.perf_counter()
    subspace.spread(cells, start, N_COMPS, every.mean, scale, mostly_zero=True)
    second = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "first pass (s)": round(first, 1),
        "second pass (s)": round(second, 1),
        "peak (GiB)": round(peak, 2),
    }


def main() -> None:
    """Each number of cells in a process of its own."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--cells", type=int, default=1_000_000)
    asked.add_argument("--times", type=int, nargs="+", default=[1, 3, 10])
    options = asked.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    path = HOME / f"{options.cells}.h5ad"
    synthetic.write(path, options.cells)
    rows = {}
    for times in options.times:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows[f"{times * options.cells:,}"] = pool.apply(passes, (path, times))
    report.write(
        "speed_ten_million",
        "The two passes over ten million cells",
        pd.DataFrame(rows).T,
        f"Synthetic cells × {synthetic.N_GENES:,} genes: a file of {options.cells:,}, read again "
        f"and again. {parallel.n_threads()} threads; wall time. The peak is that of the passes, "
        "with the coordinates of all cells.",
        state.told(),
    )


if __name__ == "__main__":
    main()
