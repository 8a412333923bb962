"""The results of a panel: its curve, its labels, panels side by side, and its stability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import read, results, stale
from ..errors import InvalidValue, short
from ..measures.catalogue import NUMBERS
from ._figure import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    SMALL,
    VERMILLION,
    colour_map,
    colours,
    legend,
    name_rows,
    new_axes,
    plot,
)
from ._panel import bars, columns_of_bars

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from .._typing import Array

#: What readings of labels are called.
READINGS = {"knn": "nearest cells", "laprls": "LapRLS"}
#: Shares of a label below this have no number, and letters on colours darker than this are white.
_LEAST, _DARK = 0.005, 0.5


@plot
def curve(
    adata: AnnData,
    *,
    key: str | None = None,
    palette: str | Sequence[str] | None = None,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes:
    """Draw the structure preserved against the number of genes.

    The dashed line is the upper bound: no panel of that size preserves more.  Random panels of the
    same sizes, and accuracy and macro-F1 of labels, are drawn where the panel was evaluated.  The
    number of genes that was selected is dotted.  Several panels have a colour each.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with a selection or an evaluation.
    key : str, default None
        Key of a selection, or of a result of :func:`~glfs_bio.tl.evaluate_panel`.  None: that of
        the selection, else of the last evaluation.
    <palette> the structure preserved, random panels, accuracy and macro-F1, or several panels
    <ax>
    <show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.curve(adata, show=False)
    >>> ax.get_xlabel()
    'number of genes'
    """
    from matplotlib.ticker import MaxNLocator

    table, selected, target = _by_size(adata, key)
    panels = list(table["panel"].unique())
    shades = colours(palette, np.resize([BLUE, GREY, VERMILLION, PURPLE, GREEN], 4 + len(panels)))
    if len(panels) == 1:
        lines = [
            ("preserved", "value", f"{target} preserved", "o-", shades[0]),
            ("preserved", "bound", "upper bound", "_--", shades[0]),
            ("preserved", "random", "random panels", "x:", shades[1]),
        ]
        for end, marker in (("", "s-"), ("_laprls", "D-")):
            for measure, shade in zip(("accuracy", "macro_f1"), shades[2:], strict=False):
                name = f"{measure}{end}"
                lines.append((name, "value", name, marker, shade))
    else:
        lines = [("preserved", "value", name, "o-", shades[i]) for i, name in enumerate(panels)]
    if ax is None:
        ax = new_axes(7.2, 3.8)[0, 0]
    handles: list[Any] = []
    names = []
    for measure, column, label, style, shade in lines:
        rows = table[(table["measure"] == measure) & table[column].notna()]
        rows = rows[rows["panel"] == label] if len(panels) > 1 else rows
        if len(rows):
            handles += ax.plot(rows["n_genes"], rows[column], style, color=shade, ms=6, lw=1.2)
            names.append(label)
    if selected is not None:
        handles.append(ax.axvline(selected, color=GREY, ls=":", zorder=0))
        names.append(f"selected: {selected} genes")
    ax.set(xlabel="number of genes", ylabel="share", ylim=(0, 1.03))
    ax.set_xlim(0, 1.03 * table["n_genes"].max() + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, handles, names)
    return ax


def _by_size(adata: AnnData, key: str | None) -> tuple[pd.DataFrame, int | None, str]:
    """Return measures by number of genes, the number that was selected, and the target."""
    selection = results.selection_key(adata, key)
    entry, n_genes = adata.uns.get(selection), None
    if results.kind_of(entry) == "selection":
        entry = results.entry(adata, selection, "selection", "preserved")
        n_genes = int(entry["n_genes"])
        shares = np.asarray(entry["curve"]["preserved"] if "curve" in entry else entry["preserved"])
        bound, optimality = np.full(len(shares), np.nan), np.ravel(entry.get("optimality", ()))
        bound[: len(optimality)] = np.minimum(shares[: len(optimality)] / optimality, 1.0)
        sizes = np.arange(1, len(shares) + 1)
        table = pd.DataFrame({"n_genes": sizes, "value": shares, "bound": bound, "random": np.nan})
        table = table.assign(panel=selection, measure="preserved")
        evaluation = adata.uns.get(f"{selection}_evaluation")
        if results.kind_of(evaluation) and stale.why_outdated(adata, evaluation) is None:
            evaluated = evaluation["measures"].assign(panel=selection)
            is_known = evaluated["measure"] == "preserved"
            evaluated.loc[is_known, ["value", "bound"]] = np.nan  # the selection has them
            table = pd.concat([table, evaluated], ignore_index=True)
    else:
        entry = _evaluation(adata, key)
        table = entry["measures"]
    return table, n_genes, results.preserved_of(entry).removeprefix("the ")


def _evaluation(adata: AnnData, key: str | None, holds: str = "measures") -> dict[str, Any]:
    """Return what ``tl.evaluate_panel`` wrote; of no key the last that holds something."""
    newest = results.last(adata, "evaluation" if key else None, key, holds=holds)
    newest = newest if key or newest in adata.uns else "glfs_evaluation"
    is_several = results.kind_of(adata.uns.get(newest)) == "comparison"
    return results.current(adata, newest, "comparison" if is_several else "evaluation", holds)


@plot
def labels(
    adata: AnnData,
    *,
    key: str | None = None,
    palette: str | Sequence[str] | None = None,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes:
    """Draw the recall of each label, the best first, with F1 and the number of cells.

    The recall of a label is the share of its cells whose label is predicted.  Bars and circles are
    of the nearest cells, diamonds of LapRLS, if both have read the cells.  A label with a short bar
    and a diamond far to the right can be distinguished, but not by nearest cells.  Rare labels, of
    at most 5 % of the cells, have another colour.  Grey are those of so few cells that no panel
    could predict them well.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `labels`.
    <key of the last> tl.evaluate_panel
    <palette> labels, rare labels, and labels of too few cells
    <ax>
    <show, save>

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
    from matplotlib.patches import Patch

    shades = colours(palette, [BLUE, VERMILLION, GREY])
    entry = _evaluation(adata, key, "per_label")
    tables = entry["per_label"]
    tables = tables[tables["kind"] == "label"]
    by = "reading"
    if "panel" in tables:
        tables, by = tables[tables["reading"] == tables["reading"].iloc[0]], "panel"
    (name, table), *further = tables.replace({"reading": READINGS}).groupby(by, sort=False)
    table = table.sort_values("recall", ascending=False, kind="stable")
    state = np.where(table["too_few"], 2, table["rare"].astype(int))
    if ax is None:
        ax = new_axes(8.2, 0.26 * len(table) + 1)[0, 0]
    rows = np.arange(len(table))
    ax.barh(rows, table["recall"], height=0.72, color=[shades[i] for i in state])
    handles: list[Any] = [Patch(color=shades[i]) for i in sorted(set(state))]
    kinds = (f"recall, {name}", "rare label", "too few cells")
    names = [kinds[i] for i in sorted(set(state))] + [f"F1, {name}"]
    handles += ax.plot(table["f1"], rows, "o", mfc="white", mec=GREY, ms=5, clip_on=False)
    for marker, (label, rival) in zip("Ds^v<>", further, strict=False):
        recall = rival.set_index("label")["recall"].loc[table["label"]]
        handles += ax.plot(recall, rows, marker, mfc="black", mec=GREY, ms=5, clip_on=False)
        names.append(f"recall, {label}")
    name_rows(ax, list(table["label"].astype(str)), [f"{n:,} cells" for n in table["n_cells"]])
    ax.set(xlim=(-0.02, 1.02), xlabel="recall and F1")
    legend(ax, handles, names, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    return ax


@plot
def confusion(
    adata: AnnData,
    *,
    key: str | None = None,
    reading: Literal["knn", "laprls"] | None = None,
    color_map: str | Colormap = "Blues",
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes:
    """Draw the labels that the panel predicts for the cells of each label, as a heat map.

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
    <color_map> "Blues"
    <ax>
    <show, save>

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
    gradient = colour_map(color_map)
    table = _evaluation(adata, key, "confusion")["confusion"]
    readings = list(table["reading"].unique())
    by: str = readings[0] if reading is None else reading
    checks.one_of("reading", by, readings)
    table = table[table["reading"] == by]
    names = [str(name) for name in table["label"].unique()]
    counts = table.pivot(index="label", columns="predicted", values="n_cells")
    counts = counts.loc[names, names].to_numpy(dtype=float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    texts = np.where(shares < _LEAST, "", np.char.mod("%.0f", 100 * shares))
    if ax is None:
        side = 0.34 * len(names) + 0.08 * max(map(len, names)) + 1
        ax = new_axes(side, side)[0, 0]
    _heat_map(ax, shares, names, names, texts, gradient)
    ax.set(xlabel=f"predicted label, % of the cells ({READINGS[by]})", ylabel="label")
    return ax


@plot
def comparison(
    adata: AnnData,
    *,
    key: str | None = None,
    color_map: str | Colormap = "Blues",
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes:
    """Draw the measures of panels as a heat map with their values.

    Colours are from 0 to 1, and the best panel by each measure is bold.  Measures that are better
    neither high nor low are below, without a colour.

    Parameters
    ----------
    <adata with results> tl.evaluate_panel
    <key of the last> tl.evaluate_panel
    <color_map> "Blues"
    <ax>
    <show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panels = {"ours": ["CD3D", "CD79A", "NKG7"], "theirs": ["CD3D", "LYZ", "GNLY"]}
    >>> glfs_bio.tl.evaluate_panel(adata, panels)
    >>> ax = glfs_bio.pl.comparison(adata, show=False)
    >>> [name.get_text() for name in ax.get_xticklabels()]
    ['ours', 'theirs', 'all genes']
    """
    gradient = colour_map(color_map)
    table = _panels(adata, key)
    is_share = ~table.index.isin(NUMBERS)
    table = pd.concat([table[is_share], table[~is_share]])
    is_share = np.sort(is_share)[::-1]
    values = table.to_numpy(dtype=float)
    texts = np.char.replace(np.char.mod("%.2f", values), ".00", "")
    texts[np.isnan(values)] = ""
    of_panels = np.where(table.columns == "all genes", -np.inf, values)
    best = is_share[:, None] & (values == np.nanmax(of_panels, axis=1, keepdims=True))
    best &= best.sum(axis=1, keepdims=True) < np.isfinite(of_panels).sum(axis=1, keepdims=True)
    panels = list(table.columns.astype(str))
    if ax is None:
        height = 0.28 * len(table) + 0.08 * max(map(len, panels)) + 0.5
        ax = new_axes(0.7 * len(panels) + 3, height)[0, 0]
    shares = np.where(is_share[:, None], values, np.nan)
    _heat_map(ax, shares, list(table.index), panels, texts, gradient)
    for text, is_best in zip(ax.texts, best.ravel(), strict=True):
        text.set_fontweight("bold" if is_best else "normal")
    return ax


def _panels(adata: AnnData, key: str | None) -> pd.DataFrame:
    """Return the measures (rows) of panels and of all genes (columns)."""
    of_several = results.last(adata, holds="overlap")
    table = _evaluation(adata, key or (of_several if of_several in adata.uns else None))["measures"]
    sizes = table.groupby("panel")["n_genes"].nunique()
    panels = table["panel"].where(table["panel"].map(sizes) == 1, table["panel"] + ", "
                                  + table["n_genes"].astype(str))  # fmt: skip
    of_batches = table["measure"] == "preserved_in_batch"
    names = table["measure"].where(~of_batches, table["measure"] + ", " + table["reading"])
    table = table.assign(measure=names, panel=panels)
    wide = table.pivot(index="measure", columns="panel", values="value")
    wide = wide.loc[names.unique(), panels.unique()]
    of_all = table.groupby("measure")["all_genes"].max()
    return wide.assign(**{"all genes": of_all}).dropna(how="all").dropna(how="all", axis=1)


def _heat_map(
    ax: Axes,
    shares: Array,
    rows: Sequence[str],
    columns: Sequence[str],
    texts: Any,
    gradient: Colormap,
) -> None:
    """Draw shares from 0 to 1 with texts; a share that is no number has no colour."""
    from matplotlib import rcParams

    ax.imshow(shares, vmin=0, vmax=1, cmap=gradient, aspect="auto")
    name_rows(ax, rows)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xticks(range(len(columns)), columns, rotation=90, fontsize=SMALL, parse_math=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for (i, j), share in np.ndenumerate(shares):
        luminance = np.dot(gradient(share)[:3], (0.299, 0.587, 0.114))
        shade = "white" if luminance < _DARK else "black"
        shade = shade if np.isfinite(share) else rcParams["text.color"]
        ax.text(j, i, texts[i, j], ha="center", va="center", size=SMALL, color=shade)


@plot
def stability(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    key: str | None = None,
    symbols: str | None = None,
    color_map: str | Colormap = "cividis",
    palette: str | Sequence[str] | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> list[Axes]:
    """Draw selection frequencies, and the Jaccard index of every two selections.

    Genes of the panel are blue and other genes grey.  Where the selection in `adata` is not the one
    that was examined, all bars are blue, and the title says how it differs.

    Parameters
    ----------
    <adata with results> tl.stability
    n_genes : int, default None
        Number of genes, the most frequent first, in columns of 50; genes of no selection are left
        out, and so are those that were included.  None: as many as were chosen, in the mean.
    <key of the last> tl.stability
    <shown symbols>
    <color_map> "cividis"
    <palette> genes of the panel, and other genes
    <show, save>

    <returned axes> a list of the axes, the matrix last

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> glfs_bio.tl.stability(adata, n_resamples=3)
    >>> bars, matrix = glfs_bio.pl.stability(adata, show=False)
    >>> len(bars.get_yticklabels())
    10
    """
    from matplotlib.patches import Patch

    inside, outside = colours(palette, [BLUE, GREY])
    gradient = colour_map(color_map)
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    key = results.last(adata, "stability", key)
    entry = results.entry(adata, key, "stability")
    frequency = results.frequency(adata, key)
    frequency = frequency[frequency > 0]
    if frequency.empty:
        raise InvalidValue(f"`key={short(key)}` is of a panel in which all genes were included")
    frequency = frequency.head(results.n_chosen(entry) if n_genes is None else n_genes)
    names = read.symbols(adata, symbols).fillna(adata.var_names.to_series()).loc[frequency.index]
    of, different = str(entry.get("of")), None
    selected = np.ones(len(frequency), dtype=bool)
    if of in adata.uns:
        different = stale.difference(adata, of, entry)
        if different is None:
            selected = adata.var[f"{of}_selected"].loc[frequency.index].to_numpy(dtype=bool)
    *of_genes, matrix = columns_of_bars(len(frequency), 3.0, 4.5)
    bars(of_genes, names, frequency, np.where(selected, inside, outside))
    of_genes[0].set_xlabel("selection frequency")
    if different is not None:
        of_genes[0].set_title(f"not of {of!r}: {different}", fontsize=SMALL, parse_math=False)
    elif not selected.all():
        handles = [Patch(color=inside), Patch(color=outside)]
        above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2}
        legend(of_genes[0], handles, ["in the panel", "not in it"], **above)
    image = matrix.imshow(entry["jaccard"], vmin=0, vmax=1, cmap=gradient)
    matrix.set(xticks=[], yticks=[], xlabel="subsamples", ylabel="subsamples")
    matrix.set_title(f"mean Jaccard index {entry['mean_jaccard']:.2f}")
    matrix.figure.colorbar(image, ax=matrix, label="Jaccard index", shrink=0.6)
    return [*of_genes, matrix]
