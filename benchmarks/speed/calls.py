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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scanpy as sc
from anndata import AnnData, read_h5ad

import glfs_bio

from .. import tables
from ..compared import EVALUATOR
from ..data import KANG, LABEL, Cells, prepared, read
from ..methods import TOOLS, environments
from . import Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SETS = (KANG, "pbmc3k_2638")
N_GENES, FEW, RUNS = 100, 50, 3
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


def calls(adata: AnnData, folder: Path) -> dict[str, tuple[Callable, Callable]]:
    """Return by name what prepares an object, and what is timed on it."""
    pp, tl = glfs_bio.pp, glfs_bio.tl
    select = partial(pp.select_genes, n_genes=N_GENES)

    def again() -> AnnData:
        return adata

    def selected() -> AnnData:
        cells = bare(adata)
        select(cells)
        return cells

    file = folder / "cells.h5ad"
    bare(adata).write_h5ad(file)
    command = [Path(sys.executable).with_name("glfs-bio"), "select", file]
    command += ["--n-genes", str(N_GENES), "--genes", folder / "genes.txt", "--overwrite"]
    names = adata.var_names
    panels = {
        "first": list(names[adata.var["glfs_rank"] <= N_GENES]),
        "half": list(names[adata.var["glfs_rank"] <= FEW]),
        "random": list(np.random.default_rng(0).choice(names, N_GENES, replace=False)),
    }
    report = partial(glfs_bio.io.write_report, labels=LABEL, overwrite=True)
    halves = partial(tl.stability, n_resamples=20, fraction=0.5, n_jobs=2)
    return {
        "sc.pp.pca": (again, lambda cells: sc.pp.pca(cells)),
        "sc.pp.neighbors": (again, lambda cells: sc.pp.neighbors(cells)),
        f"select_genes, {N_GENES} genes, from nothing": (partial(bare, adata), select),
        "read_h5ad and select_genes": (lambda: None, lambda _: select(read_h5ad(file))),
        "glfs-bio select, a process from that file": (
            lambda: None,
            lambda _: subprocess.run(command, check=True, capture_output=True),
        ),
        "select_genes, structure kept": (again, partial(select, inplace=False)),
        "select_genes, limits": (
            again,
            partial(select, limits=glfs_bio.Limits(max_mean=3.0), inplace=False),
        ),
        "select_genes, preserve=labels": (again, partial(select, preserve=LABEL, inplace=False)),
        "extend_panel by 10 genes": (
            again,
            lambda cells: tl.extend_panel(cells, panels["half"], 10, inplace=False),
        ),
        "substitutes": (again, lambda cells: tl.substitutes(cells, "glfs", inplace=False)),
        "explain_panel": (again, lambda cells: tl.explain_panel(cells, "glfs", inplace=False)),
        "markers": (again, lambda cells: tl.markers(cells, "glfs", LABEL, inplace=False)),
        "order_panel": (again, lambda cells: tl.order_panel(cells, "glfs", inplace=False)),
        "evaluate_panel, first of an object": (
            selected,
            lambda cells: tl.evaluate_panel(cells, "glfs", LABEL, inplace=False),
        ),
        "evaluate_panel": (
            again,
            lambda cells: tl.evaluate_panel(cells, "glfs", LABEL, inplace=False),
        ),
        "compare_panels, three panels": (
            again,
            lambda cells: tl.compare_panels(cells, panels, LABEL, inplace=False),
        ),
        f"curve, {N_GENES} genes, labels": (
            again,
            lambda cells: tl.curve(cells, labels=LABEL, max_genes=N_GENES, inplace=False),
        ),
        "stability, 20 halves, two workers": (again, lambda cells: halves(cells)),
        "write_report, with the first UMAPs": (
            selected,
            lambda cells: report(cells, folder / "first.html"),
        ),
        "panel_umap, first": (selected, tl.panel_umap),
        "write_report": (again, lambda cells: report(cells, folder / "again.html")),
        "pl.panel": (again, lambda cells: glfs_bio.pl.panel(cells, LABEL, show=False)),
    }


def timed(name: str) -> dict[str, list[float]]:
    """Return wall times of the calls, in the order in which they were made."""
    adata = prepared(read(name))
    with Clock() as first:
        glfs_bio.pp.select_genes(adata, N_GENES)
    found = {FIRST: [first.seconds]}
    with tempfile.TemporaryDirectory() as folder:
        for call, (prepare, run) in calls(adata, Path(folder)).items():
            seconds: list[float] = []
            while len(seconds) < RUNS + 1 and not (len(seconds) > 1 and seconds[-1] > LONG):
                cells = prepare()
                with Clock() as clock:
                    run(cells)
                seconds.append(clock.seconds)
            found[call] = seconds
            tables.say(f"{name}, {call}: {', '.join(f'{one:.2f}' for one in seconds)}")
            if call.startswith("panel_umap"):
                glfs_bio.tl.evaluate_panel(adata, "glfs", LABEL)
                glfs_bio.tl.panel_umap(adata)
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
        code=tables.code(),
    )


if __name__ == "__main__":
    main()
