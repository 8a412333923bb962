"""Rows with names: bars of genes, and what a plot has for each label or panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._figure import LOOK, extent, place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from .._typing import Array


@dataclass(frozen=True)
class Bars:
    """Sizes of bars of genes, settled by eye."""

    per_column: int = 50
    #: Inches: width of a column, least height of a figure, height of a bar with the space to the
    #: next, and what stands above and below the bars
    width: float = 2.6
    least: float = 2.4
    bar: float = 0.17
    margin: float = 0.9
    #: Share of its height that a bar fills
    thickness: float = 0.75
    #: Ratio of largest to smallest from which bars in several columns are on a log scale
    wide: float = 50.0


BARS = Bars()


def bars_size(n_bars: int) -> tuple[list[float], float]:
    """Return the widths of the columns, and the height, of so many bars; in inches."""
    columns = [BARS.width] * -(-n_bars // BARS.per_column)
    return columns, max(BARS.bar * min(n_bars, BARS.per_column) + BARS.margin, BARS.least)


def draw_bars(
    axes: Sequence[Axes], names: Sequence[str], values: Array, label: str, colour: Any
) -> None:
    """Draw bars from the top of the first column to the foot of the last."""
    n_rows = -(-len(names) // len(axes))
    tiny = np.finfo(float).tiny
    lowest, largest = min(float(np.min(values)), 0.0), max(float(np.max(values)), 0.0)
    largest = largest if largest > lowest else tiny
    smallest = float(np.min(values, where=values > tiny, initial=largest))
    wide = len(axes) > 1 and lowest == 0 and largest > BARS.wide * smallest
    for i, ax in enumerate(axes):
        part = slice(i * n_rows, (i + 1) * n_rows)
        ax.barh(np.arange(len(names[part])), values[part], height=BARS.thickness, color=colour)
        ax.set(xlim=(1.05 * lowest, 1.05 * largest), xlabel=label)
        if wide:
            ax.set(xscale="log", xlim=(smallest / 2, 1.5 * largest), xlabel=f"{label}, log scale")
        ax.spines[["top", "right"]].set_visible(False)
        name_places(ax, names[part], n_places=n_rows)


def name_places(
    ax: Axes,
    names: Sequence[str],
    *,
    axis: Literal["x", "y"] = "y",
    n_places: int | None = None,
) -> float:
    """Name the places along an axis, rows from the top, and return the size of the letters.

    Names are as large as there is room for.  Where that is too small to read, one in so many is
    shown.
    """
    from matplotlib import rcParams

    n_places = n_places or len(names)
    if axis == "y":
        ax.set_ylim(n_places - 0.4, -0.6)
    along = extent(ax)[1 if axis == "y" else 0]
    across = place(ax)[0 if axis == "y" else 1]
    usual = LOOK.small * float(rcParams["font.size"])
    room = along / (LOOK.line * (n_places + 0.2))
    size = max(min(usual, room), LOOK.smallest_font)
    step = int(np.ceil(LOOK.smallest_font / room))
    letters = max(int(LOOK.letters * min(across / LOOK.full, 1.0)), LOOK.few_letters)
    # a name with two dollars is no formula
    shown: dict[str, Any] = {"fontsize": size, "parse_math": False}
    places, called = range(len(names))[::step], short(names[::step], letters)
    if axis == "y":
        ax.set_yticks(places, called, **shown)
    else:
        ax.set_xticks(places, called, rotation=90, **shown)
    ax.tick_params(axis=axis, length=0)
    return size


def beside(ax: Axes, texts: Sequence[str], size: float) -> None:
    """Write a text on the right of each row."""
    for row, text in enumerate(texts):
        ax.text(
            *(1.02, row, text),
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=size,
            parse_math=False,
        )


def short(names: Sequence[str], letters: int) -> list[str]:
    """Cut long names in the middle: both ends may distinguish them from others."""
    tail = letters // 3
    return [
        name if len(name) <= letters else f"{name[: letters - tail - 1]}…{name[-tail:]}"
        for name in names
    ]
