"""A figure, its axes and its end, whatever the settings of matplotlib: what all plots share.

matplotlib and scanpy are imported where they are used, so that ``import glfs_bio`` stays fast.
"""

from __future__ import annotations

import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import checks
from .._extras import needs
from .._files import as_path, replacing
from ..errors import NO_VALUE, InvalidType, InvalidValue, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage


@dataclass(frozen=True)
class Look:
    """Sizes of every plot, settled by eye."""

    #: Points of text in an own figure; the least in axes of the caller; and below which rows are
    #: named one in so many, and cells have no number
    font: float = 10.0
    small_font: float = 7.5
    smallest_font: float = 5.0
    #: Inches of width from which text, names and points have the usual size
    full: float = 4.0
    #: Names of rows, legends and numbers, relative to the text
    small: float = 0.88
    #: Mean width of a letter and height of a line, relative to the size of the text
    letter: float = 0.55
    line: float = 1.2
    #: Of the longest name of a row, and of that in narrow axes
    letters: int = 32
    few_letters: int = 16
    #: Area of all points of a map, in square points, as in scanpy
    points: float = 120_000.0
    #: Length of a line of a label or legend, relative to the side of the axes
    wrap: float = 1.1
    #: Inches around axes
    pad: float = 0.1
    #: Points below a title
    title_pad: float = 6.0
    #: Of a file
    dpi: int = 150


LOOK = Look()
POINTS_OF_INCH = 72.0
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Frame:
    """Where a plot is drawn and what becomes of it: the arguments that all plots have."""

    #: Of the file in ``scanpy.settings.figdir``
    name: str
    #: Axes of the caller; None: a new figure
    ax: Any = None
    title: str | None = None
    figsize: tuple[float, float] | None = None
    show: bool | None = None
    save: str | Path | bool | None = None

    def __post_init__(self) -> None:
        """Refuse, before anything is drawn, what could not be done in the end."""
        needs("A plot", "matplotlib", "scanpy")
        checks.texts(title=self.title, or_none=True)
        if self.show is not None:
            checks.flags(show=self.show)
        if self.figsize is not None:
            if np.shape(self.figsize) != (2,):
                raise InvalidType("figsize", self.figsize, "must be a width and a height in inches")
            for size in self.figsize:
                checks.number("figsize", size, above=0.0)
        if self.save and self.save is not True:
            _check_ending(self.save)

    @contextmanager
    def axes(self, widths: Sequence[float], height: float) -> Iterator[list[Axes]]:
        """Hand out the caller's axes, or axes beside one another in a new figure.

        Text and grid are ours meanwhile.  At the end labels are broken to fit, and the title is put
        above all.
        """
        given = None if self.ax is None else _given(self.ax, len(widths))
        with look(LOOK.font if given is None else _font(given)):
            axes = self._new(widths, height) if given is None else given
            others = {id(ax) for one in axes for ax in one.figure.axes} - set(map(id, axes))
            for ax in axes:
                _plain(ax)
            yield axes
            for figure in {id(ax.figure): ax.figure for ax in axes}.values():
                figure.figure.draw_without_rendering()
                for ax in figure.axes:
                    if id(ax) not in others:
                        _fit(ax)
            self._entitle(axes, own=given is None)

    def _new(self, widths: Sequence[float], height: float) -> list[Axes]:
        from matplotlib import pyplot as plt
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        _, axes = plt.subplots(
            1,
            len(widths),
            figsize=self.figsize or (sum(widths), height),
            layout=ConstrainedLayoutEngine(w_pad=LOOK.pad),
            squeeze=False,
            width_ratios=widths,
        )
        return list(axes.ravel())

    def _entitle(self, axes: Sequence[Axes], *, own: bool) -> None:
        """A title above the axes, or above the figure where it has several."""
        if self.title is None:
            return
        if own and len(axes) > 1:
            axes[0].figure.suptitle(self.title, parse_math=False)
            return
        first = axes[0]
        named = [self.title, first.get_title()] if len(axes) > 1 else [self.title]
        first.set_title(
            "\n".join(filter(None, named)), pad=_above(first) + LOOK.title_pad, parse_math=False
        )
        _break(first.title, extent(first)[0])

    def finish(self, axes: Sequence[Axes], drawn: Drawn) -> Drawn | None:
        """Save and show the figure, and return what was drawn, or None where it was shown."""
        from matplotlib import pyplot as plt
        from scanpy import settings

        if self.save:
            target = Path(settings.figdir) / f"glfs_{self.name}.{settings.file_format_figs}"
            if self.save is not True:
                bare = _bare(self.save)
                target = target.with_suffix(str(self.save)) if bare else Path(self.save)
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target, overwrite=True) as file:
                axes[0].figure.figure.savefig(file, bbox_inches="tight", dpi=LOOK.dpi)
        ours = self.ax is None and not self.save
        if self.show or (self.show is None and ours and settings.autoshow):
            plt.show()
            return None
        return drawn


def _check_ending(save: str | Path) -> None:
    """Refuse a file in a format that matplotlib does not write."""
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    path = as_path(save, "save")
    ending = path.name if _bare(save) else path.suffix
    if ending.lower().lstrip(".") not in formats:
        endings = [f".{name}" for name in sorted(formats)]
        raise InvalidValue(
            "save", str(save), "has an unknown ending", f"use one of {shown(*endings)}"
        )


def _bare(save: str | Path) -> bool:
    """Whether it is an ending only, like ``".pdf"``."""
    return str(save).startswith(".") and Path(save).suffix == ""


