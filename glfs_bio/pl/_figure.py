"""What pictures share: their last parameters, a figure and its end, bars and rows with names.

matplotlib and scanpy are imported where they are used, so that ``import glfs_bio`` stays fast.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from .. import checks
from .._anndata import provenance
from .._extras import needs
from .._files import as_path, replacing
from ..errors import NO_VALUE, InvalidType, InvalidValue, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes

    from .._typing import Array, Index

# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#8C8C8C"
# Paul Tol's "muted" scheme, likewise, and black.
MUTED = (
    *("#332288", "#88CCEE", "#44AA99", "#117733", "#999933"),
    *("#DDCC77", "#CC6677", "#882255", "#AA4499", "#000000"),
)
_DPI = 150
#: What figures have whatever ``scanpy.settings.set_figure_params`` chose: sizes are in inches, so
#: that larger letters would collide, and a grid would lie over bars and numbers.
_LOOK: dict[Any, Any] = {
    "axes.grid": False,
    "font.size": 10,
    "axes.labelsize": "medium",
    "axes.titlesize": "large",
    "xtick.labelsize": "medium",
    "ytick.labelsize": "medium",
}
_PAD = 0.1
_POINTS_OF_INCH = 72.0
#: Characters of a label that there is room for.
_LETTERS = 32
#: What the measures of a panel are called, in the order to show them.
MEASURES = {
    "preserved": "structure preserved",
    "preserved_on_platform": "structure preserved on the platform",
    "optimality": "optimality, at least",
    "knn_preservation": "kNN preservation",
    "cluster_preservation_coarse": "cluster preservation, coarse",
    "cluster_preservation_fine": "cluster preservation, fine",
    "accuracy": "accuracy of labels",
    "accuracy_all_genes": "accuracy of labels, by all genes",
    "macro_f1": "macro-F1 of labels",
    "rare_f1": "F1 of rare labels",
    "imputed": "R² of unmeasured genes, median",
    "counts_spearman": "follows total counts",
    "n_genes": "genes",
    "n_effective": "effective number of genes",
    "mean_correlation": "correlation between its genes",
    "counts_share": "share of all counts",
}
Drawn = TypeVar("Drawn")
Drawing = TypeVar("Drawing", bound="Callable[..., Any]")
#: What the documentation of pictures has in common, by the words that stand for it there.
_SHARED = {
    "<show, save>": """\
show
    Whether to show the figure and return nothing.  None: ``scanpy.settings.autoshow``, unless `ax`
    or `save` is given.
save
    File to write; True, or a bare ending like ``".pdf"``: a file in ``scanpy.settings.figdir``.
""",
    "<symbols>": """\
symbols
    Column of ``.var`` with the names to show; genes without one go by their ``.var_names``.
""",
}


def documented(draw: Drawing) -> Drawing:
    """Put the texts of the parameters that pictures share into a docstring."""
    lines = []
    for line in (draw.__doc__ or "").splitlines(keepends=True):
        shared = _SHARED.get(line.strip())
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(line if shared is None else textwrap.indent(shared, indent))
    draw.__doc__ = "".join(lines)
    return draw


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
        raise InvalidValue(
            *("save", str(save), "has an unknown ending", "use one of {formats}"),
            formats=tuple(f".{name}" for name in sorted(formats)),
        )


def _bare(save: str | Path) -> bool:
    """Whether it is an ending only, like ``".pdf"``."""
    return str(save).startswith(".") and Path(save).suffix == ""


def figure(ax: Any, widths: Sequence[float], height: float) -> list[Axes]:
    """Return the caller's axes, or where there are none axes beside one another in a new figure.

    Parameters
    ----------
    ax
        Axes of the caller, as many as there are widths; None: a new figure.
    widths, height
        Inches.

    Raises
    ------
    TypeError, ValueError
        Something else than axes, or another number of them.
    """
    if ax is not None:
        return _given(ax, len(widths))
    from matplotlib import pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with plt.rc_context(_LOOK):
        _, axes = plt.subplots(
            1,
            len(widths),
            figsize=(sum(widths), height),
            layout=ConstrainedLayoutEngine(w_pad=_PAD),
            squeeze=False,
            width_ratios=widths,
        )
    return list(axes.ravel())


def _given(ax: Any, number: int) -> list[Axes]:
    from matplotlib.axes import Axes

    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if not all(isinstance(one, Axes) for one in axes):
        raise InvalidType("ax", ax, "must be matplotlib axes")
    if len(axes) != number:
        raise InvalidValue(
            *("ax", NO_VALUE, "has {given} axes, and {number} are drawn", "give as many"),
            given=len(axes),
            number=number,
        )
    return axes


def finish(
    axes: Sequence[Axes],
    name: str,
    drawn: Drawn,
    *,
    show: bool | None,
    save: str | Path | bool | None,
    own: bool,
) -> Drawn | None:
    """Save and show the figure, and return what was drawn, or None where it was shown.

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
        return None
    return drawn


