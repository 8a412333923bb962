"""Colours of plots, and those that a caller asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NO_VALUE, InvalidType, InvalidValue

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

# Okabe and Ito's colours, which colour-blind readers can distinguish.
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#8C8C8C"
# Paul Tol's "muted" scheme, likewise, and black.
MUTED = (
    *("#332288", "#88CCEE", "#44AA99", "#117733", "#999933"),
    *("#DDCC77", "#CC6677", "#882255", "#AA4499", "#000000"),
)
#: The longest list of separate colours among the maps of matplotlib.
_LISTED = 20


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
