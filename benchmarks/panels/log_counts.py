"""What is kept where W is that of genes in log counts, and not in units of noise.

    python benchmarks/panels/log_counts.py

The noise of the panel's genes stays as it is.  A share of W comes from log counts: the rows.
"""

from __future__ import annotations

import sys
from functools import partialmethod
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import sets
from metrics import Panel, accuracy, imputation, macro_f1, rare_f1, reconstruction

from glfs_bio.core.geometry.problem import build_problems
from glfs_bio.core.geometry.reduction import Reduction
from glfs_bio.core.solvers.greedy import Greedy
from glfs_bio.panels import Criterion, wanted

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SHARES = (0.0, 0.25, 0.5, 1.0)
MEASURES = {
    "accuracy": accuracy,
    "macro-F1": macro_f1,
    "rare-type F1": rare_f1,
    "neighbours kept": reconstruction,
    "imputation": imputation,
}
IN_NOISE = wanted.Structure.matrix


def mixed(term: wanted.Structure, view: wanted.View, share: float) -> np.ndarray:
    """W of units of noise and of log counts, each with trace 1."""
    units = view.problem.units[:, None]
    whitened = view.problem.whitened.genes
    genes = np.divide(whitened, units, out=np.zeros_like(whitened), where=units > 0)
    values, basis = np.linalg.eigh(genes.T @ genes)
    in_log = (basis * np.maximum(values, 0.0) ** wanted.SETTINGS.power) @ basis.T
    in_noise = IN_NOISE(term, view)
    return (1 - share) * in_noise / np.trace(in_noise) + share * in_log / np.trace(in_log)


def one_set(name: str) -> list[dict]:
    """Every share on one set."""
    cells = sets.Cells(name)
    problems = build_problems(cells.adata.X, Reduction())
    rows = []
    for share in SHARES:
        matrix = partialmethod(mixed, share=share)
        with mock.patch.object(wanted.Structure, "matrix", matrix):
            greedy = Greedy(Criterion(problems).blocks)
            greedy.grow(max(sets.SIZES))
        for size in sets.SIZES:
            panel = Panel(cells, tuple(sorted(greedy.picked[:size])))
            found = {name: measure(panel) for name, measure in MEASURES.items()}
            rows.append({"share of log counts": share, "genes": size} | found)
    sys.stderr.write(f"{name} done\n")
    return rows


def main() -> None:
    """A table a measure."""
    rows = pd.DataFrame([row for name in sets.SETS for row in one_set(name)])
    means = rows.groupby(["share of log counts", "genes"]).mean().unstack("genes").round(3)
    first, *others = MEASURES
    report.write(
        "panels_log_counts",
        f"W from genes in log counts: {first}, mean over the five sets",
        means[first],
        "W says what a panel is to keep. 0 is the default, whose W is that of genes in units of "
        "noise. The noise of the panel's genes is in its units in every row. Rare types: mean over "
        "the sets that have some.",
        *(f"## {name}\n\n{means[name].to_markdown()}" for name in others),
    )


if __name__ == "__main__":
    main()
