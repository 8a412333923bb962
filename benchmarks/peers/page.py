"""Writes `peers.md`, `peers_sets.md`, the pictures, and docs/comparison.md from its template."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from .. import tables
from ..data import BATCHES, DATASETS, FIVE, N_COMPS, RESAMPLES, SIMULATED
from ..methods import COMPARED, DEFAULT, EXPRESSION, RIVALS, SECONDS, Tool, versions
from ..resampled import INDEPENDENT
from ..tables import section
from . import PART_SECONDS, SECONDS_PER_CELL, SIZES, results
from .results import CLUSTERS, GROUPS, MEASURES, SCORES, TRUTH, Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes

SIZE, RANKS, TIME = "peers_size.png", "peers_ranks.png", "peers_time.png"
#: Of the picture of time and quality.
N_GENES = 50
DPI = 120
#: What a line of text takes of the axis of accuracies.
LINE = 0.011
TEMPLATE = Path(__file__).with_name("comparison.template.md")
PAGE = tables.HOME.parent / "docs" / "comparison.md"
VERDICTS = (
    "ahead, beyond the interval",
    "ahead, within it",
    "behind, within it",
    "behind, beyond it",
)


def losses(found: Results) -> pd.DataFrame:
    """Return every negative mean difference, also over the cells alone."""
    behind = found.behind
    table = behind[["group", "measure", "genes", "method", "sets"]].assign(
        difference=[one.difference for one in behind["difference"]],
        **{"over cells": [one.difference for one in behind["cells"]]},
    )
    return table.set_index("group")


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


def write_tables(found: Results) -> None:
    """Write `peers.md` and `peers_sets.md`."""
    first = next(iter(DATASETS))
    tables.write(
        "peers",
        results.means(found, FIVE, MEASURES[0]),
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
    shown = results.plain_of_set(found, first, MEASURES[0])
    tables.write("peers_sets", shown, *of_sets(found), first=first)


def sections(found: Results) -> Iterator[str]:
    """Return everything after the first table."""
    for group in GROUPS:
        if not found.sets(group):
            continue
        yield section(group.capitalize(), ", ".join(found.sets(group)) + ".")
        for measure in (*MEASURES, *INDEPENDENT, *(TRUTH if group == SIMULATED else ())):
            if not found.having(group, measure):  # no set has rare types, or it is not run
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


def failures(found: Results) -> str:
    """Return the panels that failed, also by themselves or by Spapros' evaluator."""
    table = found.table
    lines = [
        f"- {row['method']} on {row['set']}, {row['genes']} genes, {what}: {row[column]}"
        for column, what in (("by Spapros", "Spapros' evaluator"), ("alone", "by itself"))
        for _, row in table.dropna(subset=column).iterrows()
    ]
    failed = table["error"].where(table["error"] != "not run")
    return "\n".join([tables.failures(table.assign(error=failed)), *lines])


def of_sets(found: Results) -> Iterator[str]:
    """Return the accuracy on the other sets."""
    for title in list(DATASETS)[1:]:
        table = results.plain_of_set(found, title, MEASURES[0])
        yield section(f"{MEASURES[0]} on {title}", table)


def write(found: Results) -> None:
    """Write the tables, the page of the documentation, and its pictures."""
    write_tables(found)
    draw(found)
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        missing=missing(found),
        counts=counts(found).to_markdown(),
        nearest=nearest(found.against, MEASURES).to_markdown(),
        independent=nearest(found.against, INDEPENDENT).to_markdown(),
        expression=nearest(found.expression_against, (*MEASURES, *INDEPENDENT)).to_markdown(),
        wins="\n".join(wins(found)) or "Nowhere.",
        losses=by_group(results.lost, found),
        clusters=by_group(results.clusters_lost, found),
        spapros=by_spapros(found).to_markdown(),
        scored=", ".join(found.scored) or "none yet",
        truth=truth(found).to_markdown(),
        size=SIZE,
        ranks=RANKS,
        time=TIME,
        time_genes=N_GENES,
    )
    PAGE.write_text(text, encoding="utf-8")


