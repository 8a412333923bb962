"""Plots of the evaluation of one panel, and of panels of every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks
from .._anndata import read, results
from ..errors import OBSM, InvalidValue, NotFound, arg, call, listed, shown
from ..measures.catalogue import measured
from ..measures.labels import READINGS, suffixed
from ._figure import (
    BLUE,
    GREY,
    VERMILLION,
    beside,
    colour_map,
    colours,
    in_sample,
    ink,
    legend,
    name_places,
    of_all,
    plot,
    right_axis,
    scatter,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from .._typing import Array
    from ._figure import Drawing

#: Points of random panels lie so far above and below one another.
_SPREAD = 0.24
_N_BINS = 25
_DASHED: dict[str, Any] = {"ls": "--", "marker": "s", "mfc": "white"}
#: Embeddings to look for, and names of their axes.
_BASES = {"X_umap": "UMAP", "X_pca": "PC"}


def preserved_label(entry: Mapping[str, Any]) -> str:
    """Return what ``preserved`` of a record is the share of: "structure preserved"."""
    return f"{results.preserved_of(entry).removeprefix('the ')} preserved"


def evaluation(adata: AnnData, key: str | None, holds: str = "kind") -> tuple[str, dict[str, Any]]:
    """Return a key and what ``tl.evaluate_panel`` wrote under it; None: the last that `holds`."""
    key = results.last(adata, "evaluation", key, holds=holds)
    return key, results.current(adata, key, "evaluation")


def read_by(entry: Mapping[str, Any], *readings: str) -> str:
    """Return how labels were read, by some readings or all, and of how many cells."""
    texts = readings_of(entry)
    return "; ".join(texts[reading] for reading in readings or texts)


def readings_of(entry: Mapping[str, Any], measure: str = "accuracy") -> dict[str, str]:
    """Return how labels, or domains, were read, by the readings in their order."""
    texts = entry["measures"].drop_duplicates("measure").set_index("measure")["reading"]
    named = {reading: suffixed(measure, reading) for reading in READINGS}
    return {reading: texts[name] for reading, name in named.items() if name in texts.index}


def named(reading: str) -> str:
    """Return what a reading is called: ``"15-NN"``."""
    return reading.partition(",")[0]


def labels_by(entry: Mapping[str, Any], reading: str, kind: str = "label") -> pd.DataFrame:
    """Return the scores of labels, or of domains, by a reading, by their names."""
    table = entry["per_label"]
    table = table[(table["kind"] == kind) & (table["reading"] == reading)]
    return table.set_index("label")


def by_label(adata: AnnData, key: str | None) -> dict[str, Any]:
    """Return what ``tl.evaluate_panel`` wrote with labels."""
    key, entry = evaluation(adata, key, "confusion")
    if "confusion" not in entry:
        raise NotFound(
            "key",
            key,
            "is of a panel that was evaluated without labels",
            f"run {call('tl.evaluate_panel')} with {arg('labels')}",
        )
    return entry


def _column(adata: AnnData, key: str, where: Literal["obs", "var"], name: str) -> pd.Series:
    """Return a column that ``tl.evaluate_panel`` wrote to ``.obs`` or ``.var``."""
    frame = getattr(adata, where)
    if f"{key}_{name}" not in frame:
        raise NotFound(
            "key", key, f"has no column {key}_{name}", f"run {call('tl.evaluate_panel')} again"
        )
    return frame[f"{key}_{name}"]


@plot
def preserved(
    adata: AnnData,
    *,
    key: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """Show the structure preserved by a panel, by random panels and by a selection of glfs_bio.

    All panels have the same size.  0 is no gene and 1 is all genes.  The grey area is above the
    upper bound: no panel of that size reaches it.

    Parameters
    ----------
    <adata with results> tl.evaluate_panel
    <key of the last> tl.evaluate_panel
    <ax>
    <title>
    <palette> the panel, the selection of glfs_bio, and random panels
    <figsize, show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel)
    >>> ax = glfs_bio.pl.preserved(adata, show=False)
    >>> [name.get_text() for name in ax.get_yticklabels()]
    ['this panel, 5 genes', 'selected by glfs_bio', 'random panels: mean, best']
    """
    chosen = colours(palette, VERMILLION, BLUE, GREY)
    key, entry = evaluation(adata, key)
    table = measured(entry)
    if "preserved" not in table.index or np.isnan(table.loc["preserved", "bound"]):
        raise InvalidValue(
            "key", key, "has no share of what the panel preserves, and nothing to compare it with"
        )
    strips, most = _strips(entry, *chosen), float(table.loc["preserved", "bound"])
    (ax,) = yield [6.6], 0.36 * len(strips) + 1.2
    for place, (values, style) in enumerate(strips.values()):
        spread = np.linspace(-_SPREAD, _SPREAD, values.size) if values.size > 1 else np.zeros(1)
        # next to one another, whatever their order
        across = place + np.random.default_rng(0).permutation(spread)
        ax.plot(values, across, ls="", clip_on=False, zorder=3, **style)
    ax.axvspan(most, 1.0, color=ink(), alpha=0.08, lw=0)
    ax.axvline(most, color=ink(), lw=1, ls="--")
    ax.set(xlim=(0, 1), xlabel=preserved_label(entry))
    ax.spines[["top", "right", "left"]].set_visible(False)
    size = name_places(ax, list(strips))
    beside(ax, [_value(values) for values, _ in strips.values()], size)
    ax.text(
        *(most, 1.02, f"upper bound {most:.2f}"),
        transform=ax.get_xaxis_transform(),
        ha="right" if most > 0.5 else "left",
        va="bottom",
        fontsize=size,
    )
    return ax


def _strips(
    entry: dict[str, Any], of_panel: Any, of_selection: Any, of_random: Any
) -> dict[str, tuple[Array, dict[str, Any]]]:
    """Rows of the plot: shares, and how their points look."""
    table = measured(entry)
    values = table["value"]
    own = {"marker": "D", "ms": 9, "color": of_panel}
    name = f"this panel, {table.loc['preserved', 'n_genes']} genes"
    strips = {name: (np.array([values["preserved"]]), own)}
    if "preserved_on_platform" in values.index:
        there = np.array([values["preserved_on_platform"]])
        strips["this panel, on the platform"] = there, own | {"mfc": "none", "mew": 1.5}
    every = entry["measures"]
    of_batches = every["value"][every["measure"] == "preserved_in_batch"].dropna().to_numpy()
    if of_batches.size:
        each = {"marker": "D", "ms": 5, "color": of_panel, "alpha": 0.7, "mew": 0}
        strips[f"this panel, in {of_batches.size} batches"] = of_batches, each
    if "best_preserved" in values.index:
        best = {"marker": "s", "ms": 8, "color": of_selection}
        strips["selected by glfs_bio"] = np.array([values["best_preserved"]]), best
    random = table.loc["preserved", ["random", "random_best"]].to_numpy(dtype=float)
    style = {"marker": "o", "ms": 4, "color": of_random, "alpha": 0.7, "mew": 0}
    strips["random panels: mean, best"] = random, style
    return strips


def _value(values: Array) -> str:
    """A share, or the range of several."""
    low, high = float(values.min()), float(values.max())
    return f"{high:.2f}" if values.size == 1 else f"{low:.2f}–{high:.2f}"


@plot
def labels(
    adata: AnnData,
    *,
    key: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """Bars of the recall of every label, the best first, with F1 and the number of cells.

    The recall of a label is the share of its cells whose label is predicted.  Bars and F1 are of
    the nearest cells, diamonds of LapRLS, if both have read the cells; the axis says how.  A label
    with a short bar and a diamond far to the right can be distinguished, but not by nearest cells.
    Rare labels, of at most 5 % of the cells, have another colour.  Grey are those of so few cells
    that no panel could predict them well.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `labels`.
    <key of the last> tl.evaluate_panel
    <ax>
    <title>
    <palette> labels, rare labels, and labels of too few cells
    <figsize, show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel, "bulk_labels")
    >>> ax = glfs_bio.pl.labels(adata, show=False)
    >>> len(ax.patches)
    10
    """
    usual, rare, few = colours(palette, BLUE, VERMILLION, GREY)
    entry = by_label(adata, key)
    (first, text), *others = readings_of(entry).items()
    called, n_genes = named(text), len(entry["genes"])
    table = labels_by(entry, first).sort_values("recall", ascending=False, kind="stable")
    is_few, is_rare = (table[name].to_numpy(dtype=bool) for name in ("too_few", "rare"))
    kinds = {
        "recall": (usual, ~is_rare & ~is_few),
        "recall, rare": (rare, is_rare & ~is_few),
        "recall, too few cells": (few, is_few),
    }
    place, recall = np.arange(len(table)), table["recall"].to_numpy()
    (ax,) = yield [6.2], 0.26 * len(table) + 1.4
    handles: list[Any] = [
        ax.barh(place[those], recall[those], height=0.72, color=colour, label=name)
        for name, (colour, those) in kinds.items()
        if those.any()
    ]
    style: dict[str, Any] = {"ls": "", "mec": ink(), "clip_on": False}
    f1 = table["f1"]
    handles += ax.plot(
        f1, place, marker="o", ms=5, mfc="white", zorder=4, label=f"F1, {called}", **style
    )
    for reading, name in others:
        values = labels_by(entry, reading)["recall"].loc[table.index]
        label = f"recall, {named(name)}"
        handles += ax.plot(
            values, place, marker="D", ms=4, mfc=ink(), zorder=5, label=label, **style
        )
    ax.set(
        xlim=(0, 1),
        xlabel=f"recall (bars: {called}) and F1, panel of {n_genes} genes; {read_by(entry)}",
    )
    ax.spines[["top", "right"]].set_visible(False)
    size = name_places(ax, list(table.index.astype(str)))
    beside(ax, [f"{n:,} cells" for n in table["n_cells"]], size)
    legend(ax, handles)
    return ax


@plot
def unexplained(
    adata: AnnData,
    *,
    key: str | None = None,
    basis: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    cmap: str | Colormap = "cividis",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """Show the cells, coloured by the variation of each that the panel leaves unexplained.

    The unit is that of a mean cell without any gene.  The colours end at the 99th percentile.  Of
    more than 100,000 cells so many are drawn, evenly over their order, as the title says.

    Parameters
    ----------
    <adata with results> tl.evaluate_panel
    <key of the last> tl.evaluate_panel
    basis : str, default None
        Key of ``.obsm``, with or without ``X_``.  None: ``X_umap``, or else ``X_pca``.
    <ax>
    <title>
    <cmap> "cividis"
    <figsize, show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel)
    >>> ax = glfs_bio.pl.unexplained(adata, show=False)
    >>> ax.get_xlabel()
    'UMAP 1'
    """
    of_values = colour_map(cmap)
    key, entry = evaluation(adata, key)
    found = _column(adata, key, "obs", "unexplained").to_numpy(dtype=float)
    checks.texts(basis=basis, or_none=True)
    candidates = tuple(_BASES) if basis is None else (basis, f"X_{basis}")
    name = next((one for one in candidates if one in adata.obsm), None)
    if name is None:
        raise NotFound(
            "basis",
            basis,
            f"is no embedding, as {OBSM} has none of {shown(*candidates)}",
            f"run scanpy.tl.umap, or choose from {listed(read.own_names(adata, 'obsm'))}",
        )
    where = np.asarray(adata.obsm[name])
    rows = in_sample(where)
    said = [f"unexplained, panel of {len(entry['genes'])} genes", of_all(len(rows), adata.n_obs)]
    (ax,) = yield [5.4], 4.2
    scatter(
        ax,
        AnnData(obs=pd.DataFrame({"unexplained": found[rows]}, index=adata.obs_names[rows])),
        where[rows, :2],
        _BASES.get(name, name.removeprefix("X_")),
        color="unexplained",
        color_map=of_values,
        vmin=0,
        vmax="p99",
        title=", ".join(filter(None, said)),
    )
    return ax


@plot
def imputation(
    adata: AnnData,
    *,
    key: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """Histogram of R² of the genes that are not in the panel, as the panel predicts them.

    R² is of what the structure of the cells explains of a gene.  The dotted line is the median.

    Parameters
    ----------
    <adata with results> tl.evaluate_panel
    <key of the last> tl.evaluate_panel
    <ax>
    <title>
    <palette> the bars
    <figsize, show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel)
    >>> ax = glfs_bio.pl.imputation(adata, show=False)
    >>> ax.get_ylabel()
    'number of genes'
    """
    (colour,) = colours(palette, BLUE)
    key, _ = evaluation(adata, key)
    found = _column(adata, key, "var", "r2").dropna().to_numpy(dtype=float)
    if not found.size:
        raise InvalidValue("key", key, "is of a panel that leaves no gene to be predicted")
    lowest, median = min(0.0, float(found.min())), float(np.median(found))
    (ax,) = yield [5.0], 3.4
    ax.hist(found, bins=_N_BINS, range=(lowest, 1.0), color=colour)
    line = ax.axvline(median, color=ink(), ls=":", label=f"median {median:.2f}")
    ax.set(xlabel=f"R² of {found.size:,} unmeasured genes", ylabel="number of genes")
    ax.set_xlim(lowest, 1.0)
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, [line])
    return ax


@plot
def curve(
    adata: AnnData,
    *,
    key: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """Draw the structure preserved against the number of genes.

    The band above the line ends at the upper bound: no panel of that size preserves more.  Where
    labels were predicted, accuracy and macro-F1 of each reading of the cells are on a second axis
    on the right, which says how they were read.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `sizes`.
    <key of the last> tl.evaluate_panel
    <ax>
    <title>
    <palette> the structure preserved, and the labels by each reading
    <figsize, show, save>

    <returned axes> the axes of the structure preserved

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, 20)
    >>> glfs_bio.tl.evaluate_panel(adata, sizes=[1, 2, 5, 10], measures="preserved")
    >>> ax = glfs_bio.pl.curve(adata, show=False)
    >>> ax.get_xlabel()
    'number of genes'
    """
    of_panel, *of_readings = colours(palette, BLUE, VERMILLION, GREY)
    from matplotlib import ticker

    key, entry = evaluation(adata, key)
    every = entry["measures"]
    by_size = {
        name: table.sort_values("n_genes").set_index("n_genes")
        for name, table in every.groupby("measure")
    }
    if "preserved" not in by_size or len(by_size["preserved"]) < 2:
        raise NotFound(
            "key",
            key,
            "is of one size",
            f"run {call('tl.evaluate_panel')} with {arg('sizes')}",
        )
    sizes = by_size["preserved"].index.to_numpy()
    preserved, most = (by_size["preserved"][name].to_numpy() for name in ("value", "bound"))
    (ax,) = yield [5.8], 3.8
    handles: list[Any] = ax.plot(
        sizes, preserved, color=of_panel, lw=2, zorder=3, label="preserved"
    )
    if np.isfinite(most).any():
        band = ax.fill_between(sizes, preserved, most, color=of_panel, alpha=0.25, lw=0)
        band.set_label("up to the upper bound")
        handles.append(band)
    ax.set_ylabel(preserved_label(entry), color=of_panel)
    ax.tick_params(axis="y", colors=of_panel)
    ax.set(xlabel="number of genes", xlim=(0, 1.02 * sizes[-1]), ylim=(0, 1.02))
    ax.xaxis.set_major_locator(ticker.MaxNLocator("auto", integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    if readings := readings_of(entry):
        right = right_axis(ax, f"labels; {read_by(entry)}", of_readings[0])
        right.set_ylim(0, 1.02)
        for (reading, text), colour in zip(readings.items(), of_readings, strict=False):
            lines: dict[str, Any] = {"accuracy": {"ls": "-", "marker": "o"}, "macro_f1": _DASHED}
            for name, line in lines.items():
                if (measure := suffixed(name, reading)) in by_size:
                    values = by_size[measure]["value"]
                    label = f"{name.replace('_f1', '-F1')}, {named(text)}"
                    handles += right.plot(values, label=label, ms=4, lw=1, color=colour, **line)
    legend(ax, handles)
    return ax
