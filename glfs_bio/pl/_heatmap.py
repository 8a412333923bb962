"""Heat maps of shares with their values: the measures of panels, the confusion of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._figure import LOOK, colour_bar, extent
from ._rows import name_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from .._typing import Array

#: Luminance of a colour below which a number on it is white, and the lines between cells.
_DARK, _LINES = 0.5, "#E6E6E6"


def heat_map(
    ax: Axes,
    shares: Array,
    rows: Sequence[str],
    columns: Sequence[str],
    texts: Sequence[Sequence[str]],
    cmap: Colormap,
    *,
    bar: str,
    bold: Sequence[Sequence[bool]] | None = None,
) -> None:
    """Draw shares with their values; a colour bar where there is no room for these."""
    image = ax.imshow(shares, vmin=0, vmax=1, cmap=cmap, aspect="auto")
    for _ in range(2):  # the names along one axis take room from the other
        size = min(name_places(ax, rows), name_places(ax, columns, axis="x"))
    ax.set_ylim(len(rows) - 0.5, -0.5)
    for axis, names in ((ax.xaxis, columns), (ax.yaxis, rows)):
        axis.set_ticks(np.arange(1, len(names)) - 0.5, minor=True)
    ax.grid(which="minor", color=_LINES, lw=0.5)
    ax.tick_params(which="minor", length=0)
    width, height = extent(ax)
    longest = max(len(text) for row in texts for text in row)
    size = min(
        size,
        height / len(rows) / LOOK.line,
        width / len(columns) / (LOOK.letter * (longest + 1)),
    )
    if size < LOOK.smallest_font:
        colour_bar(image, ax, bar, pad=0.03)
        return
    for (i, j), share in np.ndenumerate(shares):
        options: dict[str, Any] = {"fontweight": "bold"} if bold and bold[i][j] else {}
        dark = np.isfinite(share) and _luminance(cmap(share)) < _DARK
        ax.text(
            *(j, i, texts[i][j]),
            ha="center",
            va="center",
            fontsize=size,
            color="white" if dark else "black",
            **options,
        )


def _luminance(colour: tuple[float, ...]) -> float:
    red, green, blue, _ = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue
