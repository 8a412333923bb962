"""The figure of docs/concepts/instrument.md: what panels lose on an instrument, and win back.

    python -m benchmarks.instrument_figure

Reads the tables of `pairs`, `pairs_draws` and `spillover`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from .figures import FROM_IT, LABELS, NAMED, OURS, PILOT, WILCOXON, on_instruments
from .tables import HOME, numbers, read

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TARGET = HOME.parent / "docs" / "_static" / "instrument.png"
#: Sizes of panels, and their colours.
SIZES = {"10": "#9ecae1", "20": "#4292c6", "40": "#08519c", "80": "#06213f"}
#: Rows of `pairs`, and what they are called here.
ROWS = {
    "random": "random genes",
    "HVG seurat_v3": "highly variable",
    WILCOXON: "Wilcoxon markers",
    OURS: "glfs_bio",
    LABELS: "with labels",
    f"{LABELS}{NAMED}": "+ its name",
    f"{LABELS}, efficiency of other pairs": "+ efficiencies",
    f"{LABELS}{PILOT}": "+ 300 pilot cells",
    f"{LABELS}, efficiency of its cells": "+ half of its cells",
    f"{LABELS}{FROM_IT}": "from its own cells",
}
#: How many of these are of others.
OTHERS = 3
#: Shares of molecules that `spillover` moves, and what they are called here.
SHARES = {"0.1": "10 %", "0.2": "20 %", "0.4": "40 %"}

Dots = dict[str, list[float]]


def accuracies() -> Dots:
    """Return accuracy by 15-NN, by row of `pairs` and size."""
    table = on_instruments()
    return {name: [numbers(table[row][size])[0] for size in SIZES] for row, name in ROWS.items()}


def recalls() -> Dots:
    """Return the recall of types with chosen panels, the mean over instruments, by share."""
    rows = read("spillover", "Mean recall of the types, by size").values()

    def means(column: str, share: str) -> list[float]:
        chosen = [row for row in rows if (row["panel"], row["share"]) == ("chosen", share)]
        return [
            float(np.mean([float(row[column]) for row in chosen if row["genes"] == size]))
            for size in SIZES
        ]

    found = {name: means("measured", share) for share, name in SHARES.items()}
    return {"none": means("measured before", min(SHARES))} | found


def draw(axis: Axes, rows: Dots, title: str, unit: str) -> None:
    """Draw a dot a size for each row, the first on top."""
    for place, values in enumerate(rows.values()):
        axis.plot([min(values), max(values)], [place] * 2, color="#c8c8c8", zorder=1)
        axis.scatter(values, [place] * len(values), s=90, c=list(SIZES.values()), zorder=2)
    axis.set_yticks(range(len(rows)), rows)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_xlabel(unit, fontsize=15)
    axis.set_title(title, fontsize=15, fontweight="bold", loc="right")
    axis.tick_params(labelsize=15)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", color="#e4e4e4")
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)


def main() -> None:
    """Draw."""
    found, spilt = accuracies(), recalls()
    figure = Figure(figsize=(6.6, 8.4), layout="constrained", facecolor="white")
    above, below = figure.subplots(2, height_ratios=(len(found), len(spilt)))
    draw(above, found, "chosen elsewhere, read on the instrument", "accuracy")
    above.axhline(OTHERS - 0.5, color="#808080", linewidth=0.8, linestyle=":")
    draw(below, spilt, "molecules that go to neighbouring cells", "recall of types")
    for size, colour in SIZES.items():
        above.scatter([], [], s=90, color=colour, label=f"{size} genes")
    figure.legend(
        loc="outside upper center",
        ncols=len(SIZES),
        frameon=False,
        fontsize=15,
        handletextpad=0.0,
        columnspacing=0.8,
    )
    figure.savefig(TARGET, dpi=130)


if __name__ == "__main__":
    main()
