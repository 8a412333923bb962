"""Ranked bars with gene names, in as many columns as they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._figure import BLUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from .._typing import Index


@dataclass(frozen=True)
class Layout:
    """Sizes of the bars and of their names.

    Attributes
    ----------
    per_column
        Bars in a column.
    width, least, bar, margin
        Inches: of a column's width, of the least height of a figure, of a bar's height with the
        space to the next, and of what stands above and below the bars.
    thickness
        Share of its height that a bar fills.
    font, smallest_font
        Points of the largest and the smallest names.
    line
        Share of a bar's height that a name fills.
    letters
        Characters of a name that a column has room for.
    wide
        Where the largest is so many times the smallest, bars in several columns are on a log scale.
    """

    per_column: int = 50
    width: float = 2.6
    least: float = 2.4
    bar: float = 0.17
    margin: float = 0.9
    thickness: float = 0.75
    font: float = 9.0
    smallest_font: float = 5.0
    line: float = 0.85
    letters: int = 20
    wide: float = 50.0


LAYOUT = Layout()
_POINTS_OF_INCH = 72.0


def n_columns(n_bars: int) -> int:
    """Columns for so many bars."""
    return -(-n_bars // LAYOUT.per_column)


def height(n_bars: int) -> float:
    """Inches of a figure for so many bars."""
    return max(LAYOUT.bar * min(n_bars, LAYOUT.per_column) + LAYOUT.margin, LAYOUT.least)


def draw(axes: Sequence[Axes], names: Sequence[str], values: Sequence[float], label: str) -> None:
    """Draw bars from the top of the first column to the foot of the last."""
    rows = -(-len(names) // len(axes))
    tiny = np.finfo(float).tiny
    lowest, largest = min(float(np.min(values)), 0.0), max(float(np.max(values)), 0.0)
    largest = largest if largest > lowest else tiny
    smallest = float(np.min(values, where=np.asarray(values) > tiny, initial=largest))
    wide = len(axes) > 1 and lowest == 0 and largest > LAYOUT.wide * smallest
    for i, ax in enumerate(axes):
        part = slice(i * rows, (i + 1) * rows)
        place = np.arange(len(names[part]))
        ax.barh(place, values[part], height=LAYOUT.thickness, color=BLUE)
        _names(ax, place, names[part], rows)
        ax.set(ylim=(rows - 0.4, -0.6), xlim=(1.05 * lowest, 1.05 * largest), xlabel=label)
        if wide:
            ax.set(xscale="log", xlim=(smallest / 2, 1.5 * largest), xlabel=f"{label}, log scale")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)


def _names(ax: Axes, place: Index, names: Sequence[str], rows: int) -> None:
    """Names as large as the bars allow; where that is too small to read, every so many."""
    extent = ax.get_window_extent().height / ax.figure.dpi * _POINTS_OF_INCH
    size = min(LAYOUT.line * extent / (rows + 0.2), LAYOUT.font)
    step = int(np.ceil(LAYOUT.smallest_font / size))
    short = [
        name if len(name) <= LAYOUT.letters else name[: LAYOUT.letters - 1] + "…" for name in names
    ]
    # a name with two dollars is no formula
    ax.set_yticks(
        place[::step], short[::step], fontsize=max(size, LAYOUT.smallest_font), parse_math=False
    )