def _given(ax: Any, number: int) -> list[Axes]:
    """Axes of the caller, as many as are drawn in."""
    from matplotlib.axes import Axes

    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if not all(isinstance(one, Axes) for one in axes):
        raise InvalidType("ax", ax, "must be matplotlib axes")
    if len(axes) != number:
        raise InvalidValue(
            "ax", NO_VALUE, f"has {len(axes)} axes, and {number} are drawn", "give as many"
        )
    return axes


def look(font: float) -> Any:
    """Return a context with text of a size and without grid, whatever the caller's settings.

    ``scanpy.settings.set_figure_params`` chooses letters that would collide, as sizes are in
    inches, and a grid that lies over bars and numbers.
    """
    from matplotlib import pyplot as plt

    small = LOOK.small * font
    return plt.rc_context(
        {
            "axes.grid": False,
            "font.size": font,
            "axes.labelsize": font,
            "axes.titlesize": 1.1 * font,
            "figure.titlesize": 1.2 * font,
            "xtick.labelsize": font,
            "ytick.labelsize": font,
            "legend.fontsize": small,
            "legend.title_fontsize": small,
            "legend.handlelength": 1.8,
            "legend.handletextpad": 0.5,
        }
    )


def _font(axes: Sequence[Axes]) -> float:
    """Points of the text in axes of the caller: less where they are narrow, or its own is less."""
    from matplotlib import rcParams

    width = min(ax.get_window_extent().width / ax.figure.dpi for ax in axes)
    ours = max(LOOK.font * min(width / LOOK.full, 1.0), LOOK.small_font)
    return min(ours, float(rcParams["font.size"]))


def _plain(ax: Axes) -> None:
    """Give axes that were made with other settings the look of the context."""
    from matplotlib import rcParams

    size = rcParams["font.size"]
    ax.grid(False)
    ax.tick_params(labelsize=size)
    ax.xaxis.label.set_fontsize(size)
    ax.yaxis.label.set_fontsize(size)
    ax.title.set_fontsize(rcParams["axes.titlesize"])


def point_size(ax: Axes, number: int) -> float:
    """Return the area of each of so many points: as in scanpy, and less in narrow axes."""
    width = extent(ax)[0] / POINTS_OF_INCH
    return LOOK.points / number * min(width / LOOK.full, 1.0) ** 2


def extent(ax: Axes) -> tuple[float, float]:
    """Return the width and the height that axes have in the layout of the figure, in points."""
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    scale = POINTS_OF_INCH / ax.figure.dpi
    return box.width * scale, box.height * scale


def place(ax: Axes) -> tuple[float, float]:
    """Return the width and the height that axes have with all around them, in inches."""
    spec = ax.get_subplotspec()
    if spec is None:
        width, height = extent(ax)
        return width / POINTS_OF_INCH, height / POINTS_OF_INCH
    n_rows, n_columns, *_ = spec.get_geometry()
    whole = ax.figure.bbox
    return (
        whole.width / ax.figure.dpi * len(spec.colspan) / n_columns,
        whole.height / ax.figure.dpi * len(spec.rowspan) / n_rows,
    )


def _fit(ax: Axes) -> None:
    """Break the labels and the title of axes that are laid out."""
    scale = POINTS_OF_INCH / ax.figure.dpi
    box = ax.get_window_extent()
    _break(ax.xaxis.label, box.width * scale)
    _break(ax.yaxis.label, box.height * scale)
    _break(ax.title, box.width * scale)


def _break(text: Any, points: float) -> None:
    """Break a text into lines of a length."""
    letters = int(LOOK.wrap * points / (LOOK.letter * text.get_size()))
    lines = text.get_text().split("\n")
    filled = [textwrap.fill(line, max(letters, 1), break_long_words=False) for line in lines]
    text.set_text("\n".join(filled))


def _above(ax: Axes) -> float:
    """Points that a legend and texts reach above axes."""
    beyond = [one for one in (ax.get_legend(), *ax.texts) if one is not None]
    top = ax.get_window_extent().y1
    highest = max((one.get_window_extent().y1 for one in beyond), default=top)
    return max(float(highest - top), 0.0) * POINTS_OF_INCH / ax.figure.dpi


def legend(ax: Axes, handles: Sequence[Artist]) -> None:
    """Put a legend above axes, where it covers nothing, in the columns that there is room for."""
    extent(ax)
    room, number = LOOK.wrap * ax.get_window_extent().width, len(handles)
    for n_rows in range(1, number + 1):
        drawn = ax.legend(
            handles=handles,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=-(-number // n_rows),
            frameon=False,
            columnspacing=1.2,
            borderaxespad=0.2,
        )
        if drawn.get_window_extent().width <= room:
            return


def right_axis(ax: Axes, label: str, colour: str) -> Axes:
    """Return a second y axis on the right, in a colour; the first one keeps its own."""
    right = ax.twinx()
    _plain(right)
    right.set_ylabel(label, color=colour)
    right.tick_params(axis="y", colors=colour)
    right.spines["top"].set_visible(False)
    ax.spines["right"].set_visible(True)
    return right


def colour_bar(image: AxesImage, ax: Axes, label: str, **options: Any) -> None:
    """Add a colour bar beside axes."""
    bar = ax.figure.colorbar(image, ax=ax, label=label, **options)
    _plain(bar.ax)


def one_or_list(axes: Sequence[Axes]) -> Axes | list[Axes]:
    """Return the axes if there is one, a list if there are more."""
    return axes[0] if len(axes) == 1 else list(axes)