def counts(found: Results) -> pd.DataFrame:
    """Return how many differences, over measures and sizes, are of which kind.

    A row a method for the five sets, and one for all methods on the sets of every other group.
    """
    against = found.against[found.against["measure"].isin(MEASURES)]
    kinds = [
        VERDICTS[(0 if one.clear else 1) if one.mean >= 0 else (3 if one.clear else 2)]
        for one in against["difference"]
    ]
    five = against["group"] == FIVE
    sets = against.groupby("group")["sets"].max()
    names = {group: f"all methods, {n} {group}" for group, n in sets.items()}
    rows = against["method"].where(five, against["group"].map(names)).rename("glfs_bio against")
    table = pd.crosstab(rows, pd.Series(kinds, against.index))
    return table.reindex(index=rows.unique(), columns=VERDICTS, fill_value=0)


def nearest(against: pd.DataFrame, measures: tuple[str, ...]) -> pd.DataFrame:
    """Return, on the five sets, the difference to the method that is nearest or furthest ahead."""
    table = pd.DataFrame("", measures, SIZES)
    for (measure, size), part in _five(against, measures):
        table.loc[measure, size] = _worst(part)
    return table


def _worst(against: pd.DataFrame) -> str:
    row = against.loc[against["difference"].map(lambda one: one.mean).idxmin()]
    return f"{results.counted(row)}, {row['method']}"


def wins(found: Results) -> Iterator[str]:
    """Return where no other method is ahead, in the mean of the five sets."""
    measures = (*MEASURES, *INDEPENDENT)
    ahead = [
        place
        for place, part in _five(found.against, measures)
        if all(one.mean >= 0 for one in part["difference"])
    ]
    for measure in measures:
        sizes = [size for one, size in ahead if one == measure]
        if sizes:
            yield f"- {measure}: at {_listed(sizes)} genes."


def by_group(table: Callable[[Results, str], pd.DataFrame], found: Results) -> str:
    """Return a table a group of sets, below its name."""
    parts = {group: table(found, group) for group in GROUPS if found.sets(group)}
    return "\n\n".join(
        f"**{group.capitalize()}**\n\n{part.to_markdown() if len(part) else 'None.'}"
        for group, part in parts.items()
    )


def _five(against: pd.DataFrame, measures: tuple[str, ...]):
    """Return, by measure and size, the differences on all of the five sets."""
    against = against[(against["group"] == FIVE) & against["whole"]]
    against = against[against["measure"].isin(measures)]
    return against.groupby(["measure", "genes"], sort=False)


def by_spapros(found: Results) -> pd.DataFrame:
    """Return, in the figures of the evaluator, the method that is nearest or furthest ahead.

    Of those that have the figure on most sets.
    """
    table = pd.DataFrame("", SCORES, SIZES)
    for (figure, size), part in found.against[found.against["measure"].isin(SCORES)].groupby(
        ["measure", "genes"], sort=False
    ):
        table.loc[figure, size] = _worst(part[part["sets"] == part["sets"].max()])
    return table


def truth(found: Results) -> pd.DataFrame:
    """Return, of the simulated sets, what panels of every size hold of the truth."""
    tables = {measure: results.plain(found, SIMULATED, measure) for measure in TRUTH}
    return pd.concat(tables, axis=1).fillna("").pipe(_flat)


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    table.columns = [f"{measure}, {size}" for measure, size in table.columns]
    return table


def _listed(sizes: list[int]) -> str:
    *first, last = map(str, sizes)
    return f"{', '.join(first)} and {last}" if first else last


def draw(found: Results) -> None:
    """Draw the pictures, once any method is measured on the five sets."""
    if not found.having(FIVE, MEASURES[0]):
        return
    for name, figure in ((SIZE, against_size), (RANKS, heat_map), (TIME, against_time)):
        figure(found).savefig(tables.RESULTS / name, dpi=DPI)


