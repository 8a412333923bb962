"""The figure of a plot: its axes, names of rows, legend and colours; and how it is saved and shown.

matplotlib and scanpy are imported where they are used, so that ``import glfs_bio`` stays fast.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .. import checks
from .._docs import Function, documented
from .._files import as_path, replacing
from ..checks import needs
from ..errors import InvalidType, InvalidValue, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
# Okabe and Ito's colours, which colour-blind readers can distinguish.
BLUE, VERMILLION, GREY, GREEN, PURPLE = "#0072B2", "#D55E00", "#8C8C8C", "#009E73", "#CC79A7"
#: Points of the names of rows and of numbers, and dots per inch of a file.
SMALL, _DPI = 9, 150
#: Where a legend is: on the right of the axes, or above them.
RIGHT: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
ABOVE: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 2}


def plot(draw: Function) -> Function:
    """Make a plot of a function that draws and returns axes: it checks, saves and shows."""
    signature = inspect.signature(draw)

    @wraps(draw)
    def drawn(*args: Any, **options: Any) -> Any:
        needs("A plot", "matplotlib", "scanpy")
        from matplotlib import colormaps, rc_context
        from matplotlib import pyplot as plt
        from matplotlib.axes import Axes
        from matplotlib.backend_bases import FigureCanvasBase
        from matplotlib.colors import Colormap
        from scanpy import settings

        arguments = signature.bind(*args, **options).arguments
        ax, show, save, color_map = map(arguments.get, ("ax", "show", "save", "color_map"))
        if ax is not None and not isinstance(ax, Axes):
            raise InvalidType(f"`ax={short(ax)}` must be matplotlib axes")
        checks.flags(show=show or False)
        checks.whole_number("n_genes", arguments.get("n_genes"), at_least=1, or_none=True)
        if not isinstance(color_map, Colormap) and color_map not in (None, *colormaps):
            raise InvalidValue(f"`color_map={short(color_map)}` is no colour map of matplotlib")
        file = None if save is None else as_path(save, "save")
        if file and file.suffix[1:].lower() not in FigureCanvasBase.get_supported_filetypes():
            raise InvalidValue(f"`save={short(str(save))}` has an unknown ending: use .png or .pdf")
        with rc_context({"axes.grid": False, "legend.handlelength": 1.2}):
            axes = draw(*args, **options)
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file, overwrite=True) as temporary:
                np.ravel(axes)[0].figure.savefig(temporary, bbox_inches="tight", dpi=_DPI)
        if show or (show is None and ax is None and file is None and settings.autoshow):
            plt.show()
            return None
        return axes

    return cast("Function", documented(drawn))


def new_axes(width: float, height: float, n_rows: int = 1, ratios: Sequence[float] = (1,)) -> Any:
    """Return axes of a new figure, shape (n_rows, len(ratios))."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(width, height), layout="constrained")
    return figure.subplots(n_rows, len(ratios), squeeze=False, width_ratios=ratios)


def name_rows(ax: Axes, names: Any, texts: Any = (), shades: Any = ()) -> None:
    """Name rows from the top, as the names are, with texts on the right; some have a colour."""
    ax.set_yticks(range(len(names)), names, fontsize=SMALL, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right"]].set_visible(False)
    transform = ax.get_yaxis_transform()
    for row, text in enumerate(texts):
        ax.text(1.01, row, text, transform=transform, va="center", size=SMALL, parse_math=False)
    for label, shade in zip(ax.get_yticklabels(), shades, strict=False):
        label.set_color(shade or label.get_color())


def legend(ax: Axes, handles: dict[str, Any], title: str = "", **options: Any) -> None:
    """Show handles by their names, as these are, also `_a` and `$a$`: on the right of the axes."""
    look = {"frameon": False, "fontsize": SMALL, "title_fontsize": SMALL, **RIGHT, **options}
    drawn = ax.legend(list(handles.values()), [""] * len(handles), title=title, **look)
    for text, name in zip([*drawn.get_texts(), drawn.get_title()], [*handles, title], strict=True):
        text.set(text=name, parse_math=False)


def colours(palette: Any, defaults: Any) -> list[Any]:
    """Return a colour for each default: of a list, of a colour map, or the default."""
    import matplotlib as mpl
    from matplotlib.colors import Colormap, is_color_like

    shades = defaults if palette is None else palette
    if isinstance(shades, str):
        shades = mpl.color_sequences.get(shades, mpl.colormaps.get(shades, shades))
    if isinstance(shades, Colormap):
        shades = shades(np.linspace(0, 1, len(defaults)))
    shades = list(shades) if np.iterable(shades) and not is_color_like(shades) else [shades]
    if len(shades) < len(defaults) or not all(map(is_color_like, shades)):
        raise InvalidValue(f"`palette={short(palette)}` must be {len(defaults)} colours, or a map")
    return shades[: len(defaults)]
