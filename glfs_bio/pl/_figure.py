"""What plots share: their arguments, the figure and its axes, colours, legends, names of rows.

matplotlib and scanpy are imported where they are used, so that ``import glfs_bio`` stays fast.
"""

from __future__ import annotations

import textwrap
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import numpy as np

from .. import checks
from .._anndata import read
from .._docs import documented
from .._extras import needs
from .._files import as_path, replacing
from ..errors import NO_VALUE, InvalidType, InvalidValue, shown
from ..measures.cells import evenly

Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    import pandas as pd
    from anndata import AnnData
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.image import AxesImage
    from numpy.typing import NDArray

    from .._typing import Index

    #: Widths of axes and their height, in inches, as the content needs.  Several such rows, of as
    #: many axes each, stand beside and below one another: so many of them beside.
    Size = tuple[Sequence[float], float] | tuple[Sequence[Sequence[float]], float, int]
    #: What a plot is before :func:`plot` has made a function of it.
    Drawing = Generator[Size | None, list[Axes], Drawn]

#: Arguments that plots have, and that :func:`plot` alone reads; not all can be drawn in given axes.
_OF_ALL = ("ax", "title", "figsize", "show", "save")


@dataclass(frozen=True)
class Look:
    """Sizes of every plot, settled by eye."""

    #: Points of the text in a figure of its own; of the least that axes of the caller have; and
    #: below which rows are named one in so many, and cells have no number.
    font: float = 10.0
    small_font: float = 7.5
    smallest_font: float = 5.0
    #: Inches of width from which on axes have text, names and points of the usual size.
    full: float = 4.0
    #: Size of the names of rows, of legends and of numbers, relative to the text.
    small: float = 0.88
    #: Mean width of a letter, and height of a line, relative to the size of the text.
    letter: float = 0.55
    line: float = 1.2
    #: Distance of the lines of a legend, relative to the letters; inches of what stands beside a
    #: name in it, of it at most, and of the axes that it leaves room for.
    spaced: float = 1.65
    handle: float = 0.4
    widest: float = 8.0
    least: float = 2.2
    #: Letters of the longest name of a row, and of that in narrow axes.
    letters: int = 32
    few_letters: int = 16
    #: Area of all points of a map, in square points, as in scanpy.
    points: float = 120_000.0
    #: Points that a vector file draws one by one; of more it has a picture.
    most_vectors: int = 20_000
    #: Length of a line of a label or of a legend, relative to the side of the axes.
    wrap: float = 1.1
    #: Inches around axes.
    pad: float = 0.1
    #: Points between a title and what is below it.
    title_pad: float = 6.0
    #: Dots per inch of a file.
    dpi: int = 150


LOOK = Look()
POINTS_OF_INCH = 72.0
#: Most points of a picture; of more cells there is a sample, evenly over their order.
MOST_POINTS = 100_000
# Okabe and Ito's colours, which colour-blind readers can distinguish.
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#8C8C8C"
# Paul Tol's "muted" scheme, likewise, and black.
MUTED = (
    *("#332288", "#88CCEE", "#44AA99", "#117733", "#999933"),
    *("#DDCC77", "#CC6677", "#882255", "#AA4499", "#000000"),
)
#: The longest list of separate colours among the maps of matplotlib.
_LISTED = 20


