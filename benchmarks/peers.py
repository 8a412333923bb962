"""Panels by glfs_bio and by what else chooses genes without labels, on datasets of four kinds.

    python -m benchmarks.peers [--steps panels ...] [--only glfs_bio ...] [--sizes ...]

Steps: `panels` chooses genes and measures them; `clusters` adds the measures that cluster cells;
`costs` measures processor time and memory; `spapros` has Spapros score the panels of some methods.
Everything is stored by the code it comes from, so that a second run goes on where the first one
ended.  At the end of every run `peers.md` and `peers_datasets.md` are written from all that is
there; without steps only that is done.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import anndata as ad
import matplotlib as mpl
from matplotlib.figure import Figure

from . import compared, measures, resampled, store, tables
from .compared import (
    CLUSTERS,
    GROUPS,
    MEASURES,
    PART_SECONDS,
    SCORED,
    SCORES,
    SECONDS_PER_CELL,
    SIZES,
    SPLIT,
    TRUTH,
    Results,
    evaluate,
    genes_of,
    measure_cost,
    method_on,
)
from .data import BATCHES, DATASETS, FIVE, N_COMPS, RESAMPLES, SIMULATED, Cells
from .methods import (
    COMPARED,
    DEFAULT,
    EXPRESSION,
    RIVALS,
    SECONDS,
    Method,
    Tool,
    choose,
    versions,
)
from .tables import numbers, say, section

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

STEPS = ("panels", "clusters", "costs", "spapros")
PICTURE = "peers_size.png"
DPI = 120


def write(found: Results) -> None:
    """Write the tables, and draw them once a method has all of the five datasets."""
    first = next(iter(DATASETS))
    accuracy = compared.means(found, FIVE, MEASURES[0])
    tables.write(
        "peers",
        accuracy,
        *sections(found),
        n_comps=N_COMPS,
        batches=", ".join(BATCHES),
        resamples=f"{RESAMPLES:,}",
        part_seconds=PART_SECONDS,
        seconds_per_cell=SECONDS_PER_CELL,
        largest=max(SIZES),
        limit=COMPARED["SCMER"].limit,
        seconds=SECONDS,
        missing=missing(found),
    )
    shown = compared.plain_of_dataset(found, first, MEASURES[0])
    tables.write("peers_datasets", shown, *of_datasets(found), first=first)
    if len(accuracy):
        draw()


def missing(found: Results) -> str:
    """Return what is not run yet, in one paragraph; empty where nothing is missing."""
    table = found.table
    parts = []
    for group, part in table.groupby("group", sort=False):
        lacks = (part["error"] == "not run").groupby(part["method"], sort=False).sum()
        names = [f"{n} of {len(part) // len(lacks)} of {name}" for name, n in lacks.items() if n]
        if names:
            parts.append(f"Panels on the {group}: {'; '.join(names)}.")
    return f"**Not run yet.** {' '.join(parts)}" if parts else ""


def sections(found: Results) -> Iterator[str]:
    """Return everything after the first table."""
    for group in GROUPS:
        if not found.datasets(group):
            continue
        yield section(group.capitalize(), ", ".join(found.datasets(group)) + ".")
        for measure in (*MEASURES, *SPLIT, *(TRUTH if group == SIMULATED else ())):
            if not found.having(group, measure):  # no dataset has rare types, or it is not run
                continue
            if (group, measure) != (FIVE, MEASURES[0]):
                yield section(f"{measure}, {group}: mean", compared.means(found, group, measure), 3)
            over = compared.differences(found, group, measure)
            yield section(f"{measure}, {group}: glfs_bio minus others", over, 3)
        for measure in CLUSTERS:
            yield section(f"{measure}, {group}: mean", compared.plain(found, group, measure), 3)
        if len(clusters := compared.clusters_lost(found, group)):
            yield section(f"Clusters, {group}: where glfs_bio is behind", clusters, 3)
    yield section("Spapros' figures", f"On {', '.join(found.scored) or 'none yet'}.")
    for figure in SCORES:
        yield section(f"{figure}: mean", compared.plain(found, FIVE, figure), 3)
        over = compared.differences(found, FIVE, figure)
        yield section(f"{figure}: glfs_bio minus others", over, 3)
    yield section("Where glfs_bio is behind", losses(found))
    yield section("Time and memory", compared.spent(found).round(1))
    yield section("Failures", failures(found))
    yield f"Versions: {versions(COMPARED)}."


def losses(found: Results) -> pd.DataFrame:
    """Return every negative mean difference, also over the cells alone."""
    behind = found.behind
    table = behind[["group", "measure", "genes", "method", "datasets"]].assign(
        difference=[one.difference for one in behind["difference"]],
        **{"over cells": [one.difference for one in behind["cells"]]},
    )
    return table.set_index("group")


def failures(found: Results) -> str:
    """Return the panels that failed, also by themselves or by Spapros' evaluator."""
    table = found.table
    lines = [
        f"- {row['method']} on {row['dataset']}, {row['genes']} genes, {what}: {row[column]}"
        for column, what in (("by Spapros", "Spapros' evaluator"), ("alone", "by itself"))
        for _, row in table.dropna(subset=column).iterrows()
    ]
    failed = table["error"].where(table["error"] != "not run")
    return "\n".join([tables.failures(table.assign(error=failed)), *lines])


