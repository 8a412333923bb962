"""Seconds and memory that reading takes: a table of 50 MB, a folder of 10x, a list of genes.

``python benchmarks/reading.py`` reads each in a process of its own, with the package that Python
finds: ``PYTHONPATH=ANOTHER_CHECKOUT`` before it gives the figures of another one.
"""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import io, sparse

CELLS, GENES = 2_500, 10_000
TENX = (32_738, 2_700)


def write(folder: Path) -> None:
    """Write both, with counts like those of blood cells."""
    rng = np.random.default_rng(0)
    table, tenx = folder / "cells.csv", folder / "tenx"
    with table.open("w") as file:
        file.write(",".join(["", *(f"ENSG{j:011d}" for j in range(GENES))]) + "\n")
        for i in range(CELLS):
            counts = map(str, rng.poisson(0.4, GENES))
            file.write(",".join([f"AAACCTGAGAAACC{i:04d}-1", *counts]) + "\n")
    genes = (f"GENE{j},ENSG{j:011d}" for j in range(TENX[0]))
    (folder / "genes.csv").write_text("\n".join(["Gene symbol,Ensembl ID", *genes]) + "\n")
    tenx.mkdir()
    counts = sparse.random(*TENX, density=0.026, random_state=0, format="coo")
    counts.data = np.ceil(counts.data * 5)
    with gzip.open(tenx / "matrix.mtx.gz", "wb") as file:
        io.mmwrite(file, counts.astype(int))
    for name, lines in {
        "features": (f"ENSG{j:011d}\tGENE{j}\tGene Expression" for j in range(TENX[0])),
        "barcodes": (f"AAACCTGAGA{i:06d}-1" for i in range(TENX[1])),
    }.items():
        with gzip.open(tenx / f"{name}.tsv.gz", "wt") as file:
            file.write("\n".join(lines) + "\n")


def read(path: str) -> None:
    """Read one, and print what it took."""
    import scanpy  # noqa: F401 - before the clock

    import glfs_bio

    began, used = time.perf_counter(), time.process_time()
    reader = glfs_bio.io.read_genes if path.endswith("genes.csv") else glfs_bio.io.read_cells
    shape = reader(path).shape
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{Path(path).name}, {shape[0]} × {shape[1]}: {time.perf_counter() - began:.2f} s, "
        f"{time.process_time() - used:.2f} s of processor time, {peak:.0f} MiB at most"
    )


def run(*arguments: str) -> None:
    """Run this program in a process of its own."""
    subprocess.run([sys.executable, __file__, *arguments], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(Path(sys.argv[2]))
    elif len(sys.argv) > 1:
        read(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as name:
            run("write", name)
            for path in sorted(Path(name).iterdir()) * 3:
                run(str(path))