def one_or_list(axes: Sequence[Axes]) -> Axes | list[Axes]:
    """The axes if there is one, a list if there are more."""
    return axes[0] if len(axes) == 1 else list(axes)


@dataclass(frozen=True)
class Bars:
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


BARS = Bars()


def bars_size(n_bars: int) -> tuple[list[float], float]:
    """Return the widths of the columns, and the height, of so many bars; in inches."""
    columns = [BARS.width] * -(-n_bars // BARS.per_column)
    return columns, max(BARS.bar * min(n_bars, BARS.per_column) + BARS.margin, BARS.least)


def draw_bars(
    axes: Sequence[Axes], names: Sequence[str], values: Sequence[float], label: str
) -> None:
    """Draw bars from the top of the first column to the foot of the last."""
    rows = -(-len(names) // len(axes))
    tiny = np.finfo(float).tiny
    lowest, largest = min(float(np.min(values)), 0.0), max(float(np.max(values)), 0.0)
    largest = largest if largest > lowest else tiny
    smallest = float(np.min(values, where=np.asarray(values) > tiny, initial=largest))
    wide = len(axes) > 1 and lowest == 0 and largest > BARS.wide * smallest
    for i, ax in enumerate(axes):
        part = slice(i * rows, (i + 1) * rows)
        place = np.arange(len(names[part]))
        ax.barh(place, values[part], height=BARS.thickness, color=BLUE)
        _names(ax, place, names[part], rows)
        ax.set(ylim=(rows - 0.4, -0.6), xlim=(1.05 * lowest, 1.05 * largest), xlabel=label)
        if wide:
            ax.set(xscale="log", xlim=(smallest / 2, 1.5 * largest), xlabel=f"{label}, log scale")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)


def _names(ax: Axes, place: Index, names: Sequence[str], rows: int) -> None:
    """Names as large as the bars allow; where that is too small to read, every so many."""
    extent = ax.get_window_extent().height / ax.figure.dpi * _POINTS_OF_INCH
    size = min(BARS.line * extent / (rows + 0.2), BARS.font)
    step = int(np.ceil(BARS.smallest_font / size))
    short = [
        name if len(name) <= BARS.letters else name[: BARS.letters - 1] + "…" for name in names
    ]
    # a name with two dollars is no formula
    ax.set_yticks(
        place[::step], short[::step], fontsize=max(size, BARS.smallest_font), parse_math=False
    )


def evaluation(adata: AnnData, key: str) -> dict[str, Any]:
    """Return what ``tl.evaluate_panel`` wrote.

    Raises
    ------
    KeyError
        It is not there.
    """
    return provenance.result(
        adata, key, "tl.evaluate_panel", "n_genes", "preserved", "most_preserved"
    )


def by_label(adata: AnnData, key: str) -> tuple[pd.DataFrame, Array]:
    """Return ``per_label`` and ``confusion`` of ``tl.evaluate_panel``, in one order.

    Raises
    ------
    KeyError
        The panel was not evaluated, or without labels.
    """
    entry = evaluation(adata, key)
    if "per_label" not in entry:
        raise NotFound(
            "key",
            key,
            "is of a panel that was evaluated without labels",
            "run {call:tl.evaluate_panel} with {arg:labels}",
        )
    return entry["per_label"], np.asarray(entry["confusion"], dtype=float)


def column(adata: AnnData, key: str, where: Literal["obs", "var"], name: str) -> pd.Series:
    """Return a column that ``tl.evaluate_panel`` wrote to ``.obs`` or ``.var``.

    Raises
    ------
    KeyError
        It is not there.
    """
    evaluation(adata, key)
    frame = getattr(adata, where)
    if f"{key}_{name}" not in frame:
        raise NotFound(
            *("key", key, "has no column {column}", "run {call:tl.evaluate_panel} again"),
            column=f"{key}_{name}",
        )
    return frame[f"{key}_{name}"]


def short(names: Sequence[str], letters: int = _LETTERS) -> list[str]:
    """Cut long names in the middle: both ends may tell them from others."""
    tail = letters // 3
    return [
        name if len(name) <= letters else f"{name[: letters - tail - 1]}…{name[-tail:]}"
        for name in names
    ]


def rows(ax: Axes, names: Sequence[str], beside: Sequence[str], size: float = 9.0) -> None:
    """Name the rows of a picture from the top on the left, and tell a value of each on the right.

    A label with two dollars is no formula.
    """
    ax.set_yticks(range(len(names)), short(names), fontsize=size, parse_math=False)
    ax.set(ylim=(len(names) - 0.4, -0.6))
    ax.tick_params(axis="y", length=0)
    for place, text in enumerate(beside):
        ax.text(
            *(1.02, place, text),
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=size,
            parse_math=False,
        )