def of_datasets(found: Results) -> Iterator[str]:
    """Return the accuracy on the other datasets."""
    for title in list(DATASETS)[1:]:
        table = compared.plain_of_dataset(found, title, MEASURES[0])
        yield section(f"{MEASURES[0]} on {title}", table)


def draw() -> None:
    """Draw the means of `peers.md` over the five datasets, with a band for the interval."""
    figure = Figure(figsize=(13, 11), layout="constrained")
    axes = figure.subplots(3, 3, sharex=True).flat
    for axis, measure in zip(axes, (*MEASURES, *SPLIT), strict=True):
        heading = "" if measure == MEASURES[0] else f"{measure}, {FIVE}: mean"
        for name, row in tables.read("peers", heading).items():
            found = {int(size): numbers(cell) for size, cell in row.items() if cell}
            ours = name == DEFAULT
            means, lows, highs = zip(*found.values(), strict=True)
            colour = _colour(name)
            axis.plot(
                list(found),
                means,
                ":" if name == EXPRESSION else "--" if isinstance(COMPARED[name], Tool) else "-",
                label=name,
                color=colour,
                marker=".",
                linewidth=2.5 if ours else 1.2,
                zorder=3 if ours else 2,
            )
            axis.fill_between(list(found), lows, highs, color=colour, alpha=0.15, linewidth=0)
        axis.set_xscale("log")
        axis.set_xticks(SIZES, SIZES)
        axis.minorticks_off()
        axis.set_title(measure, fontsize=10)
        axis.grid(alpha=0.3)
    figure.supxlabel("genes")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right", fontsize=8)
    figure.savefig(tables.RESULTS / PICTURE, dpi=DPI)


def _colour(name: str):
    if name not in RIVALS:
        return "black"
    return mpl.colormaps["tab20"].colors[1 + RIVALS.index(name) % 19]


def run(steps: list[str], names: list[str], datasets: list[Cells], sizes: list[int]) -> None:
    """Run the steps, one after the other."""
    if "panels" in steps:
        for cells in datasets:
            for name in names:
                choose(name, method_on(name, cells), cells.name, cells.adata, sizes)
            for genes in genes_of(cells, names, sizes):
                resampled.measured(cells, genes, compute=True)
            say(f"{cells.name}: measured")
    if "clusters" in steps:
        for cells in datasets:
            for genes in genes_of(cells, names, sizes):
                measures.measured(cells, genes)
            say(f"{cells.name}: clustered")
    five = [cells for cells in datasets if cells.group == FIVE]
    if "costs" in steps:
        for cells in five:
            for name in names:
                if isinstance(COMPARED[name], Method):
                    measure_cost(name, cells)
    if "spapros" in steps:
        for cells in five:
            scored = [name for name in names if name in SCORED]
            evaluate(cells, list(genes_of(cells, scored, sizes)))
    store.merge()


def main() -> None:
    """Run the steps, and write the tables."""
    if sys.argv[1:2] == ["--alone"]:
        method = COMPARED[sys.argv[2]]
        method.select(method.prepare(ad.read_h5ad(sys.argv[3])), max(SIZES))
        return
    parser = tables.selecting(__doc__, COMPARED, DATASETS)
    parser.add_argument("--steps", nargs="*", choices=STEPS, default=list(STEPS))
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES))
    options = parser.parse_args()
    names = tables.named(options.only, COMPARED)
    run(options.steps, names, [DATASETS[title] for title in options.datasets], options.sizes)
    write(compared.read())


if __name__ == "__main__":
    main()
