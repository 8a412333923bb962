"""Time of what a user calls, beside scanpy, Spapros' evaluator and geneBasis.

    python -m benchmarks.speed.calls

A table a dataset.  Each column is a process of its own: with a thread a core, with one thread, and
with a thread a core while another process keeps a core busy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from anndata import AnnData

import glfs_bio

from .. import tables
from ..compared import EVALUATOR
from ..data import KANG, LABEL, Cells, prepared, read
from ..methods import TOOLS, environments
from . import Clock, tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS = (KANG, "pbmc3k_2638")
FEW, RUNS = tasks.FEW, 3
#: Calls that take longer than this are made once.
LONG = 8.0
#: How much longer the first call takes where it is written beside the others.
MUCH = 1.5
ONE, BUSY = "one thread", "a core busy"
DEFAULT = f"{os.cpu_count()} threads"
COLUMNS = {
    DEFAULT: {},
    ONE: dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    BUSY: {},
}
#: The peers are asked about the smaller dataset: the evaluator takes an hour for the other.
OF_PEERS = SETS[1]
FIRST = "first call in a process (s)"


def bare(adata: AnnData) -> AnnData:
    """Return the same cells in a new object, without the structure of the cells."""
    return AnnData(adata.X, obs=adata.obs, var=adata.var[[]], layers=dict(adata.layers))


def selected(adata: AnnData) -> AnnData:
    """Return the same cells with a selection, and nothing else."""
    cells = bare(adata)
    tasks.select(cells)
    return cells


#: How an object is prepared for a call.
PREPARED = {tasks.BARE: bare, tasks.SELECTED: selected, tasks.KEPT: lambda adata: adata}


def timed(name: str) -> dict[str, list[float]]:
    """Return wall times of the calls, in the order in which they were made."""
    adata = prepared(read(name))
    with Clock() as first:
        tasks.select(adata)
    found = {FIRST: [first.seconds]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cells.h5ad"
        bare(adata).write_h5ad(file)
        for call, task in tasks.TASKS.items():
            seconds: list[float] = []
            often = RUNS + 1 if task.real else 0
            while len(seconds) < often and not (len(seconds) > 1 and seconds[-1] > LONG):
                cells = PREPARED[task.of](adata)
                with Clock() as clock:
                    task.run(cells, file)
                seconds.append(clock.seconds)
            if seconds:
                found[call] = seconds
                tables.say(f"{name}, {call}: {', '.join(f'{one:.2f}' for one in seconds)}")
    return found


@contextmanager
def busy() -> Iterator[None]:
    """Keep a core busy."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def column(name: str, title: str) -> dict[str, list[float]]:
    """Return the wall times of all calls in a process."""
    call = [sys.executable, "-m", "benchmarks.speed.calls", "--timed", name]
    environment = {key: value for key, value in os.environ.items() if key not in COLUMNS[ONE]}

    def run() -> dict[str, list[float]]:
        done = subprocess.run(
            call, env=environment | COLUMNS[title], stdout=subprocess.PIPE, check=True, text=True
        )
        return json.loads(done.stdout.splitlines()[-1])

    if title == BUSY:
        with busy():
            found = run()
    else:
        found = run()
    return found


def written(seconds: list[float]) -> str:
    """Return the median of all but the first, and the first where that took much longer."""
    first, *others = seconds
    if not others:
        return f"{first:.2f}"
    usual = float(np.median(others))
    return f"{usual:.2f}" + (f" (first {first:.2f})" if first > MUCH * usual else "")


def of_peers(cells: Cells) -> dict[str, float]:
    """Return processor times of Spapros' evaluator of a panel, and of geneBasis' selection."""
    adata = cells.adata
    panel = glfs_bio.pp.select_genes(adata, FEW, inplace=False)["glfs_selected"].to_numpy()
    with tempfile.TemporaryDirectory() as folder:
        file, asked = Path(folder) / "cells.h5ad", Path(folder) / "panels.json"
        adata.write_h5ad(file)
        asked.write_text(json.dumps({"panel": list(adata.var_names[panel])}), encoding="utf-8")
        python = TOOLS["Spapros PCA"].command()[:2]
        call = [*python, EVALUATOR, file, LABEL, asked, Path(folder) / "scores.jsonl", "600"]
        spapros = environments.run(call, folder, 3600)
    basis = TOOLS["geneBasis"].panels(adata, [FEW])[FEW]
    return {
        f"Spapros' evaluator, {FEW} genes": spapros.seconds,
        f"geneBasis, {FEW} genes": basis.get("seconds", np.nan),
    }


def main() -> None:
    """Time, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--timed", metavar="DATASET", choices=SETS, help="print times of one")
    if (name := parser.parse_args().timed) is not None:
        sys.stdout.write(json.dumps(timed(name)) + "\n")
        return
    found = {
        name: pd.DataFrame({title: column(name, title) for title in COLUMNS}).map(written)
        for name in SETS
    }
    peers = of_peers(Cells(OF_PEERS, lambda: prepared(read(OF_PEERS))))
    for call, seconds in peers.items():
        found[OF_PEERS].loc[call] = {ONE: f"{seconds:.0f}"}
    titles = ["{}, {} × {}".format(name, *prepared(read(name)).shape) for name in SETS]
    first, *others = [found[name].fillna("–") for name in SETS]
    tables.write(
        "speed_calls",
        first,
        *(tables.section(*one) for one in zip(titles[1:], others, strict=True)),
        first=titles[0],
        runs=RUNS,
        long=LONG,
    )


if __name__ == "__main__":
    main()