def plot(function: Callable[Given, Drawing[Drawn]]) -> Callable[Given, Drawn | None]:
    """Make a plot of a function that reads, yields the size it needs, draws, and returns axes.

    Where it yields ``[5.0], 3.4``, the function is sent one axes of that size in a new figure, or
    the caller's; where it yields None, it makes a figure of its own.  It refuses what it cannot
    draw before it yields.  `ax`, `title`, `figsize`, `show` and `save` are in its signature, and
    act here.
    """
    documented(function)
    returned = str(function.__annotations__["return"])
    returned = returned.removeprefix("Drawing[").removesuffix("]")
    function.__annotations__["return"] = f"{returned} | None"

    @wraps(function)
    def drawn(*args: Given.args, **kwargs: Given.kwargs) -> Drawn | None:
        drawing = function(*args, **kwargs)
        given: dict[str, Any] = {**(function.__kwdefaults__ or {}), **kwargs}
        ax, title, figsize, show, save = (given.get(name) for name in _OF_ALL)
        _check(title, figsize, show)
        kind = [str(given["kind"])] if "kind" in given else []
        file = _file(save, "_".join(["glfs", function.__name__, *kind]))
        size = next(drawing)
        from matplotlib import pyplot as plt
        from scanpy import settings

        if size is None:
            with _look(LOOK.font):
                found = _result(drawing, [])
                figure = plt.gcf()
                if title is not None:
                    figure.suptitle(title, parse_math=False)
        else:
            with _axes(size, ax, title, figsize) as axes:
                found = _result(drawing, axes)
            figure = axes[0].figure.figure
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file, overwrite=True) as part:
                figure.savefig(part, bbox_inches="tight", dpi=_dpi())
        if show or (show is None and ax is None and file is None and settings.autoshow):
            plt.show()
            return None
        return found

    return drawn


def _check(title: Any, figsize: Any, show: Any) -> None:
    """Refuse, before anything is drawn, what could not be done in the end."""
    needs("A plot", "matplotlib", "scanpy")
    checks.texts(title=title, or_none=True)
    if show is not None:
        checks.flags(show=show)
    if figsize is not None:
        if np.shape(figsize) != (2,):
            raise InvalidType("figsize", figsize, "must be a width and a height in inches")
        for size in figsize:
            checks.number("figsize", size, above=0.0)


def _file(save: str | Path | bool | None, name: str) -> Path | None:
    """File to write, as in scanpy: a text is appended to the name of the plot, in ``figdir``.

    A path, or a text with a folder in it, is a file.  The format is one of matplotlib's.
    """
    from matplotlib.backend_bases import FigureCanvasBase
    from scanpy import settings

    save = settings.autosave if save is None else save
    if not save:
        return None
    usual = f".{settings.file_format_figs}"
    if save is True:
        return Path(settings.figdir) / f"{name}{settings.plot_suffix}{usual}"
    path = as_path(save, "save")
    is_file = not isinstance(save, str) or Path(save).name != save
    formats = {f".{one}" for one in FigureCanvasBase.get_supported_filetypes()}
    # of a text ".pdf" is an ending, and ".2" is none
    ending = path.suffix or (path.name if path.name.startswith(".") else "")
    if ending.lower() not in formats:
        if is_file or ending[1:].isalpha():
            raise InvalidValue(
                "save", str(save), "has an unknown ending", f"use one of {shown(*sorted(formats))}"
            )
        ending = ""
    if is_file:
        return path
    added = path.name.removesuffix(ending)
    return Path(settings.figdir) / f"{name}{added}{settings.plot_suffix}{ending or usual}"


def _dpi() -> float:
    """Dots per inch of a file: those of matplotlib, unless they are few, as in scanpy."""
    from matplotlib import rcParams

    asked = rcParams["savefig.dpi"]
    return LOOK.dpi if isinstance(asked, str) else max(float(asked), LOOK.dpi)


def _result(drawing: Drawing[Drawn], axes: list[Axes]) -> Drawn:
    """What is drawn in these axes."""
    try:
        drawing.send(axes)
    except StopIteration as end:
        found: Drawn = end.value
    return found


@contextmanager
def _axes(
    size: Size, ax: Any, title: str | None, figsize: tuple[float, float] | None
) -> Iterator[list[Axes]]:
    """Hand out the caller's axes, or axes beside one another in a new figure.

    Text and grid are ours meanwhile.  At the end labels are broken to fit, and the title is put
    above all.
    """
    given = None if ax is None else _given(ax, int(np.size(size[0])))
    with _look(LOOK.font if given is None else _font(given)):
        axes = _new(size, figsize) if given is None else given
        others = {id(ax) for one in axes for ax in one.figure.axes} - set(map(id, axes))
        for one in axes:
            _plain(one)
        yield axes
        for figure in {id(one.figure): one.figure for one in axes}.values():
            figure.figure.draw_without_rendering()
            for one in figure.axes:
                if id(one) not in others:
                    _fit(one)
        if title is not None:
            _entitle(title, axes, own=given is None)


