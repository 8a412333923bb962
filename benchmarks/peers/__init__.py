"""What is compared with the other tools, and what is stored of it: panels, costs, figures."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .. import store, tables
from ..data import LABEL, QUARTERS, Cells
from ..methods import COMPARED, DEFAULT, EXPRESSION, Method, Tool, environments, shortened
from ..tables import say

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = (10, 25, 50, 100, 150)
#: Processor time of a method of this environment.
SECONDS = 3600
EVALUATOR = environments.TOOLS / "spapros_evaluator.py"
#: Processor time for one of the four parts of Spapros' evaluation of a panel.
PART_SECONDS, SECONDS_PER_CELL, PARTS = 100, 0.1, 4
#: Spapros' figures take minutes a panel: of these methods only, on the five datasets.
SCORED = (
    DEFAULT,
    EXPRESSION,
    "Spapros PCA",
    "geneBasis",
    "SCMER",
    "GeneCover",
    "HVG seurat_v3",
    "Pearson residuals",
    "hotspot, by C",
)
#: What Spapros' evaluator calls its figures, and what the tables do.
FIGURES = {
    "cluster_similarity nmi_5_20": "NMI of 5 to 20 clusters",
    "cluster_similarity nmi_21_60": "NMI of 21 to 60 clusters",
    "knn_overlap mean_overlap_AUC": "kNN overlap, AUC",
    "forest_clfs accuracy": "forest accuracy",
    "forest_clfs perct acc > 0.8": "types with accuracy > 0.8",
    "gene_corr 1 - mean": "1 − mean gene correlation",
    "gene_corr perct max < 0.8": "genes correlated < 0.8",
}


def method_on(name: str, cells: Cells) -> Method | Tool:
    """Return a method as it is asked on a dataset: a tool has less time on quarters."""
    return shortened(COMPARED[name]) if cells.group == QUARTERS else COMPARED[name]


def panels(name: str, cells: Cells) -> store.Entry:
    """Return the panels of a method on a dataset that are stored."""
    return store.entry_of(name, cells.name, method_on(name, cells))


def genes_of(cells: Cells, names: list[str], sizes: list[int]) -> Iterator[list[int]]:
    """Return the genes of every panel that is stored."""
    for name in names:
        entry = panels(name, cells)
        for size in sizes:
            genes = entry.panel(size).get("genes")
            if genes:
                yield genes


def cost_alone(name: str, cells: Cells) -> store.Entry:
    """Return what is stored of a method of this environment in a process of its own."""
    method = COMPARED[name]
    return store.Entry(cells.name, f"{name} alone", method.fingerprint, shared=not method.own)


def measure_cost(name: str, cells: Cells) -> None:
    """Measure time and memory of the largest panel in a new process, where not stored.

    The tools run in processes of their own: so that both can be compared, these figures too include
    the start of Python, the imports, and reading the cells.
    """
    entry, largest = cost_alone(name, cells), max(SIZES)
    if entry.has(largest):
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cells.h5ad"
        cells.adata.write_h5ad(file)
        call = [sys.executable, "-m", "benchmarks.peers", "--alone", name, file]
        run = environments.run(call, tables.HOME.parent, SECONDS)
    found = {"error": run.error} if run.error else {"seconds": run.seconds, "memory": run.memory}
    entry.put(largest, **found)
    say(f"{cells.name}, {name} alone: {found}")


def spapros_figures(cells: Cells) -> store.Entry:
    """Return Spapros' figures: ``{"scores"}`` by key of the panel, with ``"error"`` of a part."""
    pinned = "\n".join(environments.REQUIREMENTS["spapros"])
    code = store.digest(EVALUATOR.read_bytes() + pinned.encode())
    return store.Entry(cells.name, "Spapros figures", code, shared=True)


def key(genes: list[int]) -> str:
    """Return the name of a panel, whichever order its genes have."""
    return store.digest(repr(sorted(genes)))


def evaluate(cells: Cells, chosen: list[list[int]]) -> None:
    """Have Spapros score the panels that are not scored yet, the smallest first.

    Its script writes a line a panel; where a run was interrupted, the next one takes these up.
    """
    entry = spapros_figures(cells)
    lines = store.HOME / cells.name / f"spapros-{entry.fingerprint}.jsonl"
    _take_up(lines, entry)
    names = cells.adata.var_names
    rising = sorted(chosen, key=len)
    missing = {key(genes): list(names[genes]) for genes in rising if not entry.has(key(genes))}
    if not missing:
        return
    lines.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file, panels_file = Path(folder) / "cells.h5ad", Path(folder) / "panels.json"
        cells.adata.write_h5ad(file)
        panels_file.write_text(json.dumps(missing), encoding="utf-8")
        python = COMPARED["Spapros PCA"].command()[:-1]
        allowed = PART_SECONDS + SECONDS_PER_CELL * cells.adata.n_obs
        call = [*python, EVALUATOR, file, LABEL, panels_file, lines, str(allowed)]
        run = environments.run(call, folder, PARTS * allowed * (len(missing) + 1))
    _take_up(lines, entry)
    say(f"{cells.name}: Spapros scored {len(missing)} panels; {run.error or 'done'}")


def _take_up(lines: Path, entry: store.Entry) -> None:
    if lines.exists():
        for row in map(json.loads, lines.read_text(encoding="utf-8").splitlines()):
            entry.put(row.pop("key"), **row)
        lines.unlink()
