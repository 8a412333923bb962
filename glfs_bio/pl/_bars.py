"""Ranked bars with gene names, in as many columns as they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._figure import BLUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ..core._typing import Index

#: Bars in a column, and inches of a column's width and of a bar.
PER_COLUMN = 50
WIDTH = 2.6
_BAR = 0.17
_MARGIN = 0.9
_POINTS = 72.0
_LARGEST, _SMALLEST = 9.0, 5.0
#: Characters of a name that a column has room for.
_LETTERS = 20
#: Where the largest is so many times the smallest, bars in several columns are on a log scale.
_WIDE = 50.0


def n_columns(n_bars: int) -> int:
    """Columns for so many bars."""
    return -(-n_bars // PER_COLUMN)


def height(n_bars: int) -> float:
    """Inches of a figure for so many bars."""
    return max(_BAR * min(n_bars, PER_COLUMN) + _MARGIN, 2.4)


def draw(axes: Sequence[Axes], names: Sequence[str], values: Sequence[float], label: str) -> None:
    """Draw bars from the top of the first column to the foot of the last."""
    rows = -(-len(names) // len(axes))
    tiny = np.finfo(float).tiny
    lowest, largest = min(float(np.min(values)), 0.0), max(float(np.max(values)), 0.0)
    largest = largest if largest > lowest else tiny
    smallest = float(np.min(values, where=np.asarray(values) > tiny, initial=largest))
    wide = len(axes) > 1 and lowest == 0 and largest > _WIDE * smallest
    for i, ax in enumerate(axes):
        part = slice(i * rows, (i + 1) * rows)
        place = np.arange(len(names[part]))
        ax.barh(place, values[part], height=0.75, color=BLUE)
        _names(ax, place, names[part], rows)
        ax.set(ylim=(rows - 0.4, -0.6), xlim=(1.05 * lowest, 1.05 * largest), xlabel=label)
        if wide:
            ax.set(xscale="log", xlim=(smallest / 2, 1.5 * largest), xlabel=f"{label}, log scale")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)


def _names(ax: Axes, place: Index, names: Sequence[str], rows: int) -> None:
    """Names as large as the bars allow; where that is too small to read, every so many."""
    extent = ax.get_window_extent().height / ax.figure.dpi * _POINTS
    size = min(0.85 * extent / (rows + 0.2), _LARGEST)
    step = int(np.ceil(_SMALLEST / size))
    short = [name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…" for name in names]
    # a name with two dollars is no formula
    ax.set_yticks(place[::step], short[::step], fontsize=max(size, _SMALLEST), parse_math=False)
