"""What every picture shares: colours, a figure, and what happens to it at the end.

matplotlib and scanpy are imported where they are used, so that ``import glfs_bio`` stays fast.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._extras import needs
from .._files import as_path, replacing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#8C8C8C"
# Paul Tol's "muted" scheme, likewise, and black.
MUTED = (
    *("#332288", "#88CCEE", "#44AA99", "#117733", "#999933"),
    *("#DDCC77", "#CC6677", "#882255", "#AA4499", "#000000"),
)
_DPI = 150
_PAD = 0.1


def row(widths: Sequence[float], height: float) -> list[Axes]:
    """Axes beside one another in a new figure; sizes in inches."""
    from matplotlib import pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    _, axes = plt.subplots(
        1,
        len(widths),
        figsize=(sum(widths), height),
        layout=ConstrainedLayoutEngine(w_pad=_PAD),
        squeeze=False,
        width_ratios=widths,
    )
    return list(axes.ravel())


def given(ax: Any, number: int) -> list[Axes]:
    """Axes of the caller, so many.

    Raises
    ------
    TypeError, ValueError
        Something else, or another number.
    """
    from matplotlib.axes import Axes

    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if not all(isinstance(one, Axes) for one in axes):
        msg = f"ax={ax!r} must be matplotlib axes."
        raise TypeError(msg)
    if len(axes) != number:
        msg = f"ax has {len(axes)} axes, but there are {number} panels to draw."
        raise ValueError(msg)
    return axes


def check_ends(show: bool | None, save: str | Path | bool | None) -> None:
    """Refuse, before anything is drawn, what :func:`finish` could not do.

    Raises
    ------
    ImportError
        No ``matplotlib`` or ``scanpy``, which come with the extra ``scanpy``.
    TypeError, ValueError
        `show` is not True, False or None; `save` is no path, or of a format that is not known.
    """
    needs("A picture", "matplotlib", "scanpy")
    if show is not None:
        checks.flags(show=show)
    if not save or save is True:
        return
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    path = as_path(save, "save")
    ending = path.name if _bare(save) else path.suffix
    if ending.lower().lstrip(".") not in formats:
        msg = f"save={str(save)!r} must end with one of .{', .'.join(sorted(formats))}."
        raise ValueError(msg)


def _bare(save: str | Path) -> bool:
    """Whether it is an ending only, like ``".pdf"``."""
    return str(save).startswith(".") and Path(save).suffix == ""


def finish(
    axes: Sequence[Axes],
    name: str,
    *,
    show: bool | None,
    save: str | Path | bool | None,
    own: bool = True,
) -> bool:
    """Save and show the figure; whether it was shown, so that there is nothing to hand back.

    `own` says whether the figure is ours to show when the caller does not say.
    """
    from matplotlib import pyplot as plt
    from scanpy import settings

    if save:
        target = Path(settings.figdir) / f"glfs_{name}.{settings.file_format_figs}"
        if save is not True:
            target = target.with_suffix(str(save)) if _bare(save) else Path(save)
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target, overwrite=True) as file:
            axes[0].figure.figure.savefig(file, bbox_inches="tight", dpi=_DPI)
    if show or (show is None and own and not save and settings.autoshow):
        plt.show()
        return True
    return False


def one_or_list(axes: Sequence[Axes]) -> Axes | list[Axes]:
    """The axes if there is one, a list if there are more."""
    return axes[0] if len(axes) == 1 else list(axes)