def against_size(found: Results) -> Figure:
    """Draw means over the five sets, with a band for its interval."""
    figure = Figure(figsize=(13, 11), layout="constrained")
    measures = (*MEASURES, *INDEPENDENT)
    for axis, measure in zip(figure.subplots(3, 3, sharex=True).flat, measures, strict=True):
        sets = found.table[found.table["group"] == FIVE].dropna(subset=measure)["set"].unique()
        for name in COMPARED:
            points = [
                (size, tables.over_cells(found.stack(sets, measure, size, name)))
                for size in SIZES
                if len(sets) and found.known(FIVE, measure, size, name) == list(sets)
            ]
            if points:
                _line(axis, name, points)
        axis.set_xscale("log")
        axis.set_xticks(SIZES, SIZES)
        axis.minorticks_off()
        axis.set_title(measure, fontsize=10)
        axis.grid(alpha=0.3)
    figure.supxlabel("genes")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right", fontsize=8)
    return figure


def heat_map(found: Results) -> Figure:
    """Draw mean ranks over sets and sizes, the best method on top."""
    table = results.ranks(found, FIVE)
    figure = Figure(figsize=(9, 0.4 * len(table) + 1.5), layout="constrained")
    axis = figure.subplots()
    drawn = axis.imshow(table, cmap="viridis_r", aspect="auto")
    axis.set_xticks(range(table.shape[1]), table.columns, rotation=30, ha="right", fontsize=8)
    axis.set_yticks(range(len(table)), table.index, fontsize=8)
    for (row, column), value in np.ndenumerate(table):
        if np.isfinite(value):
            colour = "white" if drawn.norm(value) > 0.5 else "black"
            axis.text(
                column, row, f"{value:.1f}", ha="center", va="center", color=colour, fontsize=8
            )
    figure.colorbar(drawn, label="mean rank, 1 is best")
    return figure


def against_time(found: Results) -> Figure:
    """Draw the mean accuracy of panels of one size against the seconds of the whole process."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    axis = figure.subplots()
    table = found.table[(found.table["group"] == FIVE) & (found.table["genes"] == N_GENES)]
    accuracy = table.groupby("method")[MEASURES[0]].agg(lambda one: one.mean(skipna=False))
    points = accuracy.rename("accuracy").to_frame().join(results.spent(found)["seconds"]).dropna()
    for name, one in points.iterrows():
        axis.scatter(one["seconds"], one["accuracy"], color=_colour(name), zorder=3)
    quick = points["seconds"] <= points["seconds"].median()
    for part, side, offset in ((points[quick], "right", -6), (points[~quick], "left", 6)):
        for name, height in _apart(part["accuracy"]).items():
            axis.annotate(
                name,
                (part.loc[name, "seconds"], height),
                xytext=(offset, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=8,
            )
    axis.set_xscale("log")
    axis.set_xlabel("processor seconds of the whole process, median over five sets")
    axis.set_ylabel(f"accuracy of {N_GENES} genes, mean over five sets")
    axis.margins(x=0.25)
    axis.grid(alpha=0.3)
    return figure


def _apart(heights: pd.Series) -> pd.Series:
    """Return heights of names beside points, lowered where one would cover the next."""
    moved = heights.sort_values(ascending=False)
    for above, below in pairwise(moved.index):
        moved[below] = min(moved[below], moved[above] - LINE)
    return moved


def _line(axis: Axes, name: str, points: list) -> None:
    sizes = [size for size, _ in points]
    found = [one for _, one in points]
    ours = name == DEFAULT
    line = {"linewidth": 2.5 if ours else 1.2, "zorder": 3 if ours else 2}
    dashes = ":" if name == EXPRESSION else "--" if isinstance(COMPARED[name], Tool) else "-"
    axis.plot(
        sizes,
        [one.mean for one in found],
        dashes,
        label=name,
        color=_colour(name),
        marker=".",
        **line,
    )
    low, high = [one.low for one in found], [one.high for one in found]
    axis.fill_between(sizes, low, high, color=_colour(name), alpha=0.15, linewidth=0)


def _colour(name: str):
    if name not in RIVALS:
        return "black"
    return mpl.colormaps["tab20"].colors[1 + RIVALS.index(name) % 19]
