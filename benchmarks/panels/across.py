"""Panels for the mean of batches and for the worst of them: what is kept of the worst batch.

python benchmarks/panels/across.py

A row for each sharpness p of `glfs_bio/core/solvers/across.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import sets

from glfs_bio.cells.cells import build_problems
from glfs_bio.criterion import criterion
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.selection import Options
from glfs_bio.solvers import select

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SHARPNESS = (5, 10, 30, 100, 300)
NONE = np.empty(0, dtype=np.intp)


def rows(name: str):
    """Every way on one set."""
    adata = sets.Cells(name).adata
    batch = adata.obs[sets.BATCHES[name]].astype(str).to_numpy()
    problems = build_problems(adata.X, Options().reduction, batch=batch)
    every = np.arange(adata.n_vars)
    ways = [("mean", Criterion(problems))]
    for sharpness in SHARPNESS:
        worst = Criterion(problems, worst=True)
        ways.append((f"worst, p = {sharpness}", worst))
    for way, of in ways:
        if of.worst:
            criterion.SHARPNESS = float(way.split()[-1])
        panel = select(of, max(sets.SIZES), include=NONE, candidates=every)
        kept = of.kept_in_sets(panel.order)
        for size in sets.SIZES:
            of_sets = kept[size - 1]
            yield {
                "set": name,
                "across": way,
                "genes": size,
                "worst": of_sets.min(),
                "mean": of_sets.mean(),
                "at least, of the best possible": panel.of_best_possible[size - 1],
            }


def main() -> None:
    """Choose, measure, write."""
    default = criterion.SHARPNESS
    values = pd.DataFrame([row for name in sets.BATCHES for row in rows(name)])
    marks = [name for name in values if name not in ("set", "across", "genes")]
    parts = []
    for mark in marks:
        table = values.pivot_table(mark, ["set", "across"], "genes", sort=False).round(3)
        parts.append(f"## {mark}\n\n{table.to_markdown()}")
    overall = values.groupby("across", sort=False)[marks[:2]].mean().round(4)
    report.write(
        "panels_across",
        "Share that is kept of the worst batch, and of all in the mean",
        overall,
        "Means over the sizes 10 to 200 and two sets: the mixture of cell lines in five batches of "
        "three protocols, and Kang's control and stimulated cells. The columns are shares of what "
        f"all genes keep of a batch. The default of across='worst' is p = {default:g}.",
        *parts,
    )


if __name__ == "__main__":
    main()
