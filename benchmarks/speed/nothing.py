"""Processor time of a selection from nothing, as a share of scanpy's PCA and graph.

    python -m benchmarks.speed.nothing [--before FOLDER] [--runs N]

On one thread, each time the second or third call of a new process, on a new object of the same
matrix.  Processes of this code alternate with those of the code in a folder, such as that of an
earlier commit (``git worktree add --detach FOLDER COMMIT``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scanpy as sc

import glfs_bio

from .. import tables
from ..data import SETS, prepared, read
from . import Clock
from .calls import COLUMNS, ONE, bare

if TYPE_CHECKING:
    from anndata import AnnData

N_GENES = 100
#: Calls of a process, of which the first is not counted.
CALLS = 3
SCANPY = "scanpy"
#: The package is that of one folder, and what times it is of another.
PROGRAM = (
    "import sys; sys.path.insert(0, {package!r}); import glfs_bio; sys.path[0] = {here!r}; "
    "from benchmarks.speed.nothing import timed; timed({name!r}, {what!r})"
)


def scanpy(cells: AnnData) -> None:
    """Components and graph."""
    sc.pp.pca(cells)
    sc.pp.neighbors(cells)


def timed(name: str, what: str) -> None:
    """Print the least processor time of a call."""
    run = scanpy if what == SCANPY else partial(glfs_bio.pp.select_genes, n_genes=N_GENES)
    adata, seconds = prepared(read(name)), []
    for _ in range(CALLS):
        cells = bare(adata)
        with Clock() as clock:
            run(cells)
        seconds.append(clock.cpu)
    sys.stdout.write(json.dumps(min(seconds[1:])) + "\n")


def process(name: str, what: str, package: Path) -> float:
    """Return the processor time of a call in a new process."""
    here = tables.HOME.parent
    program = PROGRAM.format(package=str(package), here=str(here), name=name, what=what)
    call = [sys.executable, "-c", program]
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        call,
        cwd=here,
        env=kept | COLUMNS[ONE],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    tables.say(f"{name}, {what}: {found}")
    return found


def row(name: str, folders: dict[str, Path], runs: int) -> dict[str, str]:
    """Return what the table says of a dataset."""
    times = {what: [] for what in folders}
    for _ in range(runs):
        for what, folder in folders.items():
            times[what].append(process(name, what, folder))
    theirs = process(name, SCANPY, folders["now"])
    found = {"PCA and graph (s)": f"{theirs:.2f}"}
    for what, seconds in times.items():
        found[f"{what} (s)"] = f"{min(seconds):.2f}"
        found[f"{what}, share"] = f"{min(seconds) / theirs:.2f}"
    if len(times) > 1:
        ratios = np.divide(times["now"], times["before"])
        shown = f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
        found["now / before"] = shown
    return found


def main() -> None:
    """Time, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--before", type=Path, help="folder with the package of another commit")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=1, help="datasets, where time is short")
    parser.add_argument("--datasets", nargs="+", choices=SETS, default=list(SETS))
    options = parser.parse_args()
    folders = {"now": tables.HOME.parent}
    if options.before is not None:
        folders = {"before": options.before.resolve(), **folders}
    with ThreadPoolExecutor(options.at_once) as pool:
        rows = pool.map(lambda name: row(name, folders, options.runs), options.datasets)
        found = dict(zip(options.datasets, rows, strict=True))
    before = folders.get("before")
    tables.write(
        "speed_nothing",
        pd.DataFrame(found),
        n_genes=N_GENES,
        runs=options.runs,
        before="" if before is None else f"Before: commit {tables.commit(before)}.",
    )


if __name__ == "__main__":
    main()
