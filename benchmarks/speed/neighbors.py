"""Approximate neighbours by clusters and by libraries: time, recall, and size of what is installed.

    python benchmarks/speed/neighbors.py [--cells 100000]

Each has a new process on one thread, so that what it compiles counts.  Libraries come into
environments of their own, which uv makes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import scanpy as sc
from sklearn.neighbors import NearestNeighbors

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

HERE = Path(__file__).resolve().parent
N_NEIGHBORS = 15
#: Cells whose neighbours are compared with the exact ones.
ASKED = 2000
#: Cells are means of so many near ones, and differ from them as cells differ from such a mean.
MIXED = 6
#: What is installed, and the settings that `neighbors_task.py` reads.
LIBRARIES = {
    "glfs_bio, clusters": (None, {}),
    "faiss IVF, 8 of 316 lists": ("faiss-cpu==1.15.1", {"lists": 316, "probed": 8}),
    "faiss IVF, 16 of 316 lists": ("faiss-cpu==1.15.1", {"lists": 316, "probed": 16}),
    "usearch": ("usearch==2.26.6", {"M": 16, "ef": 64}),
    "hnswlib": ("hnswlib==0.8.0", {"M": 16, "ef": 64}),
    "pynndescent": ("pynndescent==0.6.0", {"trees": 12}),
}


def cells(n_cells: int) -> np.ndarray:
    """Principal components of so many cells like those of Kang, shape (n_cells, 50)."""
    adata = report.log_counts("kang_ifnb13999")
    sc.pp.pca(adata)
    real = adata.obsm["X_pca"].astype(np.float32)
    finder = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute").fit(real)
    near = finder.kneighbors(return_distance=False)
    rng = np.random.default_rng(0)
    picked = rng.integers(len(real), size=n_cells)
    mixed = near[picked[:, None], rng.integers(N_NEIGHBORS, size=(n_cells, MIXED))]
    shares = rng.dirichlet(np.ones(MIXED), size=n_cells).astype(np.float32)
    apart = (real - real[near].mean(axis=1))[rng.integers(len(real), size=n_cells)]
    return np.einsum("nk,nkd->nd", shares, real[mixed]) + apart


def call(library: str, requirement: str | None, settings: dict, file: Path) -> dict:
    """Seconds of the processor, in all and of a second call, and the neighbours."""
    found = file.with_suffix(".found.npy")
    python = [sys.executable]
    if requirement is not None:
        uv = Path(sys.executable).with_name("uv")
        python = [uv, "run", "--no-project", "--python", sys.executable]
        python += ["--with", requirement, "--with", "numpy", "python"]
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    task = [HERE / "neighbors_task.py", library.partition(" ")[0].strip(","), file, found]
    done = subprocess.run(
        [*python, *task, json.dumps({"k": N_NEIGHBORS, **settings})],
        env=os.environ | one,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return {**json.loads(done.stdout), "found": np.load(found)}


def main() -> None:
    """All libraries on the same cells."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--cells", type=int, default=100_000)
    n_cells = asked.parse_args().cells
    places = cells(n_cells)
    some = np.random.default_rng(1).choice(n_cells, ASKED, replace=False)
    finder = NearestNeighbors(n_neighbors=N_NEIGHBORS + 1, algorithm="brute").fit(places)
    true = finder.kneighbors(places[some], return_distance=False)[:, 1:]
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cells.npy"
        np.save(file, places)
        for name, (requirement, settings) in LIBRARIES.items():
            result = call(name, requirement, settings, file)
            pairs = zip(result["found"][some], true, strict=True)
            recall = np.mean([len(np.intersect1d(own, best)) for own, best in pairs]) / N_NEIGHBORS
            rows[name] = {
                "first call (s)": round(result["first"], 1),
                "second call (s)": round(result["second"], 1),
                "recall": round(float(recall), 3),
                "installed (MB)": round(result["bytes"] / 1e6, 1),
            }
    report.write(
        "neighbors",
        f"{N_NEIGHBORS} approximate neighbours of {n_cells:,} cells",
        pd.DataFrame(rows).T,
        "Cells like those of Kang in 50 principal components: means of near cells, and what a cell "
        "differs from such a mean by. Seconds of the processor on one thread in a new process, "
        f"imports included in the first call. Recall: of the exact neighbours of {ASKED:,} cells. "
        "Installed: the library alone, without NumPy, numba, SciPy and scikit-learn; clusters need "
        "scikit-learn, which the package needs anyway.",
    )


if __name__ == "__main__":
    main()
