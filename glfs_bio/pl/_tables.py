"""Tables drawn: measures of panels, labels that one confuses, genes that panels share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import results
from .._extras import needs
from ..measures import catalogue
from ._evaluation import by_label, labels_by, read_by, readings_of
from ._figure import (
    BLUE,
    LOOK,
    colour_bar,
    colour_map,
    colours,
    extent,
    literal,
    name_places,
    plot,
    short,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from .._typing import Array
    from ._figure import Drawing

#: Letters of the name of a panel; smaller shares of a label have no number.
_LETTERS, _LEAST = 24, 0.005
#: Inches around an UpSet plot, for a title.
_MARGIN = 0.4
#: Luminance of a colour below which a number on it is white, and the lines between cells.
_DARK, _LINES = 0.5, "#E6E6E6"


@plot
def comparison(
    adata: AnnData,
    *,
    key: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    cmap: str | Colormap = "Blues",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """Heat map of the measures of two or more panels, with their values.

    Colours are from 0 to 1, and the best panel by each measure is bold.  Below are measures that
    are better neither high nor low, without a colour.  The axis says how labels were read.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote of several panels.
    <key of the last> tl.evaluate_panel
    <ax>
    <title>
    <cmap> "Blues"
    <figsize, show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panels = {"ours": ["CD3D", "CD79A", "NKG7"], "theirs": ["CD3D", "LYZ", "GNLY"]}
    >>> glfs_bio.tl.evaluate_panel(adata, panels)
    >>> ax = glfs_bio.pl.comparison(adata, show=False)
    >>> [name.get_text() for name in ax.get_xticklabels()]
    ['ours', 'theirs']
    """
    of_shares = colour_map(cmap)
    entry = results.current(adata, results.last(adata, "comparison", key), "comparison")
    every = entry["measures"]
    largest = every.groupby("panel")["n_genes"].transform("max")
    every = every[(every["n_genes"] == largest) & (every["measure"] != "preserved_in_batch")]
    table = every.pivot(index="measure", columns="panel", values="value").dropna(how="all")
    table = table.loc[[name for name in every["measure"].unique() if name in table.index]]
    table = table[every["panel"].unique()]
    measures = sorted(table.index, key=lambda name: name in catalogue.NUMBERS)
    values = table.loc[measures].to_numpy()
    is_share = np.array([name not in catalogue.NUMBERS for name in measures])
    texts = _texts(values)
    best = [
        [share and len(set(row)) > 1 and text == row[int(np.nanargmax(of_row))] for text in row]
        for share, row, of_row in zip(is_share, texts, values, strict=True)
    ]
    names, readings = short(list(table.columns.astype(str)), _LETTERS), readings_of(entry)
    (ax,) = yield [0.8 * len(names) + 3.0], 0.3 * len(measures) + (2.3 if readings else 1.7)
    if readings:
        ax.set_xlabel(f"labels: {read_by(entry)}")
    _heat_map(
        ax,
        np.where(is_share[:, None], values, np.nan),
        [name.replace("_", " ") for name in measures],
        names,
        texts,
        of_shares,
        bar="measure",
        bold=best,
    )
    ax.spines[:].set_visible(False)
    return ax


def _texts(values: Array) -> list[list[str]]:
    """Values as they are shown: shares with two digits, numbers of genes with at most one."""
    return [
        [_text(value, 2 if top <= 1 else 1) for value in row]
        for row, top in zip(values, np.nanmax(values, axis=1), strict=True)
    ]


def _text(value: float, digits: int) -> str:
    if np.isnan(value):
        return ""
    text = f"{value:,.{digits}f}"
    return text.removesuffix(".0") if digits == 1 else text


@plot
def confusion(
    adata: AnnData,
    *,
    key: str | None = None,
    reading: Literal["knn", "laprls"] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    cmap: str | Colormap = "Blues",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """Heat map of the labels that the panel predicts for the cells of each label.

    Every row adds up to 100 % of the cells of a label.  The recall is on the diagonal.  Numbers are
    per cent; shares below 0.5 % have none.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `labels`.
    <key of the last> tl.evaluate_panel
    reading : {"knn", "laprls"}, default None
        Prediction of the labels: by nearest cells, or by LapRLS.  None: the first of the
        evaluation.  The axis says which.
    <ax>
    <title>
    <cmap> "Blues"
    <figsize, show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel, "bulk_labels")
    >>> ax = glfs_bio.pl.confusion(adata, show=False)
    >>> ax.images[0].get_array().shape
    (10, 10)
    """
    of_shares = colour_map(cmap)
    entry = by_label(adata, key)
    readings = list(readings_of(entry))
    by: str = readings[0] if reading is None else reading
    checks.one_of("reading", by, readings)
    names = list(labels_by(entry, by).index)
    table = entry["confusion"][entry["confusion"]["reading"] == by]
    counts = table.pivot(index="label", columns="predicted", values="n_cells")
    counts = counts.loc[names, names].to_numpy(dtype=float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    texts = [[f"{100 * share:.0f}" if share >= _LEAST else "" for share in row] for row in shares]
    size = max(0.32 * len(counts), 2.6)
    (ax,) = yield [size + 2.4], size + 2.2
    ax.set(
        xlabel=f"predicted label, % of the cells; {read_by(entry, by)}",
        ylabel="label",
    )
    _heat_map(ax, shares, names, names, texts, of_shares, bar="share of the cells of a label")
    return ax


@plot
def upset(
    adata: AnnData,
    *,
    key: str | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """UpSet plot of the genes that panels share, drawn by marsilea.

    A column is a combination of panels, with the number of genes that these have and no other
    panel, the most first.  Bars on the left are the sizes of the panels.  It needs marsilea: ``pip
    install 'glfs-bio[upset]'``.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote of several panels.
    <key of the last> tl.evaluate_panel
    <title>
    <palette> all of it
    <figsize, show, save>

    <returned axes> the axes of the combinations

    See Also
    --------
    comparison : Plot the measures of the panels.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panels = {"ours": ["CD3D", "CD79A", "NKG7"], "theirs": ["CD3D", "LYZ", "GNLY"]}
    >>> glfs_bio.tl.evaluate_panel(adata, panels)
    >>> ax = glfs_bio.pl.upset(adata, show=False)
    >>> len(ax.figure.axes)
    4
    """
    needs("An UpSet plot", "marsilea")
    (colour,) = colours(palette, BLUE)
    entry = results.current(adata, results.last(adata, "comparison", key), "comparison")
    panels, genes = entry["genes"]["panel"], entry["genes"]["gene"]
    members = pd.crosstab(genes, panels)[panels.unique()]
    members.columns = [literal(name) for name in short(list(members.columns), _LETTERS)]
    yield None
    from marsilea.upset import Upset, UpsetData
    from matplotlib import pyplot as plt

    figure = plt.figure(layout="none")
    board = Upset(
        UpsetData(members),
        sets_order=list(members.columns),
        sort_subsets="-cardinality",
        color=colour,
        intersection_kws={"label": "genes"},
    )
    board.set_margin(_MARGIN)
    board.render(figure)
    if figsize is not None:
        figure.set_size_inches(figsize)
    main: Axes = board.get_main_ax()
    return main


def _heat_map(
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
    """Draw shares from 0 to 1 with their values; a colour bar where there is no room for these.

    Shares and texts have the shape (rows, columns); a share that is no number has no colour.
    """
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
        if np.isfinite(share):
            options["color"] = "white" if _luminance(cmap(share)) < _DARK else "black"
        ax.text(
            *(j, i, texts[i][j]),
            ha="center",
            va="center",
            fontsize=size,
            **options,
        )


def _luminance(colour: tuple[float, ...]) -> float:
    red, green, blue, _ = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue
