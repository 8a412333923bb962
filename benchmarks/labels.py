"""Panels chosen with labels on one half of the cells and measured on the other.

    python -m benchmarks.labels [--only ours] [--datasets ...] [--seeds 0 1 ...]

Panels that `--only` leaves out are read from the store; with `--datasets` or `--seeds` the tables
are printed, without them they are written to `results/panels_labels.md`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from . import measures, store, tables
from .data import DATASETS, SETS, Cells, nearest, prepared
from .methods import LABELLED, RIVAL, SECONDS, Method, Tool, choose
from .methods import versions as versions_of
from .tables import say, section

if TYPE_CHECKING:
    from collections.abc import Iterable


SIZES = (10, 25, 50, 100)
SEEDS = range(5)
MEASURES = ("accuracy", "logistic regression", "macro-F1", "rare-type F1")
#: Columns that name a half.
HALF = ["dataset", "seed"]


@dataclass(frozen=True)
class Trial:
    """Cells on which genes are chosen, and cells on which they are measured."""

    place: str
    chosen: Cells
    measured: Cells


def halves(names: Iterable[str], seeds: Iterable[int]) -> dict[tuple[str, int], Trial]:
    """Return halves of the cells, stratified by label, by dataset and seed."""
    found = {}
    for name, seed in product(names, seeds):
        whole = DATASETS[name]
        parts = train_test_split(
            np.arange(whole.adata.n_obs), test_size=0.5, random_state=seed, stratify=whole.labels
        )
        place = f"{name}/labels/{seed}"
        cells = [
            Cells(place, lambda whole=whole, part=part: whole.adata[np.sort(part)].copy())
            for part in parts
        ]
        found[name, seed] = Trial(place, *cells)
    return found


def logistic_regression(trial: Trial, genes: list[int]) -> float:
    """Return accuracy on the measured cells, fitted where the genes were chosen."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit(trial.chosen.adata.X[:, genes].toarray(), trial.chosen.labels)
    return float(model.score(trial.measured.adata.X[:, genes].toarray(), trial.measured.labels))


def measured(trial: Trial, genes: list[int]) -> dict[str, float]:
    """Return what a panel preserves of the types."""
    panel = measures.Panel(trial.measured, tuple(genes))
    return measures.of_types(panel) | {"logistic regression": logistic_regression(trial, genes)}


def fingerprint() -> str:
    """Return what changes with whatever could change a measure."""
    parts = (prepared, nearest, measures, logistic_regression)
    return store.digest("".join(map(inspect.getsource, parts)))


def rows(name: str, method: Method | Tool, trial: Trial, *, run: bool) -> list[dict]:
    """Measure every size of one method on one trial."""
    if run:
        entry = choose(name, method, trial.place, trial.chosen.adata, list(SIZES))
    else:
        entry = store.entry_of(name, trial.place, method)
    known = store.Entry(trial.place, f"{name} measures", fingerprint())
    found = []
    for size in SIZES:
        panel = entry.panel(size)
        genes = sorted(panel.pop("genes", []))
        if genes and not (known.has(size) and known.get(size)["genes"] == genes):
            known.put(size, genes=genes, measures=measured(trial, genes))
        row = {"genes": size} | (known.get(size)["measures"] if genes else {})
        row |= panel or {"error": "not run"}
        old = bool(genes) and not entry.current
        found.append(row | {"held": len(genes) or np.nan, "old": old})
    return found


def collect(
    trials: dict[tuple[str, int], Trial], methods: dict[str, Method | Tool], to_run: list[str]
) -> pd.DataFrame:
    """Return one row a half, method and size."""
    found = []
    for (dataset, seed), one in trials.items():
        for name, method in methods.items():
            place = {"dataset": dataset, "seed": seed, "method": name}
            found += [place | row for row in rows(name, method, one, run=name in to_run)]
        say(f"{one.place}: measured")
    store.merge()
    columns = [*HALF, "method", "genes", *MEASURES, "seconds", "error", "held", "old"]
    return pd.DataFrame(found).reindex(columns=columns)