def _new(size: Size, figsize: tuple[float, float] | None) -> list[Axes]:
    """Axes in a new figure; rows of them are laid out each by itself, with what stands around."""
    from matplotlib import pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    widths: Any
    widths, height, n_beside = (*size, 1)[:3]
    rows = [widths] if np.ndim(widths) == 1 else widths
    n_beside = min(n_beside, len(rows))
    n_below = -(-len(rows) // n_beside)
    ratios = [max(map(sum, rows[place::n_beside])) for place in range(n_beside)]
    whole: Any = plt.figure(
        figsize=figsize or (sum(ratios), n_below * height),
        layout=ConstrainedLayoutEngine(w_pad=LOOK.pad),
    )
    places = whole.add_gridspec(n_below, n_beside, width_ratios=ratios)
    every = [
        place.subgridspec(1, len(row), width_ratios=row).subplots(squeeze=False)[0]
        for place, row in zip(places, rows, strict=False)
    ]
    return [one for row in every for one in row]


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


def _look(font: float) -> Any:
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


def extent(ax: Axes) -> tuple[float, float]:
    """Return the width and the height that axes have in the layout of the figure, in points."""
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    scale = POINTS_OF_INCH / ax.figure.dpi
    return box.width * scale, box.height * scale


def ink() -> str:
    """Return the colour of text, in which lines are seen on the figures that the caller has."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def literal(name: object) -> str:
    """Return a name as scanpy shows it: with two dollars it would be a formula."""
    return str(name).replace("$", r"\$")


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


def _entitle(title: str, axes: Sequence[Axes], *, own: bool) -> None:
    """Put a title above the axes, or above the figure where it has several."""
    if own and len(axes) > 1:
        axes[0].figure.figure.suptitle(title, parse_math=False)
        return
    first = axes[0]
    named = [title, first.get_title()] if len(axes) > 1 else [title]
    first.set_title(
        "\n".join(filter(None, named)), pad=_above(first) + LOOK.title_pad, parse_math=False
    )
    _break(first.title, extent(first)[0])


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


def in_sample(*coordinates: NDArray[Any]) -> Index:
    """Return the places of the cells to draw: those with all coordinates, of many a sample."""
    there = [np.isfinite(one[:, :2]).all(axis=1) for one in coordinates]
    places = np.flatnonzero(np.logical_and.reduce(there))
    return np.asarray(places[evenly(len(places), MOST_POINTS)])


def of_all(n_drawn: int, n_cells: int) -> str:
    """Return what a caption says of a sample of the cells; nothing of all of them."""
    return f"{n_drawn:,} of {n_cells:,} cells" if n_drawn < n_cells else ""


def scatter(
    ax: Axes,
    cells: AnnData,
    coordinates: NDArray[Any],
    name: str,
    *,
    sharing: int = 1,
    **options: Any,
) -> None:
    """Draw cells as scanpy does, by coordinates; points are smaller in narrow axes.

    `sharing` is how many axes make room for one legend.
    """
    import scanpy as sc

    width = extent(ax)[0] / POINTS_OF_INCH
    cells.obsm["X_cells"] = coordinates
    with warnings.catch_warnings():
        # scanpy 1.11 sets colours of a colour map in a way that matplotlib 3.11 will drop
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        sc.pl.embedding(
            cells,
            "cells",
            size=LOOK.points / cells.n_obs * min(width / LOOK.full, 1.0) ** 2,
            ax=ax,
            show=False,
            **options,
        )
    ax.set(xlabel=f"{name} 1", ylabel=f"{name} 2")
    if cells.n_obs > LOOK.most_vectors:
        for points in ax.collections:
            points.set_rasterized(True)
    _legend_beside(ax, sharing)


def legend_width(names: Sequence[object], height: float) -> float:
    """Return the inches that axes are wider for the legend of groups."""
    if not len(names):
        return 0.0
    letters = min(max(len(str(one)) for one in names), LOOK.letters)
    column = LOOK.handle + letters * LOOK.letter * LOOK.small * LOOK.font / POINTS_OF_INCH
    n_columns = -(-len(names) // _rows_of_legend(height))
    return min(n_columns * column, LOOK.widest)


def _rows_of_legend(height: float) -> int:
    """Lines of a legend that is as high as its axes, in inches."""
    return max(int(height * POINTS_OF_INCH / (LOOK.spaced * LOOK.small * LOOK.font)), 1)


def _legend_beside(ax: Axes, sharing: int) -> None:
    """Draw scanpy's legend again where it leaves no room for the axes, which may share theirs.

    It has more columns, short names, or lacks the last groups, as it then says.
    """
    drawn = ax.get_legend()
    if drawn is None:
        return
    width, height = place(ax)
    room, dpi = sharing * (width - LOOK.least), ax.figure.dpi
    handles: list[Any] = [*drawn.legend_handles]
    names, n_rows = [text.get_text() for text in drawn.get_texts()], _rows_of_legend(height)
    most = -(-len(names) // n_rows)
    tries = [(most, LOOK.letters), *((number, LOOK.few_letters) for number in range(most, 0, -1))]
    for n_columns, letters in tries:
        box = drawn.get_window_extent()
        if box.width <= room * dpi and box.height <= height * dpi:
            return
        n_lines = min(len(names), n_columns * n_rows)
        n_shown = n_lines - (n_lines < len(names))  # the last line is of the others
        others = [f"and {len(names) - n_shown} more"] * (n_lines - n_shown)
        drawn = ax.legend(
            [*handles[:n_shown], *(ax.plot([], [], " ") if others else [])],
            [*short(names[:n_shown], letters), *others],
            loc="center left",
            bbox_to_anchor=(1, 0.5),
            ncols=n_columns,
            frameon=False,
            columnspacing=1.0,
            handletextpad=0.2,
        )


def colours(palette: Any, *defaults: str) -> list[Any]:
    """Return as many colours as there are defaults, which stand where `palette` is None."""
    if palette is None:
        return list(defaults)
    import matplotlib as mpl
    from matplotlib.colors import is_color_like

    number = len(defaults)
    if isinstance(palette, str) and palette in mpl.colormaps:
        found = mpl.colormaps[palette]
        listed = number <= found.N <= _LISTED
        return [found(place) for place in (range(number) if listed else np.linspace(0, 1, number))]
    given = [palette] if is_color_like(palette) else palette
    if np.ndim(given) == 0:
        raise InvalidType("palette", palette, "must be colours, or a colour map of matplotlib")
    if not all(is_color_like(one) for one in given):
        raise InvalidValue("palette", palette, "has something that is no colour")
    if len(given) < number:
        raise InvalidValue(
            "palette", NO_VALUE, f"has {len(given)} colours, and {number} are drawn", "give as many"
        )
    return list(given)[:number]


def colour_map(cmap: str | Colormap) -> Colormap:
    """Return a colour map of matplotlib by its name; one that is given is returned as it is."""
    import matplotlib as mpl
    from matplotlib.colors import Colormap

    if isinstance(cmap, Colormap):
        return cmap
    if not isinstance(cmap, str):
        raise InvalidType("cmap", cmap, "must be a colour map of matplotlib, or its name")
    if cmap not in mpl.colormaps:
        raise InvalidValue("cmap", cmap, "is no colour map of matplotlib")
    return mpl.colormaps[cmap]


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


def gene_names(adata: AnnData, genes: pd.Index, symbols: str | None) -> pd.Series:
    """Names to show of some genes, by their ``.var_names``."""
    return read.symbols(adata, symbols).fillna(adata.var_names.to_series()).loc[genes]
