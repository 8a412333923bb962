"""What is kept where W is that of genes in log counts, and not in units of noise.

    python benchmarks/peers/log_counts.py

The noise of the panel's genes stays as it is.  W is ``(Σ g_j g_jᵀ)^power`` of both, and a share of
it comes from log counts.  The default is share 0 and power ½, `preserve="expression"` share 1 and
power 1.
"""

from __future__ import annotations

import sys
from functools import partialmethod
from pathlib import Path
from unittest import mock

import details
import numpy as np
import pandas as pd
from cases import CASES
from compared import SIZES, selections
from details import INDEPENDENT
from results import MEASURES

from glfs_bio.cells.cells import Reduction, build_problems
from glfs_bio.criterion import targets as wanted
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.solvers.greedy import Greedy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import report
from methods import select_genes
from sets import SETS

#: Share of log counts, and power.
TRIALS = [(0.0, 0.5), (0.25, 0.5), (0.5, 0.5), (1.0, 0.5), (1.0, 0.75), (1.0, 1.0), (0.0, 1.0)]
#: Beside these trials: a mixture of the first and the sixth, and genes without units of noise.
OPTIONS = {
    "structure 2, expression 1": {"preserve": {"structure": 2, "expression": 1}},
    "standardize=None": {"standardize": None},
}
#: Ahead of the default in neighbours or imputation, in one matrix.
AHEAD = ("geneBasis", "variance")


def mixed(term: wanted.Structure, view: wanted.View, share: float, power: float) -> np.ndarray:
    """W of units of noise and of log counts, each with trace 1."""
    total = 0.0
    for genes, part in ((view.genes, 1 - share), (view.expression, share)):
        values, basis = np.linalg.eigh(genes.T @ genes)
        matrix = (basis * np.maximum(values, 0.0) ** power) @ basis.T
        total = total + part * matrix / np.trace(matrix)
    return total


def one_set(name: str) -> list[dict]:
    """Every trial on one set, other options, and methods that are ahead."""
    case = CASES[name]
    problems = build_problems(case.adata.X, Reduction())
    panels = {}
    for share, power in TRIALS:
        matrix = partialmethod(mixed, share=share, power=power)
        with mock.patch.object(wanted.Structure, "matrix", matrix):
            greedy = Greedy(Criterion(problems).blocks)
            greedy.grow(max(SIZES))
        panels |= {(f"{share:g}, {power:g}", size): greedy.picked[:size] for size in SIZES}
    for title, options in OPTIONS.items():
        chosen = select_genes(case.adata, max(SIZES), **options).tolist()
        panels |= {(title, size): chosen[:size] for size in SIZES}
    for peer in AHEAD:
        theirs = selections(peer, case)
        panels |= {(peer, size): theirs.panel(size)["genes"] for size in SIZES}
    rows = []
    for (title, size), genes in panels.items():
        found = details.kept(case, genes, compute=True)
        measured = {measure: found[measure][0] for measure in (*MEASURES, *INDEPENDENT)}
        rows.append({"share, power": title, "genes": size} | measured)
    sys.stderr.write(f"{name} done\n")
    return rows


def main() -> None:
    """A table a measure."""
    rows = pd.DataFrame([row for name in SETS for row in one_set(name)])
    means = rows.groupby(["share, power", "genes"], sort=False).mean().unstack("genes").round(3)
    first, *others = (*MEASURES, *INDEPENDENT)
    report.write(
        "panels_log_counts",
        f"W from genes in log counts: {first}, mean over the five sets",
        means[first],
        "W says what a panel is to keep. The first number is the share of it that comes from genes "
        'in log counts; "0, 0.5" is the default, "1, 1" is `preserve="expression"`. The noise of '
        "the panel's genes is in its units in these rows. Measures are those of `peers.md`. Rare "
        "types: mean over the sets that have some.",
        *(f"## {name}\n\n{means[name].to_markdown()}" for name in others),
    )


if __name__ == "__main__":
    main()
