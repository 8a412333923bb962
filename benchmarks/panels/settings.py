"""What the default would be with other settings of the criterion: the trials that chose them.

    python benchmarks/panels/settings.py

The problems are built once; what differs is the noise of the assay, τ and the exponent of W.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest import mock

import cache
import pandas as pd
import sets
from stability import halves, mean_jaccard

from glfs_bio.cells import noise
from glfs_bio.cells.cells import Problem, Reduction, build_problems
from glfs_bio.criterion import targets as wanted
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.solvers.greedy import Greedy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

ASSAY, NOISE, POWER = (0.22, 0.3, 0.4), (0.1, 0.2, 0.3), (0.4, 0.5, 0.65)
#: Each is tried alone, with the other two as they are.
TRIALS = dict.fromkeys(
    [
        *product(ASSAY, NOISE, (wanted.SETTINGS.power,)),
        *((noise.SETTINGS.assay, wanted.SETTINGS.noise, power) for power in POWER),
    ]
)
N_PAIRS = 6
MEASURES = ("accuracy", "macro-F1", "rare-type F1", "neighbours kept", "k-means NMI")
OF_HALVES = (10, 50)


def panel(problem: Problem, assay: float, settings: wanted.Settings, n_genes: int) -> list[int]:
    """Genes, best first."""
    with (
        mock.patch.object(noise, "SETTINGS", replace(noise.SETTINGS, assay=assay)),
        mock.patch.object(wanted, "SETTINGS", settings),
    ):
        units = noise.gene_units(problem.variance, problem.residuals)
        greedy = Greedy(Criterion([replace(problem, units=units)]).blocks)
        greedy.grow(n_genes)
    return greedy.picked


def one_set(name: str) -> list[dict]:
    """Every trial on one set."""
    cells = sets.Cells(name)
    values = cells.adata.X
    whole = build_problems(values, Reduction())[0]
    parts = [build_problems(values[h], Reduction())[0] for h in halves(len(cells.labels), N_PAIRS)]
    rows = []
    for assay, tau, power in TRIALS:
        settings = wanted.Settings(noise=tau, power=power)
        row = {"set": name, "assay": assay, "τ": tau, "power": power}
        genes = panel(whole, assay, settings, max(sets.SIZES))
        for size in sets.SIZES:
            found = cache.measures(cells, genes[:size])
            row |= {f"{measure}, {size}": found[measure] for measure in MEASURES}
        chosen = [panel(part, assay, settings, max(OF_HALVES)) for part in parts]
        for size in OF_HALVES:
            row[f"halves, {size}"] = mean_jaccard([set(genes[:size]) for genes in chosen])
        rows.append(row)
    sys.stderr.write(f"{name} done\n")
    return rows


def main() -> None:
    """All sets."""
    rows = pd.DataFrame([row for name in sets.SETS for row in one_set(name)])
    means = rows.drop(columns="set").groupby(["assay", "τ", "power"], sort=False).mean()
    first, *others = MEASURES
    tables = {
        measure: means.filter(regex=f"^{measure}, ").rename(columns=lambda one: one.split(", ")[1])
        for measure in (first, *others, "halves")
    }
    report.write(
        "panels_settings",
        "Settings of the criterion: mean 15-NN accuracy over the five sets",
        tables.pop(first).round(3),
        f"The default is {noise.SETTINGS.assay}, {wanted.SETTINGS.noise}, "
        f"{wanted.SETTINGS.power}. Rare types: mean over the sets that have some.",
        *(
            f"## {name[0].upper() + name[1:]}, mean over the sets\n\n{table.round(3).to_markdown()}"
            for name, table in tables.items()
        ),
        f"Halves: Jaccard index of panels from {N_PAIRS} pairs of halves without a cell in common.",
    )


if __name__ == "__main__":
    main()
