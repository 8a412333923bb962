"""Panels for labels with other settings of the criterion: the trials that chose them.

    python benchmarks/panels/labels_settings.py

Halves are of other seeds than those of `labels.py`.  Settings are compared by the mean over the
four measures and the four sizes.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from run import say
from sets import SETS, Cells
from trials import LABEL, MARKS, SIZES, halves, measures

from glfs_bio.cells.cells import Reduction, build_problems
from glfs_bio.criterion import targets as wanted
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.criterion.targets import Labels, Wanted
from glfs_bio.solvers.greedy import Greedy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

NOISE = (0.03, 0.05, 0.1, 0.2)
POWER = (0.25, 0.5, 1.0)
SEEDS = range(100, 106)


def one_half(name: str, seed: int) -> list[dict]:
    """Every setting on one half, measured on the other."""
    trial = halves(Cells(name), seed)
    problem = build_problems(trial.chosen.adata.X, Reduction())[0]
    codes = pd.factorize(trial.chosen.adata.obs[LABEL].astype(str))[0]
    rows = []
    for noise, power in product(NOISE, POWER):
        settings = wanted.Settings(noise_of_cells=noise, power=power)
        with mock.patch.object(wanted, "SETTINGS", settings):
            criterion = Criterion([problem], [Wanted(((Labels(np.asarray(codes)), 1.0),))])
        greedy = Greedy(criterion.blocks)
        greedy.grow(max(SIZES))
        rows += [
            {"set": name, "τ": noise, "power": power, "genes": size}
            | measures(trial, [int(gene) for gene in greedy.picked[:size]])
            for size in SIZES
        ]
    say(f"{name}, seed {seed}")
    return rows


def main() -> None:
    """All sets and seeds."""
    halves_of_all = product(SETS, SEEDS)
    rows = pd.DataFrame([row for name, seed in halves_of_all for row in one_half(name, seed)])
    by_set = rows.groupby(["set", "τ", "power", "genes"])[list(MARKS)].mean()
    means = by_set.groupby(["τ", "power", "genes"]).mean().unstack("genes")
    overall = pd.DataFrame({mark: means[mark].mean(axis=1) for mark in MARKS})
    overall["mean"] = overall.mean(axis=1)
    report.write(
        "panels_labels_settings",
        "Settings of the criterion for labels: means over the sizes and the five sets",
        overall.round(4),
        f"The default is τ = {wanted.SETTINGS.noise_of_cells}, power {wanted.SETTINGS.power}. "
        f"Seeds {list(SEEDS)}.",
        *(f"## {mark}\n\n{means[mark].round(3).to_markdown()}" for mark in MARKS),
    )


if __name__ == "__main__":
    main()
