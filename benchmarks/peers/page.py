"""Writes `peers.md`, `peers_datasets.md`, and a picture of the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from .. import tables
from ..data import BATCHES, DATASETS, FIVE, N_COMPS, RESAMPLES, SIMULATED
from ..methods import COMPARED, DEFAULT, EXPRESSION, RIVALS, SECONDS, Tool, versions
from ..tables import numbers, section
from . import PART_SECONDS, SECONDS_PER_CELL, SIZES, results
from .results import CLUSTERS, GROUPS, MEASURES, SCORES, SPLIT, TRUTH, Results

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

PICTURE = "peers_size.png"
DPI = 120


def write(found: Results) -> None:
    """Write the tables, and draw them once a method has all of the five datasets."""
    first = next(iter(DATASETS))
    accuracy = results.means(found, FIVE, MEASURES[0])
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
    shown = results.plain_of_dataset(found, first, MEASURES[0])
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
                yield section(f"{measure}, {group}: mean", results.means(found, group, measure), 3)
            over = results.differences(found, group, measure)
            yield section(f"{measure}, {group}: glfs_bio minus others", over, 3)
        for measure in CLUSTERS:
            yield section(f"{measure}, {group}: mean", results.plain(found, group, measure), 3)
        if len(clusters := results.clusters_lost(found, group)):
            yield section(f"Clusters, {group}: where glfs_bio is behind", clusters, 3)
    yield section("Spapros' figures", f"On {', '.join(found.scored) or 'none yet'}.")
    for figure in SCORES:
        yield section(f"{figure}: mean", results.plain(found, FIVE, figure), 3)
        over = results.differences(found, FIVE, figure)
        yield section(f"{figure}: glfs_bio minus others", over, 3)
    yield section("Where glfs_bio is behind", losses(found))
    yield section("Time and memory", results.spent(found).round(1))
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
        table = results.plain_of_dataset(found, title, MEASURES[0])
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
