"""Pictures of the benchmark of peers: measures against size, ranks, and time against quality."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import intervals
import matplotlib as mpl
import numpy as np
from aggregates import ranks, spent
from details import INDEPENDENT
from matplotlib.figure import Figure
from results import MEASURES, Results

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import report
from cases import FIVE
from compared import COMPARED, EXPRESSION, OURS, RIVALS, SIZES, Peer

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SIZE, RANKS, TIME = "peers_size.png", "peers_ranks.png", "peers_time.png"
#: Of the picture of time and quality.
N_GENES = 50
DPI = 120
#: What a line of text takes of the axis of accuracies.
LINE = 0.011


def write(found: Results) -> None:
    """All three, beside the tables, once any method is measured on the five sets."""
    if not found.having(FIVE, MEASURES[0]):
        return
    for name, draw in ((SIZE, against_size), (RANKS, heat_map), (TIME, against_time)):
        draw(found).savefig(report.RESULTS / name, dpi=DPI)


def against_size(found: Results) -> Figure:
    """Mean over the five sets, with a band for its interval."""
    figure = Figure(figsize=(13, 11), layout="constrained")
    measures = (*MEASURES, *INDEPENDENT)
    for axis, measure in zip(figure.subplots(3, 3, sharex=True).flat, measures, strict=True):
        sets = found.table[found.table["group"] == FIVE].dropna(subset=measure)["set"].unique()
        for name in COMPARED:
            points = [
                (size, intervals.over_cells(found.stack(sets, measure, size, name)))
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
    """Mean ranks over sets and sizes, the best method on top."""
    table = ranks(found, FIVE)
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
    """Mean accuracy of panels of one size against the seconds of the whole process."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    axis = figure.subplots()
    table = found.table[(found.table["group"] == FIVE) & (found.table["genes"] == N_GENES)]
    accuracy = table.groupby("method")[MEASURES[0]].agg(lambda one: one.mean(skipna=False))
    points = accuracy.rename("accuracy").to_frame().join(spent(found)["seconds"]).dropna()
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
    """Heights of names beside points, lowered where one would cover the next."""
    moved = heights.sort_values(ascending=False)
    for above, below in pairwise(moved.index):
        moved[below] = min(moved[below], moved[above] - LINE)
    return moved


def _line(axis: Axes, name: str, points: list) -> None:
    sizes = [size for size, _ in points]
    found = [one for _, one in points]
    ours = name == OURS
    line = {"linewidth": 2.5 if ours else 1.2, "zorder": 3 if ours else 2}
    dashes = ":" if name == EXPRESSION else "--" if isinstance(COMPARED[name], Peer) else "-"
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
