"""The figure of a plot: its axes, names of rows, legend and colours; and how it is saved and shown.

matplotlib and scanpy are imported where they are used, so that ``import glfs_bio`` stays fast.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .. import checks
from .._docs import Function, documented
from .._extras import needs
from .._files import as_path, replacing
from ..errors import InvalidType, InvalidValue, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

# Okabe and Ito's colours, which colour-blind readers can distinguish.
BLUE, VERMILLION, GREY, GREEN, PURPLE = "#0072B2", "#D55E00", "#8C8C8C", "#009E73", "#CC79A7"
#: Points of the names of rows and of numbers, and dots per inch of a file.
SMALL, _DPI = 9, 150


def plot(draw: Function) -> Function:
    """Make a plot of a function that draws and returns axes: its figure is saved and shown.

    It then returns None where the figure was shown.
    """
    checked = documented(draw)

    @wraps(draw)
    def drawn(*args: Any, **options: Any) -> Any:
        needs("A plot", "matplotlib", "scanpy")
        from matplotlib import pyplot as plt
        from matplotlib.axes import Axes
        from matplotlib.backend_bases import FigureCanvasBase
        from scanpy import settings

        ax, show, save = (options.get(name) for name in ("ax", "show", "save"))
        if ax is not None and not isinstance(ax, Axes):
            raise InvalidType(f"`ax={short(ax)}` must be matplotlib axes")
        checks.flags(show=show or False)
        file = None if save is None else as_path(save, "save")
        if file and file.suffix[1:].lower() not in FigureCanvasBase.get_supported_filetypes():
            raise InvalidValue(
                f"`save={short(str(save))}` has an unknown ending: use .png, .pdf or .svg"
            )
        axes = checked(*args, **options)
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file, overwrite=True) as temporary:
                np.ravel(axes)[0].figure.savefig(temporary, bbox_inches="tight", dpi=_DPI)
        if show or (show is None and ax is None and file is None and settings.autoshow):
            plt.show()
            return None
        return axes

    return cast("Function", drawn)


def new_axes(width: float, height: float, n_rows: int = 1, ratios: Sequence[float] = (1,)) -> Any:
    """Return axes of a new figure, without a grid, shape (n_rows, len(ratios))."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(n_rows, len(ratios), squeeze=False, width_ratios=ratios)
    for ax in axes.flat:
        ax.grid(False)
    return axes


def name_rows(ax: Axes, names: Sequence[str], texts: Sequence[str] = ()) -> None:
    """Name rows from the top, as the names are, with texts on the right."""
    ax.set_yticks(range(len(names)), names, fontsize=SMALL, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right"]].set_visible(False)
    transform = ax.get_yaxis_transform()
    for row, text in enumerate(texts):
        ax.text(1.01, row, text, transform=transform, va="center", size=SMALL, parse_math=False)


def legend(ax: Axes, handles: Sequence[Any], names: Sequence[object], **options: Any) -> None:
    """Name handles on the right of axes, as the names are: also `_a` and `$a$`."""
    position = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False}
    drawn = ax.legend(handles, [""] * len(handles), fontsize=SMALL, **{**position, **options})
    texts = [*drawn.get_texts(), drawn.get_title()]
    for text, name in zip(texts, [*names, options.get("title", "")], strict=True):
        text.set(text=str(name), parse_math=False)


def colours(palette: Any, defaults: Any) -> list[Any]:
    """Return a colour for each default: of a colour map, of a list, or the default."""
    import matplotlib as mpl
    from matplotlib.colors import is_color_like

    palette = defaults if palette is None else palette
    if isinstance(palette, str) and palette in mpl.color_sequences:
        palette = mpl.color_sequences[palette]
    elif isinstance(palette, str) and palette in mpl.colormaps:
        return list(mpl.colormaps[palette](np.linspace(0, 1, len(defaults))))
    is_list = np.iterable(palette) and not is_color_like(palette)
    shades = list(palette) if is_list else [palette]
    if len(shades) < len(defaults) or not all(map(is_color_like, shades)):
        raise InvalidValue(
            f"`palette={short(palette)}` must be {len(defaults)} colours, or a colour map"
        )
    return shades[: len(defaults)]


def colour_map(color_map: str | Colormap) -> Colormap:
    """Return a colour map of matplotlib by its name."""
    import matplotlib as mpl

    if not isinstance(color_map, mpl.colors.Colormap) and color_map not in list(mpl.colormaps):
        raise InvalidValue(f"`color_map={short(color_map)}` is no colour map of matplotlib")
    return mpl.colormaps.get_cmap(color_map)