def with_share(name: str, values: pd.DataFrame, measure: str) -> str:
    """Return a method, and on how many of the halves it has this measure, where not on all."""
    n_halves = len(values.dropna(subset=measure)[HALF].drop_duplicates())
    by_genes = values[values["method"] == name].groupby("genes")[measure].count()
    least, most = by_genes.min(), by_genes.max()
    if least == n_halves:
        return name
    if least == most:
        return f"{name} ({least} of {n_halves} halves)"
    return f"{name} ({least} to {most} of {n_halves} halves, by size)"


def by_size(values: pd.DataFrame, measure: str, *, complete: bool = True) -> pd.DataFrame:
    """Return the mean over the halves of a dataset, then over the datasets; a column a size.

    Nothing for a method without a panel on one of the datasets, unless they need not be complete.
    """
    of_sets = values.groupby(["dataset", "method", "genes"])[measure].mean().reset_index()
    known = of_sets[of_sets.groupby("dataset")[measure].transform("count") > 0]
    table = known.pivot_table(
        measure, "method", "genes", aggfunc=lambda one: one.mean(skipna=not complete), dropna=False
    )
    table = table.reindex(values["method"].unique())
    return table.rename(lambda name: with_share(name, values, measure)).round(3)


def present(values: pd.DataFrame) -> list[str]:
    """Return the measures that the datasets have: not all have rare types."""
    return [measure for measure in MEASURES if values[measure].notna().any()]


def over_rivals(values: pd.DataFrame, own: str = "glfs_bio, labels") -> pd.DataFrame:
    """Return the rows of every rival, with what ours is ahead by in place of the measures."""
    place = [*HALF, "genes"]
    rivals = values[[LABELLED[name].group == RIVAL for name in values["method"]]]
    ours = values[values["method"] == own].set_index(place)[list(MEASURES)]
    ours = ours.reindex(pd.MultiIndex.from_frame(rivals[place])).to_numpy()
    return rivals.assign(**(ours - rivals[list(MEASURES)]))


def sections(values: pd.DataFrame) -> list[str]:
    """Return everything but the first table, as Markdown."""
    seconds = values.groupby(["method", "genes"])["seconds"].median().unstack()
    over = over_rivals(values)
    versions = versions_of({n: one for n, one in LABELLED.items() if one.group == RIVAL})
    return [
        *(
            section(f"{measure}, margins over every rival", by_size(over, measure, complete=False))
            for measure in present(values)
        ),
        *(section(f"{measure}, mean", by_size(values, measure)) for measure in present(values)[1:]),
        *(
            section(f"{measure} on {name}", by_size(part, measure))
            for name, part in values.groupby("dataset", sort=False)
            for measure in present(part)
        ),
        "## Seconds, median\n\nOf the panels of all sizes together, but for SupervisedGLFS.\n\n"
        + seconds.reindex(list(LABELLED)).round(1).to_markdown(),
        section("Failures", tables.failures(values)),
        f"Rivals: {versions}.",
    ]


def main() -> None:
    """Choose, measure, write."""
    parser = tables.selecting(__doc__, LABELLED, SETS)
    parser.add_argument(
        "--seeds", nargs="+", type=int, choices=SEEDS, default=list(SEEDS), metavar="SEED"
    )
    options = parser.parse_args()
    to_run = tables.named(options.only, LABELLED)
    values = collect(halves(options.datasets, options.seeds), LABELLED, to_run)
    tables.write(
        "panels_labels",
        by_size(values, MEASURES[0]),
        *sections(values),
        whole=(options.datasets, options.seeds) == (list(SETS), list(SEEDS)),
        seeds=len(SEEDS),
        limit=SECONDS,
    )


if __name__ == "__main__":
    main()
