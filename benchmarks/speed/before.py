"""Time of select_genes in the working tree and at an earlier commit, by turns.

    python benchmarks/speed/before.py [COMMIT] [--runs 8]

Each version has a process of its own, which is asked by turns with the other, so that what else the
machine does falls on both.
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
import state

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import before
import report

ROOT = Path(__file__).resolve().parents[2]
SETS = ("pbmc3k_2638", "kang_ifnb13999")
N_GENES = 50

_WORKER = """
import json, sys, time
import anndata
from glfs_bio.pp import select_genes
cells = {file: anndata.read_h5ad(file) for file in sys.argv[2:]}
for line in sys.stdin:
    adata = cells[json.loads(line)]
    begin = time.process_time()
    table = select_genes(adata, int(sys.argv[1]), inplace=False)
    seconds = time.process_time() - begin
    print(json.dumps([seconds, table.index[table["glfs_selected"]].tolist()]), flush=True)
"""


def prepared(name: str, folder: str) -> str:
    """A file with log counts, principal components and graph."""
    adata = report.log_counts(name)
    sc.pp.pca(adata)
    sc.pp.neighbors(adata)
    file = str(Path(folder) / f"{name}.h5ad")
    adata.write_h5ad(file)
    return file


class Version:
    """A process with one version of the package."""

    def __init__(self, package: Path, files: list[str]):
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _WORKER, str(N_GENES), *files],
            env={**os.environ, "PYTHONPATH": str(package)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def select(self, file: str) -> tuple[float, set[str]]:
        """Seconds of the processor, and the genes."""
        self._process.stdin.write(json.dumps(file) + "\n")
        self._process.stdin.flush()
        seconds, genes = json.loads(self._process.stdout.readline())
        return seconds, set(genes)


def compared(versions: tuple[Version, Version], file: str, runs: int) -> dict:
    """Both on the same cells, by turns, after one run each that is not counted."""
    old, new = (version.select(file)[1] for version in versions)
    seconds = np.empty((runs, 2))
    for run in range(runs):
        for which in (0, 1) if run % 2 else (1, 0):
            seconds[run, which] = versions[which].select(file)[0]
    return {
        "before (s)": np.median(seconds[:, 0]),
        "now (s)": np.median(seconds[:, 1]),
        "now / before": np.median(seconds[:, 1] / seconds[:, 0]),
        "runs in which now is faster": f"{np.sum(seconds[:, 1] < seconds[:, 0])} of {runs}",
        "genes in common": f"{len(old & new)} of {N_GENES}",
    }


def main() -> None:
    """Two sets, whole matrices."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("commit", nargs="?", default=before.COMMIT, metavar="COMMIT")
    asked.add_argument("--runs", type=int, default=8)
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = {name: prepared(name, folder) for name in SETS}
        packages = before.package(options.commit), ROOT
        versions = tuple(Version(package, list(files.values())) for package in packages)
        rows = {name: compared(versions, file, options.runs) for name, file in files.items()}
    report.write(
        "speed_before",
        f"Time of select_genes at {options.commit} and now",
        pd.DataFrame(rows).T.map(lambda one: round(one, 3) if isinstance(one, float) else one),
        f"{N_GENES} genes, principal components and graph given. Seconds of the processor, "
        f"medians of {options.runs} runs of each version by turns, after a warm-up; the ratio is "
        f"the median over the pairs. Before: {options.commit}; now: {state.commit()}, with the "
        "changes of the working tree where it is dirty.",
    )


if __name__ == "__main__":
    main()
